"""Saving a comparison as a case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.case_adapter import finished
from core.cases import save, tags
from core.engine import Comparison
from core.errors import HopscopeError
from pages.parts.shared.text import plain


def save_case(key: str, comparison: Comparison, link: Mapping[str, Any]) -> None:
    """A popover that keeps the comparison with notes and tags; `link` are the query parameters that ask it again."""
    state = st.session_state
    with st.popover("Save"):
        if state.get("saved_case", (None,))[0] == key:
            st.caption("Saved. It opens without the graph and without any model.")
            st.page_link(
                "pages/cases.py", label="Open it on Cases", icon=":material/bookmarks:", query_params={"case": state.saved_case[1]}
            )
            return
        try:
            known = list(tags())
        except HopscopeError as error:
            st.error(plain(str(error)))
            return
        st.text_area("Notes", key="case_notes", persist_state="session", placeholder="What is worth seeing here", height=100)
        st.multiselect("Tags", known, key="case_tags", persist_state="session", accept_new_options=True, placeholder="demo, to check …")
        st.button("Save as case", key="save_case", type="primary", on_click=_save, args=(key, comparison, dict(link)))
        if "case_trouble" in state:
            st.error(plain(state.pop("case_trouble")))


def _save(key: str, comparison: Comparison, link: dict[str, Any]) -> None:
    state = st.session_state
    try:
        case = save(finished(comparison), link, state.get("case_notes", ""), state.get("case_tags", []))
    except HopscopeError as error:
        state.case_trouble = str(error)
    else:
        state.saved_case = (key, case.id)
        state.case_notes, state.case_tags = "", []
