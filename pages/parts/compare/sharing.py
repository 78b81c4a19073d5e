"""Buttons that share, save and present a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from core.cases import get_case, save, tags
from core.engine import MethodComparison
from core.errors import HopscopeError
from pages.parts.board.payload import Board
from pages.parts.board.static_board import draw_downloads
from pages.parts.board.thumbnail import save_thumbnail
from pages.parts.compare.screen_state import ScreenComparison, session_link
from pages.parts.question.permalink import case_link
from pages.parts.shared.actions import button, result_of
from pages.parts.shared.sentences import caption
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.wording import tr


def draw_sharing(on_screen: ScreenComparison, drawing: Board) -> None:
    """Draw the permalink, the downloads, the save form and the button to present.

    `drawing` is the board of the comparison, whose lanes may still be running.
    """
    with st.popover(tr("Share")):
        case = on_screen.case
        if case is not None:
            caption("This address opens this case:")
        else:
            caption("This address restores the question and the methods:")
        link = case_link(case) if case is not None else session_link()
        st.code(link.address(st.context.url or ""), language=None, wrap_lines=True)
        draw_downloads(on_screen.comparison, drawing)
    draw_save_form(on_screen.key, on_screen.comparison, session_link().parameters())
    button(
        tr("Present"),
        partial(_present_screen, on_screen),
        key="present",
        help=tr("One screen, without controls"),
    )


def _present_screen(on_screen: ScreenComparison) -> None:
    st.query_params["present"] = "1"
    if on_screen.case is not None:
        st.query_params["show"] = on_screen.case.id


def draw_save_form(key: str, comparison: MethodComparison, link: Mapping[str, Any]) -> None:
    """Draw the form that saves the comparison with notes and tags.

    Parameters
    ----------
    key : key of the comparison; the form tells if it was saved already.
    link : query parameters that ask the same question again; they are saved with the case.
    """
    with st.popover(tr("Save")):
        if session.saved_case[0] == key and _case_exists(session.saved_case[1]):
            caption("Saved. It opens without the graph and without any model.")
            st.page_link(
                "pages/cases.py",
                label=tr("Open it on Cases"),
                icon=":material/bookmarks:",
                query_params={"case": session.saved_case[1]},
            )
            return
        known_tags = result_of(tags)
        if known_tags is None:
            return
        st.text_area(
            tr("Notes"),
            key=Session.case_notes.name,
            persist_state="session",
            placeholder=tr("What is worth seeing here"),
            height=100,
        )
        st.multiselect(
            tr("Tags"),
            list(known_tags),
            key=Session.case_tags.name,
            persist_state="session",
            accept_new_options=True,
            placeholder=tr("demo, to check …"),
        )
        button(
            tr("Save as case"),
            partial(_save, key, comparison, dict(link)),
            key="save_case",
            type="primary",
        )


def _case_exists(case_id: str) -> bool:
    """Return whether a case still exists and can be read."""
    try:
        return bool(get_case(case_id))
    except HopscopeError:
        return False


def _save(key: str, comparison: MethodComparison, link: dict[str, Any]) -> None:
    case = save(comparison, link, session.case_notes, session.case_tags)
    save_thumbnail(case.id, Board(comparison, previews=False).payload())
    session.saved_case = (key, case.id)
    session.case_notes, session.case_tags = "", []
