"""Comparisons end when nobody waits for them, and continue otherwise."""

from __future__ import annotations

import threading
import time

import pytest

from core.comparison.waiters import Waiter, Waiters
from core.engine import Engine
from core.methods.catalogue import Method
from core.operators.text import parse_line
from core.sources import GraphSource
from core.types import Question

SLOW = "EgoNetwork() >> ShortestPaths() >> Rank(model='slow')"


class BlockingChooser:
    """A chooser that never returns before it is cancelled."""

    def __init__(self):
        self.go, self.reached = threading.Event(), threading.Event()

    def choose(self, task, texts, k):
        self.reached.set()
        while not self.go.wait(0.02):
            task.watch.check()
        raise AssertionError("nobody should have let it go on")


@pytest.fixture
def engine(kit):
    made = Engine(kit.Written(slow=BlockingChooser(), encoder=kit.Table({})))
    made._waiters = Waiters(sweep_seconds=0.05, reconnect_seconds=0.2)
    yield made
    made.jobs.stop()


def start(engine, kit, text: str, waiter: Waiter | None, line: str = SLOW):
    ask = engine.prepare_question(GraphSource.of(kit.graph), Question(text, entities=("One",)))
    return engine.compare(ask, [Method("a", "a", parse_line(line))], waiter=waiter)


def cancelled_within(job, seconds: float) -> bool:
    return job.wait(seconds) and job.status == "cancelled"


def test_new_question_ends_the_previous_one(engine, kit):
    me = Waiter("me")
    first = start(engine, kit, "first", me)
    assert engine.models.choosers["slow"].reached.wait(120)
    second = start(engine, kit, "second", me)
    assert cancelled_within(first, 20) and first.is_abandoned
    assert not second.has_ended


def test_question_with_another_waiter_continues(engine, kit):
    job = start(engine, kit, "ours", Waiter("me"))
    assert start(engine, kit, "ours", Waiter("you")) is job
    start(engine, kit, "another", Waiter("me"))
    engine.stop_waiting("nobody")
    assert not job.wait(0.5)
    engine.stop_waiting("you")
    assert cancelled_within(job, 20)


def test_closed_tab_ends_its_question_after_a_while(engine, kit):
    there = threading.Event()
    there.set()
    job = start(engine, kit, "mine", Waiter("me", there.is_set))
    assert not job.wait(0.5)
    there.clear()
    gone = time.monotonic()
    assert cancelled_within(job, 20)
    # A user whose page is reloaded comes back within this time.
    assert time.monotonic() - gone >= 0.15


def test_reloaded_page_finds_its_running_question(engine, kit):
    engine._waiters, looked = Waiters(sweep_seconds=0.05, reconnect_seconds=60), threading.Event()
    job = start(engine, kit, "mine", Waiter("before", lambda: bool(looked.set())))
    assert looked.wait(120)
    assert start(engine, kit, "mine", Waiter("after")) is job
    # The grace period ends only now, however late the page was loaded.
    engine._waiters._reconnect_seconds = 0.0
    assert not job.wait(1.5)


def test_question_without_a_waiter_continues(engine, kit):
    job = start(engine, kit, "command line", None)
    start(engine, kit, "command line", Waiter("me"))
    engine.stop_waiting("me")
    assert not job.wait(0.4)
    job.cancel()
    assert cancelled_within(job, 20)


def test_results_of_an_ended_question_are_kept(engine, kit):
    me = Waiter("me")
    job = start(engine, kit, "mine", me)
    assert engine.models.choosers["slow"].reached.wait(120)
    engine.stop_waiting("me")
    assert cancelled_within(job, 20)
    before = job.comparison.lanes[0].states
    assert len(before) == 2  # The states are the subgraph and the paths.
    again = start(engine, kit, "mine", me)
    assert again is not job
    for _ in range(6000):
        if len(again.comparison.lanes[0].states) == 2:
            break
        time.sleep(0.02)
    assert again.comparison.lanes[0].states[1] is before[1]


def test_queued_question_ends_at_once(engine, kit):
    running = [start(engine, kit, f"busy {i}", Waiter(f"busy-{i}")) for i in range(8)]
    job = start(engine, kit, "mine", Waiter("me"))
    assert job.status == "waiting" and job.comparison.lanes[0].status == "waiting"
    engine.stop_waiting("me")
    assert job.has_ended and job.comparison.lanes[0].status == "cancelled"
    for other in running:
        other.cancel()
        assert cancelled_within(other, 20)
