"""Comparisons as jobs: order, sharing, failing lanes, cancelling, and bad questions."""

import threading
from types import SimpleNamespace

import pytest

from core.engine import Engine
from core.errors import BadInput, ModelFailed, UnknownEntity
from core.methods.catalogue import Method
from core.models.base import ChatReply
from core.models.registry import Registry
from core.operators.text import parse_line
from core.results import comparison_dict
from core.runtime.meter import record_reply
from core.sources import GraphSource
from core.types import Question

LINE = "EgoNetwork() >> ShortestPaths() >> Rank(keep={keep}) >> Answer()"


def method(key, text):
    return Method(key, key, parse_line(text))


@pytest.fixture
def engine(kit):
    made = Engine(kit.Written(encoder=kit.Table({"One -> has_genre -> Drama": 1.0})))
    yield made
    made.jobs.stop()


def done(job):
    assert job.wait(120), "the job did not end"
    return job


def test_lanes_share_what_they_have_in_common(engine, kit):
    ask = engine.prepare_question(
        GraphSource.of(kit.graph), Question("genre of One", entities=("One",), answers=("Drama",))
    )
    lanes = [method("a", LINE.format(keep=2)), method("b", LINE.format(keep=1))]
    alone = done(engine.compare(ask, lanes[:1])).comparison.lanes[0]
    job = done(engine.compare(ask, lanes))
    for lane in job.comparison.lanes:  # the subgraph and the paths were computed once
        assert lane.states[1] is alone.states[1]
    told = comparison_dict(job.comparison)
    assert [len(lane["paths"]) for lane in told["lanes"]] == [2, 1]
    assert told["lanes"][0]["funnel"] == {
        stage: ["Drama"] for stage in ("graph", "subgraph", "paths", "prompt", "answer")
    }
    assert told["lanes"][0]["reader_answers"] == ["Drama"]
    assert [step["name"] for step in told["lanes"][0]["operators"]] == [
        "EgoNetwork",
        "ShortestPaths",
        "Rank",
        "GraphReader",
        "Answer",
    ]


def test_a_failing_lane_leaves_the_others_alone(engine, kit):
    class BrokenLane:
        def choose(self, task, texts, k):
            raise ModelFailed("The model server went away.")

    engine.models.choosers["bm25"] = BrokenLane()
    ask = engine.prepare_question(
        GraphSource.of(kit.graph), Question("genre of One", entities=("One",))
    )
    job = done(
        engine.compare(
            ask,
            [
                method("bad", "EgoNetwork() >> ShortestPaths() >> Rank(model='bm25')"),
                method("good", LINE.format(keep=1)),
            ],
        )
    )
    bad, good = comparison_dict(job.comparison)["lanes"]
    assert (
        bad["error"] == "The model server went away."
        and bad["status"] == "failed"
        and len(bad["operators"]) == 2
    )
    assert good["error"] is None and good["answer"] == "Drama"


def test_a_lane_with_an_unknown_model_fails_alone(kit):
    from core.models.registry import Registry

    engine = Engine(Registry())
    ask = engine.prepare_question(
        GraphSource.of(kit.graph), Question("genre of One", entities=("One",)), model=False
    )
    job = done(
        engine.compare(
            ask,
            [
                method("bad", "EgoNetwork() >> ShortestPaths() >> Rank(model='nothing')"),
                method("good", "EgoNetwork() >> BeamSearch(model='bm25', rank='steps')"),
            ],
        )
    )
    bad, good = comparison_dict(job.comparison)["lanes"]
    assert "nothing" in bad["error"] and good["error"] is None and good["paths"]
    engine.jobs.stop()


def test_the_same_question_and_lanes_are_one_job(engine, kit):
    ask = engine.prepare_question(
        GraphSource.of(kit.graph), Question("genre of One", entities=("One",))
    )
    lanes = [method("a", LINE.format(keep=2))]
    assert done(engine.compare(ask, lanes)) is engine.compare(ask, lanes)


def test_failed_lane_is_asked_again_and_complete_lanes_are_not(engine, kit):
    class Recovering:
        healthy, calls = False, 0

        def choose(self, task, texts, k):
            self.calls += 1
            if not self.healthy:
                raise ModelFailed("502 Bad Gateway")
            return kit.Table({}).choose(task, texts, k)

    server = engine.models.choosers["bm25"] = Recovering()
    ask = engine.prepare_question(
        GraphSource.of(kit.graph), Question("genre of One", entities=("One",))
    )
    lanes = [
        method("served", "EgoNetwork() >> ShortestPaths() >> Rank(model='bm25')"),
        method("local", LINE.format(keep=1)),
    ]
    failed = done(engine.compare(ask, lanes))
    prompts = len(engine.models.chat().asked)
    still_failed = done(engine.compare(ask, lanes))
    server.healthy = True
    healed = done(engine.compare(ask, lanes))

    assert [job.comparison.lanes[0].status for job in (failed, still_failed)] == ["failed"] * 2
    assert server.calls == 3
    assert [lane.status for lane in healed.comparison.lanes] == ["done", "done"]
    assert [lane.is_from_earlier for lane in healed.comparison.lanes] == [False, True]
    assert len(engine.models.chat().asked) == prompts
    assert engine.compare(ask, lanes) is healed and server.calls == 3


