"""Question sets of the chosen graph or corpus, for evaluations and searches."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from core.sources import AnswerSource, GraphSource
from pages.parts.shared.sentences import write
from pages.parts.shared.session import chosen_source, graph_name, last_graph
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr


def asked_source() -> AnswerSource:
    """Return the graph or corpus whose sets are offered.

    It is the one chosen in the sidebar. In place of the graph of a single question, or of a missing
    corpus, it is a graph with sets.
    """
    chosen_one = chosen_source()
    if chosen_one.is_corpus:
        if chosen_one.here:
            return chosen_one
        chosen_one = last_graph()
    whole_source = GraphSource(chosen_one.name.partition(":")[0])
    return whole_source if whole_source.here else chosen_one


def usual_sets(sets: Iterable[str]) -> list[str]:
    """Return the set that is selected at first.

    It is the first development set, else the first set.
    """
    names = list(sets)
    return ([name for name in names if name.endswith("-dev")] or names)[:1]


def no_questions(on: AnswerSource) -> None:
    """Draw a note that a graph or corpus has no questions.

    A link leads to where they are added.
    """
    with st.container(border=True):
        st.info(
            tr(
                "{title} has no questions yet, so there is nothing to score methods on.",
                title=plain(on.title),
            ),
            icon=":material/quiz:",
        )
        if on.is_corpus:
            write(
                "Bring them with the documents on the page Texts, have some made there (Do I need "
                "a graph at all?), or let a language model write some."
            )
            st.page_link(
                "pages/texts.py",
                label=tr("Add questions"),
                icon=":material/library_add:",
                query_params={"corpus": on.name},
            )
            return
        write("Add a file of questions (a CSV will do), or choose another graph on the left.")
        st.page_link(
            "pages/graphs.py",
            label=tr("Add questions to this graph"),
            icon=":material/library_add:",
            query_params={"graph": graph_name(), "add": "questions"},
        )
