"""The first answer of a comparison, where its prompt is short, is begun before the other lanes go on: a model that shares the cores
with their ranking would read five times as long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from core.runtime.meter import spent
from core.watch import NO_WATCH, Watch

LONGEST = 5.0  # seconds that the other lanes pause at most
LOOK = 0.05


class HeadStart:
    """One for each comparison. `others` tells whether anybody else waits for the machine: then nobody pauses."""

    def __init__(self, others: Callable[[], bool]):
        self._others, self._over, self._until = others, threading.Event(), 0.0

    def begin(self) -> None:
        """The first answer is at work now; for any later one nothing happens."""
        if not self._until:
            self._until = time.monotonic() + LONGEST

    def left(self, seconds: float | None) -> None:
        """So long will the prompt still be read, as far as is known: nobody pauses for what does not come in time."""
        if seconds is not None and time.monotonic() + seconds > self._until:
            self.end()

    def end(self) -> None:
        """Its first word is there, or it has ended."""
        self._over.set()

    def pause(self, watch: Watch = NO_WATCH) -> None:
        """Return once the others may go on. Raises what `watch` raises."""
        watch.check()
        if not self._running():
            return
        with spent("waiting"):
            while self._running() and not self._over.wait(LOOK):
                watch.check()

    def _running(self) -> bool:
        return not self._over.is_set() and time.monotonic() < self._until and not self._others()
