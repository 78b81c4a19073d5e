"""Choice of the graph or corpus of imported questions or runs."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.datasets import datasets
from core.sources import AnswerSource, CorpusSource, GraphSource
from pages.parts.bringing.target_corpus import own_corpora
from pages.parts.shared.wording import tr


def sources_for_questions() -> dict[AnswerSource, str]:
    """Return all graphs and the visitor's own corpora, with their titles."""
    titles: dict[AnswerSource, str] = {
        GraphSource(name): dataset.title for name, dataset in datasets().items()
    }
    return titles | {CorpusSource(name): corpus.title for name, corpus in own_corpora().items()}


def choose_source(
    label: str, titles: Mapping[AnswerSource, str], current: AnswerSource, key: str
) -> AnswerSource:
    """Draw and return the choice of a graph or corpus.

    `titles` has the choices. `current`, the one on the page, is selected at first if it is among
    them.
    """
    sources = list(titles)
    # The graph of a single question is called `dataset:id`; its dataset is chosen.
    dataset_source = GraphSource(current.name.partition(":")[0])
    candidates = [source for source in (current, dataset_source) if source in titles]
    default_source = (candidates or sources)[0]

    def format_source(source: AnswerSource) -> str:
        title = titles[source]
        return tr("{title} · texts", title=title) if source.is_corpus else str(title)

    index = sources.index(default_source)
    return st.selectbox(label, sources, index, format_source, key=key, width=320)
