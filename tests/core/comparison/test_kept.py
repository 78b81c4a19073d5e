"""What is kept of comparisons, and that it goes when it is forgotten."""

from __future__ import annotations

import gc
import time
import weakref

import numpy as np
import pytest

from core.comparison.run import Prefixes
from core.engine import Engine
from core.instances.catalogue import Instance
from core.operators.text import parse_line
from core.types import Question, State, Subgraph

LINE = "EgoNetwork() >> ShortestPaths()"


def state(numbers: int) -> State:
    return State(Question("q"), subgraph=Subgraph(np.zeros(numbers, np.int64), np.zeros(0, np.int64)))


def test_states_are_kept_within_a_bound_of_bytes():
    prefixes = Prefixes(size=4, most=1_000_000)
    for number in range(3):
        prefixes.put((number,), state(60_000))  # of 480 kB each
    assert [prefixes.get((number,)) is not None for number in range(3)] == [False, True, True]
    prefixes.put((3,), state(1_000_000))  # more than all may take: kept alone
    assert [prefixes.get((number,)) is not None for number in range(4)] == [False, False, False, True]


def test_states_are_kept_within_their_number():
    prefixes = Prefixes(size=4, most=1_000_000)
    for number in range(6):
        prefixes.put((number,), state(10))
    assert [prefixes.get((number,)) is not None for number in range(6)] == [False, False, True, True, True, True]


@pytest.mark.parametrize("repairs", [False, True])
def test_a_comparison_goes_with_its_job_without_a_collection(kit, repairs):
    engine = Engine(kit.Written(None, encoder=kit.Table({})))
    ask = engine.ask(kit.graph, Question("who was in One"), model=False)
    gc.disable()
    try:
        job = engine.compare(ask, [Instance(LINE, LINE, parse_line(LINE))], repairs=repairs)
        assert job.wait(30)
        until = time.monotonic() + 10
        while job.comparison.repairing and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.1)  # the thread that did the last piece lets go of it
        gone = weakref.ref(job.comparison)
        engine.jobs._jobs.clear()
        del job
        until = time.monotonic() + 10
        while gone() is not None and time.monotonic() < until:
            time.sleep(0.05)
        assert gone() is None
    finally:
        gc.enable()
