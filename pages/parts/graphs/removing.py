"""A way to remove a graph that a person added."""

from __future__ import annotations

import streamlit as st

from core.datasets.own_graphs import OWNED_AS, own_folder, remove_graph
from core.errors import HopscopeError
from pages.parts.shared.people import barred, held, whose
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import USUAL, Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr


def remove(name: str) -> None:
    """Draw the button that removes a graph, which asks first; nothing for one that ships."""
    if trouble := Session.graph_trouble.take():
        st.error(plain(trouble))
    if own_folder(name) is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if owner := whose(OWNED_AS, name):
            st.caption(plain(owner), width="content")
        with st.popover(
            tr("Remove"),
            icon=":material/delete:",
            type="tertiary",
            **held(barred(OWNED_AS, name)),
        ):
            st.write(plain(tr("Remove the graph {name}? Its question sets stay.", name=name)))
            st.button(
                tr("Yes, remove it"),
                key="graph_remove",
                type="primary",
                on_click=_remove,
                args=(name,),
            )


def _remove(name: str) -> None:
    try:
        remove_graph(name)
    except HopscopeError as error:
        session.graph_trouble = str(error)
        return
    engine().forget(name)
    session.source = session.last_graph = (
        USUAL  # a choice that is deleted stays as it is in the browser
    )
    session.begin_anew()
    st.query_params.clear()
