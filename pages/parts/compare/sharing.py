"""Share, save and present what is on the screen."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.parts.board.finished import downloads
from pages.parts.board.payload import Board
from pages.parts.compare.asked import Shown, address
from pages.parts.compare.case_saving import save_case
from pages.parts.question.permalink import case_link
from pages.parts.shared.buttons import button
from pages.parts.shared.wording import tr


def share(on_screen: Shown, drawing: Board) -> None:
    """The permalink, the downloads, saving, and the way to present; whatever stage the lanes are at."""
    with st.popover(tr("Share")):
        case = on_screen.case
        st.caption(
            tr("This address opens this case:")
            if case is not None
            else tr("This address restores the question and the lanes:")
        )
        link = case_link(case) if case is not None else address()
        st.code(link.address(st.context.url or ""), language=None, wrap_lines=True)
        downloads(on_screen.comparison, drawing)
    save_case(on_screen.key, on_screen.comparison, address().parameters())
    button(
        tr("Present"),
        partial(_present, on_screen),
        key="present",
        help=tr("One screen, without controls"),
    )


def _present(on_screen: Shown) -> None:
    st.query_params["present"] = "1"
    if on_screen.case is not None:
        st.query_params["show"] = on_screen.case.id
