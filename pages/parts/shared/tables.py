"""Tables with clickable rows, lists in pages, and buttons back to earlier views."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from pages.parts.shared.actions import button
from pages.parts.shared.session_state import Session, SessionKey
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr


def page_of(page: SessionKey[int], total: int, size: int) -> range:
    """Return the rows of the page that is shown.

    Parameters
    ----------
    page : key of the page number, from 0.
    total : number of all rows.
    size : rows per page.
    """
    number = min(page.value, max(0, -(-total // size) - 1))  # `-(-a // b)` rounds up
    return range(number * size, min(total, (number + 1) * size))


def pager(
    page: SessionKey[int], page_rows: range, total: int, size: int, what: str, hint: str = ""
) -> None:
    """Draw which rows are shown, with buttons to the previous and the next page.

    Parameters
    ----------
    page : key of the page number, from 0.
    page_rows : the rows of this page, as `page_of` returns them.
    total, size : number of all rows, and rows per page.
    what : the plural noun of the rows, with a capital letter.
    hint : a sentence after the numbers of the rows.
    """
    number = page_rows.start // size
    last_page = max(0, -(-total // size) - 1)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if last_page:
            sentence = tr(
                "{what} {start:,} to {stop:,} of {total:,}.",
                what=what,
                start=page_rows.start + 1,
                stop=page_rows.stop,
                total=total,
            )
        else:
            sentence = tr("{total:,} in all.", total=total)
        st.caption(f"{sentence} {hint}".strip(), width="stretch")
        if last_page:
            _page_button(tr("Previous"), "chevron_left", page, number - 1, number == 0)
            _page_button(tr("Next"), "chevron_right", page, number + 1, number == last_page)


def _page_button(
    label: str, icon: str, page: SessionKey[int], number: int, is_disabled: bool
) -> None:
    key = f"{page.name}-{label}"
    button(label, partial(page.put, number), key=key, icon=icon, disabled=is_disabled)


def clickable_table(
    columns: Mapping[str, Sequence[Any]],
    rows: int,
    on_pick: Callable[[int], None],
    key: str,
    *,
    formats: Mapping[str, Any] | None = None,
    max_height: int = 560,
) -> None:
    """Draw a table whose rows can be clicked.

    Parameters
    ----------
    columns : values by column title.
    rows : number of rows.
    on_pick : called with the number of the clicked row, from 0.
    key : key of the table, which must change with its contents.
    formats : Streamlit's column settings by column title.
    max_height : in pixels.
    """

    def clicked() -> None:
        row = Session.table_cells.clicked_row(key, rows)
        if row is not None:
            on_pick(row)

    st.dataframe(
        columns,
        key=Session.table_cells[key].name,
        hide_index=True,
        on_select=clicked,
        selection_mode="single-cell",
        height=min(max_height, 38 + 35 * rows),  # pixels of the head and of each row
        column_config=formats,
    )


def draw_back_links(views: Iterable[tuple[str, Any]], key: str, go: Callable[[Any], None]) -> None:
    """Draw a button for each earlier view, with an arrow behind it.

    A view is its name and the argument with which `go` is called to return there.
    """
    for number, (name, argument) in enumerate(views):
        button(plain(name), partial(go, argument), key=f"{key}-{number}", type="tertiary")
        st.caption("›", width="content")
