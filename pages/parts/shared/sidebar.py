"""The sidebar that all screens share: the graph, and which models are here."""

from __future__ import annotations

import streamlit as st

from core.corpus import corpora, open_corpus
from core.corpus.catalogue import damaged_corpora
from core.datasets import datasets
from core.datasets.catalogue import unreadable
from core.instances.catalogue import faults
from core.io.home import cannot_save
from pages.parts.shared.people import signed
from pages.parts.shared.session import ASKS_CORPORA, CORPUS, chosen, engine, graph_name, said
from pages.parts.shared.text import many, plain

ON_TRIPLES = ("build", "graphs", "indexes")  # pages that show a graph of triples, whatever is chosen


def sidebar() -> None:
    """Draw the choice of graph and the state of the models."""
    with st.sidebar:
        _graph()
        _models()
        signed()
        if sentence := cannot_save():
            st.warning(plain(sentence), icon=":material/lock:")
        for sentence in (*faults(), *engine().models.faults(), *damaged_corpora()):
            st.warning(plain(f"Left out: {sentence}"), icon=":material/rule:")
        st.caption("Hopscope lets you see how a graph retriever hops.")


def _graph() -> None:
    known = datasets()
    if "graph_wanted" in st.session_state:  # asked for by an address, before the choice is drawn
        st.session_state.graph = st.session_state.pop("graph_wanted")
    documents = {CORPUS + name: corpus for name, corpus in corpora().items()}
    names, current = [*known, *unreadable(known), *documents], chosen()
    base, _, question = current.partition(":")
    if current.startswith(CORPUS) and current not in documents:
        st.warning(plain(f"There is no corpus “{current.removeprefix(CORPUS)}” here; add its documents on the page Texts."))
    if current not in known and question and base in known:
        names.insert(names.index(base) + 1, current)  # the graph of one question
    current = current if current in names else names[0]
    st.selectbox(
        "Graph or documents",
        names,
        index=names.index(current),
        key="graph",
        format_func=lambda name: f"{documents[name].title} · texts" if name in documents else _title(known, name),
        on_change=_begin_anew,
    )
    if st.session_state.graph in documents:
        _documents(known, st.session_state.graph.removeprefix(CORPUS))
        return
    st.session_state.last_graph = st.session_state.graph
    job = engine().jobs.get(f"open-{st.session_state.graph}")
    opened = job.result if job is not None else None
    if opened is not None:
        st.caption(f"{opened.n_nodes:,} entities · {opened.n_edges:,} triples · {opened.n_relations} relations")


def _documents(known, name: str) -> None:
    """How large the chosen corpus is; on a page that stands on triples, which graph it shows meanwhile."""
    opened = said(lambda: open_corpus(name))
    if opened is not None:
        st.caption(f"{many(opened.n_documents, 'document')} · {many(opened.characters, 'character')}")
    if st.session_state.get("page") in ON_TRIPLES:
        st.caption(f"This page stands on triples: {plain(_title(known, graph_name()))}.")


def _begin_anew() -> None:
    """Another graph was chosen by hand: a question of the former one, and what was found there, are let go."""
    state = st.session_state
    state.question = ""
    for key in ("job", "case", "settled", "trouble"):
        state.pop(key, None)
    corpus = state.graph.startswith(CORPUS)
    named = {"corpus": state.graph.removeprefix(CORPUS)} if corpus else {"graph": state.graph} if state.graph != "metaqa" else {}
    st.query_params.from_dict(named if state.get("page") == ASKS_CORPORA else {})


def _title(known, name: str) -> str:
    base, _, question = name.partition(":")
    if name in known:
        return known[name].title
    return f"{question} ({known[base].title})" if question else f"{name} (damaged)"


def _models() -> None:
    registry = engine().models
    st.markdown("**Models**")
    lines = []
    for info in registry.declared():
        if info.roles or (info.fetchable and not info.present):  # what is trained or brought along is told on the Models page
            mark = ":green[●]" if info.present else ":gray[○]"
            lines.append(f"{mark} {plain(registry.title(info.name))}{'' if info.present else ' · not installed'}")
    st.caption("  \n".join(lines))
