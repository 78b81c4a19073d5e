"""A comparison with other lanes takes over lanes that were done before.

They come from a running engine or from a saved case.
"""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest

from core.cases.comparison_data import freeze, thaw
from core.comparison import comparison_work
from core.comparison.lane_run import LaneRun
from core.diagnosis.influence import measure_influence
from core.diagnosis.verdict.verdict_words import explain_comparison
from core.engine import Engine
from core.methods.catalogue import Method
from core.operators.text import parse_line
from core.runtime.jobs import JOB_DONE
from core.sources import GraphSource
from core.types import Question

ONE, TWO = "Ann -> directed_by_reverse -> One", "Ann -> directed_by_reverse -> Two"
NARROW = Method(
    "narrow",
    "No. 1",
    parse_line("EgoNetwork() >> ShortestPaths() >> Rank(keep=1) >> Answer()"),
    method="Rank few",
)
WIDE = Method(
    "wide",
    "No. 2",
    parse_line("EgoNetwork() >> ShortestPaths() >> Rank() >> Answer()"),
    method="Rank many",
)


@pytest.fixture
def engine(kit, tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    engine = Engine(kit.Written(kit.Parrot("One"), encoder=kit.Table({ONE: 0.9, TWO: 0.8})))
    yield engine
    engine.jobs.stop()


def asked(engine, kit, model=True):
    return engine.prepare_question(
        GraphSource.of(kit.graph),
        Question("films of Ann", entities=("Ann",), answers=("One", "Two")),
        uses_model=model,
    )


def compared(engine, ask, *methods, **options):
    job = engine.compare(ask, methods, **options)
    assert job.wait(60) and job.status == JOB_DONE
    while job.comparison.is_repairing:
        time.sleep(0.02)
    return job.comparison


def test_a_repair_runs_its_own_lane_and_nothing_else(engine, kit):
    ask = asked(engine, kit)
    first = compared(engine, ask, NARROW, try_repairs=True)
    prompts = len(engine.models.chat().asked)
    spec = first.lanes[0].repair.spec
    both = compared(
        engine,
        ask,
        NARROW,
        Method(spec, "No. 1, changed", parse_line(spec)),
        try_repairs=True,
        earlier=first,
    )
    assert len(engine.models.chat().asked) == prompts + 1  # the new lane's
    assert [lane.is_taken_over for lane in both.lanes] == [True, False] and not first.lanes[
        0
    ].is_taken_over
    assert both.lanes[0].states == first.lanes[0].states and both.lanes[0].answer == "One"
    assert both.lanes[0].repair == first.lanes[0].repair and both.lanes[1].status == JOB_DONE


def test_what_was_promised_is_what_the_lane_and_the_headline_count(engine, kit):
    """By the graph reader alone: 2 of 2 in the label, in the lane, in the headline."""
    ask = asked(engine, kit, model=False)
    first = compared(engine, ask, NARROW, try_repairs=True)
    repair = first.lanes[0].repair
    assert (
        repair.label == "Keep 64 paths → 2 of 2" and explain_comparison(first).lanes[0].n_right == 1
    )
    told = explain_comparison(
        compared(
            engine,
            ask,
            NARROW,
            Method(repair.spec, "Changed", parse_line(repair.spec)),
            earlier=first,
        )
    )
    assert (told.lanes[1].n_right, told.lanes[1].head) == (repair.right, "Both found:")
    assert told.text.startswith("Only “Changed” finds both. ")


def test_a_lane_that_prepares_shows_how_far_it_is(engine, kit, monkeypatch):
    """Work before the first operator has its words and its share on the lane.

    An example is a graph of documents that is made ready.
    """
    seen = []

    def stand(run, progress):
        lane = job.comparison.lanes[0]
        seen.append((lane.status, lane.text))
        for share in (0.5, None):
            progress.watch.report("Encoding nodes: 5 of 10", share)
            lane = job.comparison.lanes[0]
            seen.append((lane.text, lane.progress and lane.progress.fraction))

    monkeypatch.setattr(LaneRun, "open_own_graph", stand)
    begin = threading.Event()
    monkeypatch.setattr(comparison_work, "load_libraries", lambda: begin.wait(20))
    job = engine.compare(asked(engine, kit, model=False), [NARROW])
    begin.set()
    assert job.wait(60) and job.status == JOB_DONE
    assert seen[:3] == [
        ("running", ""),
        ("Encoding nodes: 5 of 10", 0.5),
        ("Encoding nodes: 5 of 10", None),
    ]


def test_lanes_of_a_saved_case_are_taken_over_on_the_graph_itself(engine, kit):
    ask = asked(engine, kit)
    saved = freeze(compared(engine, ask, NARROW, try_repairs=True))
    case = thaw(saved, kit.graph)
    assert case.graph is kit.graph
    prompts = len(engine.models.chat().asked)
    both = compared(engine, ask, WIDE, NARROW, earlier=case)
    assert (
        len(engine.models.chat().asked) == prompts + 1
        and both.lanes[1].state.reader == case.lanes[0].state.reader
    )
    taken = both.lanes[1]
    assert taken.model == case.lanes[0].model == "Parrot" and case.lanes[0].repairs_tried
    assert measure_influence(taken, engine.environment, by_model=True).by_model
    excerpt = thaw(saved)
    assert excerpt.graph is not kit.graph and not ask.has_same_results(excerpt.ask)


def test_another_question_takes_nothing_over(engine, kit):
    ask = asked(engine, kit)
    first = compared(engine, ask, NARROW)
    others = [
        replace(ask, uses_model=False),
        replace(ask, seed=1),
        replace(ask, seeds=(kit.node("One"),)),
        replace(ask, question=replace(ask.question, text="films by Ann")),
        replace(ask, question=replace(ask.question, answers=("One",))),
    ]
    assert ask.has_same_results(first.ask) and not any(
        other.has_same_results(first.ask) for other in others
    )


def test_all_lanes_done_before_end_at_once(engine, kit):
    ask = asked(engine, kit)
    first = compared(engine, ask, NARROW, WIDE)
    alone = compared(engine, ask, WIDE, earlier=first)
    assert [lane.method.id for lane in alone.lanes] == ["wide"] and alone.lanes[
        0
    ].states == first.lanes[1].states
