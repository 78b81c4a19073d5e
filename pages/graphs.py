"""Graphs: what a graph holds, a walk through it, and a new one from a file."""

from __future__ import annotations

import streamlit as st

from core.datasets import datasets
from pages.parts.session import graph, graph_name
from pages.parts.shape import charts, details, figures
from pages.parts.text import plain
from pages.parts.upload import add_graph
from pages.parts.walk import walk


def page() -> None:
    """Draw the screen."""
    known = datasets().get(graph_name())
    st.header(plain(known.title) if known is not None else plain(graph_name()))
    top = st.container()
    walking, shape, adding = st.tabs([":material/hub: Walk", ":material/bar_chart: Shape", ":material/add: Add a graph"])
    with adding:
        add_graph()  # first, so that it can be used where the graph cannot be opened
    with top:
        opened = graph()
        figures(opened)
    with walking:
        walk(opened)
    with shape:
        details(opened)
        charts(opened)


page()
