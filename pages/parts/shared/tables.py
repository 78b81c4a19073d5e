"""Tables whose rows can be clicked, long lists a page at a time, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from pages.parts.shared.actions import button
from pages.parts.shared.session_state import Key, Session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr


def page_of(page: Key[int], total: int, size: int) -> range:
    """The rows of the page that is shown."""
    at = min(page.value, max(0, -(-total // size) - 1))
    return range(at * size, min(total, (at + 1) * size))


def pager(page: Key[int], shown: range, total: int, size: int, what: str, hint: str = "") -> None:
    """Which rows are shown, and the buttons to the others."""
    at, last = shown.start // size, max(0, -(-total // size) - 1)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if last:
            sentence = tr(
                "{what} {start:,} to {stop:,} of {total:,}.",
                what=what,
                start=shown.start + 1,
                stop=shown.stop,
                total=total,
            )
        else:
            sentence = tr("{total:,} in all.", total=total)
        st.caption(f"{sentence} {hint}".strip(), width="stretch")
        if last:
            _button(tr("Earlier"), "chevron_left", page, at - 1, at == 0)
            _button(tr("Later"), "chevron_right", page, at + 1, at == last)


def _button(words: str, icon: str, page: Key[int], to: int, off: bool) -> None:
    button(words, partial(page.put, to), key=f"{page.name}-{words}", icon=icon, disabled=off)


def clickable_table(
    columns: Mapping[str, Sequence[Any]],
    rows: int,
    pick: Callable[[int], None],
    key: str,
    *,
    formats: Mapping[str, Any] | None = None,
    max_height: int = 560,
) -> None:
    """Draw a table of so many rows, and call `pick` with the row that is clicked."""

    def clicked() -> None:
        row = Session.table_cells.row(key, rows)
        if row is not None:
            pick(row)

    st.dataframe(
        columns,
        key=Session.table_cells[key].name,
        hide_index=True,
        on_select=clicked,
        selection_mode="single-cell",
        height=min(max_height, 38 + 35 * rows),
        column_config=formats,
    )


def way_back(places: Iterable[tuple[str, Any]], key: str, go: Callable[[Any], None]) -> None:
    """Draw a button for each earlier place, (its name, what `go` takes), with an arrow behind
    it."""
    for number, (name, place) in enumerate(places):
        button(plain(name), partial(go, place), key=f"{key}-{number}", type="tertiary")
        st.caption("›", width="content")
