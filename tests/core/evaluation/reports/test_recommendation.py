"""The recommended method, on made-up rows.

The ranks, p values and numbers of questions are worked out by hand.
"""

from __future__ import annotations

import pytest

from core.evaluation.metrics.outcome import (
    GoldRanks,
    OperatorCost,
    Outcome,
    ScoredAnswer,
    SubgraphSizes,
)
from core.evaluation.metrics.passages import PassageSurvival
from core.evaluation.reports.export import latex_table
from core.evaluation.reports.recommendation import recommendation
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.store import Run, StoredRow
from core.types import Question
from tests.notes import NoteWith

TOKENS = {"a": 100, "b": 1_000, "c": 900, "run-a": 100}


def answered(right: bool, tokens: int, size: int = 4, seconds: float = 1.0) -> Outcome:
    first = (1,) if right else (None,)
    return Outcome(
        1,
        SubgraphSizes(size, 3, int(right), 1),
        GoldRanks(1, (1,) if right else (), first),
        answer=ScoredAnswer("said", "language model", int(right), 1),
        costs=(OperatorCost("Answer", "generate", seconds, 1, tokens, 0),),
    )


def summed(of: int = 400, hops=None, model: bool = True, seconds=None, **rows: str) -> RunSummary:
    """A run of methods by their rows, with a letter for each question.

    The letters are 1 right, 0 wrong and x failed. The sizes of subgraphs differ by method.
    """
    n = max(map(len, rows.values()))
    questions = [
        Question("who", f"q{i:03}", ("One",), ("Ann",), None if hops is None else hops[i])
        for i in range(n)
    ]
    methods = [
        {"id": key, "name": key.upper(), "title": key, "line": "EgoNetwork()"} for key in rows
    ]
    spec = {
        "instances": methods,
        "graphs": [["films", "0"]],
        "set": "films",
        "of": of,
        "sample": n,
        "seed": 0,
        "model": model,
    }
    stored = [
        StoredRow(key, question, None, "It went away.")
        if mark == "x"
        else StoredRow(
            key,
            question,
            answered(mark == "1", TOKENS[key], ord(key[-1]), (seconds or {}).get(key, 1.0)),
        )
        for key, marks in rows.items()
        for question, mark in zip(questions, marks)
    ]
    return RunSummary(Run(1, "key", spec, 0.0, "done", len(stored), 0), stored)


def test_a_method_that_tests_carry_is_taken_though_it_is_dearer():
    """Method b is right on 12 questions of 16 that a misses.

    It differs on no other question. Of 2^12 flips 2 are as far, so p = .0005.
    """
    found = recommendation(summed(a="0" * 12 + "1111", b="1" * 16))
    assert found.take == "b" and found.ranks == {"a": 2, "b": 1}
    assert found.details[0].startswith(
        "1.00 of the questions answered right, n = 16 (1,000 tokens a question). It is ahead of A by .75 ["
    )
    assert found.more == 0


def test_of_two_that_chance_may_explain_the_cheaper_is_taken_and_the_questions_that_would_settle_it_are_counted():
    """b is ahead on 4 of 16: p = 2 / 16. The differences have a deviation of sqrt(.2), so that 16 tell 2.80 x .447 / 4 = .31 apart, and
    .25 takes (2.80 x .447 / .25)^2 = 25.1 questions."""
    found = recommendation(summed(a="1" * 8 + "0" * 8, b="1" * 12 + "0" * 4))
    assert found.take == "a" and found.ranks == {"a": 1, "b": 1}
    assert found.details[0] == NoteWith(".50", 16, 100, "B costs", 10, 1000, ".75")
    assert found.details[1].startswith("B has the highest mean, .25 [") and found.details[
        1
    ].endswith("more (not significant).")
    assert found.details[-1] == NoteWith(16, ".31", ".25", "B and A", 30)
    assert (
        found.more == 14
        and recommendation(summed(of=20, a="1" * 8 + "0" * 8, b="1" * 12 + "0" * 4)).more == 4
    )


@pytest.mark.parametrize(("set_name", "more"), [("films", 0), ("run-a", 14)])
def test_a_finished_run_is_asked_its_own_questions_alone(set_name, more):
    few = summed(**{"run-a": "1" * 8 + "0" * 8, "b": "1" * 12 + "0" * 4})
    few.run.spec["set"] = set_name
    assert recommendation(few).more == more


