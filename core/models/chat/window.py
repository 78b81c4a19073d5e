"""Places for the requests at a server: as many as it turns out to answer at a time.

The number is found while requests are answered, or fixed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from statistics import fmean

from core.runtime.places import Places
from core.watch import NO_WATCH, Watch

START = 8  # requests at a time after the first one
# seconds of the first reply after each of which one more request may go beside it, and how many at most
PATIENCE, EARLY = (5.0, 3)
LARGEST = 128  # requests at a time, where no number is given
AHEAD = 16  # pieces of work that are made ready while the window is full, at most
FULL = 0.7  # of the window in use, on average, so that replies say what it gives
ALIKE = 1.2  # times as long as before: up to which a reply is no slower
GAIN = 0.7  # of what a larger window would give of replies a second, were the server without a limit: less says that it is full
# windows of replies until a larger one is tried again: the first time, and at most
HOLD, LONGEST_HOLD = (4, 64)


@dataclass(frozen=True)
class _Level:
    """What a window of so many requests gave: seconds of a reply, and replies a second."""

    limit: int
    seconds: float
    rate: float


class Place:
    """A request's place of a window, which is told when it was answered."""

    def __init__(self, tell: Callable[[float], None], clock: Callable[[], float]):
        self._tell, self._clock, self._start = tell, clock, clock()

    def answered(self) -> None:
        """The reply is there."""
        self._tell(self._clock() - self._start)


