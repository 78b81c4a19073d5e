"""A part of the graph is taken away by a path or a node of the board.

It is told in an address, in a saved case and in the board's data.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.cases.comparison_data import freeze, thaw
from core.comparison.lane_run import LaneListener, LaneRun
from core.diagnosis.edit_effects import compare_edited
from core.engine import MethodComparison
from core.environment import Environment
from core.errors import BadInput
from core.graph.building.build import build
from core.graph.edits import Edit
from core.operators.text import parse_line
from core.results import comparison_dict
from core.sources import GraphSource
from core.types import EditComparison, Question
from pages.parts.board.earlier_answers import edit_comparison_data
from pages.parts.board.payload import Board
from pages.parts.compare.graph_edits import (
    RefusedEdit,
    _node_removal,
    _path_removals,
    _rename_edit,
)
from pages.parts.question.permalink import Permalink, parse_link
from tests.films import TRIPLES, Table, Written
from tests.lanes import lane_of

EDIT = Edit("edge", ("Two", "directed_by", "Ann"))


def asked(source):
    """A comparison of one lane on the graph of a source."""
    opened = source.open(None)
    ask = opened.ask(Question("who directed Two", entities=("Two",)), uses_model=False)
    run = LaneRun(
        ask,
        parse_line("EgoNetwork(hops=1) >> ShortestPaths(hops=1)"),
        Environment(Written(encoder=Table({}))),
    )
    run.retrieve(LaneListener())
    return MethodComparison(ask, [lane_of(run, "a", "A")])


@pytest.fixture
def earlier(tmp_path):
    """A comparison of one lane on the whole graph."""
    return asked(GraphSource("films", build(TRIPLES, tmp_path / "films", "films")))


@pytest.fixture
def taken(earlier):
    """The same, asked without a triple."""
    return asked_without(earlier, EDIT)


def asked_without(one, *edits):
    """The same comparison as another one after these edits."""
    return asked(replace(one.ask.source, edits=edits))


def test_the_triples_of_a_path_by_their_names_and_directions():
    path = {"steps": ["Two", "directed_by", "Ann", "directed_by", "One"], "forward": [True, False]}
    assert _path_removals(path) == [EDIT, Edit("edge", ("One", "directed_by", "Ann"))]
    chunks = {
        "steps": ["The turkey", "shares", "Fred"],
        "names": ["carol#2", "Fred"],
        "forward": [True],
    }
    assert _path_removals(chunks) == [Edit("edge", ("carol#2", "shares", "Fred"))]


def test_a_relation_without_a_name_and_a_summary_are_refused(taken):
    with pytest.raises(BadInput):
        _path_removals({"steps": ["a", "", "b"], "forward": [True]})
    assert _node_removal(taken, taken.graph.nodes_named("Ann")[0]) == Edit("node", ("Ann",))


def test_an_address_leaves_nothing_out_without_a_word():
    link = parse_link({"q": "who", "edit": [EDIT.to_text(), "nonsense"]})
    # no graph has it, which each lane says
    assert link.edits == (EDIT, Edit("node", ("nonsense",)))
    assert parse_link(Permalink("who", edits=(EDIT,), is_typed=True).parameters()).edits == (EDIT,)


def test_a_saved_comparison_and_what_draws_and_prints_it_say_what_was_taken_away(taken):
    saved = thaw(freeze(taken))
    assert saved.ask.source.edits == (EDIT,)
    for one in (taken, saved):
        assert (
            Board(one).payload()["edits"]
            == comparison_dict(one)["edits"]
            == ["without Two -> directed_by -> Ann"]
        )


def test_what_each_lane_said_before_is_saved_with_the_case_drawn_and_printed(taken, earlier):
    """Ann directed and wrote Two; without the first triple she is named by the second."""
    taken.change_lane(0, beside=compare_edited(earlier, taken)[0])
    saved = thaw(freeze(taken))
    assert saved.lanes[0].beside == taken.lanes[0].beside and saved.lanes[0].beside.said == ("Ann",)
    drawn = Board(saved).payload()
    assert "“A”" in drawn["without"]
    assert drawn["lanes"][0]["beside"]["text"] == taken.lanes[0].beside.text
    assert comparison_dict(saved)["lanes"][0]["beside"]["said"] == ("Ann",)


def test_what_it_said_is_repeated_only_where_its_sentence_does_not_hold_it():
    one = EditComparison(
        True, ("Ann",), ("Bea",), (1, 0), "No longer says Ann, now says Bea.", said=("Ann",)
    )
    assert edit_comparison_data(one) == {
        "text": one.text,
        "tone": "bad",
        "said": "",
        "count": "1 → 0",
    }
    # of two known answers that were merged one is left
    merged = replace(one, lost=(), new=(), text="Same answer.")
    assert (edit_comparison_data(merged)["tone"], edit_comparison_data(merged)["count"]) == (
        "same",
        "",
    )
    assert (
        edit_comparison_data(replace(one, said=("Ann", "Cid"), right=(None, None)))["said"]
        == "Ann, Cid"
    )


def test_what_stays_has_the_same_place_before_and_after_and_what_comes_back_too(taken, earlier):
    places = lambda board: {
        node["name"]: (node["x"], node["y"]) for node in board.payload()["layout"]["nodes"]
    }
    first = Board(earlier)
    whole = places(first)
    second = Board(taken, first)
    less = places(second)
    assert len(less) > 1 and all(whole[name] == place for name, place in less.items())
    without_ann = Board(asked_without(earlier, Edit("node", ("Ann",))), second)
    assert "Ann" not in places(without_ann)
    assert places(Board(earlier, without_ann)) == whole
    renamed = places(Board(asked_without(earlier, Edit("rename", ("Ann", "Bea"))), first))
    assert renamed["Bea"] == whole["Ann"]


def test_a_node_is_renamed_by_a_typed_name_and_merged_into_one_that_was_clicked_or_typed(taken):
    two, ann = (taken.graph.nodes_named(name)[0] for name in ("Two", "Ann"))
    assert _rename_edit(taken, {"to": "rename", "node": ann, "name": "  Anne  Roe "}) == Edit(
        "rename", ("Ann", "Anne Roe")
    )
    assert _rename_edit(taken, {"to": "merge", "node": two, "other": ann}) == Edit(
        "merge", ("Two", "Ann")
    )
    assert _rename_edit(taken, {"to": "merge", "node": ann, "name": "Two"}) == Edit(
        "merge", ("Ann", "Two")
    )


@pytest.mark.parametrize(
    ("pressed", "text"),
    [
        ({"to": "rename", "name": "Ann"}, "this name already"),
        ({"to": "rename", "name": "Two"}, "Merge the two"),
        ({"to": "rename", "name": "  "}, "needs a name"),
        ({"to": "merge", "name": "<script>"}, "No node is called “<script>”"),
    ],
)
def test_a_name_that_does_not_do_says_why(taken, pressed, text):
    with pytest.raises(RefusedEdit, match=text):
        _rename_edit(taken, {"node": taken.graph.nodes_named("Ann")[0], **pressed})


def test_a_passage_is_not_renamed(taken, monkeypatch):
    monkeypatch.setattr(
        "pages.parts.compare.graph_edits._node_removal",
        lambda comparison, node: Edit("passage", ("a",)),
    )
    with pytest.raises(RefusedEdit, match="this is a passage"):
        _rename_edit(taken, {"to": "rename", "node": 0, "name": "B"})
