"""Cancellable work at a model that handles one request at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from core.runtime.account import accounts, charged_to
from core.runtime.meter import current, going_on, spent
from core.runtime.places import Places
from core.watch import NO_WATCH, Watch

LOOK = 0.1  # seconds between two checks for cancellation
T = TypeVar("T")


def patiently(work: Callable[[], T], watch: Watch = NO_WATCH) -> T:
    """Run `work` in a thread and return its result, so that `watch` can raise at any time.

    If it raises, the work continues in its thread until it ends or checks `watch` itself.
    """
    if watch is NO_WATCH:  # it cannot be cancelled
        return work()
    done, meter, charged = threading.Event(), current(), accounts()
    values: list[T] = []
    faults: list[BaseException] = []

    def run() -> None:
        try:
            with going_on(meter), charged_to(*charged):
                values.append(work())
        except BaseException as error:  # raised below, in the waiting thread
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
    """Run `work` while holding a slot of `lock`, and return its result.

    `watch` may raise while waiting for the slot and at any time of the work. The work then keeps
    the slot until it ends.
    """
    watch.check()
    with spent("waiting"):
        lock.acquire(watch)

    def held() -> T:
        try:
            return work()
        finally:
            lock.release()

    return patiently(held, watch)
