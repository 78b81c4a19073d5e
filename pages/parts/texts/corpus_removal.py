"""Buttons that remove a user's own corpus, or one of its documents, after a confirmation."""

from __future__ import annotations

import streamlit as st

from core.corpus import Corpus, remove_corpus
from core.corpus.corpus import CORPUS_OWNED_KIND
from core.errors import BadInput
from core.sources import CorpusSource
from pages.parts.shared.actions import confirm_button
from pages.parts.shared.people import owner_text, visitor_refusal
from pages.parts.shared.session_state import DEFAULT_SOURCE, session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr
from pages.parts.texts.graph_builds import is_building


def draw_remove_corpus(corpus: Corpus) -> None:
    """Draw the button that removes a user's own corpus after a confirmation."""
    if not corpus.own:
        return
    if owner := owner_text(CORPUS_OWNED_KIND, corpus.name):
        st.caption(plain(owner), width="content")
    confirm_button(
        tr("Remove"),
        tr(
            "Remove {corpus} with its {documents} and every graph built of it?",
            corpus=corpus.title,
            documents=many(corpus.n_documents, "document"),
        ),
        tr("Yes, remove it"),
        lambda: _remove(corpus),
        "texts_remove",
        why_not=visitor_refusal(CORPUS_OWNED_KIND, corpus.name),
    )


def _remove(corpus: Corpus) -> None:
    if is_building(corpus):
        raise BadInput(tr("A graph of these texts is being built; cancel that first."))
    remove_corpus(corpus.name)
    st.query_params.pop("corpus", None)
    if session.source == CorpusSource(corpus.name):
        session.source = DEFAULT_SOURCE
        session.clear_question()


def draw_remove_document(corpus: Corpus, id: str) -> None:
    """Draw the button that removes one document of a user's own corpus after a confirmation."""
    if not corpus.own or len(corpus) < 2:
        return
    confirm_button(
        tr("Remove this document"),
        tr(
            "Remove it? Graphs of these texts must be rebuilt; only what depends on it is done "
            "again."
        ),
        tr("Yes, remove it"),
        lambda: corpus.remove([id]),
        "texts_remove_one",
        why_not=visitor_refusal(CORPUS_OWNED_KIND, corpus.name),
    )
