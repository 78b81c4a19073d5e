"""Translated sentences of the pages, with inserted values escaped.

A value, such as the name of a graph, is never read as Markdown.
"""

from __future__ import annotations

import streamlit as st

from pages.parts.shared.text import isolated
from pages.parts.shared.wording import tr


def caption(text: str, /, **values: object) -> None:
    """Draw a translated text in small print, with inserted values."""
    st.caption(_with_values(text, values))


def write(text: str, /, **values: object) -> None:
    """Draw a translated text with values inserted as by `tr`."""
    st.write(_with_values(text, values))


def _with_values(text: str, values: dict[str, object]) -> str:
    return tr(text, **{name: _shown_value(value) for name, value in values.items()})


def _shown_value(value: object) -> object:
    """Return a text escaped; other values unchanged.

    One space at the beginning of a text is kept. Some values are clauses that begin with a space,
    and are empty if they do not apply.
    """
    if not isinstance(value, str):
        return value
    return f"{' ' * value.startswith(' ')}{isolated(value)}"
