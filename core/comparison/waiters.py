"""The sessions that wait for a job, and those that display its result.

A job is cancelled once no session waits for it. The results of an ended job are freed once no
session displays them. A job that was started without a waiter is left alone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from core.runtime.jobs import Job

SWEEP_SECONDS = 1.0  # seconds between two checks for disconnected sessions
RECONNECT_SECONDS = 3.0  # seconds in which a session may reconnect, as after a reload of the page


@dataclass(frozen=True)
class Waiter:
    """A session that waits for a job, by its id."""

    id: str
    is_connected: Callable[[], bool] = lambda: True


class Waiters:
    """The sessions that wait for jobs, and those that display them.

    Streamlit keeps the session of a disconnected browser for a while, as the browser may reconnect.
    Retrieval states are most of its memory and can be computed again, so they are freed earlier.

    Parameters
    ----------
    sweep_seconds : seconds between two checks for disconnected sessions.
    reconnect_seconds : seconds after which a disconnected session no longer counts as waiting.
    """

    def __init__(
        self, sweep_seconds: float = SWEEP_SECONDS, reconnect_seconds: float = RECONNECT_SECONDS
    ):
        self._sweep_seconds, self._reconnect_seconds = sweep_seconds, reconnect_seconds
        self._waits: dict[str, tuple[Waiter, Job]] = {}
        # Time since which none of a job's waiters is connected.
        self._left_since: dict[Job, float] = {}
        self._viewers: WeakKeyDictionary[Job, dict[str, Waiter]] = WeakKeyDictionary()
        self._lock = threading.Lock()
        self._sweeping = False

    def wait(self, waiter: Waiter, job: Job) -> None:
        """Make a session wait for a job and display it.

        The job replaces an earlier one.
        """
        with self._lock:
            former_job = self._waits.get(waiter.id, (None, None))[1]
            self._waits[waiter.id] = (waiter, job)
            self._left_since.pop(job, None)
            for waiters in self._viewers.values():
                waiters.pop(waiter.id, None)
            self._viewers.setdefault(job, {})[waiter.id] = waiter
            if not self._sweeping:
                self._sweeping = True
                threading.Thread(target=self._sweep, name="waiters", daemon=True).start()
        if former_job is not None and former_job is not job:
            self._cancel_unless_waited(former_job)

    def stop_waiting(self, waiter_id: str) -> None:
        """End a session's wait; it still displays the job."""
        with self._lock:
            _, job = self._waits.pop(waiter_id, (None, None))
        if job is not None:
            self._cancel_unless_waited(job)

    def count_waiting(self, job: Job) -> int:
        """Return how many connected sessions wait for a job."""
        with self._lock:
            waiting = [waiter for waiter, other in self._waits.values() if other is job]
        return sum(waiter.is_connected() for waiter in waiting)

    def is_displayed(self, job: Job) -> bool:
        """Return whether a connected session displays a job."""
        with self._lock:
            waiters = list(self._viewers.get(job, {}).values())
        return any(waiter.is_connected() for waiter in waiters)

    def free_unused(self, is_known: Callable[[Job], bool]) -> None:
        """Free the states of ended comparisons without viewers.

        They stay if `is_known` says that the job is still in a cache, or while repairs are tried.
        """
        with self._lock:
            jobs = [job for job in self._viewers if job.has_ended and not job.is_unattended]
        for job in jobs:
            if is_known(job) or job.comparison.is_repairing or self.is_displayed(job):
                continue
            for index in range(len(job.comparison.lanes)):
                job.comparison.change_lane(index, states=(), preview=None)
            with self._lock:
                self._viewers.pop(job, None)

    def _cancel_unless_waited(self, job: Job) -> None:
        """Cancel a running job if no connected session waits for it."""
        if not job.has_ended and not job.is_unattended and not self.count_waiting(job):
            job.abandon()

    def _sweep(self) -> None:
        """Check the waiters again and again, until no session waits for a running job."""
        while True:
            time.sleep(self._sweep_seconds)
            with self._lock:
                self._waits = {
                    key: wait for key, wait in self._waits.items() if not wait[1].has_ended
                }
                jobs = {job for _, job in self._waits.values()}
                self._left_since = {
                    job: since for job, since in self._left_since.items() if job in jobs
                }
                if not jobs:
                    self._sweeping = False
                    return
            for job in jobs:
                self._check_job(job)

    def _check_job(self, job: Job) -> None:
        """Cancel a job if no waiter has been connected for `reconnect_seconds`."""
        waiting_sessions, now = self.count_waiting(job), time.monotonic()
        with self._lock:
            if waiting_sessions:
                self._left_since.pop(job, None)
                return
            since = self._left_since.setdefault(job, now)
        if now - since >= self._reconnect_seconds:
            self._cancel_unless_waited(job)