def test_the_correction_is_over_all_pairs():
    """Six differences one way are beyond chance for one pair, but not for one of three.

    They have p = .031. Five differences one way have p = 2 / 32 = .0625.
    """
    assert recommendation(summed(a="000000" + "1" * 6, b="1" * 12)).ranks == {"a": 2, "b": 1}
    three = recommendation(summed(a="000000" + "1" * 6, b="1" * 12, c="000000" + "1" * 6))
    assert three.ranks == {"a": 1, "b": 1, "c": 1} and three.take == "a"


def test_methods_behind_share_no_rank_with_the_first_and_among_the_first_the_cheapest_is_taken():
    found = recommendation(summed(a="0" * 16, b="1" * 16, c="1" * 15 + "0"))
    # 900 tokens are about as few as 1,000
    assert found.ranks == {"a": 3, "b": 1, "c": 1} and found.take == "b"


def test_of_methods_that_cost_alike_the_higher_mean_is_taken():
    """Without a language model, the cost is in seconds, here 1 for each method.

    Quality is then of what was found: here of paths.
    """
    found = recommendation(summed(model=False, a="1" * 8 + "0" * 8, b="1" * 12 + "0" * 4))
    assert (found.metric, found.take) == ("path_hit@32", "b")


HALF, MORE = "1" * 8 + "0" * 8, "1" * 12 + "0" * 4


@pytest.mark.parametrize(
    "rows, headline",
    [
        (
            {"a": "0" * 12 + "1111", "b": "1" * 16},
            "Take B: it is better than the other (statistically significant).",
        ),
        ({"a": HALF, "b": MORE}, "Take A: no significant difference; it is the cheapest."),
        (
            {"model": False, "a": HALF, "b": MORE},
            "Take B: no significant difference; it has the highest mean of those that cost as "
            "little.",
        ),
        (
            {"a": "0" * 16, "b": "1" * 16, "c": "1" * 15 + "0"},
            "Take B: it shares the first rank with one other (no significant difference), and "
            "has the highest mean of those that cost as little.",
        ),
        ({"a": "0", "b": "1"}, "One question says too little to recommend a method."),
        ({"a": "0" * 7, "b": "1" * 7}, "7 questions say too little to recommend a method."),
        (
            {"a": HALF},
            "A: .50 of the questions answered right, n = 16. There is no other method to compare.",
        ),
    ],
)
def test_each_headline_is_said(rows, headline):
    assert recommendation(summed(**rows)).headline == headline


def test_a_failed_question_is_a_wrong_one():
    found = recommendation(summed(a="x" * 12 + "1111", b="1" * 16))
    assert found.take == "b" and "It is ahead of A by .75" in found.details[0]


@pytest.mark.parametrize("rows", [{"a": "0", "b": "1"}, {"a": "0" * 7, "b": "1" * 7}, {"a": HALF}])
def test_few_questions_or_one_method_recommend_nothing(rows):
    assert recommendation(summed(**rows)).take == ""


def test_a_run_that_is_not_finished_is_judged_by_the_questions_that_all_have():
    found = recommendation(summed(a="0" * 12 + "1111", b="1" * 10))
    assert found.details[0].startswith("1.00 of the questions answered right, n = 10")


def test_methods_that_retrieve_the_same_are_named():
    summary = summed(a="10" * 8, b="10" * 8)
    right = lambda row: row.outcome.extracted.found > 0
    same = [
        StoredRow(row.method, row.question, answered(right(row), TOKENS[row.method]))
        for row in summary.rows
    ]
    found = recommendation(RunSummary(summary.run, same))
    assert found.take == "a" and found.details[1] == (
        NoteWith("A and B agree", "B costs", 10, "as A")
    )
    assert not any("agree" in sentence for sentence in recommendation(summary).details)


def test_where_a_dearer_method_pays_is_said_by_hops():
    """Method b pays on the questions of 2 hops, but not over all questions.

    On the 12 questions of 2 hops b is right 8 times where a is wrong (p = .008). Over all 24 it is
    also wrong 8 times on the others.
    """
    hops = [1] * 12 + [2] * 12
    found = recommendation(
        summed(hops=hops, a="1" * 12 + "0" * 8 + "1111", b="0" * 8 + "1111" + "1" * 12)
    )
    assert found.take == "a"
    (pays,) = (sentence for sentence in found.details if sentence.startswith("On questions of"))
    assert pays.startswith(
        "On questions of 2 hops (12 of 24) B is ahead by .67 ["
    ) and pays.endswith("(1,000 tokens a question).")


