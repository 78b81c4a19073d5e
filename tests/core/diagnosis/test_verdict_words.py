"""Sentences about a whole comparison.

They have the names of lanes, say by whom lanes are counted, and come when something can be said.
"""

from __future__ import annotations

import pytest

from core.comparison.lane_run import LaneListener, LaneRun
from core.diagnosis.causes import Cause
from core.diagnosis.measure import BY_MODEL, BY_READER
from core.diagnosis.repair.repair_offers import best_repair, find_equal_lane
from core.diagnosis.verdict.lane_words import lane_names
from core.diagnosis.verdict.verdict_words import explain_comparison
from core.engine import MethodComparison, MethodLane
from core.environment import Environment
from core.methods.catalogue import Method
from core.operators.text import parse_line
from core.runtime.jobs import JOB_CANCELLED, JOB_DONE, JOB_FAILED, JOB_RUNNING
from core.sources import GraphSource, SourceQuestion
from core.types import Question, Repair

DRAMA = "One -> has_genre -> Drama"


@pytest.fixture
def asked(kit):
    """`asked(lines, answers)`: a comparison whose lanes have run."""

    def make(lines, answers=("Drama",), methods=(), says=None):
        models = kit.Written(kit.Parrot(says or ""), encoder=kit.Table({DRAMA: 1.0}))
        question = Question("genre of One", answers=tuple(answers))
        ask = SourceQuestion(
            GraphSource.of(kit.graph), question, (kit.node("One"),), uses_model=says is not None
        )
        lanes = []
        for i, line in enumerate(lines):
            method = Method(
                f"l{i}", f"No. {i + 1}", parse_line(line), method=methods[i] if methods else ""
            )
            run = LaneRun(ask, method.line, Environment(models))
            run.retrieve(LaneListener())
            if says is not None:
                run.answer(LaneListener())
            lanes.append(MethodLane(ask, method, **run.lane_fields))
        return MethodComparison(ask, lanes)

    return make


LINES = (
    "EgoNetwork(hops=2) >> ShortestPaths() >> Rank(keep=1)",
    "EgoNetwork(hops=2) >> ShortestPaths()",
)


def test_the_sentences_of_two_lanes(asked):
    """Ranked by the table, Drama is best; unranked, Ann (directed by) comes first."""
    told = explain_comparison(asked(LINES, methods=("Rank by meaning", "Shortest paths")))
    assert told.text.startswith("Only “Rank by meaning” finds Drama. “Shortest paths” ")
    assert told.named_answers == ("Drama",)
    assert [(one.cause, one.n_right) for one in told.lanes] == [
        (Cause.FOUND, 1),
        (Cause.NOT_FOLLOWED, 0),
    ]


def test_nothing_is_said_for_all_until_every_lane_has_retrieved(asked):
    compared = asked(LINES)
    compared.change_lane(1, retrieved=False, status=JOB_RUNNING)
    told = explain_comparison(compared)
    assert told.text == "" and told.lanes[0].n_right == 1 and told.lanes[1] is None
    compared.change_lane(1, status=JOB_FAILED, error="No model.")
    assert explain_comparison(compared).text.endswith("Drama. No. 2 failed.")


def test_while_a_repair_runs_the_sentence_of_the_lanes_before_stays(asked):
    """The sentence on two lanes stays while a third lane is at work.

    Both lanes were taken over. Their sentence comes with the word that it is counted again.
    """
    before = explain_comparison(asked(LINES))
    compared = asked((*LINES, "EgoNetwork(hops=2) >> ShortestPaths() >> Rank(keep=9)"))
    compared.change_lane(2, retrieved=False, status=JOB_RUNNING)
    assert (
        explain_comparison(compared).text == ""
    )  # none was taken over: all are asked for the first time
    for place in (0, 1):
        compared.change_lane(place, is_taken_over=True)
    told = explain_comparison(compared)
    assert before.text and (told.text, told.named_answers, told.lanes[2]) == (
        before.text,
        before.named_answers,
        None,
    )
    assert "No. 3" in told.pending_text and before.pending_text == ""
    compared.change_lane(2, retrieved=True, status=JOB_DONE)
    assert (
        explain_comparison(compared).pending_text == ""
        and explain_comparison(compared).text != before.text
    )