class Window(Places):
    """The requests that may be at a server at a time. Safe between threads, which get their turn in the order in which they came.

    It begins with one request, and up to three more where the first reply takes more than five seconds each, goes on with `START` where
    these are answered within half of `timeout` even one after the other, and doubles as long as replies are no slower, or so many more of
    them come in a second that it pays. Else it goes back to where the server was full by what came in a second, and tries twice as many
    again after a while. Where the server says that it is busy, the window becomes what the server has in hand then, and grows in small
    steps from there; where a reply does not come in time, it is halved. So it is additive increase and multiplicative decrease (AIMD),
    with a doubling start. `fixed` is a number that somebody chose, and stays. Within `no_slower` it grows only as far as replies take as
    long as one alone.
    """

    look_seconds = 0.5  # also between two looks at whether a busy server may be asked again

    def __init__(
        self, fixed: int = 0, timeout: float = 120.0, clock: Callable[[], float] = time.monotonic
    ):
        super().__init__()
        self._fixed, self._timeout, self._clock = fixed, timeout, clock
        self._limit, self._step, self._hold, self._closed = 1, LARGEST, HOLD, 0.0
        self._unhurried = 0  # works that want replies no slower than one alone
        self._began = self._shrunk = (
            False  # whether it has grown for the first time, and whether the server was ever too slow or busy
        )
        self._sent: float | None = None  # when the first request was
        self.answers = 0  # replies so far
        self._before: _Level | None = None  # what is compared with; None while the window holds
        self._begin(climbing=True)

    @property
    def limit(self) -> int:
        """How many requests may be at the server now."""
        if self._fixed or self.answers or self._shrunk or self._sent is None:
            return self._fixed or self._limit
        # a long first reply, as to another person, holds nobody up
        return self._limit + min(EARLY, int((self._clock() - self._sent) / PATIENCE))

    @property
    def at_once(self) -> int:
        """How many pieces of work fill the window, with some that are made ready meanwhile."""
        limit = self.limit
        return limit if self._fixed == 1 else limit + min(AHEAD, limit) + 1

    @property
    def crowded(self) -> bool:
        """Whether other requests are at the server beside one."""
        return self._at_work > 1

    @contextmanager
    def fixed_at(self, number: int) -> Iterator[None]:
        """Within, so many requests may be at the server, whatever was found; 0 changes nothing."""
        before, self._fixed = self._fixed, number or self._fixed
        self._let_in()
        try:
            yield
        finally:
            self._fixed = before

    @contextmanager
    def no_slower(self) -> Iterator[None]:
        """Within, no more requests are at the server than it answers as fast as one alone, as where seconds are compared; it is found out
        anew, and not tried again later."""
        with self._lock:
            self._unhurried += 1
            if self._unhurried == 1:
                self._limit, self._step, self._began = 1, LARGEST, False
                self._begin(climbing=True)
        try:
            yield
        finally:
            with self._lock:
                self._unhurried -= 1

    @contextmanager
    def place(self, watch: Watch = NO_WATCH, first: bool = False) -> Iterator[Place]:
        """A place of the window, once one is free; `first` goes before all others, as of a request that was refused. `watch` may raise
        while waiting for it."""
        self.acquire(watch, first)
        epoch = self._epoch
        try:
            yield Place(lambda seconds: self._answered(epoch, seconds), self._clock)
        finally:
            self.release()

    def refused(self, pause: float) -> None:
        """The server is busy. Called within the place of the request that it refused; where no other is at the server, none is sent
        before `pause` seconds are over."""
        with self._lock:
            others = self._at_work - 1
            self._shrink(max(1, min(self._limit, others)))
            if not others:
                self._closed = self._clock() + pause

    def overdue(self) -> None:
        """A reply did not come in time. Called within the place of its request."""
        with self._lock:
            self._shrink(max(1, self._at_work // 2))

    def _shrink(self, limit: int) -> None:
        self._hold, self._shrunk = min(LONGEST_HOLD, 2 * self._hold), True
        self._limit, self._step = limit, max(1, limit // 8)
        self._begin()

    def _begin(self, climbing: bool = False, before: _Level | None = None) -> None:
        """Look anew at what the window gives: while it is `climbing`, compared with `before`."""
        self._epoch = object()
        self._climbing, self._before = climbing, before
        self._taken: list[float] = []  # seconds of the replies that were asked for since
        self._since = self._turned = self._clock()
        self._busy = 0.0

    def _until_a_look(self) -> float:
        closed = self._closed - self._clock()
        return min(self.look_seconds, closed) if closed > 0 else self.look_seconds

    def _answered(self, epoch: object, seconds: float) -> None:
        with self._lock:
            self.answers += 1
            if epoch is self._epoch and not self._fixed:
                self._replied(seconds)
        self._let_in()

    def _may_enter(self) -> bool:
        return super()._may_enter() and self._clock() >= self._closed

    def _count(self, by: int) -> None:
        now = self._clock()
        self._busy += self._at_work * (now - self._turned)
        self._turned = now
        super()._count(by)
        self._sent = now if self._sent is None and by > 0 else self._sent

    def _replied(self, seconds: float) -> None:
        """A reply to a request that was sent with this window: after as many as it has places they say something of it."""
        self._taken.append(seconds)
        limit, count = self._limit, len(self._taken)
        if self._climbing and count % limit == 0 and not self._in_use():
            self._begin(True, self._before)
        elif self._climbing and count == limit:
            self._look_early()
        elif self._climbing and count == 2 * limit:
            self._look()
        elif not self._climbing and not self._unhurried and count >= self._hold * limit:
            self._climb(self._measured())

    def _measured(self) -> _Level:
        """What the window gives, by the replies behind the first ones; of the requests at work and their seconds, by Little's law."""
        seconds = fmean(self._taken[self._limit :] or self._taken)
        # without those that were sent when the window was larger
        at_work = min(self._limit, self._usual())
        return _Level(self._limit, seconds, at_work / max(seconds, 1e-9))

    def _usual(self) -> float:
        """How many requests were at work, on average."""
        self._count(0)
        elapsed = self._turned - self._since
        return self._busy / elapsed if elapsed else float(self._at_work)

    def _in_use(self) -> bool:
        """Whether the window was about full, so that it is its size that limits what comes."""
        return self._usual() >= FULL * self._limit

    def _look_early(self) -> None:
        """Grow at once where replies are no slower than those of the smaller window, or there was none."""
        level = self._measured()
        if self._before is None or level.seconds <= ALIKE * self._before.seconds:
            self._hold = HOLD
            self._climb(level)

    def _look(self) -> None:
        """Grow on where about as many more replies come in a second as the window is larger, else go back to where the server was full."""
        level, before = self._measured(), self._before
        assert before is not None  # a first window has grown before
        gained = level.rate / before.rate
        if gained >= GAIN * level.limit / before.limit and not self._unhurried:
            self._hold = HOLD
            self._climb(level)
            return
        self._hold = min(LONGEST_HOLD, 2 * self._hold)
        self._limit = min(level.limit, max(1, before.limit // 2, ceil(before.limit * gained - 0.3)))
        self._begin()

    def _climb(self, level: _Level) -> None:
        if self._began:
            start = 2
        else:
            start = max(2, min(START, int(self._timeout / 2 / max(level.seconds, 1e-9))))
        self._began = True
        larger = min(LARGEST, max(start, 2 * level.limit), level.limit + self._step)
        if larger == level.limit:
            self._begin()
            return
        self._step = 2 * max(self._step, larger - level.limit)
        self._limit = larger
        self._begin(True, self._before if self._unhurried and self._before else level)
