"""Page Indexes: search indexes and other data computed for a graph."""

from __future__ import annotations

import streamlit as st

from core.sources import GraphSource
from pages.parts.indexes.index_cards import draw_index_cards
from pages.parts.shared.people import admit
from pages.parts.shared.session import chosen_graph
from pages.parts.shared.source_picks import require_source
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr


def draw_page() -> None:
    """Draw the page."""
    st.header(tr("Indexes"), anchor=False)
    require_source(GraphSource)
    graph = chosen_graph()
    if graph.live is not None:
        text = tr(
            "{words} Nothing is prepared for it: methods use what was fetched.",
            words=graph.live.words,
        )
        st.info(plain(text))
        return
    draw_index_cards(graph)


admit(draw_page)
