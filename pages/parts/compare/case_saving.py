"""Saving a comparison as a case."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from core.cases import get, save, tags
from core.engine import Comparison
from core.errors import HopscopeError
from pages.parts.shared.buttons import button
from pages.parts.shared.problems import noted_errors, result_of
from pages.parts.shared.sentences import caption
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.wording import tr


def save_case(key: str, comparison: Comparison, link: Mapping[str, Any]) -> None:
    """A popover that keeps the comparison with notes and tags; `link` are the query parameters that ask it again."""
    with st.popover(tr("Save")):
        if session.saved_case[0] == key and _there(session.saved_case[1]):
            caption("Saved. It opens without the graph and without any model.")
            st.page_link(
                "pages/cases.py",
                label=tr("Open it on Cases"),
                icon=":material/bookmarks:",
                query_params={"case": session.saved_case[1]},
            )
            return
        known = result_of(tags)
        if known is None:
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
            list(known),
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


def _there(case: str) -> bool:
    """Whether a case was not deleted since."""
    try:
        return bool(get(case))
    except HopscopeError:
        return False


def _save(key: str, comparison: Comparison, link: dict[str, Any]) -> None:
    with noted_errors():
        case = save(comparison, link, session.case_notes, session.case_tags)
        session.saved_case = (key, case.id)
        session.case_notes, session.case_tags = "", []
