"""Graphs: what a graph holds, a walk through it, a new one from a file, and questions for it."""

from __future__ import annotations

import streamlit as st

from core.datasets import dataset_of
from pages.parts.bringing.graph_files import add_graph
from pages.parts.bringing.graph_questions import add_questions
from pages.parts.graphs.around import around_one, further
from pages.parts.graphs.downloads import download
from pages.parts.graphs.removing import remove
from pages.parts.graphs.shape import charts, counted, details, figures
from pages.parts.graphs.walk import walk
from pages.parts.shared.people import admit
from pages.parts.shared.session import graph, graph_name
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

TABS = [
    tr(":material/hub: Walk"),
    tr(":material/bar_chart: Shape"),
    tr(":material/add: Add a graph"),
    tr(":material/library_add: Add questions"),
]


def page() -> None:
    """Draw the screen."""
    known = dataset_of(graph_name())
    st.header(
        plain(known.title if known is not None and known.name == graph_name() else graph_name())
    )
    top = st.container()
    walking, shape, adding, asking = st.tabs(
        TABS, default=TABS[-1] if st.query_params.get("add") == "questions" else None
    )
    with adding:
        add_graph()  # first, so that it can be used where the graph cannot be opened
    with asking:
        add_questions()
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
