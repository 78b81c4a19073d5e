"""Long lists, a page at a time."""

from __future__ import annotations

import streamlit as st

from pages.parts.shared.session_state import Key
from pages.parts.shared.wording import tr


def page_of(page: Key[int], total: int, size: int) -> range:
    """The rows of the page that is shown."""
    at = min(page.value, max(0, -(-total // size) - 1))
    return range(at * size, min(total, (at + 1) * size))


def pager(page: Key[int], shown: range, total: int, size: int, what: str, hint: str = "") -> None:
    """Which rows are shown, and the buttons to the others."""
    at, last = shown.start // size, max(0, -(-total // size) - 1)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        sentence = (
            tr(
                "{what} {start:,} to {stop:,} of {total:,}.",
                what=what,
                start=shown.start + 1,
                stop=shown.stop,
                total=total,
            )
            if last
            else tr("{total:,} in all.", total=total)
        )
        st.caption(f"{sentence} {hint}".strip(), width="stretch")
        if last:
            _button(tr("Earlier"), "chevron_left", page, at - 1, at == 0)
            _button(tr("Later"), "chevron_right", page, at + 1, at == last)


def _button(words: str, icon: str, page: Key[int], to: int, off: bool) -> None:
    st.button(
        words,
        key=f"{page.name}-{words}",
        icon=f":material/{icon}:",
        disabled=off,
        on_click=page.put,
        args=(to,),
    )
