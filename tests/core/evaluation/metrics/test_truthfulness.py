"""Right, wrong and withheld answers, by hand."""

import pytest

from core.diagnosis.answer_match import gives_answer
from core.evaluation.metrics.answer_scores import is_exact_match
from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.outcome import JudgeVerdict, Outcome, ScoredAnswer
from core.evaluation.metrics.truthfulness import REFUSAL
from core.methods.catalogue import published_methods
from core.prompts import load_prompts
from core.types import Question

NAMES = ("accurate", "missing", "hallucination", "truthfulness")


@pytest.mark.parametrize(
    "text, found, judged, scores",
    [
        ("It was Ann.", 1, None, (1, 0, 0, 1)),
        ("I DO NOT know\nthe answer.", 0, None, (0, 1, 0, 0)),
        ("", 0, None, (0, 1, 0, 0)),
        ("Bob", 0, None, (0, 0, 1, -1)),
        ("Bob", 0, JudgeVerdict(True), (1, 0, 0, 1)),
        (
            "It was not Ann but Bob.",
            1,
            JudgeVerdict(False),
            (0, 0, 1, -1),
        ),  # it holds a known answer, and the judge's No counts
        ("Bob", 0, JudgeVerdict(False), (0, 0, 1, -1)),
        ("Bob", 0, JudgeVerdict(None), (0, 0, 1, -1)),  # the judge's reply could not be used
        (
            "I do not know the answer",
            0,
            JudgeVerdict(True),
            (0, 1, 0, 0),
        ),  # who declines is not right, whatever a judge says
        (
            "Ann, though I do not know the answer",
            1,
            None,
            (1, 0, 0, 1),
        ),  # without a judge as Hits@1 has it
        ("Ann, though I do not know the answer", 1, JudgeVerdict(True), (0, 1, 0, 0)),
        (
            "I do not know the answer.",
            1,
            None,
            (0, 1, 0, 0),
        ),  # but not of “w”, a piece of the refusal
    ],
)
def test_every_answer_is_one_of_three(text, found, judged, scores):
    outcome = Outcome(golds=1, answer=ScoredAnswer(text, "language model", found, 1), judged=judged)
    found = tuple(metric(name)(outcome) for name in NAMES)
    assert found == scores and sum(found[:3]) == 1


@pytest.mark.parametrize(
    "text, first, second, scores",
    [
        ("It was not Ann but Bob.", False, False, (0, 0, 1, -1)),
        ("It was not Ann but Bob.", True, False, (0.5, 0, 0.5, 0)),
        ("She is the one, Ann.", True, True, (1, 0, 0, 1)),
        ("Ann", False, False, (1, 0, 0, 1)),  # an exact match is accurate, whatever judges say
        ("ann.", False, None, (1, 0, 0, 1)),
        ("", True, True, (0, 1, 0, 0)),
    ],
)
def test_exact_matches_are_accurate_and_all_others_are_for_two_judges(text, first, second, scores):
    said = ScoredAnswer(
        text,
        "language model",
        int(gives_answer(text, "Ann")),
        1,
        exact=is_exact_match(text, ["Ann"]),
    )
    outcome = Outcome(golds=1, answer=said, judged=JudgeVerdict(first), second=JudgeVerdict(second))
    assert tuple(metric(name)(outcome) for name in NAMES) == scores
    assert Outcome.from_dict(outcome.to_dict()) == outcome


def test_a_question_that_failed_is_missing():
    """So that accuracy less hallucination is truthfulness, and no method gains by failing."""
    asked = Question("who", answers=("Ann",))
    assert [metric(name).value_if_failed(asked) for name in NAMES] == [0.0, 1.0, 0.0, 0.0]
    assert {metric(name).value_if_failed(Question("who")) for name in NAMES} == {None}


def test_nothing_is_said_without_an_answer_or_known_answers():
    assert {metric(name)(Outcome(golds=1)) for name in NAMES} == {None}
    assert {
        metric(name)(Outcome(golds=0, answer=ScoredAnswer("Bob", "language model", 0, 1)))
        for name in NAMES
    } == {None}


def test_the_sentence_that_withholds_an_answer_is_the_one_that_is_asked_for():
    """By all rows of the paper but the two baselines that have prompts of their own."""
    rows = {
        key: one.line.operators[-1].prompt
        for key, one in published_methods().items()
        if one.group == "Walk&Retrieve"
    }
    asking = {
        key
        for key, prompt in rows.items()
        if REFUSAL in load_prompts("answer")[prompt]["system"].casefold()
    }
    assert set(rows) - asking == {"subgraph-rag", "retrieve-rewrite-answer"} and len(asking) == 10
