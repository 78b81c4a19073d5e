"""Edits of a draft, by hand."""

from __future__ import annotations

import pytest

from core.drafts.draft import Draft, parse_draft
from core.drafts.edits import (
    MAX_BRICKS,
    ArmAddition,
    ArmRemoval,
    BrickCopy,
    BrickInsertion,
    BrickMove,
    BrickRemoval,
    BrickReplacement,
    History,
    ValueChange,
    edit_draft,
    parse_change,
)
from core.drafts.slots import Slot
from core.errors import BadParameter

LINE = "PersonalizedPageRank(keep=50) >> ShortestPaths() >> Rank(keep=3)"  # keys 1, 2, 3
LOOP = "VectorNodes() >> Loop(body=ExpandNodes(keep=5) >> GraphRerank(), budget=50)"  # keys 1, 2 and in it 3, 4
BRANCH = "PredictHops() >> Branch(on='hops', arms={1: EgoNetwork()}, otherwise=EgoNetwork(hops=3))"  # keys 1, 2 and in it 3, 4

CHANGES = (
    (
        LINE,
        BrickInsertion(Slot(1), "FilterSubgraph"),
        "PersonalizedPageRank(keep=50) >> FilterSubgraph() >> ShortestPaths() >> Rank(keep=3)",
    ),
    (LINE, BrickInsertion(Slot(3), "Answer"), LINE + " >> Answer()"),
    (LINE, BrickInsertion(Slot(9), "Answer"), LINE),  # there is no such place
    (LINE, BrickRemoval(2), "PersonalizedPageRank(keep=50) >> Rank(keep=3)"),
    (LINE, BrickRemoval(9), LINE),
    (LINE, BrickCopy(3), LINE + " >> Rank(keep=3)"),
    (LINE, BrickReplacement(1, "EgoNetwork"), "EgoNetwork() >> ShortestPaths() >> Rank(keep=3)"),
    (LINE, BrickReplacement(3, "Rank"), LINE),  # it is one already, and keeps its parameters
    (
        LINE,
        BrickMove(1, Slot(3)),
        "ShortestPaths() >> Rank(keep=3) >> PersonalizedPageRank(keep=50)",
    ),
    (
        LINE,
        BrickMove(3, Slot(0)),
        "Rank(keep=3) >> PersonalizedPageRank(keep=50) >> ShortestPaths()",
    ),
    (LINE, BrickMove(2, Slot(2)), LINE),  # the slot behind it is where it is
    (
        LINE,
        ValueChange(3, "keep", 8),
        "PersonalizedPageRank(keep=50) >> ShortestPaths() >> Rank(keep=8)",
    ),
    (
        LINE,
        ValueChange(1, "keep", 1000),
        "PersonalizedPageRank() >> ShortestPaths() >> Rank(keep=3)",
    ),  # the default is not written
    (
        LOOP,
        BrickInsertion(Slot(2, 2, "body"), "NeighbourNodes"),
        LOOP.replace("GraphRerank()", "GraphRerank() >> NeighbourNodes()"),
    ),
    (LOOP, BrickRemoval(4), LOOP.replace(" >> GraphRerank()", "")),
    (
        LOOP,
        BrickMove(4, Slot(2)),
        "VectorNodes() >> Loop(body=ExpandNodes(keep=5), budget=50) >> GraphRerank()",
    ),
    (
        LOOP,
        BrickMove(1, Slot(0, 2, "body")),
        "Loop(body=VectorNodes() >> ExpandNodes(keep=5) >> GraphRerank(), budget=50)",
    ),
    (LOOP, BrickMove(2, Slot(0, 2, "body")), LOOP),  # not into itself
    (LOOP, ValueChange(2, "budget", 80), LOOP.replace("50", "80")),
    (LOOP, ValueChange(3, "keep", 7), LOOP.replace("keep=5", "keep=7")),
    (LOOP, BrickCopy(2), LOOP + " >> " + LOOP.split(" >> ", 1)[1]),
    (BRANCH, ArmAddition(2), BRANCH.replace("EgoNetwork()}", "EgoNetwork(), 2: ...}")),
    (BRANCH, ArmRemoval(2, "1"), BRANCH),  # one for a number stays
    (LINE, ArmAddition(1), LINE),  # no branch
    (
        "PredictHops() >> EgoNetwork(hops=1)",
        BrickReplacement(2, "Branch"),
        BRANCH.replace("EgoNetwork()", "EgoNetwork(hops=1)").replace("hops=3", "hops=1"),
    ),
    ("", BrickInsertion(Slot(0), "Branch"), "Branch(on='hops', arms={1: ...}, otherwise=...)"),
)


