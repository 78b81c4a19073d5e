"""Shares of elapsed time for concurrent pieces of work.

Examples are requests to a model. Each moment is divided equally among the pieces that are running.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class TimeShares:
    """Counter of the running pieces of work of several threads.

    The seconds of each piece, multiplied by its share, add up to the elapsed time in which any
    piece was running.

    >>> from core.runtime.time_shares import TimeShares
    >>> shares = TimeShares()
    >>> with shares.count_running() as share:
    ...     share()
    1.0
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._lock = threading.Lock()
        self._at_work = 0  # running pieces
        self._updated_at = 0.0  # time of the last update of the values here
        # Share of the elapsed time that a piece running from the beginning would have, in seconds.
        self._share_seconds = 0.0

    @contextmanager
    def count_running(self) -> Iterator[Callable[[], float]]:
        """Count a piece of work as running within the block.

        The yielded function returns its share of the elapsed time so far, above 0 and at most 1.
        """
        start_time, start_share = self._change_running(1)

        def share() -> float:
            now, end_share = self._change_running(0)
            return (end_share - start_share) / (now - start_time) if now > start_time else 1.0

        try:
            yield share
        finally:
            self._change_running(-1)

    def _change_running(self, change: int) -> tuple[float, float]:
        """Change the number of running pieces; return the time and `_share_seconds` up to now."""
        with self._lock:
            now = self._clock()
            if self._at_work:
                self._share_seconds += (now - self._updated_at) / self._at_work
            self._updated_at = now
            self._at_work += change
            return now, self._share_seconds
