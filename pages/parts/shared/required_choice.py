"""Choice of one of a few parts of a page, of which one is always open."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from pages.parts.shared.session_state import WidgetKey


def required_choice(label: str, options: Iterable[str], key: WidgetKey[str]) -> str:
    """Draw a row of options and return the chosen one, which is the first at first."""
    listed = list(options)
    if key.value not in listed:
        key.value = listed[0]
    chosen = st.segmented_control(
        label,
        listed,
        key=key.name,
        required=True,
        persist_state="session",
        label_visibility="collapsed",
    )
    assert chosen is not None  # one is required
    return chosen
