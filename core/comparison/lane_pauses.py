"""Pauses that the lanes of one comparison make for each other.

There are two kinds of pauses. After its first preview, a lane waits until every lane has shown one.
Then the lanes continue one after another, so that each reuses what the one before it computed. In
the other pause, the lanes wait while a model on the same cores reads the prompt of the first
answer, because reading takes five times as long while a lane ranks.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from core.runtime.meter import count_time
from core.runtime.turn import pass_turn_at_once
from core.watch import NO_WATCH, Watch

MAX_SHOWING_SECONDS = 1.5  # for which a lane waits for the first previews of the others
MAX_READING_SECONDS = 5.0  # for which the other lanes wait while a prompt is read
LANE_CHECK_SECONDS = 0.02  # seconds between two checks


class LanePauses:
    """The pauses of the lanes of one comparison.

    Parameters
    ----------
    unfinished_lanes : returns the indices of the lanes that have not retrieved.
    has_other_jobs : returns whether another job waits for the machine; then no lane pauses.
    """

    def __init__(
        self, unfinished_lanes: Callable[[], Sequence[int]], has_other_jobs: Callable[[], bool]
    ):
        self._unfinished_lanes = unfinished_lanes
        self._has_other_jobs = has_other_jobs
        self._lock = threading.Lock()
        # Lanes that have shown a preview, in this order, with the time until which they wait.
        self._deadlines: dict[int, float] = {}
        self._reading_until = 0.0  # the time until which the lanes pause for a prompt; 0 for none
        self._reading_ended = threading.Event()

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
        unfinished = self._unfinished_lanes()
        with self._lock:
            order, deadline = list(self._deadlines), self._deadlines[lane]
        earlier_lanes = order[: order.index(lane)]
        has_earlier = any(other in earlier_lanes for other in unfinished)
        awaits_preview = time.monotonic() < deadline and not set(order).issuperset(unfinished)
        return (has_earlier or awaits_preview) and not self._has_other_jobs()

    def begin_reading(self) -> None:
        """Begin the pause while a model reads the prompt of the first answer.

        Later answers begin no further pause.
        """
        if not self._reading_until:
            self._reading_until = time.monotonic() + MAX_READING_SECONDS

    def end_long_reading(self, seconds: float | None) -> None:
        """End the pause if reading would outlast it.

        Reading takes `seconds` more.
        """
        if seconds is not None and time.monotonic() + seconds > self._reading_until:
            self.end_reading()

    def end_reading(self) -> None:
        """End the pause, because the answer has begun or ended."""
        self._reading_ended.set()

    def wait_while_reading(self, watch: Watch = NO_WATCH) -> None:
        """Wait while the model reads the prompt of the first answer. Raises what `watch` raises."""
        watch.check()
        if self._is_reading():
            with count_time("waiting"):
                while self._is_reading() and not self._reading_ended.wait(LANE_CHECK_SECONDS):
                    watch.check()

    def _is_reading(self) -> bool:
        has_ended = self._reading_ended.is_set() or time.monotonic() >= self._reading_until
        return not has_ended and not self._has_other_jobs()
