"""The page says how far a job is.

It gives the share of the whole, and the count of the part at work.
"""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.runtime.jobs import JOB_RUNNING, JOB_WAITING, Job
from pages.parts.shared.job_progress import progress_text
from pages.parts.shared.session import engine


@pytest.fixture
def job():
    made = Job("shares")
    made.status = JOB_RUNNING
    engine().jobs._jobs["shares"] = made
    yield made
    engine().jobs._jobs.pop("shares").end("cancelled")


def page():
    from pages.parts.shared.job_progress import draw_job
    from pages.parts.shared.session import engine

    draw_job(engine().jobs.get("shares"), "shares", share=True)


@pytest.mark.parametrize("asked", [0, 12, 84, 168])
def test_share_of_all_comes_from_the_count_that_stands_beside_it(job, asked):
    first, last = 0.6, 1.0
    job.part(first, last).report(f"{asked} of 168 done", asked / 168)
    (bar,) = AppTest.from_function(page, default_timeout=120).run().get("progress")
    share = first + (last - first) * asked / 168
    assert bar.proto.text.startswith(f"{100 * share:.0f} % of everything · ")
    assert bar.proto.text.endswith(f"{asked} of 168 done")
    assert bar.proto.value == int(100 * share) or bar.proto.value == round(100 * share)


@pytest.mark.parametrize("age, shown", [(0.0, False), (12.0, True)])
def test_a_text_that_stands_is_followed_by_its_age(job, age, shown):
    job.report("12 of 168 done, 3 to 19 seconds left", 0.1)
    job.text_since -= age
    assert ("as of 12 s ago" in progress_text(job)) is shown


def test_the_age_is_that_of_the_text_and_not_of_the_share(job):
    job.report("Reading", 0.1)
    job.text_since -= 30
    job.report("", 0.2)
    assert "as of 30 s ago" in progress_text(job)
    job.report("Asking", 0.3)
    assert progress_text(job) == "Asking"


def test_a_job_that_waits_or_has_ended_has_no_age(job):
    job.text_since -= 30
    job.status = JOB_WAITING
    assert progress_text(job) == job.text
