"""Progress of a job, with a button that cancels it, and its outcome."""

from __future__ import annotations

import time

import streamlit as st

from core.runtime.jobs import JOB_RUNNING, Job
from pages.parts.shared.session import draw_cancel_button, engine
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

MIN_SHOWN_AGE_SECONDS = 5  # of a text; a younger one counts as of now


def draw_job(job: Job, key: str, end_text: str = "", share: bool = False) -> None:
    """Draw the progress of a job, and draw the page again when it ends.

    After the end, its error or the sentence `end_text` is drawn.

    Parameters
    ----------
    key : last part of the key of the cancel button.
    end_text : the sentence after an end without an error; empty for none.
    share : whether the text of the job is that of its current step; see `progress_text`.
    """
    was_running = not job.has_ended

    @st.fragment(run_every=0.5 if was_running else None)
    def draw() -> None:
        if was_running and job.has_ended:
            st.rerun()
        if not job.has_ended:
            progress_bar(job, f"cancel-{key}", share)
        elif job.error:
            st.error(plain(job.error))
        elif end_text:
            st.caption(end_text)

    draw()


def progress_bar(job: Job, key: str, share: bool = False) -> None:
    """Draw the progress bar of a job with a cancel button; `share` is as in `draw_job`."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(
            min(1.0, job.fraction or 0.0), text=plain(progress_text(job, share)), width="stretch"
        )
        draw_cancel_button(job, key, "stop_circle")


def progress_text(job: Job, share: bool = False) -> str:
    """Return how far a job is, in words.

    With `share`, the counts of its text are those of one step, and the percentage of the whole job
    comes before them. A text that stood for a while, such as an estimate of the time left, is
    followed by its age.
    """
    text = job.text
    if share and job.fraction is not None:
        percent = f"{100 * min(1.0, job.fraction):.0f}"
        text = tr("{percent} % of everything · this step: {text}", percent=percent, text=text)
    age = time.monotonic() - job.text_since
    if job.status == JOB_RUNNING and age >= MIN_SHOWN_AGE_SECONDS:
        text = tr("{text} · as of {seconds:.0f} s ago", text=text, seconds=age)
    return text


@st.fragment(run_every=3.0)
def rerun_when_started(key: str) -> None:
    """Run the page again once the job with this key runs.

    It may be started in another tab.
    """
    job = engine().evaluations.get(key)
    if job is not None and not job.has_ended:
        st.rerun()
