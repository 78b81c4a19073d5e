"""Sentences of the screens, in the server's language, with the values in them shown letter by
letter."""

from __future__ import annotations

import streamlit as st

from pages.parts.shared.text import isolated
from pages.parts.shared.wording import tr


def caption(text: str, /, **values: object) -> None:
    """Draw a text in small letters, with the values in its braces as `tr` writes them."""
    st.caption(_with_values(text, values))


def write(text: str, /, **values: object) -> None:
    """Draw a text, with the values in its braces as `tr` writes them."""
    st.write(_with_values(text, values))


def _with_values(text: str, values: dict[str, object]) -> str:
    return tr(text, **{name: _as_shown(value) for name, value in values.items()})


def _as_shown(value: object) -> object:
    """A value that is text, escaped behind the blank that it may begin with."""
    if not isinstance(value, str):
        return value
    return f"{' ' * value.startswith(' ')}{isolated(value)}"