def test_a_difference_too_small_to_settle_is_not_asked_for():
    """A small difference asks for 1,570 questions, and a smaller one for too many.

    With one question of 200 apart, (2.80 x .0707 / .005)^2 is 1,570. Two differences cancelled by
    one leave more than 10,000.
    """
    base = "10" * 100
    one = recommendation(summed(of=5000, a=base, b="11" + base[2:]))
    assert "would take about 1,570" in one.details[-1] and one.more == 1_370
    odd = recommendation(summed(of=5000, a=base, b="01" * 20 + "11" + base[42:]))
    assert "too small to be settled by asking more" in odd.details[-1] and odd.more == 0


@pytest.mark.parametrize("rows", [{"a": ""}, {"a": "", "b": ""}])
def test_no_rows_recommend_nothing(rows):
    assert recommendation(summed(**rows)) is None


def test_what_hands_on_more_passages_is_compared_over_the_first_few_and_what_it_brings_in_all_is_said():
    """Only the method that hands on seven passages has both gold ones.

    The gold passages are at places 2 and 7. Both methods have the one at 2 among their first four,
    and the one at 7 comes only where seven are handed on.
    """
    questions = [Question("who", f"q{i}", gold=("one", "two")) for i in range(10)]
    methods = [
        {"id": key, "name": key.upper(), "title": key, "line": "SparseChunks()"}
        for key in ("four", "seven")
    ]
    spec = {
        "instances": methods,
        "graphs": [["corpus:three", "0"]],
        "set": "s",
        "of": 10,
        "sample": 10,
        "seed": 0,
        "model": False,
    }
    alive = lambda found: PassageSurvival(
        2, {"corpus": 2, "graph": 2, "retrieved": found, "prompt": found}
    )
    outcome = lambda count: Outcome(
        0, passages=GoldRanks(count, (2, 7), (2, 7)), fates=alive(1 + (count == 7))
    )
    rows = [
        StoredRow(key, question, outcome(count))
        for question in questions
        for key, count in (("four", 4), ("seven", 7))
    ]
    found = recommendation(RunSummary(Run(1, "key", spec, 0.0, "done", 20, 0), rows))
    assert found.metric == "passage_recall@4" and found.ranks == {"four": 1, "seven": 1}
    sentence = (
        "With all 7 passages that it hands on, SEVEN has all the evidence for 10 of 10 questions, "
        "FOUR for 0 of 10."
    )
    assert found.take == "four" and sentence in found.details


@pytest.mark.parametrize(
    "seconds, said",
    [
        ({"a": 0.01, "b": 0.16}, "costs 16 times as much (0.16 s a question)"),
        ({"a": 0.1, "b": 0.16}, "costs 1.6 times as much (0.16 s a question)"),
        ({"a": 0.0, "b": 0.4}, "costs more (0.4 s a question)"),
    ],
)
def test_the_ratio_of_costs_is_that_of_the_costs_beside_it(seconds, said):
    found = recommendation(summed(model=False, seconds=seconds, a="1" * 16, b="1" * 16))
    assert said in found.details[0]


def test_costs_that_nobody_notices_are_alike():
    found = recommendation(
        summed(model=False, seconds={"a": 0.001, "b": 0.05}, a="1" * 16, b="1" * 16)
    )
    assert "as much" not in found.details[0]


def test_latex_marks_a_best_value_only_beyond_chance():
    """b leads on 12 questions of 16, p = .0005; on 4 of 16, p = .125.

    Both take 1 s, so no seconds are marked.
    """
    ahead = latex_table(summed(a="0" * 12 + "1111", b="1" * 16), ("hits@1", "seconds"))
    assert ahead.count("textbf") == 1 and r"\textbf{1.000}" in ahead
    assert "textbf" not in latex_table(summed(a=HALF, b=MORE), ("hits@1",))
    # the least tokens are the best
    fewest = latex_table(summed(a=HALF, b=MORE), ("tokens",))
    assert fewest.count("textbf") == 1 and r"\textbf{100}" in fewest
