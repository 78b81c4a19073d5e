"""Buttons that remove a user's own corpus, or one of its documents, after a confirmation."""

from __future__ import annotations

import streamlit as st

from core.corpus import Corpus, remove_corpus
from core.corpus.corpus import OWNED_AS
from core.errors import BadInput
from core.sources import CorpusSource
from pages.parts.shared.actions import ask_first
from pages.parts.shared.people import barred, whose
from pages.parts.shared.session_state import USUAL, session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr
from pages.parts.texts.building import at_work


def remove(corpus: Corpus) -> None:
    """Draw the button that removes a user's own corpus after a confirmation."""
    if not corpus.own:
        return
    if by := whose(OWNED_AS, corpus.name):
        st.caption(plain(by), width="content")
    ask_first(
        tr("Remove"),
        tr(
            "Remove {corpus} with its {documents} and every graph built of it?",
            corpus=corpus.title,
            documents=many(corpus.n_documents, "document"),
        ),
        tr("Yes, remove it"),
        lambda: _remove(corpus),
        "texts_remove",
        why_not=barred(OWNED_AS, corpus.name),
    )


def _remove(corpus: Corpus) -> None:
    if at_work(corpus):
        raise BadInput(tr("A graph of these texts is being built; cancel that first."))
    remove_corpus(corpus.name)
    st.query_params.pop("corpus", None)
    if session.source == CorpusSource(corpus.name):
        session.source = USUAL
        session.begin_anew()


def remove_document(corpus: Corpus, id: str) -> None:
    """Draw the button that removes one document.

    The corpus is a user's own. A confirmation comes first.
    """
    if not corpus.own or len(corpus) < 2:
        return
    ask_first(
        tr("Remove this document"),
        tr(
            "Remove it? Graphs of these texts are to be built again; only what depends on it is "
            "made anew."
        ),
        tr("Yes, remove it"),
        lambda: corpus.remove([id]),
        "texts_remove_one",
        why_not=barred(OWNED_AS, corpus.name),
    )
