"""Checks of texts, names and numbers from outside."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput
from core.io.input_checks import (
    checked_number,
    checked_text,
    checked_texts,
    encodable_text,
    is_encodable,
)


@pytest.mark.parametrize("value", ["a" * 11, "half \ud83d", None, 3, b"a", ["a"]])
def test_unfit_text_is_refused_with_its_field(value):
    with pytest.raises(BadInput, match="“graph”"):
        checked_text(value, "graph", limit=10)


@pytest.mark.parametrize("value", [True, 0, 11, -1, 2.0, float("nan"), "5", None, 10**400])
def test_unfit_number_is_refused_with_its_field(value):
    with pytest.raises(BadInput, match="“items”.*1 to 10"):
        checked_number(value, "items", 1, 10)


@pytest.mark.parametrize("values", ["text", ["a"] * 65, ["\udfff"], [1], 7])
def test_unfit_list_is_refused_with_its_field(values):
    with pytest.raises(BadInput, match="“methods”"):
        checked_texts(values, "methods")


@given(st.text(st.characters(codec=None)))
def test_encodable_text_can_be_written_and_is_stable(text):
    whole = encodable_text(text)
    whole.encode()
    assert whole == text if is_encodable(text) else "?" in whole
