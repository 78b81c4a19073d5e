"""What is taken away: by a path or a node of the board, in an address, in a saved case, in the board's data."""

from __future__ import annotations

import pytest

from core.case_adapter import comparison, finished
from core.cases.finished import freeze_finished, thaw_finished
from core.comparison.run import LaneRun, Progress
from core.engine import Comparison, Lane
from core.environment import Environment
from core.errors import BadInput
from core.graph.building.build import build
from core.graph.edits import Edit
from core.instances.catalogue import Instance
from core.operators.text import parse_line
from core.results import comparison_dict
from core.sources import GraphSource
from core.types import Question
from pages.parts.board.payload import Board
from pages.parts.compare.permalink import Link, parse_link
from pages.parts.compare.without import Refused, _of_node, _of_path, _renamed
from tests.films import TRIPLES, Table, Written

EDIT = Edit("edge", ("Two", "directed_by", "Ann"))


@pytest.fixture
def taken(tmp_path):
    """A comparison of one lane, asked without a triple."""

    source = GraphSource("films", build(TRIPLES, tmp_path / "films", "films"), edits=(EDIT,)).open(None)
    ask = source.ask(Question("who directed Two", entities=("Two",)), model=False)
    run = LaneRun(ask, parse_line("EgoNetwork(hops=1) >> ShortestPaths(hops=1)"), Environment(Written(encoder=Table({}))))
    run.retrieve(Progress())
    return Comparison(ask, [Lane(Instance("a", "A", run.line), run, "done", retrieved=True)])


def test_the_triples_of_a_path_by_their_names_and_directions():
    path = {"steps": ["Two", "directed_by", "Ann", "directed_by", "One"], "forward": [True, False]}
    assert _of_path(path) == [EDIT, Edit("edge", ("One", "directed_by", "Ann"))]
    chunks = {"steps": ["The turkey", "shares", "Fred"], "names": ["carol#2", "Fred"], "forward": [True]}
    assert _of_path(chunks) == [Edit("edge", ("carol#2", "shares", "Fred"))]


def test_a_relation_without_a_name_and_a_summary_are_refused(taken):
    with pytest.raises(BadInput):
        _of_path({"steps": ["a", "", "b"], "forward": [True]})
    assert _of_node(taken, taken.graph.nodes_named("Ann")[0]) == Edit("node", ("Ann",))


def test_an_address_leaves_nothing_out_without_a_word():
    link = parse_link({"q": "who", "edit": [EDIT.written(), "nonsense"]})
    assert link.edits == (EDIT, Edit("node", ("nonsense",)))  # no graph has it, which each lane says
    assert parse_link(Link("who", edits=(EDIT,), typed=True).parameters()).edits == (EDIT,)


def test_a_saved_comparison_and_what_draws_and_prints_it_say_what_was_taken_away(taken):
    saved = comparison(thaw_finished(freeze_finished(finished(taken))))
    assert saved.ask.source.edits == (EDIT,)
    for one in (taken, saved):
        assert Board(one).payload()["edits"] == comparison_dict(one)["edits"] == ["without Two -> directed_by -> Ann"]


def test_a_node_is_renamed_by_a_typed_name_and_merged_into_one_that_was_clicked_or_typed(taken):
    two, ann = (taken.graph.nodes_named(name)[0] for name in ("Two", "Ann"))
    assert _renamed(taken, {"to": "rename", "node": ann, "name": "  Anne  Roe "}) == Edit("rename", ("Ann", "Anne Roe"))
    assert _renamed(taken, {"to": "merge", "node": two, "other": ann}) == Edit("merge", ("Two", "Ann"))
    assert _renamed(taken, {"to": "merge", "node": ann, "name": "Two"}) == Edit("merge", ("Ann", "Two"))


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
    with pytest.raises(Refused, match=text):
        _renamed(taken, {"node": taken.graph.nodes_named("Ann")[0], **pressed})


def test_a_passage_is_not_renamed(taken, monkeypatch):
    monkeypatch.setattr("pages.parts.compare.without._of_node", lambda comparison, node: Edit("passage", ("a",)))
    with pytest.raises(Refused, match="this is a passage"):
        _renamed(taken, {"to": "rename", "node": 0, "name": "B"})
