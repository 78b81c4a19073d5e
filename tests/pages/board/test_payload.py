"""The board is given the same layout for all lanes.

It is given answers alive and lost, fates, and no more nodes than can be read.
"""

from __future__ import annotations

import json

import pytest

from core.engine import Engine
from core.methods.catalogue import find_method
from core.sources import GraphSource
from core.types import Question, Step
from pages.parts.board.component import as_bytes
from pages.parts.board.payload import Board, cost_text
from pages.parts.board.picture import MAX_PICTURE_NODES

LANES = (
    "EgoNetwork(hops=3) >> ShortestPaths() >> Rank(model='bm25', keep=40) >> Answer(paths=30)",
    "EgoNetwork(hops=2, keep=300) >> BeamSearch(model='bm25', rank='bm25', width=4, hops=2) >> Answer()",
    "Answer(prompt='question-only')",
)


@pytest.fixture(scope="module")
def payload(movies):
    engine = Engine()
    question = Question(
        "what genres are the films acted by Robert Armstrong in",
        answers=("Drama", "War", "Nobody <b>"),
    )
    job = engine.compare(
        engine.prepare_question(GraphSource.of(movies), question, uses_model=False),
        [find_method(spec) for spec in LANES],
    )
    assert job.wait(60) and not job.error
    made = Board(job.comparison).payload()
    engine.jobs.stop()
    return made


def test_it_is_plain_data(payload):
    assert json.loads(json.dumps(payload)) == payload


def test_every_drawn_node_has_one_place_and_there_are_not_too_many(payload):
    nodes = payload["layout"]["nodes"]
    assert 0 < len(nodes) <= MAX_PICTURE_NODES and len({node["id"] for node in nodes}) == len(nodes)
    assert all(0 <= node["x"] <= 1 and 0 <= node["y"] <= 1 for node in nodes)
    places = {(node["x"], node["y"]) for node in nodes}
    assert len(places) > 0.9 * len(nodes)


def test_all_nodes_of_shown_paths_are_drawn(payload):
    drawn = {node["id"] for node in payload["layout"]["nodes"]}
    assert any(lane["paths"] for lane in payload["lanes"]) and any(
        lane["lost"] for lane in payload["lanes"]
    )
    for lane in payload["lanes"]:
        for entry in lane["paths"] + lane["lost"]:
            assert drawn.issuperset(payload["paths"][entry["key"]]["nodes"])
            assert set(payload["fates"][entry["key"]]) == {"lane-0", "lane-1", "lane-2"}


def test_answers_alive_agree_with_the_funnel(payload):
    names = {node["id"]: node["name"] for node in payload["layout"]["nodes"]}
    for lane in payload["lanes"][:2]:
        stages = {stage["stage"]: stage for stage in lane["funnel"]}
        assert len(lane["alive"]) == stages["paths"]["alive"] and stages["paths"]["of"] == 3
        # the graph reader answers, from all paths
        assert stages["prompt"]["aside"] and stages["prompt"]["lost"] == []
        lost = {entry["answer"] for entry in lane["lost"]}
        assert lost.isdisjoint(names[node] for node in lane["alive"])


def test_a_lane_without_a_graph_has_its_stages_empty(payload):
    lane = payload["lanes"][2]
    assert lane["drawn"] is None and lane["alive"] is None and lane["paths"] == []
    assert [stage["stage"] for stage in lane["funnel"]] == [
        "graph",
        "subgraph",
        "paths",
        "prompt",
        "answer",
    ]


def test_the_beams_story_is_told_hop_by_hop(payload):
    (story,) = payload["lanes"][1]["stories"]
    assert [frame["title"] for frame in story["frames"]] == ["hop 1", "hop 2"]
    assert all(len(frame["paths"]) <= 4 <= frame["considered"] for frame in story["frames"])


def test_the_words_of_an_answer_name_drawn_paths_and_lines_of_the_prompt(payload):
    found = payload["evidence"]["lane-0"]
    assert (
        set(payload["evidence"]) == {"lane-0", "lane-1", "lane-2"}
        and payload["evidence"]["lane-2"] == []
    )
    assert [one["text"] for one in found] == payload["lanes"][0]["reader"]
    lines = "\n".join(message["content"] for message in payload["lanes"][0]["prompt"]).split("\n")
    for one in found:
        assert all(payload["paths"][key]["nodes"][-1] == one["node"] for key in one["paths"])
        assert all(one["text"] in lines[place] for place in one["prompt"])
    assert any(one["paths"] and one["prompt"] for one in found)


def test_the_sentences_and_what_is_not_known_of_repairs(payload):
    # none were asked for
    assert payload["verdict"]["text"] and payload["verdict"]["repair"] is None
    assert all(
        lane["verdict_text"]["head"].endswith(":") and lane["repair"] is None
        for lane in payload["lanes"]
    )


def test_a_step_of_before_a_parameter_was_there_tells_what_it_knew():
    from core.types import Step
    from pages.parts.board.payload import operator_row

    assert (
        operator_row(Step("GraphReader", "read", {"keep": 50}, 0.1))["detail"]
        == "answers at most 50"
    )


def test_the_table_of_steps_shows_values_as_people_write_them():
    from core.types import Step
    from pages.parts.board.payload import operator_row

    values = {"keep": 1000, "model": None, "every": False}
    detail = operator_row(Step("ShortestPaths", "retrieve", values, 0.1))["detail"]
    assert "False" not in detail and "no" in detail.split()
    assert "1,000" in operator_row(Step("Rank", "refine", values, 0.1))["detail"]


def test_a_step_that_runs_has_a_clock_and_one_that_ended_has_none(monkeypatch):
    from types import SimpleNamespace

    clock = iter((10.0, 12.5, 20.0, 30.0))
    watch = SimpleNamespace(monotonic=lambda: next(clock))
    monkeypatch.setattr("pages.parts.board.payload.time", watch)

    lane = SimpleNamespace(status="answering", states=(1, 2), answer="")
    board = Board.__new__(Board)
    board.comparison, board._steps = SimpleNamespace(lanes=[lane]), {}
    assert board.step_seconds() == {"lane-0": 0.0}
    assert board.step_seconds() == {"lane-0": 2.5}
    lane.answer = "Christopher"  # the next step: it answers
    assert board.step_seconds() == {"lane-0": 0.0}
    lane.status = "done"
    assert board.step_seconds() == {}


@pytest.mark.parametrize(
    "payload",
    [
        {"lanes": [{"title": "É <b>", "score": 0.1, "nodes": (1, 2)}], 3: None},
        {"name": "half \ud800"},
        {"number": 2**70},
    ],
)
def test_what_the_board_is_sent_is_the_payload_as_json(payload):
    assert json.loads(as_bytes(payload)) == json.loads(json.dumps(payload))


def test_a_cost_says_which_seconds_beside_it_are_not_in_it():
    trace = (Step("Rank", "refine", {}, 0.04),)
    assert cost_text(trace) == cost_text(trace, {"waiting": 0.004}) == "0.04 s"
    said = cost_text(trace, {"preparation": 0.6, "waiting": 1.25})
    assert said.startswith("0.04 s") and "0.60 s preparation" in said and "1.25 s waiting" in said
