"""Slots for concurrent requests to a server, in a fixed or adaptive number."""

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
    """Numbers of concurrent requests to a server, and how they adapt to its speed."""

    max_second_requests: int = 8  # concurrent requests after the first reply
    early_request_seconds: float = 5.0  # between early requests
    max_early_requests: int = 3  # sent before the first reply has arrived
    max_requests: int = 128  # concurrent requests, unless a number is given
    max_prepared_pieces: int = 16  # requests prepared while the window is full
    full_fraction: float = 0.7  # mean share of slots in use above which the window is measured
    max_equal_slowdown: float = 1.2  # replies that take up to 1.2 times as long count as no slower
    # Smallest growth of replies per second, as a fraction of the window's growth. Below it, the
    # server counts as full.
    min_gain_fraction: float = 0.7
    first_hold_windows: int = 4  # windows full of replies until a larger window is tried again
    max_hold_windows: int = 64


WINDOW = WindowDefaults()


@dataclass(frozen=True)
class _Level:
    """Measurement of a window size: seconds per reply, and replies per second."""

    limit: int
    seconds: float
    rate: float


class WindowSlot:
    """A request's slot in a window, which reports when the request was answered.

    Parameters
    ----------
    report : called with the seconds until the request was answered.
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

    The window begins with one request. Until the first reply arrives, one more may start every five
    seconds, at most three. The window then has `WINDOW.max_second_requests` slots, or fewer if
    these could not be answered within half of `timeout` one after the other. It doubles as long as
    replies are no slower, or enough more of them arrive per second. Otherwise it returns to the
    size at which replies per second stopped growing, and tries twice as many again later.

    If the server reports that it is busy, the window shrinks to the requests in progress, and then
    grows in small steps. If a reply is late, it is halved. This is additive increase and
    multiplicative decrease (AIMD) with a doubling start. Within `limit_to_single_speed` the window
    grows only as long as replies take no longer than a single one.

    Parameters
    ----------
    fixed : a fixed number of slots; 0 to adapt it.
    timeout : seconds until a reply is late.
    clock : returns the time in seconds.
    """

    # Also the time between two checks if a busy server may be asked again.
    check_seconds = 0.5

    def __init__(
        self, fixed: int = 0, timeout: float = 120.0, clock: Callable[[], float] = time.monotonic
    ):
        super().__init__()
        self._fixed_limit = fixed
        self._timeout = timeout
        self._clock = clock
        self._limit = 1
        self._step = WINDOW.max_requests
        self._hold = WINDOW.first_hold_windows
        self._closed_until = 0.0
        self._n_unhurried = 0  # callers inside `limit_to_single_speed`
        # True after the window grew for the first time, and after the server was late or busy.
        self._has_grown = self._shrunk = False
        self._sent: float | None = None  # time of the first request
        self.reply_count = 0  # replies so far
        # The smaller window for comparison; None while the size stays the same.
        self._previous_level: _Level | None = None
        self._begin(climbing=True)

    @property
    def limit(self) -> int:
        """Number of requests that may be at the server now."""
        if self._fixed_limit or self.reply_count or self._shrunk or self._sent is None:
            return self._fixed_limit or self._limit
        # A long first reply, perhaps to another user, must not delay other requests.
        n_early = int((self._clock() - self._sent) / WINDOW.early_request_seconds)
        return self._limit + min(WINDOW.max_early_requests, n_early)

    @property
    def max_concurrent(self) -> int:
        """Number of requests that fill the window, and some to be prepared meanwhile."""
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
        """Limit concurrent requests within the block, to keep replies as fast as a single one.

        This is for comparing durations. The limit is measured anew, and larger ones are not tried
        later.
        """
        with self._lock:
            self._n_unhurried += 1
            if self._n_unhurried == 1:
                self._limit = 1
                self._step = WINDOW.max_requests
                self._has_grown = False
                self._begin(climbing=True)
        try:
            yield
        finally:
            with self._lock:
                self._n_unhurried -= 1

    @contextmanager
    def hold_slot(self, watch: Watch = NO_WATCH, first: bool = False) -> Iterator[WindowSlot]:
        """Hold a slot of the window within the block, as soon as one is free.

        Parameters
        ----------
        watch : checked while waiting; may raise RunCancelled.
        first : if true, it goes before all others, for a request that is sent again.

        Yields
        ------
        The slot, which reports when the request was answered.
        """
        self.acquire(watch, first)
        epoch = self._epoch
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
        self._hold = min(WINDOW.max_hold_windows, 2 * self._hold)
        self._shrunk = True
        self._limit = limit
        self._step = max(1, limit // 8)
        self._begin()

    def _begin(self, climbing: bool = False, previous: _Level | None = None) -> None:
        """Start a new measurement; while `climbing`, it is compared with `previous`."""
        self._epoch = object()
        self._climbing = climbing
        self._previous_level = previous
        self._reply_seconds: list[float] = []  # of requests sent in this measurement
        self._since = self._counted_at = self._clock()
        self._busy = 0.0

    def _seconds_until_check(self) -> float:
        pause = self._closed_until - self._clock()
        return min(self.check_seconds, pause) if pause > 0 else self.check_seconds

    def _report_reply(self, epoch: object, seconds: float) -> None:
        with self._lock:
            self.reply_count += 1
            if epoch is self._epoch and not self._fixed_limit:
                self._add_reply(seconds)
        self._let_in()

    def _may_enter(self) -> bool:
        return super()._may_enter() and self._clock() >= self._closed_until

    def _count(self, by: int) -> None:
        now = self._clock()
        self._busy += self._at_work * (now - self._counted_at)
        self._counted_at = now
        super()._count(by)
        self._sent = now if self._sent is None and by > 0 else self._sent

    def _add_reply(self, seconds: float) -> None:
        """Record a reply to a request of this window size.

        After each window full of replies, they are evaluated.
        """
        self._reply_seconds.append(seconds)
        limit = self._limit
        count = len(self._reply_seconds)
        if self._climbing and count % limit == 0 and not self._in_use():
            self._begin(True, self._previous_level)
        elif self._climbing and count == limit:
            self._grow_early()
        elif self._climbing and count == 2 * limit:
            self._grow_or_shrink()
        elif not self._climbing and not self._n_unhurried and count >= self._hold * limit:
            self._climb(self._measure())

    def _measure(self) -> _Level:
        """Measure the window by the replies after the first ones.

        Replies per second follow from running requests and their duration, by Little's law.
        """
        seconds = fmean(self._reply_seconds[self._limit :] or self._reply_seconds)
        # Excludes requests that were sent when the window was larger.
        at_work = min(self._limit, self._mean_at_work())
        return _Level(self._limit, seconds, at_work / max(seconds, 1e-9))

    def _mean_at_work(self) -> float:
        """Return the mean number of running requests."""
        self._count(0)
        elapsed = self._counted_at - self._since
        return self._busy / elapsed if elapsed else float(self._at_work)

    def _in_use(self) -> bool:
        """Return whether the window was about full, so that its size limits the speed."""
        return self._mean_at_work() >= WINDOW.full_fraction * self._limit

    def _grow_early(self) -> None:
        """Grow if replies are no slower than with the smaller window, or if there was none."""
        level = self._measure()
        if (
            self._previous_level is None
            or level.seconds <= WINDOW.max_equal_slowdown * self._previous_level.seconds
        ):
            self._hold = WINDOW.first_hold_windows
            self._climb(level)

    def _grow_or_shrink(self) -> None:
        """Grow if replies per second increase about as much as the window, else shrink.

        The window then shrinks to the size at which the server was full.
        """
        level = self._measure()
        smaller = self._previous_level
        assert smaller is not None  # the first window always grows before this
        rate_gain = level.rate / smaller.rate
        if (
            rate_gain >= WINDOW.min_gain_fraction * level.limit / smaller.limit
            and not self._n_unhurried
        ):
            self._hold = WINDOW.first_hold_windows
            self._climb(level)
            return
        self._hold = min(WINDOW.max_hold_windows, 2 * self._hold)
        self._limit = min(
            level.limit, max(1, smaller.limit // 2, ceil(smaller.limit * rate_gain - 0.3))
        )
        self._begin()

    def _climb(self, level: _Level) -> None:
        """Enlarge the window after a measurement, and measure the new size."""
        first_limit = 2
        if not self._has_grown:
            n_in_time = int(self._timeout / 2 / max(level.seconds, 1e-9))
            first_limit = max(2, min(WINDOW.max_second_requests, n_in_time))
        self._has_grown = True
        new_limit = min(
            WINDOW.max_requests, max(first_limit, 2 * level.limit), level.limit + self._step
        )
        if new_limit == level.limit:
            self._begin()
            return
        self._step = 2 * max(self._step, new_limit - level.limit)
        self._limit = new_limit
        # Inside `limit_to_single_speed`, all windows are compared with the first one.
        reference = self._previous_level if self._n_unhurried else None
        self._begin(True, reference or level)
