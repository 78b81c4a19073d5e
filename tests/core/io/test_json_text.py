"""JSON output for numbers that JSON cannot express."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import pytest

from core.io.json_text import json_text, without_nan
from core.io.plain_data import from_plain, to_plain

ODD = {"a": [math.nan, 1.5, (math.inf,)], "b": {"c": -math.inf, "d": "NaN", math.inf: True}}


def refuse_constant(word: str) -> None:
    raise ValueError(word)


@pytest.mark.parametrize("how", [{}, {"indent": 2}, {"separators": (",", ":")}])
def test_non_finite_numbers_become_null(how):
    found = json.loads(json_text(ODD, **how), parse_constant=refuse_constant)
    assert found == {"a": [None, 1.5, [None]], "b": {"c": None, "d": "NaN", "inf": True}}


def test_other_values_are_unchanged():
    value = {"é": [1, True, None, "a", 10**30]}
    assert json_text(value) == '{"é": [1, true, null, "a", 1000000000000000000000000000000]}'
    assert without_nan(value) == value


@dataclass(frozen=True)
class MeasuredValues:
    score: float
    scores: tuple[float, ...] = ()


def test_plain_data_writes_non_finite_numbers_as_texts():
    saved = to_plain(MeasuredValues(math.inf, (math.nan, 1.0)))
    assert json.loads(json.dumps(saved, allow_nan=False)) == saved
    again = from_plain(MeasuredValues, saved)
    assert again.score == math.inf and math.isnan(again.scores[0]) and again.scores[1] == 1.0
