"""Page Texts: documents, the graphs built of them, and the passages behind each entity."""

from __future__ import annotations

import streamlit as st

from core.sources import CorpusSource
from pages.parts.bringing.drop_zone import drop_zone
from pages.parts.shared.people import admit
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.wording import tr
from pages.parts.texts.corpus_choice import (
    await_corpus,
    choose_corpus,
    draw_ask_button,
)
from pages.parts.texts.corpus_removal import draw_remove_corpus
from pages.parts.texts.documents import draw_documents
from pages.parts.texts.graph_advice import draw_graph_advice
from pages.parts.texts.graph_builds import draw_builds

TEXT_TABS = (
    tr(":material/hub: Graph"),
    tr(":material/description: Documents"),
    tr(":material/add: Add"),
)


def draw_page() -> None:
    """Draw the page."""
    st.header(tr("Texts"), anchor=False)
    top = st.container(horizontal=True, vertical_alignment="bottom")
    with top:
        name = choose_corpus()
        draw_ask_button(name)
    # The open tab is set in the session, before the tabs are drawn. A `default` that changed with
    # the open tab would make a new widget and lose the click.
    if not session.texts_tabs:
        session.texts_tabs = session.texts_open or TEXT_TABS[0]
    graph_tab, documents_tab, add_tab = st.tabs(
        TEXT_TABS, key=Session.texts_tabs.name, on_change="rerun"
    )
    session.texts_open = session.texts_tabs
    with add_tab:
        # Drawn even if another tab is open: otherwise the chosen files would be lost.
        drop_zone(CorpusSource(name))
    if add_tab.open:
        return
    with graph_tab if graph_tab.open else documents_tab:
        corpus = await_corpus(name)
        if corpus is None:
            return
        if graph_tab.open:
            draw_graph_advice(corpus)
            draw_builds(corpus)
        else:
            draw_documents(corpus)
    with top:
        draw_remove_corpus(corpus)


admit(draw_page)