def test_without_known_answers_the_lanes_are_held_against_each_other(asked):
    text = "They disagree: No. 1 says Drama; No. 2 says Ann. "
    assert explain_comparison(asked(LINES, answers=())).text.startswith(text)


def test_lanes_are_told_apart_by_name(asked):
    plain = asked(LINES, methods=("Beam search", "Beam search, 8 wide"))
    assert lane_names(plain) == ["“Beam search”", "“Beam search, 8 wide”"]
    assert lane_names(asked(LINES, methods=("Beam search", "Beam search"))) == ["No. 1", "No. 2"]
    alike = asked(LINES[:1] * 2, methods=("Beam search", "Beam search"))
    for lane in alike.lanes:
        object.__setattr__(lane.method, "short", "No. 14")
    assert lane_names(alike) == ["No. 14 (method 1)", "No. 14 (method 2)"]


ANSWERING = tuple(f"{line} >> Answer()" for line in LINES)


def test_one_measure_counts_for_all_and_it_is_said(asked):
    """Once the model has answered in every lane, its answers are what counts.

    The graph reader names Drama in the first lane only, and the model in both.
    """
    told = explain_comparison(asked(ANSWERING, says="Drama"))
    assert BY_MODEL in told.text and [one.n_right for one in told.lanes] == [1, 1]
    wrong = explain_comparison(asked(ANSWERING, says="Comedy"))
    assert wrong.text.startswith(f"Only No. 1 finds Drama, {BY_READER}; ")
    assert [(one.n_right, one.cause) for one in wrong.lanes] == [(0, Cause.NOT_SAID)] * 2


def test_until_every_model_has_answered_the_graph_reader_counts(asked):
    told = explain_comparison(asked((ANSWERING[0], LINES[1]), says="Comedy"))
    assert told.text.startswith(f"Only No. 1 finds Drama, {BY_READER}. ")
    assert [(one.n_right, one.cause) for one in told.lanes] == [
        (1, Cause.FOUND),
        (0, Cause.NOT_FOLLOWED),
    ]
    first, second = (one.text.partition(" Counted ")[2] for one in told.lanes)
    assert first == f"{BY_READER}; the language model names 0 of 1." and second == f"{BY_READER}."


def test_a_lane_without_a_graph_reader_is_counted_by_its_model_and_that_is_said(asked):
    told = explain_comparison(asked(("Answer(prompt='question-only')", LINES[0]), says="Drama"))
    both, other = told.text.split(". ", 1)
    assert BY_READER in both and other.startswith("No. 1 ") and "language model" in other


def test_a_cancelled_lane_says_so(asked):
    compared = asked(LINES)
    compared.change_lane(1, retrieved=False, status=JOB_CANCELLED)
    assert explain_comparison(compared).text.endswith("No. 2 was cancelled.")


def test_a_repair_that_a_lane_makes_already_is_not_offered_again(asked):
    compared = asked(LINES)
    line = "EgoNetwork(hops=2) >> ShortestPaths() >> Rank(keep=9)"
    compared.change_lane(0, repair=Repair(line, "Keep 9 paths → 1 of 1", 1, 1))
    assert best_repair(compared) == (0, "Repair No. 1: keep 9 paths → 1 of 1")
    spec = repr(parse_line(LINES[1]))
    compared.change_lane(0, repair=Repair(spec, "Keep all paths → 1 of 1", 1, 1))
    assert find_equal_lane(compared, compared.lanes[0], compared.lanes[0].repair) == 1
    assert best_repair(compared) is None
