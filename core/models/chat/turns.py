"""Work at a model that is given one thing after the other, which a person may cancel at any moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from core.runtime.account import accounts, charged_to
from core.runtime.meter import current, going_on, spent
from core.runtime.places import Places
from core.watch import NO_WATCH, Watch

LOOK = 0.1  # seconds between two looks at whether somebody cancelled
T = TypeVar("T")


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


def in_turn(lock: Places, work: Callable[[], T], watch: Watch = NO_WATCH) -> T:
    """What `work` returns or raises, done while it has a place of `lock`; `watch` may raise while waiting for it and at any moment
    of the work, which then keeps the place until it has ended."""
    watch.check()
    with spent("waiting"):
        lock.acquire(watch)

    def held() -> T:
        try:
            return work()
        finally:
            lock.release()

    return patiently(held, watch)
