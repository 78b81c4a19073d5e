"""Texts: documents, the graphs that are built of them, and what each entity came from."""

from __future__ import annotations

import streamlit as st

from pages.parts.texts.building import builds
from pages.parts.texts.chosen import ask_about, choose, missed, opened
from pages.parts.texts.documents import documents

GRAPH, DOCUMENTS = ":material/hub: Graph", ":material/description: Documents"
OPEN = "texts_open"  # where in the session the tab stands that is open


def page() -> None:
    """Draw the screen."""
    st.header("Texts", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = choose()
        ask_about(name)
    missed()
    corpus = opened(name)
    graph, listed = st.tabs([GRAPH, DOCUMENTS], key="texts_tabs", default=st.session_state.get(OPEN), on_change="rerun")
    if corpus is None:
        return
    if graph.open:
        with graph:
            builds(corpus)
    if listed.open:
        with listed:
            documents(corpus)
    st.session_state[OPEN] = DOCUMENTS if listed.open else GRAPH


page()
