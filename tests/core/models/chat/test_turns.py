"""Turns at a model in the order asked for, and work that a person need not wait for."""

from __future__ import annotations

import threading
import time

import pytest

from core.errors import Cancelled
from core.models.chat.turns import in_turn, patiently
from core.runtime.meter import metered, spent
from core.runtime.places import Places
from core.watch import Watch


def cancel() -> None:
    raise Cancelled


def test_turns_come_in_the_order_asked_for():
    lock, order, threads = Places(), [], []
    lock.acquire()
    for number in range(5):
        threads.append(
            threading.Thread(target=lambda n=number: in_turn(lock, lambda: order.append(n)))
        )
        threads[-1].start()
        while len(lock._waiting) < number + 1:
            time.sleep(0.001)
    lock.release()
    for thread in threads:
        thread.join(30)
    assert order == [0, 1, 2, 3, 4]


def test_who_stops_waiting_leaves_the_others_their_turn():
    lock, done = Places(), threading.Event()
    lock.acquire()
    with pytest.raises(Cancelled):
        in_turn(lock, lambda: None, Watch(cancel))
    waiting = threading.Thread(target=lambda: in_turn(lock, done.set))
    waiting.start()
    lock.release()
    assert done.wait(30)


def test_work_that_does_not_look_is_left_at_once_and_keeps_its_turn_until_it_ends():
    lock, go, begun, ended = Places(), threading.Event(), threading.Event(), threading.Event()

    def check() -> None:
        if begun.is_set():
            raise Cancelled

    def work() -> None:
        begun.set()
        go.wait(30)
        ended.set()

    with pytest.raises(Cancelled):
        in_turn(lock, work, Watch(check))
    assert not ended.is_set()
    with pytest.raises(Cancelled):
        in_turn(lock, lambda: None, Watch(cancel))  # still held
    go.set()
    in_turn(lock, lambda: None)


def test_what_the_work_returns_or_raises_comes_out():
    assert patiently(lambda: 7) == 7
    with pytest.raises(KeyError):
        patiently(lambda: {}["nothing"])


def test_the_time_of_the_work_is_that_of_who_waits_for_it():
    def work() -> None:
        with spent("model"):
            time.sleep(0.05)

    with metered() as meter:
        in_turn(Places(), work)
    assert meter.seconds["model"] >= 0.05 and set(meter.seconds) == {"waiting", "model"}
