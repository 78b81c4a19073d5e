"""Page Graphs: contents of a graph, a walk through it, and the form to add data."""

from __future__ import annotations

import streamlit as st

from core.datasets import dataset_of
from pages.parts.bringing.drop_zone import drop_zone
from pages.parts.bringing.questions import added_questions
from pages.parts.graphs.around import around_one, further
from pages.parts.graphs.downloads import download
from pages.parts.graphs.removing import remove
from pages.parts.graphs.shape import charts, counted, details, figures
from pages.parts.graphs.walk import walk
from pages.parts.shared.people import admit
from pages.parts.shared.session import graph, graph_name, last_graph
from pages.parts.shared.session_state import session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

TABS = [
    tr(":material/hub: Walk"),
    tr(":material/bar_chart: Shape"),
    tr(":material/add: Add"),
]


def page() -> None:
    """Draw the page."""
    known = dataset_of(graph_name())
    st.header(
        plain(known.title if known is not None and known.name == graph_name() else graph_name())
    )
    top = st.container()
    adds = "add" in st.query_params
    first = TABS[-1] if adds else None
    walking, shape, adding = st.tabs(TABS, default=first, key=f"graphs-{session.graph_opened}")
    with adding:  # first, so that it works also if the graph cannot be opened
        drop_zone(last_graph())
        added_questions()
    with top:
        remove(graph_name())
        opened = around_one(graph())
        if opened is None:
            return
        figures(opened)
    with walking:
        walk(opened)
        further(opened)
    with shape:
        if counted(opened):
            details(opened)
            download(opened)
            charts(opened)


admit(page)
