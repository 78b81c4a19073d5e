"""Long lists, a page at a time."""

from __future__ import annotations

import streamlit as st


def page_of(key: str, total: int, size: int) -> range:
    """The rows of the page that is shown."""
    last = max(0, -(-total // size) - 1)
    page = min(st.session_state.get(key, 0), last)
    return range(page * size, min(total, (page + 1) * size))


def pager(key: str, shown: range, total: int, size: int, what: str, hint: str = "") -> None:
    """Which rows are shown, and the buttons to the others."""
    page, last = shown.start // size, max(0, -(-total // size) - 1)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        sentence = f"{what} {shown.start + 1:,} to {shown.stop:,} of {total:,}." if last else f"{total:,} in all."
        st.caption(f"{sentence} {hint}".strip(), width="stretch")
        if last:
            _button("Earlier", "chevron_left", key, page - 1, page == 0)
            _button("Later", "chevron_right", key, page + 1, page == last)


def begin(key: str) -> None:
    """Go back to the first page, as where something else is listed."""
    st.session_state[key] = 0


def _button(words: str, icon: str, key: str, to: int, off: bool) -> None:
    st.button(
        words,
        key=f"{key}-{words}",
        icon=f":material/{icon}:",
        disabled=off,
        on_click=st.session_state.__setitem__,
        args=(key, to),
    )
