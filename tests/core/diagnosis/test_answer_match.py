"""The papers' answer matching, rule by rule."""

import pytest

from core.diagnosis.answer_match import contains_answer, gives_answer
from core.languages.spelling import normalize


@pytest.mark.parametrize(
    "text, expected",
    [
        ("The U.S.", "us"),
        ("Spider-Man", "spiderman"),
        ("  An   Apple a Day ", "apple day"),
        ("Theatre", "theatre"),
        ("?!", ""),
    ],
)
def test_normalize(text, expected):
    assert normalize(text) == expected


@pytest.mark.parametrize(
    "prediction, gold, expected",
    [
        ("It was Don Cheadle.", "don cheadle", True),
        ("Cheadle", "Don Cheadle", False),  # one way only
        ("anything", "The", False),  # an empty gold does not match everything
        ("The", "The", True),
        ("It was Jo’Ann O’Neil.", "Jo'Ann O'Neil", True),
        ("the Stone\u2011Hill", "Stone-Hill", True),
        ("Kru\u0308ger was", "Krüger", True),
        ("between 2011 and 2013", "13", False),  # a number is not part of another one
        ("it was 1984", "1984.0", True),
        ("在北京\n大学。", "北京大学", True),
    ],
)
def test_match(prediction, gold, expected):
    assert contains_answer(prediction, gold) is expected


def test_yes_and_no_are_words_of_their_own():
    assert gives_answer("No, the tables do not say it.", "no") and gives_answer(
        "It is so: yes!", "Yes"
    )
    assert gives_answer("Yes—both are.", "yes")
    assert not any(
        gives_answer(text, "no")
        for text in ("I do not know.", "Yes, both Freakonomics and the other.", "")
    )
    assert gives_answer("Freakonomics", "economics") is contains_answer(
        "Freakonomics", "economics"
    ) is False and gives_answer("of Drama", "drama")
