"""The share of the clock that each of several pieces of work has which are done at once: a moment is split evenly among those at work."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Shares:
    """Pieces of work of several threads. The seconds of each times its share add up to the time by the clock in which any was done.

    >>> from core.runtime.shares import Shares
    >>> shares = Shares()
    >>> with shares.work() as share:
    ...     share()
    1.0
    """

    def __init__(self, now: Callable[[], float] = time.monotonic):
        self._now, self._lock = now, threading.Lock()
        # `_each`: seconds that one always at work would have had so far
        self._at_work, self._last, self._each = (0, 0.0, 0.0)

    @contextmanager
    def work(self) -> Iterator[Callable[[], float]]:
        """A piece of work, which ends with the block; the function says its share of the clock so far, above 0 and 1 at most."""
        start, had = self._step(1)

        def share() -> float:
            now, has = self._step(0)
            return (has - had) / (now - start) if now > start else 1.0

        try:
            yield share
        finally:
            self._step(-1)

    def _step(self, more: int) -> tuple[float, float]:
        """The time now, and `_each` up to it, from when on so many more are at work."""
        with self._lock:
            now = self._now()
            self._each += (now - self._last) / self._at_work if self._at_work else 0.0
            self._last, self._at_work = now, self._at_work + more
            return now, self._each
