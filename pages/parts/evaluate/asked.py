"""What an evaluation or a search asks: the graph or the documents that are chosen, with their question sets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import streamlit as st

from core.corpus import corpora
from core.datasets import dataset_of
from pages.parts.shared.session import CORPUS, chosen, graph_name
from pages.parts.shared.text import plain


@dataclass(frozen=True)
class Asked:
    """The name and title of a graph or a corpus, and the titles of its question sets by name."""

    name: str
    title: str
    sets: dict[str, str]
    documents: bool = False

    @property
    def key(self) -> str:
        """What its choices are kept under."""
        return f"corpus_{self.name}" if self.documents else self.name


def asked() -> Asked:
    """What is chosen in the sidebar."""
    name = chosen()
    known = corpora().get(name.removeprefix(CORPUS)) if name.startswith(CORPUS) else None
    if known is not None:
        return Asked(known.name, known.title, dict(known.sets), documents=True)
    dataset = dataset_of(graph_name())
    if dataset is None:
        return Asked(graph_name(), graph_name(), {})
    return Asked(dataset.name, dataset.title, {name: one.title for name, one in dataset.sets.items()})


def usual_sets(sets: Iterable[str]) -> list[str]:
    """The set to begin with: the first for development, else the first."""
    names = list(sets)
    return ([name for name in names if name.endswith("-dev")] or names)[:1]


def no_questions(on: Asked) -> None:
    """Says that a graph or a corpus has no questions, and leads to where they are added."""
    with st.container(border=True):
        st.info(f"{plain(on.title)} has no questions yet, so there is nothing to score methods on.", icon=":material/quiz:")
        if on.documents:
            st.write("Bring them with the documents on the page Texts, or let a language model write some.")
            st.page_link("pages/texts.py", label="Add questions", icon=":material/library_add:", query_params={"corpus": on.name})
            return
        st.write("Add a file of questions (a CSV will do), or choose another graph on the left.")
        st.page_link(
            "pages/graphs.py",
            label="Add questions to this graph",
            icon=":material/library_add:",
            query_params={"graph": graph_name(), "add": "questions"},
        )