@pytest.mark.parametrize(
    "reply, asked",
    [(ChatReply(""), 2), (ChatReply("", finish="filter"), 2), (ChatReply("Drama"), 1)],
)
def test_lane_whose_model_sent_nothing_is_asked_again(engine, kit, monkeypatch, reply, asked):
    calls = []

    def send(*_, **__):
        calls.append(1)
        record_reply("", reply.is_usable)
        return reply

    monkeypatch.setattr(engine.models.chat(), "reply", send)
    ask = engine.prepare_question(
        GraphSource.of(kit.graph), Question("genre of One", entities=("One",))
    )
    lanes = [method("a", LINE.format(keep=2))]
    for _ in range(2):
        assert done(engine.compare(ask, lanes)).comparison.lanes[0].status == "done"
    assert len(calls) == asked


def test_cancelling_stops_the_lanes_that_are_left(engine, kit):
    reached, go = threading.Event(), threading.Event()

    class SlowLane:
        def choose(self, task, texts, k):
            reached.set()
            go.wait(120)
            task.watch.check()
            raise AssertionError("the check did not stop it")

    engine.models.choosers["bm25"] = SlowLane()
    ask = engine.prepare_question(
        GraphSource.of(kit.graph), Question("genre of One", entities=("One",))
    )
    job = engine.compare(
        ask,
        [
            method("slow", "EgoNetwork() >> ShortestPaths() >> Rank(model='bm25')"),
            method("next", LINE.format(keep=1)),
        ],
    )
    assert reached.wait(120)
    job.cancel()
    go.set()
    assert done(job).status == "cancelled"
    assert [lane.status for lane in job.comparison.lanes] == ["cancelled", "cancelled"]


def test_without_a_model_nobody_is_asked(engine, kit):
    ask = engine.prepare_question(
        GraphSource.of(kit.graph),
        Question("genre of One", entities=("One",), answers=("Drama",)),
        model=False,
    )
    lane = comparison_dict(
        done(engine.compare(ask, [method("a", LINE.format(keep=1))])).comparison
    )["lanes"][0]
    assert lane["answer"] is None and "One -> has_genre -> Drama" in lane["prompt"]
    assert lane["funnel"]["prompt"] == ["Drama"] and lane["operators"][-1]["calls"] == 0


@pytest.mark.parametrize(
    "text, told", [("", "Type a question"), (" \n ", "Type a question"), ("x" * 20_000, "too long")]
)
def test_questions_that_cannot_be_asked(engine, kit, text, told):
    with pytest.raises(BadInput, match=told):
        engine.prepare_question(GraphSource.of(kit.graph), Question(text, entities=("One",)))


def test_an_unknown_entity_comes_with_suggestions(engine, kit):
    with pytest.raises(UnknownEntity) as error:
        engine.prepare_question(GraphSource.of(kit.graph), Question("genre", entities=("Drma",)))
    assert error.value.alternatives[0] == "Drama"


def test_entities_are_found_in_the_question(engine, kit):
    assert engine.prepare_question(
        GraphSource.of(kit.graph), Question("who directed Two")
    ).question.entities == ("Two",)


def test_no_lane_and_too_many(engine, kit):
    ask = engine.prepare_question(GraphSource.of(kit.graph), Question("who directed Two"))
    with pytest.raises(BadInput):
        engine.compare(ask, [])
    with pytest.raises(BadInput):
        engine.compare(ask, [method("a", LINE.format(keep=1))] * 9)


def test_the_encoder_is_loaded_though_its_first_vectors_were_saved(kit, monkeypatch):
    """An earlier process saved what is asked first. Else it is loaded in the middle of a crowd, at the first question that needs it."""
    loaded = []
    models = kit.Written()
    monkeypatch.setattr(
        models, "encoder", lambda name="encoder": SimpleNamespace(load=lambda: loaded.append(1))
    )
    monkeypatch.setattr(
        models, "info", lambda name: SimpleNamespace(present=name == "encoder"), raising=False
    )
    monkeypatch.setattr("core.engine.WARM_UP_LINES", ())
    monkeypatch.setattr("core.engine.datasets", lambda: {"metaqa": SimpleNamespace(sets=())})
    monkeypatch.setattr("core.engine.freeze_objects", lambda: None)
    engine = Engine(models)
    monkeypatch.setattr(engine, "graph", lambda: kit.graph)
    engine.preload()
    assert loaded == [1]


def test_a_model_that_nobody_declared_costs_its_own_lane_alone(kit):
    engine = Engine(Registry())
    ask = engine.prepare_question(
        GraphSource.of(kit.graph), Question("genre of One", entities=("One",))
    )
    near = "EgoNetwork() >> ShortestPaths()"
    lanes = [method("a", f"{near} >> Answer(role='nobody')"), method("b", near)]
    job = done(engine.compare(ask, lanes))
    assert [lane.status for lane in job.comparison.lanes] == ["failed", "done"]
    first, second = comparison_dict(job.comparison)["lanes"]
    assert "nobody" in first["error"] and job.comparison.lanes[0].model is None
    assert second["error"] is None
    engine.jobs.stop()
