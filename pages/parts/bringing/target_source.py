"""Choice of the graph or corpus of questions and runs."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.datasets import datasets
from core.sources import AnswerSource, CorpusSource, GraphSource
from pages.parts.bringing.target_corpus import own_corpora
from pages.parts.shared.wording import tr


def sources_for_questions() -> dict[AnswerSource, str]:
    """Return the sources to which the visitor may add questions.

    They are all graphs, and the visitor's own corpora, with their titles.
    """
    graphs: dict[AnswerSource, str] = {
        GraphSource(name): one.title for name, one in datasets().items()
    }
    return graphs | {CorpusSource(name): one.title for name, one in own_corpora().items()}


def choose_source(
    label: str, titles: Mapping[AnswerSource, str], current: AnswerSource, key: str
) -> AnswerSource:
    """Draw and return the choice of a graph or corpus.

    The one on the page is selected at first.
    """
    names = list(titles)
    # The graph of a single question is named after the whole graph.
    whole_source = GraphSource(current.name.partition(":")[0])
    default_source = next((one for one in (current, whole_source) if one in titles), names[0])
    words = lambda one: (
        tr("{title} · texts", title=titles[one]) if one.documents else str(titles[one])
    )
    return st.selectbox(label, names, names.index(default_source), words, key=key, width=320)
