"""A turn at a model that does one thing at a time, and work in which a person may lose patience."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from core.runtime.account import accounts, charged_to
from core.runtime.meter import current, going_on, spent
from core.watch import NO_WATCH, Watch

LOOK = 0.1  # seconds between two looks at whether somebody cancelled
T = TypeVar("T")


class Turn:
    """A lock that is given in the order in which it was asked for, so that many short requests let others in between."""

    def __init__(self) -> None:
        self._held, self._guard = False, threading.Lock()
        self._asked: deque[threading.Event] = deque()

    @property
    def wanted(self) -> bool:
        """Whether somebody waits for it."""
        return bool(self._asked)

    def acquire(self, watch: Watch = NO_WATCH) -> None:
        """Take it, once it is free and nobody asked before; `watch` is called while waiting and may raise."""
        mine = threading.Event()
        with self._guard:
            if not self._held:
                self._held = True
                return
            self._asked.append(mine)
        try:
            while not mine.wait(LOOK):
                watch.check()
        except BaseException:
            with self._guard:
                given = mine.is_set()
                if not given:
                    self._asked.remove(mine)
            if given:
                self.release()
            raise

    def release(self) -> None:
        """Give it to the next."""
        with self._guard:
            if self._asked:
                self._asked.popleft().set()
            else:
                self._held = False

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_) -> None:
        self.release()


def patiently(work: Callable[[], T], watch: Watch = NO_WATCH) -> T:
    """What `work` returns or raises, done in a thread of its own, so that `watch` may raise at any moment of it.

    The work then goes on by itself until it ends or looks at `watch` too.
    """
    if watch is NO_WATCH:  # nobody may cancel it
        return work()
    done, meter, charged = threading.Event(), current(), accounts()
    values: list[T] = []
    faults: list[BaseException] = []

    def run() -> None:
        try:
            with going_on(meter), charged_to(*charged):
                values.append(work())
        except BaseException as error:  # raised below, in the thread that waits
            faults.append(error)
        finally:
            done.set()

    threading.Thread(target=run, name="patient", daemon=True).start()
    while not done.wait(LOOK):
        watch.check()
    if faults:
        raise faults[0]
    return values[0]


def in_turn(lock: Turn, work: Callable[[], T], watch: Watch = NO_WATCH) -> T:
    """What `work` returns or raises, done while `lock` is held; `watch` may raise while waiting for it and at any moment of the
    work, which then holds the lock until it has ended."""
    watch.check()
    with spent("waiting"):
        lock.acquire(watch)

    def held() -> T:
        try:
            return work()
        finally:
            lock.release()

    return patiently(held, watch)
