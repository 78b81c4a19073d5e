"""Retained results of comparisons, and their release."""

from __future__ import annotations

import gc
import time
import weakref
from functools import partial

import numpy as np
import pytest

from core.cli import EXIT_OK, main
from core.comparison.lane_run import PrefixCache
from core.comparison.waiters import Waiter
from core.engine import Engine
from core.methods.catalogue import Method
from core.models.registry import Registry
from core.operators.text import parse_line
from core.sources import GraphSource
from core.types import Question, State, Subgraph
from tests.films import Bag

LINE = "EgoNetwork() >> ShortestPaths()"


def state(numbers: int) -> State:
    return State(
        Question("q"), subgraph=Subgraph(np.zeros(numbers, np.int64), np.zeros(0, np.int64))
    )


def test_states_are_kept_within_a_bound_of_bytes():
    prefixes = PrefixCache(size=4, max_bytes=1_000_000)
    for number in range(3):
        prefixes.put((number,), state(60_000))  # 480 kB each
    assert [prefixes.get((number,)) is not None for number in range(3)] == [False, True, True]
    prefixes.put((3,), state(1_000_000))  # A state larger than the bound is kept alone.
    assert [prefixes.get((number,)) is not None for number in range(4)] == [
        False,
        False,
        False,
        True,
    ]


def test_number_of_kept_states_is_bounded():
    prefixes = PrefixCache(size=4, max_bytes=1_000_000)
    for number in range(6):
        prefixes.put((number,), state(10))
    assert [prefixes.get((number,)) is not None for number in range(6)] == [
        False,
        False,
        True,
        True,
        True,
        True,
    ]


@pytest.mark.parametrize("repairs", [False, True])
def test_comparison_is_freed_with_its_job(kit, repairs):
    engine = Engine(kit.Written(None, encoder=kit.Table({})))
    ask = engine.prepare_question(
        GraphSource.of(kit.graph), Question("who was in One"), model=False
    )
    gc.disable()
    try:
        job = engine.compare(ask, [Method(LINE, LINE, parse_line(LINE))], try_repairs=repairs)
        assert job.wait(120)
        until = time.monotonic() + 120
        while job.comparison.is_repairing and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.1)  # The thread of the last item releases it.
        gone = weakref.ref(job.comparison)
        engine.jobs._jobs.clear()
        del job
        until = time.monotonic() + 120
        while gone() is not None and time.monotonic() < until:
            time.sleep(0.05)
        assert gone() is None
    finally:
        gc.enable()


@pytest.fixture
def asked(kit):
    """A function `asked(text, waiter)` that returns the finished job of a one-lane comparison.

    The engine's job cache holds only the last job.
    """
    engine = Engine(kit.Written(None, encoder=kit.Table({})))
    engine.jobs._keep = 1

    def ask(text, waiter=None):
        job = engine.compare(
            engine.prepare_question(GraphSource.of(kit.graph), Question(text), model=False),
            [Method(LINE, LINE, parse_line(LINE))],
            waiter=waiter,
        )
        assert job.wait(120)
        return job

    return ask


def state_count(job) -> int:
    return len(job.comparison.lanes[0].states)


def test_unseen_and_uncached_results_are_freed(asked):
    there = {"one", "two"}
    visitors = {name: Waiter(name, partial(there.__contains__, name)) for name in there}
    first = asked("who was in One", visitors["one"])
    states = state_count(first)
    assert states > 1
    there.remove("one")
    # Two users display it, one of whom is still connected.
    assert asked("who was in One", visitors["two"]) is first
    asked("who was in Two", Waiter("next"))
    asked("genre of Two", Waiter("next"))
    assert state_count(first) == states
    there.remove("two")
    last = asked("genre of One", Waiter("next"))
    assert state_count(first) == 0 and state_count(last) == states


def test_cached_or_screenless_results_are_kept(asked):
    alone = asked("who was in One")
    gone = asked("who was in Two", Waiter("gone", lambda: False))
    assert state_count(gone) > 1  # A repeated question finds these states.
    asked("genre of Two", Waiter("next"))
    asked("genre of One", Waiter("next"))
    assert state_count(gone) == 0 and state_count(alone) > 1


def test_displayed_results_stay_cached(asked):
    """Otherwise their screen, drawn after other questions, would compute the result again."""
    there = {"one"}
    first = asked("who was in One", Waiter("one", lambda: "one" in there))
    for text in ("who was in Two", "genre of Two", "genre of One"):
        asked(text, Waiter(text))
        assert asked("who was in One", Waiter("one", lambda: "one" in there)) is first
    there.clear()
    asked("who made One", Waiter("next"))
    asked("who made Two", Waiter("next"))
    assert asked("who was in One", Waiter("late")) is not first


def test_next_question_releases_the_previous_one(asked):
    first = asked("who was in One", Waiter("one"))
    asked("who was in Two", Waiter("one"))
    asked("genre of Two", Waiter("next"))
    assert state_count(first) == 0


class OwnModelRegistry(Registry):
    """A registry whose only model has no other reference."""

    def __init__(self):
        super().__init__()
        self._models["own"] = Bag()


@pytest.fixture
def no_collection():
    """Disable the garbage collector, so that freed objects had no references."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def are_freed(*gone: weakref.ref) -> bool:
    """Return whether these objects are freed once the last threads have released them."""
    until = time.monotonic() + 60
    while any(one() is not None for one in gone) and time.monotonic() < until:
        time.sleep(0.01)
    return all(one() is None for one in gone)


@pytest.mark.parametrize("repairs", [False, True])
def test_dropped_engine_is_freed_completely(films, no_collection, repairs):
    engine = Engine(OwnModelRegistry())
    engine.housekeeping.start()
    graph = engine.graph(str(films.folder))
    ask = engine.prepare_question(GraphSource.of(graph), Question("who was in One"), model=False)
    job = engine.compare(ask, [Method(LINE, LINE, parse_line(LINE))], try_repairs=repairs)
    assert job.wait(120) and state_count(job) > 1
    gone = [
        weakref.ref(one) for one in (engine, engine.models, graph, engine.models._models["own"])
    ]
    del engine, graph, ask, job
    assert are_freed(*gone)


def test_closed_engine_holds_neither_graphs_nor_models(films, monkeypatch, no_collection):
    monkeypatch.setattr("core.engine.Registry", OwnModelRegistry)
    engine = Engine()
    gone = [
        weakref.ref(one) for one in (engine.graph(str(films.folder)), engine.models._models["own"])
    ]
    engine.close()
    assert are_freed(*gone)


def test_given_models_outlive_their_engine(no_collection):
    models = OwnModelRegistry()
    Engine(models).close()
    assert models._models["own"] is not None


def test_command_closes_only_its_own_engine(films, monkeypatch, capsys):
    made, closed = [], []

    class ClosingEngine(Engine):
        def __init__(self):
            super().__init__()
            made.append(self)

        def close(self):
            super().close()
            closed.append(self)

    monkeypatch.setattr("core.engine.Engine", ClosingEngine)
    command = ["graph", "language", str(films.folder)]
    assert main(command) == EXIT_OK and len(made) == 1 and closed == made
    # This holds for a failing command too.
    assert main([*command, "no-language"]) != EXIT_OK and closed == made
    given = ClosingEngine()
    before = len(closed)
    assert main(command, lambda: given) == EXIT_OK and len(closed) == before
