"""Every lane of a comparison shows something before one of them is ranked to its end; then they go on one after the other, as each finds
what the one before it left behind."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from core.runtime.meter import spent
from core.runtime.turn import away
from core.watch import NO_WATCH, Watch

LONGEST = 1.5  # seconds that the first lane lets the others come to something, at most
LOOK = 0.02


class FirstLook:
    """One for each comparison. `left` gives the numbers of its lanes that have not retrieved, `others` whether anybody else waits for the
    machine: then nobody gives way."""

    def __init__(self, left: Callable[[], Sequence[int]], others: Callable[[], bool]):
        self._left, self._others, self._lock = left, others, threading.Lock()
        self._order: dict[
            int, float
        ] = {}  # lanes that have shown something, and until when each lets others come to that

    def give_way(self, lane: int, watch: Watch = NO_WATCH) -> None:
        """Return once a lane that has just shown something may go on. Raises what `watch` raises."""
        with self._lock:
            self._order.setdefault(lane, time.monotonic() + LONGEST)
        if not self._waits(lane):
            return
        with spent("waiting"), away():
            while self._waits(lane):
                watch.check()
                time.sleep(LOOK)

    def _waits(self, lane: int) -> bool:
        left = self._left()
        with self._lock:
            order = list(self._order)
            before = order[: order.index(lane)]
            until = self._order[lane]
        if any(one in before for one in left):
            return not self._others()
        return (
            time.monotonic() < until
            and any(one not in order for one in left)
            and not self._others()
        )