@pytest.mark.parametrize("before, change, after", CHANGES)
def test_a_change_gives_the_line_worked_out_by_hand(before, change, after):
    assert edit_draft(parse_draft(before), change).text == after


def test_the_last_brick_of_a_row_can_be_taken_out():
    draft = edit_draft(edit_draft(parse_draft(LOOP), BrickRemoval(3)), BrickRemoval(4))
    assert draft.text == "VectorNodes() >> Loop(body=..., budget=50)"
    assert parse_draft(draft.text).text == draft.text and draft.runnable_line() is None


@pytest.mark.parametrize(
    "change",
    [
        ValueChange(3, "keep", 0),
        ValueChange(3, "keep", "many"),
        ValueChange(3, "kept", 3),
        BrickInsertion(Slot(0), "Nonsense"),
        BrickReplacement(1, "Rnak"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(change):
    with pytest.raises(BadParameter):
        edit_draft(parse_draft(LINE), change)


def test_keys_stay_and_new_ones_are_new():
    draft = parse_draft(LINE)
    assert [brick.key for brick in edit_draft(draft, BrickMove(3, Slot(0))).bricks] == [3, 1, 2]
    assert [
        brick.key for brick in edit_draft(draft, BrickInsertion(Slot(1), "FilterSubgraph")).bricks
    ] == [
        1,
        4,
        2,
        3,
    ]
    assert edit_draft(draft, BrickReplacement(2, "SimplePaths")).bricks[1].key == 2
    copied = edit_draft(parse_draft(LOOP), BrickCopy(2))
    keys = [brick.key for brick in copied.iter_bricks()]
    assert len(set(keys)) == len(keys) == 7


def test_a_line_grows_to_a_limit():
    draft = Draft()
    for _ in range(MAX_BRICKS):
        draft = edit_draft(draft, BrickInsertion(Slot(0), "EgoNetwork"))
    with pytest.raises(BadParameter, match="at most"):
        edit_draft(draft, BrickCopy(1))


def test_undo_and_redo():
    one, two = parse_draft("EgoNetwork()"), parse_draft("EgoNetwork() >> SimplePaths()")
    history = History().add(one).add(two)
    assert history.add(two) == history  # nothing changed
    assert history.undo().draft == one and history.undo().undo().draft == Draft()
    assert history.undo().undo().undo() == history.undo().undo()
    assert history.undo().redo() == history and history.redo() == history
    assert history.undo().add(Draft()).later == ()  # another change takes the way forth away


@pytest.mark.parametrize(
    "message, change",
    [
        ({"do": "insert", "slot": "2", "name": "Rank"}, BrickInsertion(Slot(2), "Rank")),
        ({"do": "move", "key": 3, "slot": "5.body.0"}, BrickMove(3, Slot(0, 5, "body"))),
        ({"do": "replace", "key": 3, "name": "Rank"}, BrickReplacement(3, "Rank")),
        ({"do": "remove", "key": 3}, BrickRemoval(3)),
        ({"do": "set", "key": 3, "name": "keep", "value": 8}, ValueChange(3, "keep", 8)),
        ({"do": "remove-arm", "key": 3, "name": "2"}, ArmRemoval(3, "2")),
    ],
)
def test_a_message_names_a_change(message, change):
    assert parse_change(message) == change


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"do": "remove"},
        {"do": "remove", "key": "3"},
        {"do": "insert", "slot": "x", "name": "Rank"},
        {"do": "insert", "slot": "1.b.c.-1", "name": "A"},
    ],
)
def test_a_message_that_names_none_is_refused(message):
    with pytest.raises(BadParameter):
        parse_change(message)
