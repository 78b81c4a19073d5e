"""Pauses that the lanes of one comparison make for each other.

Two guarantees share one barrier. Every lane shows something before one of them is ranked to its end;
then they go on in turn, as each finds what the one before it left behind. And while the first answer's
prompt is read by a model on the same cores, which takes five times as long beside a ranking, the
others stand still.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from core.runtime.meter import spent
from core.runtime.turn import away
from core.watch import NO_WATCH, Watch

MAX_SHOWING_SECONDS = 1.5  # that a lane lets the others come to a preview
MAX_READING_SECONDS = 5.0  # that the other lanes let a prompt be read
LOOK_SECONDS = 0.02


class LanePauses:
    """The barrier of one comparison.

    Parameters
    ----------
    left : gives the numbers of the lanes that have not retrieved.
    others : tells whether anybody else waits for the machine; then no lane pauses.
    """

    def __init__(self, left: Callable[[], Sequence[int]], others: Callable[[], bool]):
        self._left, self._others, self._lock = left, others, threading.Lock()
        self._shown: dict[int, float] = {}  # lanes with a preview, and until when each lets others
        self._reading_until = 0.0
        self._replied = threading.Event()

    def let_others_show(self, lane: int, watch: Watch = NO_WATCH) -> None:
        """Return once a lane that has just shown something may go on. Raises what `watch` raises."""
        with self._lock:
            self._shown.setdefault(lane, time.monotonic() + MAX_SHOWING_SECONDS)
        if self._must_pause(lane):
            with spent("waiting"), away():
                while self._must_pause(lane):
                    watch.check()
                    time.sleep(LOOK_SECONDS)

    def _must_pause(self, lane: int) -> bool:
        left = self._left()
        with self._lock:
            order, until = list(self._shown), self._shown[lane]
        before = order[: order.index(lane)]
        in_turn = any(one in before for one in left)
        may_show = time.monotonic() < until and any(one not in order for one in left)
        return (in_turn or may_show) and not self._others()

    def begin_reading(self) -> None:
        """The first answer is at work now; for any later one nothing happens."""
        if not self._reading_until:
            self._reading_until = time.monotonic() + MAX_READING_SECONDS

    def expect(self, seconds: float | None) -> None:
        """So long will the prompt still be read; nobody pauses for what does not come in time."""
        if seconds is not None and time.monotonic() + seconds > self._reading_until:
            self.end_reading()

    def end_reading(self) -> None:
        """The first word of the answer is there, or it has ended."""
        self._replied.set()

    def let_read(self, watch: Watch = NO_WATCH) -> None:
        """Return once no prompt is read that others pause for. Raises what `watch` raises."""
        watch.check()
        if self._is_reading():
            with spent("waiting"):
                while self._is_reading() and not self._replied.wait(LOOK_SECONDS):
                    watch.check()

    def _is_reading(self) -> bool:
        over = self._replied.is_set() or time.monotonic() >= self._reading_until
        return not over and not self._others()
