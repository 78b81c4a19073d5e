"""The quick pass: rankings stop early, are shown, and give way to the exact result.

The graph is a star of `Hub` with 300 spokes of five relations, so a ranking of its paths has more
candidates than a quick pass reads.
"""

from __future__ import annotations

import threading
from types import SimpleNamespace

import numpy as np
import pytest

from core.cases.comparison_data import freeze
from core.comparison.lane_run import LaneListener, PrefixCache
from core.comparison.queues import FairQueue
from core.comparison.quick_pass import QuickRun, has_quick_form, quick_operator, quick_share
from core.comparison.waiters import Waiter
from core.engine import Engine
from core.environment import Environment
from core.errors import ModelUnavailable
from core.graph.building.build import build
from core.methods.catalogue import Method
from core.models.scorers import EncoderScorer
from core.operators import BeamSearch, Rank
from core.operators.text import parse_line
from core.results import comparison_dict
from core.runtime.jobs import JOB_CANCELLED
from core.runtime.turn import pass_turn_at_once
from core.sources import GraphSource, SourceQuestion
from core.types import Question
from core.watch import NO_WATCH
from tests.core.comparison.test_queues import soon
from tests.films import Bag, Written

RANKED = "EgoNetwork() >> ShortestPaths() >> Rank(keep=8) >> Answer()"
N_SPOKES = 300


class StreamedBag(Bag):
    """The encoder `Bag`, which passes vectors on and counts the texts that it read.

    It waits while `gate` is not set.
    """

    received = True

    def __init__(self):
        self.read: set[str] = set()
        self.gate = threading.Event()
        self.gate.set()

    def encode(self, texts, watch=NO_WATCH, received=None):
        for start in range(0, len(texts), 16):
            while not self.gate.wait(0.02):
                watch.check()
            part = list(texts[start : start + 16])
            self.read.update(part)
            if received is not None:
                received(part, super().encode(part))
        return super().encode(texts)


class BagModels(Written):
    """Models whose encoder is a `StreamedBag`; `scorer` is a model of another kind."""

    def __init__(self):
        self.bag = StreamedBag()
        super().__init__(encoder=EncoderScorer(self.bag), scorer=EncoderScorer(self.bag))

    def encoder(self, name="encoder"):
        return self.bag

    def info(self, name):
        if name not in self.choosers:
            raise ModelUnavailable(name)
        return SimpleNamespace(kind="encoder" if name == "encoder" else "scorer", present=True)


@pytest.fixture(scope="module")
def star(tmp_path_factory):
    triples = [
        ("Hub", f"relation {number % 5}", f"Spoke {number:03}") for number in range(N_SPOKES)
    ]
    folder = tmp_path_factory.mktemp("star") / "star"
    return build(triples, folder, name="star", direction="both")


@pytest.fixture
def models():
    return BagModels()


@pytest.fixture
def engine(models):
    made = Engine(models)
    yield made
    made.stop()


def ask(star):
    question = Question("relation 3 of Spoke 123", entities=("Hub",), answers=("Spoke 123",))
    return SourceQuestion(GraphSource.of(star), question, (0,), uses_model=False)


def compare(engine, star, *lines, person=None, text="relation 3 of Spoke 123"):
    prepared = engine.prepare_question(
        GraphSource.of(star),
        Question(text, entities=("Hub",), answers=("Spoke 123",)),
        uses_model=False,
    )
    methods = [Method(f"lane-{i}", "", parse_line(line)) for i, line in enumerate(lines)]
    return engine.compare(prepared, methods, waiter=person and Waiter(person))


def results(comparison):
    """Paths with scores, answers and funnel of each lane."""
    fields = ("paths", "reader_answers", "funnel", "prompt")
    return [[lane[name] for name in fields] for lane in comparison_dict(comparison)["lanes"]]


def test_more_people_get_a_quicker_pass():
    assert [quick_share(n) for n in (0, 1, 3, 4, 50)] == [0.99, 0.95, 0.95, 0.9, 0.9]


def test_only_whole_rankings_by_an_embedded_encoder_have_a_quick_form(models):
    assert quick_operator(Rank(keep=8), models, 0.9) == Rank(keep=8, recall=0.9)
    assert quick_operator(BeamSearch(), models, 0.9) == BeamSearch(recall=0.9)
    for operator in (
        Rank(read=100),
        Rank(recall=0.95),
        Rank(model="scorer"),
        Rank(model="absent"),
        parse_line("EgoNetwork()").operators[0],
    ):
        assert quick_operator(operator, models, 0.9) is None
    models.bag.received = False  # such an encoder may round differently in another order
    assert quick_operator(Rank(), models, 0.9) is None


