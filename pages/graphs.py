"""Page Graphs: a walk through a graph, its counts, and imports."""

from __future__ import annotations

import streamlit as st

from core.datasets import dataset_of
from core.sources import GraphSource
from pages.parts.bringing.drop_zone import drop_zone
from pages.parts.bringing.questions import draw_added_questions
from pages.parts.compare.map_highlights import retrieved_highlights
from pages.parts.graphs.downloads import draw_download
from pages.parts.graphs.graph_removal import draw_remove_button
from pages.parts.graphs.live_neighbourhood import draw_fetch_button, named_neighbourhood
from pages.parts.graphs.shape import draw_charts, draw_details, draw_head, may_count
from pages.parts.graphs.walk import draw_walk
from pages.parts.shared.people import admit
from pages.parts.shared.session import chosen_graph, chosen_source
from pages.parts.shared.session_state import session
from pages.parts.shared.source_picks import require_source
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

GRAPH_TABS = [
    tr("Walk"),
    tr("Shape"),
    tr("Add"),
]


def draw_page() -> None:
    """Draw the page. Without an opened graph only the form to add data is drawn."""
    name = chosen_source().name
    dataset = dataset_of(name)
    # The graph of a single question belongs to a dataset, but has a name of its own.
    is_named = dataset is not None and dataset.name == name
    title = dataset.title if dataset is not None and is_named else chosen_source().title
    st.header(plain(title))
    top = st.container()
    default_tab = GRAPH_TABS[-1] if "add" in st.query_params else None
    walk_tab, shape_tab, add_tab = st.tabs(
        GRAPH_TABS, default=default_tab, key=f"graphs-{session.graph_opened}"
    )
    with add_tab:  # first, because it also works if the graph cannot be opened
        drop_zone(chosen_source())
        draw_added_questions()
    with top:
        require_source(GraphSource)
        draw_remove_button(name)
        graph = named_neighbourhood(chosen_graph())
        if graph is None:
            return
        draw_head(graph)
    with walk_tab:
        draw_walk(graph, retrieved_highlights(graph))
        draw_fetch_button(graph)
    with shape_tab:
        if may_count(graph):
            draw_details(graph)
            draw_download(graph)
            draw_charts(graph)


admit(draw_page)
