"""Slots that are granted in order of request, singly or all together."""

from __future__ import annotations

import threading
import time

import pytest

from core.errors import RunCancelled
from core.runtime.slots import Slots
from core.watch import Watch

SECONDS = 30


def cancel() -> None:
    raise RunCancelled


def test_number_of_running_items_is_the_number_of_slots():
    places = Slots(2)
    places.acquire()
    places.acquire()
    with pytest.raises(RunCancelled):
        places.acquire(Watch(cancel))
    places.release()
    places.acquire(Watch(cancel))  # The check is not called, since a slot is free.
    assert not places.has_waiting


def test_priority_request_precedes_waiting_ones():
    places, order, threads = Slots(), [], []
    places.acquire()
    for first in (False, True):

        def work(first: bool = first) -> None:
            places.acquire(first=first)
            order.append(first)
            places.release()

        threads.append(threading.Thread(target=work))
        threads[-1].start()
        while len(places._waiting) < len(threads):
            time.sleep(0.001)
    places.release()
    for thread in threads:
        thread.join(SECONDS)
    assert order == [True, False]


def test_all_slots_are_taken_after_running_work_ends():
    places, ends, order = Slots(3), threading.Event(), []

    def work() -> None:
        with places:
            ends.wait(SECONDS)
            order.append("work")

    def empty() -> None:
        with places.hold_all():
            order.append("emptied")
            assert places._at_work == 3

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    while places._at_work < 2:
        time.sleep(0.001)
    threads += [threading.Thread(target=empty) for _ in range(2)]
    for thread in threads[2:]:
        thread.start()
    while not places.has_waiting:
        time.sleep(0.001)
    assert order == []
    ends.set()
    for thread in threads:
        thread.join(SECONDS)
    assert order == ["work", "work", "emptied", "emptied"] and places._at_work == 0
