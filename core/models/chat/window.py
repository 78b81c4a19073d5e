"""Limit on concurrent requests to a server of language models, fixed or adaptive.

More concurrent requests give more replies per second, until the server is full; from then on each
reply only takes longer. The adaptive limit looks for this point.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from statistics import fmean

from core.runtime.slots import Slots
from core.watch import NO_WATCH, Watch


@dataclass(frozen=True)
class WindowDefaults:
    """Bounds of the window, and the measurements by which it grows and shrinks."""

    max_second_requests: int = 8  # size of the window after the first reply
    early_request_seconds: float = 5.0  # between early requests
    max_early_requests: int = 3  # sent before the first reply has arrived
    max_requests: int = 128  # size of an adaptive window
    max_prepared_pieces: int = 16  # requests prepared while the window is full
    full_fraction: float = 0.7  # mean fraction of slots in use below which nothing is concluded
    max_equal_slowdown: float = 1.2  # replies that take up to 1.2 times as long count as no slower
    # Smallest growth of replies per second, as a fraction of the window's growth. Below it, the
    # server counts as full.
    min_gain_fraction: float = 0.7
    # Replies until a larger window is tried again, as a multiple of the window's size. It doubles
    # each time that the window shrinks.
    first_hold_windows: int = 4
    max_hold_windows: int = 64


WINDOW = WindowDefaults()


@dataclass(frozen=True)
class _Level:
    """Measurement of the server at one window size."""

    limit: int  # size of the window
    seconds: float  # mean duration of a reply
    rate: float  # replies per second


class WindowSlot:
    """A request's slot in a window, which reports when the request was answered.

    Parameters
    ----------
    report : called with the seconds that the reply took.
    clock : returns the time in seconds.
    """

    def __init__(self, report: Callable[[float], None], clock: Callable[[], float]):
        self._report = report
        self._clock = clock
        self._start = clock()

    def report_answered(self) -> None:
        """Report that the reply has arrived."""
        self._report(self._clock() - self._start)


class Window(Slots):
    """Slots for concurrent requests to a server. Safe between threads, which are served in order.

    The window is the set of slots; its size is `limit`. It begins with one slot. Until the first
    reply arrives, one more request may start every five seconds, at most three. The window then has
    `WINDOW.max_second_requests` slots, or fewer if so many requests could not be answered one after
    the other within half of `timeout`. From then on it doubles as long as replies take no longer,
    or sufficiently more of them arrive per second. Otherwise it returns to the size at which
    replies per second stopped growing, and doubles again later.

    If the server reports that it is busy, the window shrinks to the requests in progress, and then
    grows in small steps. If a reply is late, it is halved. This is additive increase and
    multiplicative decrease (AIMD) with a doubling start. Within `limit_to_single_speed` the window
    grows only as long as replies take no longer than that to a single request.

    Parameters
    ----------
    fixed : fixed number of slots; 0 to adapt it.
    timeout : seconds until a reply is late.
    clock : returns the time in seconds.
    """

    check_seconds = 0.5  # between two checks for cancellation, or for the end of a pause

    def __init__(
        self, fixed: int = 0, timeout: float = 120.0, clock: Callable[[], float] = time.monotonic
    ):
        super().__init__()
        self._fixed_limit = fixed
        self._timeout = timeout
        self._clock = clock
        self._limit = 1
        self._step = WINDOW.max_requests  # largest growth of the window at a time
        self._hold_windows = WINDOW.first_hold_windows
        self._closed_until = 0.0  # time before which no request is sent to a busy server
        self._n_single_speed = 0  # callers inside `limit_to_single_speed`
        self._has_grown = False  # true after the window grew for the first time
        self._has_shrunk = False  # true after the server was late or busy
        self._first_send: float | None = None  # time of the first request
        self.reply_count = 0  # replies so far
        # The smaller window for comparison; None at the first window, or if the size is kept.
        self._previous_level: _Level | None = None
        self._begin_measurement(growing=True)

    @property
    def limit(self) -> int:
        """Number of requests that may be at the server now."""
        if self._fixed_limit or self.reply_count or self._has_shrunk or self._first_send is None:
            return self._fixed_limit or self._limit
        # A long first reply, perhaps to another user, must not delay other requests.
        n_early = int((self._clock() - self._first_send) / WINDOW.early_request_seconds)
        return self._limit + min(WINDOW.max_early_requests, n_early)

    @property
    def max_concurrent(self) -> int:
        """Number of requests that callers should start, some of them to be prepared meanwhile."""
        limit = self.limit
        if self._fixed_limit == 1:
            return 1
        return limit + min(WINDOW.max_prepared_pieces, limit) + 1

    @property
    def has_concurrent_requests(self) -> bool:
        """True if more than one request is at the server."""
        return self._at_work > 1

    @contextmanager
    def fixed_at(self, number: int) -> Iterator[None]:
        """Fix the number of concurrent requests within the block; 0 changes nothing."""
        previous, self._fixed_limit = self._fixed_limit, number or self._fixed_limit
        self._let_in()
        try:
            yield
        finally:
            self._fixed_limit = previous

    @contextmanager
    def limit_to_single_speed(self) -> Iterator[None]:
        """Limit concurrent requests within the block, for undelayed replies.

        Replies are then as fast as a single one. This is for comparing the durations of methods.
        The limit is measured anew, and larger ones are not tried later.
        """
        with self._lock:
            self._n_single_speed += 1
            if self._n_single_speed == 1:
                self._limit = 1
                self._step = WINDOW.max_requests
                self._has_grown = False
                self._begin_measurement(growing=True)
        try:
            yield
        finally:
            with self._lock:
                self._n_single_speed -= 1

    @contextmanager
    def hold_slot(self, watch: Watch = NO_WATCH, first: bool = False) -> Iterator[WindowSlot]:
        """Hold a slot of the window within the block.

        The block begins as soon as a slot is free.

        Parameters
        ----------
        watch : checked while waiting; may raise RunCancelled.
        first : if true, the request goes before all others, as it is sent again.

        Yields
        ------
        The slot, which reports when the request was answered.
        """
        self.acquire(watch, first)
        epoch = self._epoch  # a reply counts only for the measurement in which it was requested
        try:
            yield WindowSlot(lambda seconds: self._report_reply(epoch, seconds), self._clock)
        finally:
            self.release()

    def shrink_after_refusal(self, pause: float) -> None:
        """Shrink the window because the server is busy.

        Called while holding the slot of the refused request. If no other request is at the server,
        none is sent before `pause` seconds have passed.
        """
        with self._lock:
            others = self._at_work - 1
            self._shrink(max(1, min(self._limit, others)))
            if not others:
                self._closed_until = self._clock() + pause

    def shrink_after_timeout(self) -> None:
        """Shrink the window because a reply is late. Called while holding its slot."""
        with self._lock:
            self._shrink(max(1, self._at_work // 2))

    def _shrink(self, limit: int) -> None:
        """Shrink the window to `limit`.

        The next time, it grows by only an eighth.
        """
        self._hold_windows = min(WINDOW.max_hold_windows, 2 * self._hold_windows)
        self._has_shrunk = True
        self._limit = limit
        self._step = max(1, limit // 8)
        self._begin_measurement()

    def _begin_measurement(self, growing: bool = False, previous: _Level | None = None) -> None:
        """Start a new measurement.

        If `growing`, its result decides on a larger window, after comparison with `previous`.
        """
        self._epoch = object()  # identifies the measurement
        self._is_growing = growing
        self._previous_level = previous
        self._reply_seconds: list[float] = []  # of requests sent in this measurement
        self._measurement_start = self._last_count = self._clock()
        self._request_seconds = 0.0  # of all running requests together, up to `_last_count`

    def _seconds_until_check(self) -> float:
        pause = self._closed_until - self._clock()
        return min(self.check_seconds, pause) if pause > 0 else self.check_seconds

    def _report_reply(self, epoch: object, seconds: float) -> None:
        """Count a reply, and evaluate it for the current measurement.

        It is evaluated only if its request was sent in this measurement.
        """
        with self._lock:
            self.reply_count += 1
            if epoch is self._epoch and not self._fixed_limit:
                self._record_reply(seconds)
        self._let_in()

    def _may_enter(self) -> bool:
        return super()._may_enter() and self._clock() >= self._closed_until

    def _count(self, by: int) -> None:
        """Change the number of running requests, after adding up their time so far."""
        now = self._clock()
        self._request_seconds += self._at_work * (now - self._last_count)
        self._last_count = now
        super()._count(by)
        self._first_send = now if self._first_send is None and by > 0 else self._first_send

    def _record_reply(self, seconds: float) -> None:
        """Record a reply of this measurement, and decide if there are enough.

        After as many replies as the window has slots, it may grow at once. After twice as many, it
        grows or shrinks.
        """
        self._reply_seconds.append(seconds)
        limit = self._limit
        count = len(self._reply_seconds)
        if self._is_growing and count % limit == 0 and not self._is_full():
            # Too few callers used the window to tell the limit of the server.
            self._begin_measurement(True, self._previous_level)
        elif self._is_growing and count == limit:
            self._grow_early()
        elif self._is_growing and count == 2 * limit:
            self._grow_or_shrink()
        elif not (self._is_growing or self._n_single_speed) and count >= self._hold_windows * limit:
            self._climb(self._measure())

    def _measure(self) -> _Level:
        """Measure the window by its replies.

        The first window full of replies is left out if there are more. Replies per second follow
        from running requests and their duration, by Little's law.
        """
        seconds = fmean(self._reply_seconds[self._limit :] or self._reply_seconds)
        # Excludes requests that were sent when the window was larger.
        at_work = min(self._limit, self._mean_at_work())
        return _Level(self._limit, seconds, at_work / max(seconds, 1e-9))

    def _mean_at_work(self) -> float:
        """Return the mean number of running requests."""
        self._count(0)
        elapsed = self._last_count - self._measurement_start
        return self._request_seconds / elapsed if elapsed else float(self._at_work)

    def _is_full(self) -> bool:
        """Return whether the window was about full, so that its size limited the speed."""
        return self._mean_at_work() >= WINDOW.full_fraction * self._limit

    def _grow_early(self) -> None:
        """Grow if replies are no slower than with the smaller window.

        The window also grows if there was no smaller one.
        """
        level = self._measure()
        if (
            self._previous_level is None
            or level.seconds <= WINDOW.max_equal_slowdown * self._previous_level.seconds
        ):
            self._hold_windows = WINDOW.first_hold_windows
            self._climb(level)

    def _grow_or_shrink(self) -> None:
        """Grow if replies per second increased about as much as the window, else shrink.

        The window shrinks to the size at which the server was full.
        """
        level = self._measure()
        smaller = self._previous_level
        assert smaller is not None  # the first window always grows before this
        rate_gain = level.rate / smaller.rate
        if (
            rate_gain >= WINDOW.min_gain_fraction * level.limit / smaller.limit
            and not self._n_single_speed
        ):
            self._hold_windows = WINDOW.first_hold_windows
            self._climb(level)
            return
        self._hold_windows = min(WINDOW.max_hold_windows, 2 * self._hold_windows)
        # The server was full at the smaller window times the gain. Up to 0.3 of a slot more is
        # taken for an error of measurement.
        full_limit = ceil(smaller.limit * rate_gain - 0.3)
        self._limit = min(level.limit, max(1, smaller.limit // 2, full_limit))
        self._begin_measurement()

    def _climb(self, level: _Level) -> None:
        """Enlarge the window after a measurement, and measure the new size.

        It doubles, but grows by at most `_step`, which doubles each time.
        """
        first_limit = 2
        if not self._has_grown:
            n_in_time = int(self._timeout / 2 / max(level.seconds, 1e-9))
            first_limit = max(2, min(WINDOW.max_second_requests, n_in_time))
        self._has_grown = True
        new_limit = min(
            WINDOW.max_requests, max(first_limit, 2 * level.limit), level.limit + self._step
        )
        if new_limit == level.limit:
            self._begin_measurement()
            return
        self._step = 2 * max(self._step, new_limit - level.limit)
        self._limit = new_limit
        # Inside `limit_to_single_speed`, all windows are compared with the first one.
        reference = self._previous_level if self._n_single_speed else None
        self._begin_measurement(True, reference or level)
