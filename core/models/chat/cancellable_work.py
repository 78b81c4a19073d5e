"""Work of models that its caller can abandon at any time.

Libraries cannot be interrupted while they compute. The work therefore runs in its own thread, and
only the caller stops waiting for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from core.runtime.account import accounts, charged_to
from core.runtime.meter import count_time, current_meter, use_meter
from core.runtime.slots import Slots
from core.watch import NO_WATCH, Watch

THREAD_CHECK_SECONDS = 0.1  # between two checks for cancellation
T = TypeVar("T")


def run_cancellable(work: Callable[[], T], watch: Watch = NO_WATCH) -> T:
    """Run work in a thread and return its result, unless `watch` raises meanwhile.

    If `watch` raises, the work continues in its thread until it ends or checks `watch` itself. Its
    time and costs count for the caller.

    Parameters
    ----------
    work : called without arguments.
    watch : checked while the work runs; it may raise RunCancelled.

    Returns
    -------
    The result of the work. Its errors are raised here.
    """
    if watch is NO_WATCH:  # the caller never cancels, so no thread is needed
        return work()
    done = threading.Event()
    meter = current_meter()
    charged_accounts = accounts()
    results: list[T] = []
    faults: list[BaseException] = []

    def run() -> None:
        try:
            with use_meter(meter), charged_to(*charged_accounts):
                results.append(work())
        except BaseException as error:  # raised below, in the waiting thread
            faults.append(error)
        finally:
            done.set()

    threading.Thread(target=run, name="patient", daemon=True).start()
    while not done.wait(THREAD_CHECK_SECONDS):
        watch.check()
    if faults:
        raise faults[0]
    return results[0]


def run_in_slot(slots: Slots, work: Callable[[], T], watch: Watch = NO_WATCH) -> T:
    """Run work while holding one of a model's slots, and return its result.

    If `watch` raises during the work, the slot is released when the work ends.

    Parameters
    ----------
    slots : the slots of the model.
    work : called without arguments.
    watch : checked while waiting for the slot and while the work runs; it may raise RunCancelled.

    Returns
    -------
    The result of the work. Its errors are raised here.
    """
    watch.check()
    with count_time("waiting"):
        slots.acquire(watch)

    def run_and_release() -> T:
        try:
            return work()
        finally:
            slots.release()

    return run_cancellable(run_and_release, watch)
