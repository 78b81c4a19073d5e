"""Times of a method by kind: own work, preparation, waiting and reuse; and ranking progress."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import ClassVar

import pytest

from core.comparison.lane import MethodLane
from core.comparison.lane_times import (
    UNCOUNTED_KINDS,
    method_seconds,
    seconds_by_kind,
    time_spans,
    uncounted_seconds,
)
from core.engine import Engine
from core.environment import Environment
from core.methods.catalogue import Method
from core.models.base import Task
from core.models.scorers import EncoderScorer
from core.operators.base import Context, Line, Operator
from core.operators.text import parse_line
from core.runtime.meter import (
    PartsProgress,
    ProgressEstimate,
    count_time,
    first_requests,
    metered,
    record_saved_time,
)
from core.sources import GraphSource, SourceQuestion
from core.types import Question, State, Step
from core.watch import NO_WATCH


@pytest.fixture
def clock(monkeypatch):
    """A function `clock(seconds)` that advances a simulated clock."""
    now = [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return lambda seconds: now.__setitem__(0, now[0] + seconds)


def test_nested_time_counts_for_the_inner_kind(clock):
    with metered() as meter, count_time("ranking"):
        clock(5)
        with count_time("preparation", "Loading"):
            clock(10)
            with count_time("waiting"):
                clock(2)
            clock(1)
    assert meter.seconds == {
        "waiting": 2,
        "preparation": 11,
        "ranking": 5,
    } and meter.preparation_seconds == {"Loading": 11}


def test_no_time_is_counted_without_a_meter():
    with count_time("model"):
        record_saved_time(3.0)
    assert first_requests(["a"]) == []


def test_repeated_request_of_one_run_saves_nothing():
    seen: set = set()
    with metered(seen=seen):
        assert first_requests(["a", "b"]) == ["a", "b"]
    with metered(seen=seen):
        assert first_requests(["b", "c"]) == ["c"]


@dataclass(frozen=True, repr=False)
class SlowRankingOperator(Operator):
    """An operator that prepares, waits, ranks and works for fixed times.

    It prepares for 10 s, waits for 5 s, ranks for 4 s, works for 2 s, and reports 3 s saved.
    """

    stage: ClassVar[str] = "retrieve"
    title: ClassVar[str] = "slow"

    def apply(self, state, ctx, recorder):
        with count_time("preparation", "Building an index"):
            ctx.models(10)
        with count_time("waiting"):
            ctx.models(5)
        with count_time("ranking"):
            ctx.models(4)
        ctx.models(2)
        record_saved_time(3)
        return state


def test_seconds_of_a_step_are_its_own(clock):
    step = SlowRankingOperator()(
        State(Question("q")), Context(None, Environment(clock, clock=time.perf_counter))
    ).trace[0]
    assert (step.seconds, step.ranking, step.waiting, step.saved) == (6, 4, 5, 3)
    assert step.prepared == (("Building an index", 10),)


def lane(*steps: Step, reused=(), **fields) -> MethodLane:
    ask = SourceQuestion(GraphSource(""), Question("q"), ())
    states = (State(Question("q"), trace=steps),)
    return MethodLane(ask, Method("a", "a", Line()), states, reused=tuple(reused), **fields)


EXTRACT = Step(
    "PersonalizedPageRank", "extract", {}, 0.3, waiting=0.2, prepared=(("Compiling", 1.5),)
)
RANK = Step("Rank", "refine", {}, 1.0, ranking=0.9, waiting=0.25, saved=0.5)
ANSWER = Step("Answer", "generate", {}, 4.0, model=3.75, prepared=(("Loading qwen", 2.0),))


def test_waterfall_of_a_lane():
    told = time_spans(
        lane(
            EXTRACT,
            RANK,
            ANSWER,
            waited={"running": 0.5, "answering": 7.0},
            prepared={"Loading the program": 0.75},
        )
    )
    assert [(span.kind, span.seconds) for span in told] == [
        ("waiting", 0.5),
        ("preparation", 0.75),
        ("preparation", 1.5),
        ("waiting", 0.2),
        ("retrieval", 0.3),
        ("waiting", 0.25),
        ("ranking", 1.0),
        ("cache", 0.5),
        ("waiting", 7.0),
        ("preparation", 2.0),
        ("retrieval", 0.25),
        ("model", 3.75),
    ]
    assert (
        sum(span.seconds for span in told if span.kind not in ("preparation", "waiting"))
        == method_seconds((EXTRACT, RANK, ANSWER))
        == 5.8
    )


def test_other_costs_are_separate_by_kind():
    told = uncounted_seconds(
        lane(
            EXTRACT,
            RANK,
            ANSWER,
            waited={"running": 0.5, "answering": 7.0},
            prepared={"Loading the program": 0.75},
        )
    )
    assert told == {
        "Waiting for its turn": 0.95,
        "Loading the program": 0.75,
        "Compiling": 1.5,
        "Waiting for the language model": 7.0,
        "Loading qwen": 2.0,
    }
    assert uncounted_seconds(lane(RANK, reused=[0])) == {}


def test_seconds_by_kind_equal_the_waterfall():
    waited = {"running": 0.5, "answering": 7.0}
    told = seconds_by_kind(lane(EXTRACT, RANK, ANSWER, waited=waited), UNCOUNTED_KINDS)
    assert told == {"waiting": 0.5 + 0.2 + 0.25 + 7.0, "preparation": 1.5 + 2.0}
    assert seconds_by_kind(lane(RANK, reused=[0]), UNCOUNTED_KINDS) == {}


def test_reused_steps_have_their_original_cost():
    told = time_spans(lane(EXTRACT, RANK, reused=[0]))
    assert [(span.kind, span.seconds) for span in told][:2] == [("cache", 0.3), ("waiting", 0.25)]
    # The time equals that of the lane that computed it first.
    assert method_seconds((EXTRACT, RANK)) == 1.8


def test_progress_has_fraction_best_and_remaining_seconds(clock):
    told = []
    with metered(told.append):
        advance = ProgressEstimate("Ranking 960 paths", 960)
        clock(0.25)
        advance(96, "One -> has_genre -> Drama")
        clock(3.75)
        advance(384, "Two")
    assert (
        told[0].text == "Ranking 960 paths, 10 %"
        and told[0].fraction == 0.1
        and told[0].left is None
    )
    assert told[0].best == "One -> has_genre -> Drama"
    assert told[1].text == "Ranking 960 paths, 40 %" and told[1].left == pytest.approx(6.0)


def test_progress_covers_all_parts(clock):
    told = []
    with metered(told.append) as meter:
        parts = PartsProgress(4)
        for number in (1, 2):
            with parts.part(number):
                advance = ProgressEstimate("Reading the prompt", 100)
                clock(2.0)
                advance(50)
                clock(2.0)
        assert meter.report == told.append
    assert [far.text for far in told] == [
        "Part 1 of 4: Reading the prompt, 50 %",
        "Part 2 of 4: Reading the prompt, 50 %",
    ]
    assert [far.fraction for far in told] == [1 / 8, 3 / 8]
    # 2 s for an eighth, 6 s for three.
    assert [far.left for far in told] == [pytest.approx(14.0), pytest.approx(10.0)]


def test_encoder_reports_its_best_so_far(kit):
    import numpy as np

    class HalvesEncoder:
        """An encoder that returns the texts in two halves.

        One text equals the question; all others have another vector.
        """

        received = True

        def encode(self, texts, watch=NO_WATCH, received=None):
            vectors = np.array(
                [[1.0, 0.0] if text == "right" else [0.6, 0.8] for text in texts], np.float32
            )
            if received:
                received(list(texts[:2]), vectors[:2])
                received(list(texts[2:]), vectors[2:])
            return vectors

    told = []
    with metered(told.append):
        scores = EncoderScorer(HalvesEncoder()).score(Task("right"), ["a", "b", "right", "c"])
    assert scores.tolist() == pytest.approx([0.6, 0.6, 1.0, 0.6])
    assert [(far.text, far.best) for far in told] == [
        ("Ranking 4 paths, 50 %", "a"),
        ("Ranking 4 paths, 100 %", "right"),
    ]


def test_lane_reports_ranking_progress_and_waits(kit):
    reached, go = threading.Event(), threading.Event()

    class ProgressChooser:
        def choose(self, task, texts, k):
            ProgressEstimate("Ranking 2 paths", 2)(1, texts[0])
            reached.set()
            go.wait(120)
            return kit.Table({}).choose(task, texts, k)

    engine = Engine(kit.Written(telling=ProgressChooser()))
    ask = engine.prepare_question(
        GraphSource.of(kit.graph), Question("genre of One", entities=("One",)), uses_model=False
    )
    job = engine.compare(
        ask,
        [Method("a", "a", parse_line("EgoNetwork() >> ShortestPaths() >> Rank(model='telling')"))],
    )
    assert reached.wait(120)
    lane = job.comparison.lanes[0]
    assert (
        lane.text == lane.progress.text == "Ranking 2 paths, 50 %"
        and lane.progress.best.startswith("One -> ")
    )
    go.set()
    assert job.wait(120)
    lane = job.comparison.lanes[0]
    assert lane.progress is None and lane.waited["running"] >= 0
    engine.jobs.stop()
