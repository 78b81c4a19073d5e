"""Locks and slots for concurrent work, with waits that can be cancelled."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from core.runtime.meter import count_time
from core.runtime.turn import pass_turn
from core.watch import NO_WATCH, Watch


@contextmanager
def hold_lock(lock: threading.Lock, watch: Watch = NO_WATCH) -> Iterator[None]:
    """Hold a lock within the block.

    While this thread waits for the lock, other work may take its turn. Raises errors of `watch`.
    """
    if not lock.acquire(blocking=False):
        with count_time("waiting"), pass_turn(waits=True):
            while not lock.acquire(timeout=Slots.check_seconds):
                watch.check()
    try:
        yield
    finally:
        lock.release()


class Slots:
    """Slots for concurrent work, given in the order of the requests.

    Waiting can be cancelled. A `threading.Semaphore` does neither: a new thread may overtake
    waiting threads. A slot may be released by another thread than the one that took it. Subclasses
    may change the conditions under which a thread gets a slot.
    """

    check_seconds = 0.1  # between two checks for cancellation

    def __init__(self, number: int = 1) -> None:
        self._number = number
        self._at_work = 0  # slots in use
        self._lock, self._emptying = threading.RLock(), threading.Lock()
        self._waiting: deque[threading.Event] = deque()

    @property
    def limit(self) -> int:
        """Number of slots."""
        return self._number

    @property
    def has_waiting(self) -> bool:
        """True if some thread waits for a slot."""
        return bool(self._waiting)

    def acquire(self, watch: Watch = NO_WATCH, first: bool = False) -> None:
        """Take a slot once all earlier requests are served.

        With `first`, the request is served before all others. Raises errors of `watch`.
        """
        turn = threading.Event()
        with self._lock:
            self._waiting.appendleft(turn) if first else self._waiting.append(turn)
            self._let_in()
        if turn.is_set():
            return
        try:
            with count_time("waiting"):
                while not turn.wait(self._seconds_until_check()):
                    watch.check()
                    self._let_in()
        except BaseException:
            with self._lock:
                if turn.is_set():  # the slot was given just before the wait was cancelled
                    self._count(-1)
                else:
                    self._waiting.remove(turn)
                self._let_in()
            raise

    def release(self) -> None:
        """Give a slot back, so that the next waiting thread gets it."""
        with self._lock:
            self._count(-1)
            self._let_in()

    @contextmanager
    def hold_all(self) -> Iterator[None]:
        """Hold all slots within the block, after the running work has ended."""
        # Without the lock, two threads could each hold a part of the slots forever.
        with self._emptying, ExitStack() as held:
            for _ in range(self.limit):
                held.enter_context(self)
            yield

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def _seconds_until_check(self) -> float:
        """Return the seconds after which a waiting thread looks for a slot by itself."""
        return self.check_seconds

    def _may_enter(self) -> bool:
        return self._at_work < self.limit

    def _let_in(self) -> None:
        """Give the free slots to the threads that have waited longest."""
        with self._lock:
            while self._waiting and self._may_enter():
                self._count(1)
                self._waiting.popleft().set()

    def _count(self, by: int) -> None:
        self._at_work += by
