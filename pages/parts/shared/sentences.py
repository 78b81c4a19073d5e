"""Translated sentences of the pages, whose inserted values are shown literally."""

from __future__ import annotations

import streamlit as st

from pages.parts.shared.text import isolated
from pages.parts.shared.wording import tr


def caption(text: str, /, **values: object) -> None:
    """Draw a text in small print, with values inserted as by `tr`."""
    st.caption(_with_values(text, values))


def write(text: str, /, **values: object) -> None:
    """Draw a text with values inserted as by `tr`."""
    st.write(_with_values(text, values))


def _with_values(text: str, values: dict[str, object]) -> str:
    return tr(text, **{name: _shown_value(value) for name, value in values.items()})


def _shown_value(value: object) -> object:
    """Return a value with its text escaped, except for a space at the beginning."""
    if not isinstance(value, str):
        return value
    return f"{' ' * value.startswith(' ')}{isolated(value)}"
