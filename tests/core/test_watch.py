"""Cancellation and progress of a piece of work, and of its parts."""

import pickle

import pytest

from core.errors import RunCancelled
from core.io.durations import with_time_left
from core.runtime.concurrent_work import ConcurrentWork
from core.runtime.jobs import Job
from core.watch import NO_WATCH, Watch


@pytest.fixture
def heard():
    """The text and the share of all that a watch was told."""
    return []


@pytest.fixture
def watch(heard):
    return Watch(report=lambda text, fraction: heard.append((text, fraction)))


def cancelled():
    raise RunCancelled()


def test_nobody_looks_at_work_by_default():
    NO_WATCH.check()
    NO_WATCH.report("Reading", 0.5)
    NO_WATCH.part(0.2, 0.4, "Reading").step(0.5)
    assert NO_WATCH.without_reports is NO_WATCH


def test_the_shares_of_a_part_lie_within_the_whole(watch, heard):
    part = watch.part(0.5, 1.0)
    part.report("Sorting", 0.5)
    part.part(0.0, 0.5).report("Writing", 1.0)
    assert heard == [("Sorting", 0.75), ("Writing", 0.75)]


def test_a_part_has_words_for_work_that_has_none_of_its_own(watch, heard):
    part = watch.part(text="Reading a.txt")
    part.step(0.25)
    part.report("Unpacking", 0.5)
    assert heard == [("Reading a.txt", 0.25), ("Unpacking", 0.5)]


def test_the_share_of_the_last_word_holds_in_a_part_but_not_in_the_whole(watch, heard):
    for one in (watch.part(0.5, 1.0), watch.part(text="Reading")):
        one.report("Known", 0.5)
        one.report("Unknown")
    assert [share for _, share in heard] == [0.75, 0.75, 0.5, None]


def test_a_step_without_a_share_only_looks_whether_somebody_cancelled(watch, heard):
    watch.step()
    assert heard == []
    with pytest.raises(RunCancelled):
        Watch(cancelled).step()


@pytest.mark.parametrize(
    "narrowed",
    [
        lambda watch: watch.part(0.0, 0.5, "Reading").part(0.5, 1.0),
        lambda watch: watch.without_reports,
        lambda watch: with_time_left(watch),
        lambda watch: ConcurrentWork(lambda: 1, watch),
    ],
    ids=["part", "quiet", "time left", "flight"],
)
def test_a_cancel_reaches_all_that_is_made_of_a_watch(narrowed):
    with pytest.raises(RunCancelled):
        narrowed(Watch(cancelled)).check()


def test_quiet_work_reports_nowhere(watch, heard):
    watch.without_reports.report("Reading", 0.5)
    assert heard == []


def test_a_job_is_a_watch_and_keeps_its_words_where_none_are_given():
    job = Job("a")
    job.part(0.0, 0.5, "Reading").step(0.5)
    job.step(0.5)
    assert (job.text, job.fraction) == ("Reading", 0.5)
    job.stop()
    with pytest.raises(RunCancelled):
        job.part(0.0, 0.5).step(0.6)


def test_the_watch_of_nobody_travels_to_other_processes():
    copied = pickle.loads(pickle.dumps(NO_WATCH))
    copied.step(0.5)
    assert copied.without_reports is NO_WATCH or isinstance(copied.without_reports, Watch)
