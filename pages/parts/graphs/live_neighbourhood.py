"""Live database on the page Graphs: fetch and show the neighbourhood of one entity.

The graph of a live database stays in the database. Only the part around the entity is fetched.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from core.errors import shorten
from core.types import Question
from pages.parts.graphs.walk import trail
from pages.parts.shared.actions import button, result_of
from pages.parts.shared.live_graphs import AROUND_PARAMETER, question_neighbourhood
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr


def named_neighbourhood(graph: Any) -> Any | None:
    """Return the neighbourhood of the entity that the user names in a live database.

    None if no entity is named, or the fetch fails. A graph that is not live is returned unchanged.
    """
    if graph.live is None:
        return graph
    st.caption(f":material/database: {plain(graph.live.words)}")
    # A link may name the entity; the address of a walk does so too, if none was named before.
    walked_entity = "" if session.around else st.query_params.get("entity", "")
    if entity := st.query_params.pop(AROUND_PARAMETER, walked_entity):
        session.around = entity
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(
            tr("Show the neighbourhood of an entity"),
            key=Session.around.name,
            persist_state="session",
            placeholder=tr("A name as the database has it, or an IRI"),
            max_chars=500,
            width=420,
        )
        button(
            tr("Fetch again"),
            graph.live.clear_cache,
            icon="refresh",
            help=tr("Discards what was fetched before."),
        )
    if not name.strip():
        st.info(
            tr(
                "This graph stays in its database. Name an entity to see its neighbourhood, or ask "
                "a question on Compare."
            ),
            icon=":material/database:",
        )
        return None
    neighbourhood = result_of(
        lambda: question_neighbourhood(graph, Question(name, entities=(name,)), _clear_entity)
    )
    if neighbourhood is not None:
        st.caption(plain(neighbourhood.fetched.text))
    return neighbourhood


def draw_fetch_button(graph: Any) -> None:
    """Draw the button that fetches the neighbourhood of the entity to which the user walked.

    Nothing is drawn if this neighbourhood is shown already.
    """
    visited = trail(graph) if graph.fetched is not None else []
    name = graph.node_name(visited[-1]) if visited else ""
    if name and name not in graph.fetched.starts:
        text = tr("Fetch the neighbourhood of {name}", name=plain(shorten(name, 40)))
        button(text, partial(Session.around.put, name), key="further", icon="explore")


def _clear_entity() -> None:
    """Clear the named entity, so that its fetch does not restart."""
    session.around = ""
    st.query_params.pop("entity", None)
