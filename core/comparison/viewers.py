"""Who looks at which comparison: what one found is let go of once it is forgotten and nobody looks at it any more."""

from __future__ import annotations

import threading
from collections.abc import Callable
from weakref import WeakKeyDictionary

from core.comparison.waiters import Waiter
from core.runtime.jobs import Job


class Viewers:
    """Lets go of results. A browser that went away is remembered for a while with all that it showed, so that it may come back; what was
    found for it, which is most of it, can be found again.

    A job that was asked for without a waiter is left alone.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: WeakKeyDictionary[Job, dict[str, Waiter]] = WeakKeyDictionary()

    def add(self, waiter: Waiter, job: Job) -> None:
        """`waiter` looks at what this job compares, and no more at what it looked at before."""
        with self._lock:
            for waiters in self._of.values():
                waiters.pop(waiter.id, None)
            self._of.setdefault(job, {})[waiter.id] = waiter

    def looking(self, job: Job) -> bool:
        """Whether somebody who is still there looks at it."""
        with self._lock:
            waiters = list(self._of.get(job, {}).values())
        return any(waiter.alive() for waiter in waiters)

    def look(self, known: Callable[[Job], bool]) -> None:
        """Let go of what is neither looked at nor `known`, as what would still be found by its key is."""
        with self._lock:
            ended = [job for job in self._of if job.ended and not job.unattended]
        for job in ended:
            if not known(job) and not job.comparison.repairing and not self.looking(job):
                for place in range(len(job.comparison.lanes)):
                    job.comparison.change(place, states=(), preview=None)
                with self._lock:
                    self._of.pop(job, None)
