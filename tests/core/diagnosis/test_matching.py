"""The papers' answer matching, rule by rule."""

import pytest

from core.diagnosis.matching import match, normalize, says


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
    ],
)
def test_match(prediction, gold, expected):
    assert match(prediction, gold) is expected


def test_yes_and_no_are_words_of_their_own():
    assert says("No, the tables do not say it.", "no") and says("It is so: yes!", "Yes")
    assert not any(
        says(text, "no") for text in ("I do not know.", "Yes, both Freakonomics and the other.", "")
    )
    assert says("Freakonomics", "economics") is match(
        "Freakonomics", "economics"
    ) is False and says("of Drama", "drama")
