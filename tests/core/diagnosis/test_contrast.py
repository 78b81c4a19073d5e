"""Sentences about all lanes together, in one table.

It has the lanes that agree and the lanes that differ.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.diagnosis.causes import CAUSE_WORDINGS, Cause, Loss
from core.diagnosis.verdict.contrast import LaneSummary, compare_lanes
from core.diagnosis.verdict.explanation import SENTENCES, LaneExplanation

ABC = ("Ann", "Bob", "Cy")


def lane(name, *lost, of=3, cause=Cause.OUTRANKED, hop=None, extra=0):
    """A lane that lost these answers, all alike."""
    losses = tuple(Loss(answer, "paths", cause, hop=hop) for answer in lost)
    return LaneSummary(
        name,
        LaneExplanation(
            None, "", "", of - len(lost), of, losses, extra, cause if lost else Cause.FOUND
        ),
    )


def ended(*names, how="failed"):
    return [LaneSummary(name, None, ending=how) for name in names]


def says(name, *names):
    return LaneSummary(name, LaneExplanation(None, "", ""), names)


TWELVE_ANSWERS = tuple(f"a{i}" for i in range(12))
LATE, ABSENT = {"cause": Cause.NO_ROOM}, {"cause": Cause.NOT_IN_GRAPH, "of": 1}
FOUND = lane("A", of=1)
AND_SO = "Enter the correct answer to see where it is lost."


@pytest.mark.parametrize(
    "lanes, answers, text",
    [
        # one or some find all, and those that lose alike are said together
        (
            [lane("Beam", *ABC, cause=Cause.BEAM, hop=2), lane("Rank", "Bob", "Cy"), lane("C")],
            ABC,
            "Only C finds all three. Beam loses all three at hop 2; Rank ranks two of them too low.",
        ),
        (
            [lane("A", "Bob", **LATE), lane("B", "Bob", **LATE), lane("C")],
            ABC,
            "Only C finds all three. A and B rank Bob too low for the prompt.",
        ),
        (
            [lane("A", *ABC, cause=Cause.TOO_FAR), lane("B"), lane("C")],
            ABC,
            "Only B and C find all three. A does not search far enough.",
        ),
        (
            [lane("A", *TWELVE_ANSWERS[:11], of=12), lane("B", of=12)],
            TWELVE_ANSWERS,
            "Only B finds all 12. A ranks 11 of them too low.",
        ),
        # all find all, and who gives other names is told where somebody does not
        ([lane("A"), lane("B"), lane("C")], ABC, "All three find all three."),
        ([lane("A", of=2)], ("Ann", "Bob"), "A finds both."),
        ([FOUND, lane("B", of=1)], ("Ann",), "Both find Ann."),
        (
            [lane("A", of=1, extra=1), lane("B", of=1)],
            ("Ann",),
            "Both find Ann. A gives 1 other name too.",
        ),
        ([lane("A", of=1, extra=2), lane("B", of=1, extra=2)], ("Ann",), "Both find Ann."),
        # nobody finds any
        (
            [lane("A", "Ann", of=1), lane("B", "Ann", of=1)]
            + [lane("C", "Ann", of=1, cause=Cause.NOT_FOLLOWED)],
            ("Ann",),
            "None of the three finds Ann. A and B rank it too low; C takes another relation.",
        ),
        (
            [lane(name, *ABC, cause=Cause.LEFT_OUT) for name in "AB"],
            ABC,
            "Neither finds any of the three answers. Both leave all three out of their subgraphs.",
        ),
        (
            [lane("A", *ABC, cause=Cause.ONE_WAY)],
            ABC,
            "A does not find any of the three. It follows edges one way only.",
        ),
        (
            [lane("A", "Ann", **ABSENT), lane("B", "Ann", **ABSENT)],
            ("Ann",),
            "“Ann” is not in the graph, so no method can find it.",
        ),
        # some find some; a sentence begins with a capital
        (
            [lane("A", "Bob"), lane("B", "Bob", "Cy", cause=Cause.NOT_FOLLOWED)],
            ABC,
            "A finds most, 2 of 3. B takes another relation.",
        ),
        (
            [lane("A", "Bob"), lane("B", "Cy", **LATE)],
            ABC,
            "Both find 2 of 3. A ranks Bob too low; B ranks Cy too low for the prompt.",
        ),
        ([lane("own line", "Bob")], ABC, "Own line finds 2 of 3. It ranks Bob too low."),
        (
            [lane("own line", "Ann", of=1)],
            ("Ann",),
            "Own line does not find Ann. It ranks it too low.",
        ),
        # lanes without an end are named
        ([FOUND, *ended("B")], ("Ann",), "A finds Ann. B failed."),
        (ended("B"), ("Ann",), "B failed."),
        (
            [FOUND, *ended("B"), *ended("own line", "D", how="was cancelled")],
            ("Ann",),
            "A finds Ann. B failed. Own line and D were cancelled.",
        ),
        ([], ("Ann",), ""),
        # without known answers
        ([says(name, "Nolan") for name in "ABC"], (), f"All three say Nolan. {AND_SO}"),
        (
            [says("A", "Ann"), says("B", "ann"), says("C", "Bob", "Cy", "Di", "Ed")],
            (),
            f"They disagree: A and B say Ann; C says Bob, Cy and 2 more. {AND_SO}",
        ),
        ([says("A", "Ann"), says("B")], (), f"They disagree: A says Ann; B says nothing. {AND_SO}"),
        ([says("A"), says("B")], (), "Both give no answer."),
        ([says("A", "Ann.")], (), f"A says Ann. {AND_SO}"),
        (
            [says("A", "Ann."), says("B", "It is Bob.")],
            (),
            f"They disagree: A says Ann; B says It is Bob. {AND_SO}",
        ),
    ],
)
def test_all_lanes_are_said_together(lanes, answers, text):
    assert compare_lanes(lanes, answers) == text


def test_whose_answers_are_counted_is_said():
    lanes = [lane("A", "Bob"), lane("B")]
    assert ", by the graph reader. A " in compare_lanes(lanes, ABC, "by the graph reader")
    assert "reader" not in compare_lanes(lanes, ABC)


def test_every_cause_has_its_phrase():
    """Every cause of a loss is in the table of phrases, and each head is there once.

    Headline and lane take their words from this one table.
    """
    assert set(SENTENCES) <= set(CAUSE_WORDINGS) <= set(Cause)
    heads = [phrase.head for phrase in CAUSE_WORDINGS.values()]
    assert len(set(heads)) == len(heads) and all(
        phrase.for_one and phrase.for_several for phrase in CAUSE_WORDINGS.values()
    )


@pytest.mark.parametrize(
    "by_model, by_reader, said",
    [
        (
            (0, 0, 1),
            (0, 2, 3),
            "Only C finds all three, by the graph reader; its language model names one of them.",
        ),
        (
            (0, 0, 0),
            (0, 2, 3),
            "Only C finds all three, by the graph reader; its language model names none of them.",
        ),
        (
            (0, 2, 1),
            (0, 2, 3),
            "Only C finds all three, by the graph reader; by the language model B finds most, 2 of 3.",
        ),
        (
            (1, 1, 1),
            (1, 3, 3),
            "Only B and C find all three, by the graph reader; by the language model all three find 1 of 3.",
        ),
        ((0, 3, 1), (0, 2, 3), "Only B finds all three, by the language model."),
        ((0, 0, 1), (0, None, 3), "C finds most, 1 of 3, by the language model."),
    ],
)
def test_where_the_reader_names_more_than_the_model_both_are_said(by_model, by_reader, said):
    lanes = [
        replace(lane(name, *ABC[count:], cause=Cause.NOT_SAID), n_right_by_reader=read)
        for name, count, read in zip("ABC", by_model, by_reader)
    ]
    assert compare_lanes(lanes, ABC, "by the language model").startswith(said)
