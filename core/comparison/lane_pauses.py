"""Pauses that the lanes of one comparison make for each other.

There are two kinds of pauses. Every lane shows a preview before any lane ranks to its end; then the
lanes continue in turn, so that each can reuse what the one before it computed. And the other lanes
pause while a model on the same cores reads the prompt of the first answer, because reading takes
five times as long while a lane ranks.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from core.runtime.meter import count_time
from core.runtime.turn import pass_turn_at_once
from core.watch import NO_WATCH, Watch

MAX_SHOWING_SECONDS = 1.5  # how long a lane waits for the first previews of the others
MAX_READING_SECONDS = 5.0  # how long the other lanes wait while a prompt is read
LANE_CHECK_SECONDS = 0.02  # seconds between two checks


class LanePauses:
    """The barrier of one comparison.

    Parameters
    ----------
    unfinished : returns the numbers of the lanes that have not retrieved.
    others : returns whether another job waits for the machine; then no lane pauses.
    """

    def __init__(self, unfinished: Callable[[], Sequence[int]], others: Callable[[], bool]):
        self._unfinished = unfinished
        self._others = others
        self._lock = threading.Lock()
        # By lane that has shown a preview, in this order, the time until which it waits.
        self._deadlines: dict[int, float] = {}
        self._reading_until = 0.0  # the time until which the lanes pause for a prompt; 0 for none
        self._replied = threading.Event()

    def wait_for_previews(self, lane: int, watch: Watch = NO_WATCH) -> None:
        """Wait until a lane that has just shown a preview may go on. Raises what `watch` raises."""
        with self._lock:
            self._deadlines.setdefault(lane, time.monotonic() + MAX_SHOWING_SECONDS)
        if self._must_pause(lane):
            with count_time("waiting"), pass_turn_at_once():
                while self._must_pause(lane):
                    watch.check()
                    time.sleep(LANE_CHECK_SECONDS)

    def _must_pause(self, lane: int) -> bool:
        unfinished = self._unfinished()
        with self._lock:
            order, deadline = list(self._deadlines), self._deadlines[lane]
        earlier_lanes = order[: order.index(lane)]
        has_earlier = any(other in earlier_lanes for other in unfinished)
        awaits_preview = time.monotonic() < deadline and not set(order).issuperset(unfinished)
        return (has_earlier or awaits_preview) and not self._others()

    def begin_reading(self) -> None:
        """Note that a model reads the prompt of the first answer.

        Later answers are ignored.
        """
        if not self._reading_until:
            self._reading_until = time.monotonic() + MAX_READING_SECONDS

    def end_long_reading(self, seconds: float | None) -> None:
        """End the pause if reading the prompt takes too many `seconds` more."""
        if seconds is not None and time.monotonic() + seconds > self._reading_until:
            self.end_reading()

    def end_reading(self) -> None:
        """Note that the answer has begun or ended."""
        self._replied.set()

    def wait_while_reading(self, watch: Watch = NO_WATCH) -> None:
        """Wait while the model reads the prompt of the first answer. Raises what `watch` raises."""
        watch.check()
        if self._is_reading():
            with count_time("waiting"):
                while self._is_reading() and not self._replied.wait(LANE_CHECK_SECONDS):
                    watch.check()

    def _is_reading(self) -> bool:
        has_ended = self._replied.is_set() or time.monotonic() >= self._reading_until
        return not has_ended and not self._others()