def test_line_without_a_ranking_has_no_quick_form(models):
    assert has_quick_form(parse_line(RANKED), models)
    assert not has_quick_form(parse_line("EgoNetwork() >> ShortestPaths() >> Answer()"), models)


def test_quick_run_reads_less_and_leaves_exact_states_to_the_lane(star, models):
    run = QuickRun(ask(star), parse_line(RANKED), Environment(models), PrefixCache(), share=0.8)
    run.retrieve(LaneListener())
    paths = run.states[2].paths
    assert run.is_shortened and len(paths) == 8
    assert len(models.bag.read) < N_SPOKES
    assert len(run.lane_fields["states"]) == run.n_exact == 2  # the subgraph and its paths


def test_quick_run_takes_exact_results_from_the_cache(star, models):
    cache, environment = PrefixCache(), Environment(models)
    exact = QuickRun(ask(star), parse_line(RANKED), environment, cache, share=1.0)
    exact.retrieve(LaneListener())
    quick = QuickRun(ask(star), parse_line(RANKED), environment, cache, share=0.8)
    quick.retrieve(LaneListener())
    assert not quick.is_shortened and quick.states[2].paths == exact.states[2].paths


def test_person_sees_the_quick_result_then_the_exact_one(star, models, engine):
    queue = engine._queues.retrieving
    queue._workers = 1
    before, other = threading.Event(), threading.Event()
    queue.put("before", before.wait)
    job = compare(engine, star, RANKED, person="me")
    assert soon(lambda: queue.count_others("before") == 1)
    queue.put("other", other.wait)  # waits when the quick pass begins; the exact pass waits for it
    before.set()
    assert soon(lambda: job.comparison.lanes[0].has_quick_result)
    lane = job.comparison.lanes[0]
    assert lane.preview.text == "95 % of the best expected"  # as one other waits
    assert lane.as_shown.retrieved and lane.as_shown.state.reader and not lane.retrieved
    assert len(models.bag.read) < N_SPOKES
    other.set()
    assert job.wait(60)
    lane = job.comparison.lanes[0]
    assert lane.retrieved and lane.preview is None and not lane.has_quick_result
    assert len(models.bag.read) >= N_SPOKES  # the exact pass has read the rest
    alone_engine = Engine(BagModels())
    alone = compare(alone_engine, star, RANKED)
    assert alone.wait(60) and results(alone.comparison) == results(job.comparison)
    alone_engine.stop()


def test_no_quick_pass_without_a_viewer(star, models, engine, monkeypatch):
    monkeypatch.setattr(
        "core.comparison.comparison_work.QuickRun", lambda *_, **__: pytest.fail("a quick pass")
    )
    job = compare(engine, star, RANKED)
    assert job.wait(60) and job.comparison.lanes[0].retrieved


def test_exact_results_wait_for_the_questions_of_others(star, models, monkeypatch):
    """One piece at a time. The first question's exact pass comes after the second's quick one."""
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    engine = Engine(models)
    engine._queues.retrieving._workers = 1
    order = []

    def note(job):
        change = job.comparison.change_lane

        def change_lane(index, **fields):
            preview = fields.get("preview")
            if preview is not None and preview.is_quick:
                order.append((name, "quick", preview.text))
            if fields.get("retrieved"):
                order.append((name, "exact", ""))
            return change(index, **fields)

        name = job.comparison.ask.question.text
        job.comparison.change_lane = change_lane

    models.bag.gate.clear()
    first = compare(engine, star, RANKED, person="first", text="relation 1 of Hub")
    note(first)
    second = compare(engine, star, RANKED, person="second", text="relation 2 of Hub")
    note(second)
    assert soon(lambda: first.comparison.lanes[0].states)
    models.bag.gate.set()
    assert first.wait(60) and second.wait(60)
    engine.stop()
    assert [(name[:10], kind) for name, kind, _ in order] == [
        ("relation 1", "quick"),
        ("relation 2", "quick"),
        ("relation 1", "exact"),
        ("relation 2", "exact"),
    ]


