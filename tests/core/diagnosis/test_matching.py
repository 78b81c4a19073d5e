"""The papers' answer matching, rule by rule."""

import pytest

from core.diagnosis.matching import match, normalize


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
