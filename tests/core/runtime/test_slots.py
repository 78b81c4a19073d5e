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


def test_as_many_as_there_are_places_are_at_work():
    places = Slots(2)
    places.acquire()
    places.acquire()
    with pytest.raises(RunCancelled):
        places.acquire(Watch(cancel))
    places.release()
    places.acquire(Watch(cancel))  # The check is not called, since a slot is free.
    assert not places.wanted


def test_who_goes_first_goes_before_those_who_wait():
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


def test_places_are_emptied_once_all_at_work_have_ended_by_one_after_the_other():
    places, ends, order = Slots(3), threading.Event(), []

    def work() -> None:
        with places:
            ends.wait(SECONDS)
            order.append("work")

    def empty() -> None:
        with places.emptied():
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
    while not places.wanted:
        time.sleep(0.001)
    assert order == []
    ends.set()
    for thread in threads:
        thread.join(SECONDS)
    assert order == ["work", "work", "emptied", "emptied"] and places._at_work == 0
