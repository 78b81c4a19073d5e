"""What all lanes come to: sentences typed by hand for lanes that agree and lanes that differ."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.diagnosis.causes import PHRASES, Cause, Loss
from core.diagnosis.verdict.contrast import LaneSummary, contrast
from core.diagnosis.verdict.explanation import SENTENCES, Explained

ABC = ("Ann", "Bob", "Cy")


def lane(name, *lost, of=3, cause=Cause.OUTRANKED, hop=None, extra=0):
    """A lane that lost these answers, all alike."""
    losses = tuple(Loss(answer, "paths", cause, hop=hop) for answer in lost)
    return LaneSummary(
        name,
        Explained(None, "", "", of - len(lost), of, losses, extra, cause if lost else Cause.FOUND),
    )


def test_only_one_finds_all():
    lanes = [
        lane("Beam search", *ABC, cause=Cause.BEAM, hop=2),
        lane("Rank by meaning", "Bob", "Cy"),
        lane("Relation chains"),
    ]
    expected = "Only Relation chains finds all three. Beam search loses all three at hop 2; Rank by meaning ranks two of them too low."
    assert contrast(lanes, ABC) == expected


def test_lanes_that_lose_alike_are_said_together():
    lanes = [
        lane("A", "Bob", cause=Cause.NO_ROOM),
        lane("B", "Bob", cause=Cause.NO_ROOM),
        lane("C"),
    ]
    assert contrast(lanes, ABC) == "Only C finds all three. A and B find Bob too late."
    lanes = [lane("A", *ABC, cause=Cause.TOO_FAR), lane("B"), lane("C")]
    assert contrast(lanes, ABC) == "Only B and C find all three. A does not search far enough."


def test_all_find_all():
    assert contrast([lane("A"), lane("B"), lane("C")], ABC) == "All three find all three."
    assert contrast([lane("A", of=1), lane("B", of=1)], ("Ann",)) == "Both find Ann."
    assert contrast([lane("A", of=2)], ("Ann", "Bob")) == "A finds both."
    lanes = [lane("A", of=1, extra=1), lane("B", of=1)]
    assert contrast(lanes, ("Ann",)) == "Both find Ann. A gives 1 other name too."
    lanes = [lane("A", of=1, extra=2), lane("B", of=1, extra=2)]
    assert contrast(lanes, ("Ann",)) == "Both find Ann."


def test_nobody_finds_any():
    lanes = [
        lane("A", "Ann", of=1),
        lane("B", "Ann", of=1),
        lane("C", "Ann", of=1, cause=Cause.NOT_FOLLOWED),
    ]
    expected = "None of the three finds Ann. A and B rank it too low; C reads another relation."
    assert contrast(lanes, ("Ann",)) == expected
    lanes = [lane("A", *ABC, cause=Cause.LEFT_OUT), lane("B", *ABC, cause=Cause.LEFT_OUT)]
    assert (
        contrast(lanes, ABC)
        == "Neither finds any of the three answers. Both leave all three out of their subgraphs."
    )
    assert contrast([lane("A", *ABC, cause=Cause.NOT_SAID)], ABC) == (
        "A does not find any of the three. It has all three in the prompt, but the model does not say so."
    )


def test_some_find_some():
    lanes = [lane("A", "Bob"), lane("B", "Bob", "Cy", cause=Cause.NOT_FOLLOWED)]
    assert contrast(lanes, ABC) == "A finds most, 2 of 3. B reads another relation."
    lanes = [lane("A", "Bob"), lane("B", "Cy", cause=Cause.NO_ROOM)]
    assert contrast(lanes, ABC) == "Both find 2 of 3. A ranks Bob too low; B finds Cy too late."
    lanes = [lane("A", *(f"a{i}" for i in range(11)), of=12), lane("B", of=12)]
    assert (
        contrast(lanes, [f"a{i}" for i in range(12)])
        == "Only B finds all 12. A ranks 11 of them too low."
    )


def test_what_the_graph_does_not_hold():
    lanes = [
        lane("A", "Ann", of=1, cause=Cause.NOT_IN_GRAPH),
        lane("B", "Ann", of=1, cause=Cause.NOT_IN_GRAPH),
    ]
    assert contrast(lanes, ("Ann",)) == "“Ann” is not in the graph, so no method can find it."


def test_failed_lanes_are_named():
    failed = LaneSummary("B", None, ended="failed")
    assert contrast([lane("A", of=1), failed], ("Ann",)) == "A finds Ann. B failed."
    assert contrast([failed], ("Ann",)) == "B failed."
    away = [LaneSummary(name, None, ended="was cancelled") for name in ("own line", "D")]
    assert (
        contrast([lane("A", of=1), failed, *away], ("Ann",))
        == "A finds Ann. B failed. Own line and D were cancelled."
    )
    assert contrast([], ("Ann",)) == ""


def says(name, *names):
    return LaneSummary(name, Explained(None, "", ""), names)


def test_without_known_answers():
    add = "Add the right answer to see where it is lost."
    nolan = [says(name, "Christopher Nolan") for name in "ABC"]
    assert contrast(nolan, ()) == f"All three say Christopher Nolan. {add}"
    differ = [says("A", "Ann"), says("B", "ann"), says("C", "Bob", "Cy", "Di", "Ed")]
    assert contrast(differ, ()) == f"They differ: A and B say Ann; C says Bob, Cy and 2 more. {add}"
    assert (
        contrast([says("A", "Ann"), says("B")], ())
        == f"They differ: A says Ann; B says nothing. {add}"
    )
    assert contrast([says("A"), says("B")], ()) == "Both give no answer."
    assert contrast([says("A", "Ann")], ()) == f"A says Ann. {add}"


def test_a_sentence_begins_with_a_capital_and_says_whose_answers_it_counts():
    lanes = [lane("rank by meaning", "Bob"), lane("own line")]
    text = "Only own line finds all three, by the graph reader. Rank by meaning ranks Bob too low."
    assert contrast(lanes, ABC, "by the graph reader") == text
    assert contrast(lanes[:1], ABC) == "Rank by meaning finds 2 of 3. It ranks Bob too low."
    assert contrast([lane("own line", "Ann", of=1)], ("Ann",)).startswith(
        "Own line does not find Ann."
    )


def test_every_cause_has_its_phrase():
    """Headline and lane take their words from one table: none of its heads is another's, and every cause of a loss is in it."""
    assert set(SENTENCES) <= set(PHRASES) <= set(Cause)
    heads = [phrase.head for phrase in PHRASES.values()]
    assert len(set(heads)) == len(heads) and all(
        phrase.one and phrase.several for phrase in PHRASES.values()
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
        replace(lane(name, *ABC[count:], cause=Cause.NOT_SAID), by_reader=read)
        for name, count, read in zip("ABC", by_model, by_reader)
    ]
    assert contrast(lanes, ABC, "by the language model").startswith(said)
