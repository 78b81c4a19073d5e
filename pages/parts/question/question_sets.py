"""Question sets of the chosen graph or corpus, for evaluations and searches."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from core.sources import AnswerSource, GraphSource
from pages.parts.shared.sentences import write
from pages.parts.shared.session import chosen_source, graph_name
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr


def question_set_source() -> AnswerSource:
    """Return the graph or corpus whose sets are offered: the one chosen in the sidebar.

    If that is the graph of a single question, it is the graph of the whole dataset instead.
    """
    source = chosen_source()
    if source.is_corpus:
        return source
    # The graph of a single question is called `dataset:id`.
    whole_source = GraphSource(source.name.partition(":")[0])
    return whole_source if whole_source.is_available else source


def default_set_selection(sets: Iterable[str]) -> list[str]:
    """Return the default selection: the first development set, else the first set, if any."""
    names = list(sets)
    return ([name for name in names if name.endswith("-dev")] or names)[:1]


def draw_no_questions(source: AnswerSource) -> None:
    """Draw a note that a graph or corpus has no questions, with a link to add some."""
    with st.container(border=True):
        st.info(
            tr(
                "{title} has no questions yet, so there is nothing to score methods on.",
                title=plain(source.title),
            ),
            icon=":material/quiz:",
        )
        if source.is_corpus:
            write("Upload questions on the page Texts, or let a language model write some.")
            st.page_link(
                "pages/texts.py",
                label=tr("Add questions"),
                icon=":material/library_add:",
                query_params={"corpus": source.name},
            )
            return
        write("Add a question file, such as a CSV, or choose another graph.")
        st.page_link(
            "pages/graphs.py",
            label=tr("Add questions to this graph"),
            icon=":material/library_add:",
            query_params={"graph": graph_name(), "add": "questions"},
        )
