"""Right, wrong and withheld answers, by hand."""

import pytest

from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.outcome import Answered, Judged, Outcome

NAMES = ("accurate", "missing", "hallucination", "truthfulness")


@pytest.mark.parametrize(
    "text, found, judged, scores",
    [
        ("It was Ann.", 1, None, (1, 0, 0, 1)),
        ("I DO NOT know\nthe answer.", 0, None, (0, 1, 0, 0)),
        ("", 0, None, (0, 1, 0, 0)),
        ("Bob", 0, None, (0, 0, 1, -1)),
        ("Bob", 0, Judged(True), (1, 0, 0, 1)),
        ("Bob", 0, Judged(False), (0, 0, 1, -1)),
        ("Bob", 0, Judged(None), (0, 0, 1, -1)),  # the judge's reply could not be used
        ("I do not know the answer", 0, Judged(True), (0, 1, 0, 0)),  # who declines is not right, whatever a judge says
        ("Ann, though I do not know the answer", 1, None, (1, 0, 0, 1)),  # an exact match comes first
    ],
)
def test_every_answer_is_one_of_three(text, found, judged, scores):
    outcome = Outcome(golds=1, answer=Answered(text, "language model", found, 1), judged=judged)
    found = tuple(metric(name)(outcome) for name in NAMES)
    assert found == scores and sum(found[:3]) == 1


def test_nothing_is_said_without_an_answer_or_known_answers():
    assert {metric(name)(Outcome(golds=1)) for name in NAMES} == {None}
    assert {metric(name)(Outcome(golds=0, answer=Answered("Bob", "language model", 0, 1))) for name in NAMES} == {None}
