"""Page Texts: documents, the graph built of them, and the passages behind each entity."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.corpus import Corpus
from core.sources import CorpusSource
from pages.parts.bringing.drop_zone import drop_zone
from pages.parts.shared.people import admit
from pages.parts.shared.required_choice import required_choice
from pages.parts.shared.session_state import Session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr
from pages.parts.texts.corpus_choice import (
    ADD_PART,
    DOCUMENTS_PART,
    GRAPH_PART,
    await_corpus,
    choose_corpus,
    draw_ask_button,
)
from pages.parts.texts.documents import draw_documents
from pages.parts.texts.graph_page import draw_graph_page

PARTS = (GRAPH_PART, DOCUMENTS_PART, ADD_PART)


def draw_page() -> None:
    """Draw the page."""
    row = partial(st.container, horizontal=True, vertical_alignment="center")
    name = choose_corpus()
    with row(key="texts-head"):
        with row(width="stretch"):
            st.header(plain(CorpusSource(name).title), anchor=False, width="content")
            facts = st.container(width="content")
        with row(width="content"):
            part = required_choice(tr("What is shown"), PARTS, Session.texts_open)
            draw_ask_button(name, tr("Ask"), type="primary", icon="view_column")
    # Drawn even if another part is open: otherwise the chosen files would be lost.
    with st.container(key="texts-add" if part == ADD_PART else "texts-add-closed"):
        drop_zone(CorpusSource(name))
    if part == ADD_PART:
        return
    corpus = await_corpus(name)
    if corpus is None:
        return
    facts.caption(_size_words(corpus))
    if part == DOCUMENTS_PART:
        draw_documents(corpus)
    else:
        draw_graph_page(corpus)


def _size_words(corpus: Corpus) -> str:
    """Return the numbers of documents and questions in words."""
    n_questions = sum(len(corpus.questions(name)) for name in corpus.sets)
    documents = many(corpus.n_documents, "document")
    return f"{documents}, {many(n_questions, 'question')}" if n_questions else documents


admit(draw_page)
