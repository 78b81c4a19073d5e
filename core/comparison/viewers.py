"""Who looks at which comparison: what one found is let go of once it is forgotten and nobody looks at it any more."""

from __future__ import annotations

import threading
from collections.abc import Callable
from weakref import WeakKeyDictionary

from core.comparison.waiters import Waiter
from core.runtime.jobs import Job


class Viewers:
    """Lets go of results. A browser that went away is remembered for a while with all that it showed, so that it may come back; what was
    found for it, which is most of it, can be found again. `known` tells whether a job would still be found by its key.

    A job that was asked for without a waiter is left alone.
    """

    def __init__(self, known: Callable[[Job], bool]):
        self._known, self._lock = known, threading.Lock()
        self._of: WeakKeyDictionary[Job, dict[str, Waiter]] = WeakKeyDictionary()

    def add(self, waiter: Waiter, job: Job) -> None:
        """`waiter` looks at what this job compares."""
        with self._lock:
            self._of.setdefault(job, {})[waiter.id] = waiter

    def look(self) -> None:
        """Let go of what is neither known nor looked at."""
        with self._lock:
            ended = [(job, list(waiters.values())) for job, waiters in self._of.items() if job.ended and not job.kept]
        for job, waiters in ended:
            if not self._known(job) and not job.comparison.repairing and not any(waiter.alive() for waiter in waiters):
                for lane in job.comparison.lanes:
                    lane.run.states.clear()
                with self._lock:
                    self._of.pop(job, None)
