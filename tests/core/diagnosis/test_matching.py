"""The papers' answer matching, rule by rule."""

import pytest

from core.diagnosis.matching import match, says
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
    assert match(prediction, gold) is expected


def test_yes_and_no_are_words_of_their_own():
    assert says("No, the tables do not say it.", "no") and says("It is so: yes!", "Yes")
    assert says("Yes—both are.", "yes")
    assert not any(
        says(text, "no") for text in ("I do not know.", "Yes, both Freakonomics and the other.", "")
    )
    assert says("Freakonomics", "economics") is match(
        "Freakonomics", "economics"
    ) is False and says("of Drama", "drama")
