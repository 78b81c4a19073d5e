"""Bricks of a draft: the places that each fits, and what it lacks."""

from __future__ import annotations

import pytest

from core.drafts.draft import Draft, parse_draft
from core.drafts.draft_faults import (
    brick_faults,
    change_fault,
    default_slot,
    fitting_slots,
    operator_refusals,
    possible_moves,
    replaceable_bricks,
)
from core.drafts.edits import BrickInsertion, BrickMove, BrickReplacement
from core.drafts.slots import Slot, slots
from core.drafts.terms import TERMS
from core.errors import BadParameter
from core.methods.catalogue import published_methods
from core.operators import OPERATORS
from core.operators.base import order_fault

LINE = "PersonalizedPageRank() >> ShortestPaths() >> Rank() >> Answer()"  # keys 1, 2, 3, 4


@pytest.mark.parametrize("row", published_methods().values(), ids=lambda row: row.id)
def test_every_published_line_is_a_draft_that_lacks_nothing(row):
    draft = Draft.from_line(row.line)
    assert brick_faults(draft) == {}
    assert draft.text == repr(row.line) == parse_draft(draft.text).text
    assert repr(draft.line()) == repr(row.line)


def test_each_brick_says_what_it_lacks():
    told = "“Shortest paths” reads a subgraph, and nothing before it extracts one."
    # what reads its paths lacks nothing
    assert brick_faults(parse_draft("ShortestPaths() >> Rank()")) == {1: told}
    assert list(brick_faults(parse_draft("Answer(prompt='question-only') >> EgoNetwork()"))) == [2]


@pytest.mark.parametrize(
    "text, key, part",
    [
        ("SparseNodes() >> Loop(body=...)", 2, "no operator to repeat"),
        ("SparseNodes() >> Loop(body=ShortestPaths() >> NeighbourNodes())", 3, "reads a subgraph"),
        ("SparseNodes() >> Loop(body=EmbedQuery())", 2, "never end"),
        ("EgoNetwork() >> Loop(body=EmbedQuery() >> SparseNodes())", 2, "reads entities"),
        ("Union(first=EgoNetwork(), second=SparseNodes())", 1, "finds no hits"),
        (
            "PredictHops() >> Branch(on='hops', arms={1: ...}, otherwise=EgoNetwork())",
            2,
            "has no operator",
        ),
        (
            "Branch(on='hops', arms={1: EgoNetwork()}, otherwise=EgoNetwork())",
            1,
            "a number of hops",
        ),
        ("SparseNodes() >> Loop(body=NeighbourNodes() >> Answer())", 4, "cannot be part of a loop"),
    ],
)
def test_a_brick_that_holds_bricks_says_it_where_it_is(text, key, part):
    found = brick_faults(parse_draft(text))
    assert list(found) == [key] and part in found[key]


def test_what_fits_at_the_end_is_what_the_line_takes_there():
    for text in ("", "EgoNetwork()", "EgoNetwork() >> ShortestPaths()", "EgoNetwork() >> Answer()"):
        draft = parse_draft(text)
        before = tuple(brick.operator for brick in draft.bricks)
        found = operator_refusals(draft, Slot(len(draft.bricks)))
        for name, cls in OPERATORS.items():
            assert (found[name] is None) == (order_fault(before, cls()) is None), (text, name)


def test_what_would_take_away_from_others_does_not_fit():
    draft = parse_draft(LINE)
    assert "cannot come after the answer" in str(
        change_fault(draft, BrickInsertion(Slot(2), "Answer"))
    )
    assert "reads a subgraph" in str(change_fault(draft, BrickReplacement(1, "EmbedQuery")))
    assert change_fault(draft, BrickReplacement(1, "EgoNetwork")) is None
    assert "reads paths" in str(change_fault(draft, BrickMove(3, Slot(0))))


def test_where_an_operator_may_be_dropped():
    draft = parse_draft(LINE)
    assert fitting_slots(draft, "FilterSubgraph") == (Slot(1), Slot(2), Slot(3))
    # in the place of the ranking or of the answer it does no harm
    assert replaceable_bricks(draft, "EgoNetwork") == (1, 3, 4)
    assert possible_moves(draft, 1) == ()
    assert possible_moves(parse_draft("EgoNetwork() >> EmbedQuery() >> ShortestPaths()"), 2) == (
        Slot(0),
        Slot(3),
    )


def test_a_branch_may_be_put_where_hops_are_known_and_holds_nothing_yet():
    draft = parse_draft("PredictHops() >> EgoNetwork()")
    assert fitting_slots(draft, "Branch") == (Slot(1), Slot(2))
    assert change_fault(draft, BrickReplacement(2, "Branch")) is None and "number of hops" in str(
        change_fault(draft, BrickReplacement(1, "Branch"))
    )


def test_slots_are_before_between_and_behind_and_inside():
    draft = parse_draft("SparseNodes() >> Loop(body=ExpandNodes())")
    assert list(map(str, slots(draft))) == ["0", "1", "2", "2.body.0", "2.body.1"]


def test_each_term_is_of_an_operator():
    assert set(TERMS) <= set(OPERATORS)


def test_the_usual_slot():
    assert default_slot(parse_draft("EgoNetwork() >> Answer(prompt='question-only')")) == Slot(1)
    assert default_slot(parse_draft("EgoNetwork() >> ShortestPaths()")) == Slot(2)
    # before what lacks something
    assert default_slot(parse_draft("PersonalizedPageRank() >> Rank() >> Answer()")) == Slot(1)
    assert default_slot(Draft()) == Slot(0)


@pytest.mark.parametrize(
    "text",
    [
        "EgoNetwork(",
        "Nonsense()",
        "EgoNetwork(hop=1)",
        "Loop(budge=3)",
        "Branch(on='x', arms={}, otherwise=...)",
        "1 + 1",
        "...",
    ],
)
def test_what_is_no_line_is_refused(text):
    if text == "...":
        assert parse_draft(text) == Draft()
        return
    with pytest.raises(BadParameter):
        parse_draft(text)
