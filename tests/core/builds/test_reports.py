"""Community reports, bottom-up, with recorded replies and without a model."""

from __future__ import annotations

import json

import pytest

from core.builds.base import BuildContext, BuildState
from core.builds.group.reports import Reports, read_report
from core.graph.building.text_graph import assemble, with_tables
from core.graph.columns import Table
from core.watch import NO_WATCH, Watch
from tests.core.builds.kit import Texts
from tests.core.builds.test_language_model import ChatModels

CHUNKS = Table.from_columns(id=["x", "y", "z"], text=["one", "two", "three"])
# A star a-b, a-c, a-d and an edge d-e. The community of all nodes has the part {d, e}.
NODES = {
    "type": ["person"] * 5,
    "description": ["About a.", "About b.", "", "About <d> {x}.", "About e."],
    "chunks": [[0, 1], [0], [1], [1], [1]],
}
EDGES = {
    "description": ["a meets b", "", "a meets d", "d meets e"],
    "weight": [1.0] * 4,
    "chunks": [[0], [1], [1], [1]],
}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))


def report_communities(operator, tmp_path, say=None, watch=NO_WATCH):
    table = Table.from_columns(
        level=[0, 1],
        parent=[-1, 0],
        title=["a, d, b", "d, e"],
        members=[[0, 1, 2, 3, 4], [3, 4]],
        report=["", ""],
        rating=[0.0, 0.0],
    )
    graph = assemble(
        "five",
        list("abcde"),
        [("a", "r", "b"), ("a", "r", "c"), ("a", "r", "d"), ("d", "r", "e")],
        NODES,
        EDGES,
        CHUNKS,
    )
    made = BuildState(Texts(tmp_path), CHUNKS, None, graph)
    made = made.replace(graph=with_tables(graph, communities=table))
    models = ChatModels(say)
    ctx = BuildContext(models, watch)
    return operator.apply(made, ctx).graph.columns.communities, models.writer.asked, ctx


def test_without_a_model_a_report_is_made_of_graph_texts(tmp_path):
    table, asked, _ = report_communities(Reports(writer="extractive"), tmp_path)
    assert not asked
    # Best connected first: a (3), d (2), b, c, e. Relations by the degrees of both ends: a-d (5),
    # a-b and a-c (4), d-e (3).
    assert table.texts("report") == [
        "About a. a meets d About <d> {x}. a meets b About b. a -> r -> c About e. d meets e",
        "About <d> {x}. d meets e About e.",
    ]
    # Members of the first community are in 2 of 3 chunks, those of the second in 1: 10 ln 3 / ln 4
    # and 10 ln 2 / ln 4.
    assert table.numbers("rating").tolist() == pytest.approx([7.92, 5.0], abs=0.01)
    assert report_communities(Reports(writer="extractive", length=20), tmp_path)[0].texts("report")[
        0
    ] == (
        # 3 + 3 + 4 + 3 + 3 + 4 tokens.
        "About a. a meets d About <d> {x}. a meets b About b. a -> r -> c"
    )


def report(title, rating=5):
    return {
        "title": title,
        "summary": f"On {title}.",
        "findings": ["One.", "Two."],
        "rating": rating,
    }


def test_reports_on_parts_replace_facts_in_a_full_prompt(tmp_path):
    say = lambda asked, number: report("part" if number == 1 else "whole", number)
    table, asked, _ = report_communities(Reports(budget=40), tmp_path, say)
    assert table.texts("title") == ["whole", "part"] and table.texts("report") == [
        "On whole. One. Two.",
        "On part. One. Two.",
    ]
    assert table.numbers("rating").tolist() == [2.0, 1.0]
    assert "About <d> {x}." in asked[0] and "part: On part. One. Two." in asked[1]


def test_each_finished_report_is_announced(tmp_path):
    said = []
    report_communities(
        Reports(),
        tmp_path,
        lambda *_: report("all"),
        Watch(report=lambda text, share: said.append((text, share))),
    )
    assert list(dict.fromkeys(said)) == [
        ("Reports: 0 of 2", 0.0),
        ("Reports: 1 of 2", 0.5),
        ("Reports: 2 of 2", 1.0),
    ]


def test_a_prompt_with_room_contains_no_reports_on_parts(tmp_path):
    _, asked, _ = report_communities(Reports(), tmp_path, lambda *_: report("any"))
    assert "On any." not in asked[1] and "About e." in asked[1] and "d meets e" in asked[1]


def test_an_unusable_reply_affects_only_its_report(tmp_path):
    say = lambda asked, number: "I cannot." if number < 3 else report("whole")
    table, _, ctx = report_communities(Reports(), tmp_path, say)
    assert table.texts("title") == ["whole", "d, e"] and table.texts("report")[1].startswith(
        "About <d> {x}."
    )
    assert ctx.report.counts["unread reports"] == 1 and "no whole JSON" in ctx.report.notes[0]


@pytest.mark.parametrize(
    "reply",
    ["", "[]", "{}", '{"title": 1, "summary": "", "findings": [], "rating": 1}', '{"title": "a"'],
)
def test_other_replies_are_no_reports(reply):
    assert read_report(reply) is None


def test_a_rating_is_between_0_and_10():
    assert [
        getattr(read_report(json.dumps(report("a", rating))), "rating", None)
        for rating in (-1, 99, "7")
    ] == [0.0, 10.0, 7.0]
