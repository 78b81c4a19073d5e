"""Drafts of lines that build a graph.

The stages of a build say what fits where, and what does not fit and why.
"""

from __future__ import annotations

import pytest

from core.builds import catalogue, find_build
from core.builds.base import BUILD_STAGES, LATE_STAGE_MESSAGES, MISSING_PART_MESSAGES
from core.builds.catalogue import graph_kind
from core.builds.registry import BUILD_GRAMMAR
from core.drafts import Draft, brick_faults
from core.drafts.draft import parse_draft
from core.drafts.draft_faults import change_fault, default_slot, operator_refusals, possible_moves
from core.drafts.edits import BrickInsertion, BrickRemoval, BrickReplacement, edit_draft
from core.drafts.slots import Slot
from core.errors import BadParameter
from core.operators.text import RETRIEVAL_GRAMMAR

LINE = "TokenChunks() >> NounPhrases() >> Merge() >> Communities() >> Reports() >> Vectors()"  # keys 1 to 6


def fitting(draft: Draft, place) -> set[str]:
    return {name for name, reason in operator_refusals(draft, place).items() if reason is None}


@pytest.mark.parametrize("row", catalogue().values(), ids=lambda row: row.id)
def test_every_build_that_ships_is_a_draft_that_lacks_nothing(row):
    draft = Draft.from_line(row.line)
    assert draft.grammar is BUILD_GRAMMAR and brick_faults(draft) == {}
    assert draft.text == repr(row.line) == parse_draft(draft.text, BUILD_GRAMMAR).text
    assert draft.line() == row.line and find_build(draft.text).id == row.id


def test_an_empty_build_begins_with_what_cuts_documents():
    empty = Draft(grammar=BUILD_GRAMMAR)
    assert fitting(empty, Slot(0)) == {
        "WholeDocuments",
        "TokenChunks",
        "SentenceChunks",
        "CharacterChunks",
        "OpenedIndex",
    }
    assert edit_draft(empty, BrickInsertion(Slot(0), "SentenceChunks")).text == "SentenceChunks()"


def test_what_fits_is_what_a_build_takes_there():
    draft = parse_draft(LINE, BUILD_GRAMMAR)
    # an index of another tool has a graph already
    assert fitting(draft, 1) == {
        "TokenChunks",
        "WholeDocuments",
        "SentenceChunks",
        "CharacterChunks",
    }
    assert fitting(draft, 2) == {
        "NamesAndTerms",
        "NounPhrases",
        "LanguageModelExtraction",
        "DescribedNames",
    }
    assert fitting(draft, 3) == {
        "Merge",
        "PassageGraph",
        "GivenLinks",
        "CitedDocuments",
        "NearestDocuments",
        "SharedTerms",
        "Tree",
    }
    assert fitting(draft, Slot(3)) == {"AddIdentityEdges", "AddSynonymEdges", "Communities"}
    assert fitting(draft, Slot(6)) == {"Vectors"}
    assert (
        default_slot(draft) == Slot(5)
        and possible_moves(draft, 6) == ()
        and default_slot(parse_draft("TokenChunks()", BUILD_GRAMMAR)) == Slot(1)
    )


@pytest.mark.parametrize(
    "text, reason",
    [
        ("NounPhrases()", "reads chunks, and nothing before it cuts any"),
        ("TokenChunks() >> Merge()", "reads what chunks tell, and nothing before it extracts any"),
        (
            "TokenChunks() >> NounPhrases() >> SentenceChunks() >> Merge()",
            "cuts chunks, and they are cut before it",
        ),
        (
            "TokenChunks() >> NounPhrases() >> DescribedNames() >> Merge()",
            "reads chunks, and they are read before it",
        ),
        (
            "TokenChunks() >> NounPhrases() >> Merge() >> Tree()",
            "makes a graph, and one is made before it",
        ),
        (
            "TokenChunks() >> NounPhrases() >> Merge() >> Communities() >> AddSynonymEdges()",
            "cannot come after it was grouped",
        ),
        (
            "TokenChunks() >> Vectors() >> NounPhrases() >> Merge()",
            "cannot come after vectors were made",
        ),
    ],
)
def test_what_makes_no_graph_is_refused_with_a_reason_by_drafts_and_lines_alike(text, reason):
    told = list(brick_faults(parse_draft(text, BUILD_GRAMMAR)).values())
    assert reason in told[0]
    with pytest.raises(BadParameter, match=reason):
        find_build(text)


def test_each_need_and_stage_has_words():
    assert set(BUILD_STAGES) - {"chunk"} == set(LATE_STAGE_MESSAGES)
    assert {need for cls in BUILD_GRAMMAR.operators.values() for need in cls.reads} == set(
        MISSING_PART_MESSAGES
    )
    assert {cls.stage for cls in BUILD_GRAMMAR.operators.values()} == set(BUILD_STAGES)


def test_a_step_that_others_need_takes_their_place_away():
    draft = parse_draft(LINE, BUILD_GRAMMAR)
    assert (
        list(brick_faults(edit_draft(draft, BrickRemoval(4)))) == [5]
        and "finds any" in brick_faults(edit_draft(draft, BrickRemoval(4)))[5]
    )
    assert "nothing before it finds any" in str(
        change_fault(draft, BrickReplacement(4, "AddSynonymEdges"))
    )


def test_operators_of_the_two_kinds_of_lines_do_not_mix():
    assert RETRIEVAL_GRAMMAR.operators["Merge"] is not BUILD_GRAMMAR.operators["Merge"]
    for text in (
        "EgoNetwork()",
        "TokenChunks() >> Rank()",
        "Branch(on='hops', arms={1: Merge()}, otherwise=Merge())",
        "Loop(body=Merge())",
    ):
        with pytest.raises(BadParameter):
            parse_draft(text, BUILD_GRAMMAR)
    with pytest.raises(BadParameter, match="no building operator"):
        edit_draft(parse_draft(LINE, BUILD_GRAMMAR), BrickInsertion(Slot(0), "EgoNetwork"))
    with pytest.raises(BadParameter):
        parse_draft("TokenChunks()")


@pytest.mark.parametrize("row", catalogue().values(), ids=lambda row: row.id)
def test_the_kind_of_each_build_that_ships_is_found_by_its_steps(row):
    assert graph_kind(row.line) == row.graph
