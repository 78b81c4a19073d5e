"""Model slots that are granted in order, and work that can be cancelled while it runs."""

from __future__ import annotations

import threading
import time

import pytest

from core.errors import RunCancelled
from core.models.chat.cancellable_work import run_cancellable, run_in_slot
from core.runtime.meter import count_time, metered
from core.runtime.slots import Slots
from core.watch import Watch


def cancel() -> None:
    raise RunCancelled


def test_slots_are_granted_in_order():
    lock, order, threads = Slots(), [], []
    lock.acquire()
    for number in range(5):
        threads.append(
            threading.Thread(target=lambda n=number: run_in_slot(lock, lambda: order.append(n)))
        )
        threads[-1].start()
        while len(lock._waiting) < number + 1:
            time.sleep(0.001)
    lock.release()
    for thread in threads:
        thread.join(30)
    assert order == [0, 1, 2, 3, 4]


def test_cancelled_waiter_keeps_the_order_of_others():
    lock, done = Slots(), threading.Event()
    lock.acquire()
    with pytest.raises(RunCancelled):
        run_in_slot(lock, lambda: None, Watch(cancel))
    waiting = threading.Thread(target=lambda: run_in_slot(lock, done.set))
    waiting.start()
    lock.release()
    assert done.wait(30)


def test_uncancellable_work_holds_its_slot_until_it_ends():
    lock, go, begun, ended = Slots(), threading.Event(), threading.Event(), threading.Event()

    def check() -> None:
        if begun.is_set():
            raise RunCancelled

    def work() -> None:
        begun.set()
        go.wait(30)
        ended.set()

    with pytest.raises(RunCancelled):
        run_in_slot(lock, work, Watch(check))
    assert not ended.is_set()
    with pytest.raises(RunCancelled):
        run_in_slot(lock, lambda: None, Watch(cancel))  # still held
    go.set()
    run_in_slot(lock, lambda: None)


def test_results_and_errors_are_passed_on():
    assert run_cancellable(lambda: 7) == 7
    with pytest.raises(KeyError):
        run_cancellable(lambda: {}["nothing"])


def test_work_time_is_charged_to_the_caller():
    def work() -> None:
        with count_time("model"):
            time.sleep(0.05)

    with metered() as meter:
        run_in_slot(Slots(), work)
    assert meter.seconds["model"] >= 0.05 and set(meter.seconds) == {"waiting", "model"}
