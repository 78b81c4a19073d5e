"""Button that removes a graph that a user added."""

from __future__ import annotations

import streamlit as st

from core.datasets.own_graphs import GRAPH_OWNED_KIND, own_folder, remove_graph
from pages.parts.shared.actions import confirm_button
from pages.parts.shared.people import owner_text, visitor_refusal
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import DEFAULT_SOURCE, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr


def draw_remove_button(name: str) -> None:
    """Draw the button that removes a graph after a confirmation.

    Nothing is drawn for a shipped graph, which cannot be removed.
    """
    if own_folder(name) is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if owner := owner_text(GRAPH_OWNED_KIND, name):
            st.caption(plain(owner), width="content")
        confirm_button(
            tr("Remove"),
            tr("Remove the graph {name}? Its question sets stay.", name=name),
            tr("Yes, remove it"),
            lambda: _remove(name),
            "graph_remove",
            why_not=visitor_refusal(GRAPH_OWNED_KIND, name),
        )


def _remove(name: str) -> None:
    remove_graph(name)
    engine().drop_graph(name)
    # A deleted value would leave the old choice in the browser, so another one is set.
    session.source = DEFAULT_SOURCE
    session.clear_question()
    st.query_params.clear()