def test_cancelled_quick_result_stays_and_is_not_saved(star, models, engine):
    engine._queues.retrieving._workers = 1
    other = threading.Event()
    models.bag.gate.clear()
    job = compare(engine, star, RANKED, person="me")
    engine._queues.retrieving.put("other", other.wait)
    models.bag.gate.set()
    assert soon(lambda: engine._queues.retrieving.has_postponed(job))
    job.cancel()
    assert job.wait(60)
    other.set()
    lane = job.comparison.lanes[0]
    assert lane.status == JOB_CANCELLED and lane.as_shown.retrieved and not lane.retrieved
    assert comparison_dict(job.comparison)["lanes"][0]["reader_answers"] is None
    assert freeze(job.comparison)["lanes"][0]["states"] == 2


def test_exact_results_come_on_a_press(star, models, engine):
    """Another question waits, and the press lets the exact pass begin before it."""
    engine._queues.retrieving._workers = 1
    first, later = threading.Event(), threading.Event()
    models.bag.gate.clear()
    job = compare(engine, star, RANKED, person="me")
    engine._queues.retrieving.put("first", first.wait)
    engine._queues.retrieving.put("later", later.wait)
    models.bag.gate.set()
    assert soon(lambda: engine.is_postponed(job))
    engine.hasten(job)
    assert not engine.is_postponed(job)
    first.set()
    later.set()
    assert job.wait(60) and job.comparison.lanes[0].retrieved


def test_failed_quick_pass_is_logged_and_leaves_the_exact_one(star, engine, monkeypatch, caplog):
    monkeypatch.setattr(QuickRun, "continue_without_model", lambda self: 1 / 0)
    job = compare(engine, star, RANKED, person="me")
    assert job.wait(60)
    lane = job.comparison.lanes[0]
    assert lane.status == "done" and lane.state.reader and "A quick pass failed" in caplog.text


def test_postponed_pieces_begin_once_no_other_waits():
    queue, done, gate = FairQueue("test", workers=1), [], threading.Event()
    queue.put("first", gate.wait)
    queue.put("first", lambda: done.append("first, postponed"), postponed=True)
    queue.put("second", lambda: done.append("second"))
    queue.put("third", lambda: done.append("third"))
    assert queue.count_others("first") == 2 and queue.has_postponed("first")
    gate.set()
    assert soon(lambda: len(done) == 3)
    assert done == ["second", "third", "first, postponed"] and not queue.has_postponed("first")


def test_postponed_pieces_wait_for_a_piece_that_holds_them_back():
    """A piece that passes its turn on still holds them back, though nothing else waits."""
    queue, done, gate = FairQueue("test", workers=2), [], threading.Event()

    def hold() -> None:
        with queue.hold_back_postponed(), pass_turn_at_once():
            gate.wait()
            done.append("quick pass")

    queue.put("first", hold)
    assert soon(lambda: queue._n_holding)
    queue.put("second", lambda: done.append("postponed"), postponed=True)
    queue.put("third", lambda: done.append("other"))
    assert soon(lambda: done == ["other"])
    assert queue.has_postponed("second")
    gate.set()
    assert soon(lambda: len(done) == 3) and done == ["other", "quick pass", "postponed"]


def test_hastened_pieces_wait_like_all_others():
    queue, done, gate = FairQueue("test", workers=1), [], threading.Event()
    queue.put("busy", gate.wait)
    queue.put("first", lambda: done.append("first, postponed"), postponed=True)
    queue.hasten("first")
    queue.put("second", lambda: done.append("second"))
    gate.set()
    assert soon(lambda: len(done) == 2) and done == ["first, postponed", "second"]


def test_dropped_pieces_are_gone_also_the_postponed_ones():
    queue, done, gate = FairQueue("test", workers=1), [], threading.Event()
    queue.put("busy", gate.wait)
    queue.put("first", lambda: done.append("first"))
    queue.put("first", lambda: done.append("first, postponed"), postponed=True)
    assert queue.drop("first") == 2
    queue.put("second", lambda: done.append("second"))
    gate.set()
    assert soon(lambda: done) and done == ["second"]


def test_quick_scores_are_those_of_the_exact_pass(star, models):
    run = QuickRun(ask(star), parse_line(RANKED), Environment(models), PrefixCache(), share=0.8)
    run.retrieve(LaneListener())
    exact = QuickRun(ask(star), parse_line(RANKED), Environment(models), PrefixCache(), share=1.0)
    exact.retrieve(LaneListener())
    scores = dict(
        zip(exact.states[2].trace[-1].before_cut.items, exact.states[2].trace[-1].before_cut.scores)
    )
    quick = run.states[2].paths
    assert np.array_equal([scores[path] for path in quick.items], quick.scores)
