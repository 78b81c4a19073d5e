"""Jobs that the job cache keeps or drops."""

from __future__ import annotations

import gc
import threading
import weakref
from functools import partial

from core.runtime.jobs import Job, Jobs


def run_job(jobs: Jobs, key: str, result=None) -> Job:
    job = jobs.start(key, lambda: Job(key, lambda job: result))
    assert job.wait(30)
    return job


def kept_keys(jobs: Jobs, *keys: str) -> list[str]:
    return [key for key in keys if key in jobs._jobs]


def test_least_recently_requested_job_is_dropped():
    jobs, ran = Jobs(keep=2), []
    for key in ("warm", "a", "warm", "b", "warm", "c"):
        jobs.start(key, partial(Job, key, lambda job: ran.append(job.key))).wait(30)
    assert ran == ["warm", "a", "b", "c"]  # A job that is requested repeatedly runs once.
    assert kept_keys(jobs, "warm", "a", "b", "c") == ["warm", "c"]


def test_requested_job_is_kept():
    jobs = Jobs(keep=2)
    run_job(jobs, "a"), run_job(jobs, "b")
    assert jobs.get("a") is not None
    run_job(jobs, "c")
    assert kept_keys(jobs, "a", "b", "c") == ["a", "c"]


def test_results_are_kept_within_a_bound_of_bytes():
    jobs = Jobs(keep=64, max_bytes=1000, weigh=lambda job: len(job.result))
    for number in range(20):
        run_job(jobs, str(number), b"x" * 300)
    run_job(jobs, "next", b"")
    assert kept_keys(jobs, *map(str, range(20))) == ["17", "18", "19"]


def test_running_job_is_always_kept():
    jobs, go = Jobs(keep=1, max_bytes=1, weigh=lambda job: 2), threading.Event()
    running = jobs.start("running", lambda: Job("running", lambda job: go.wait(30)))
    for number in range(5):
        run_job(jobs, str(number))
    assert jobs.get("running") is running
    go.set()


def test_dropped_job_is_freed():
    class FreedResult:
        pass

    jobs, result = Jobs(keep=1), FreedResult()
    gone = weakref.ref(result)
    run_job(jobs, "a", result)
    del result
    gc.disable()
    try:
        run_job(jobs, "b")
        jobs.stop()
        jobs._pool.shutdown()
        assert gone() is None
    finally:
        gc.enable()
