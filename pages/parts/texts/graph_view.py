"""View of a built graph: its counts, its types, and its largest entities."""

from __future__ import annotations

from collections import Counter

import numpy as np
import streamlit as st

from core.builds import Build
from core.corpus import Corpus
from core.graph.names.lookup import names
from core.graph.store import Graph
from core.graph.texts import n_chunks
from pages.parts.shared.sentences import caption
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.tables import page_of, pager
from pages.parts.shared.wording import tr
from pages.parts.texts.beside import beside_another
from pages.parts.texts.communities import communities
from pages.parts.texts.entity import entity
from pages.parts.texts.entity_table import entity_table
from pages.parts.texts.finding import found
from pages.parts.texts.growing import chunk_by_chunk
from pages.parts.texts.walking import (
    BESIDE,
    CHUNKS,
    COMMUNITIES,
    ENTITIES,
    is_tree,
    levels,
    of_chunks,
    things,
    trail,
)

ROWS = 50  # entities on one page
EVERY = tr("every type")
# Most names that a search returns, and their least similarity, of 100.
SEARCHED, NEAR = (200, 55)


def look(corpus: Corpus, build: Build, as_built: Graph, graph: Graph) -> None:
    """Draw the chosen view of a graph.

    It is an entity or the table of all, the communities, the passages one by one, or the comparison
    with another graph. The last two show the graph as built, without merges.
    """
    if not graph.n_nodes:
        st.info(
            tr("Nothing was found in these texts from which a graph could be made."),
            icon=":material/hub:",
        )
        return
    one = session.texts_view in ("", ENTITIES) and bool(trail(graph))
    if not one:
        _figures(graph)  # A single entity gets their room on the page.
    view = _view(graph)
    if view == COMMUNITIES:
        communities(graph)
    elif view == CHUNKS:
        chunk_by_chunk(as_built)
    elif view == BESIDE:
        beside_another(corpus, build, as_built)
    elif one:
        entity(graph, trail(graph)[-1])
    else:
        _entities(graph)


def _view(graph: Graph) -> str:
    """Draw and return the choice of the view: entities, communities, passages, or another graph."""
    table = graph.columns.communities
    views = [ENTITIES, COMMUNITIES] if table is not None and len(table) else [ENTITIES]
    views += [BESIDE] if of_chunks(graph) else [CHUNKS, BESIDE]
    if session.texts_view not in views:
        session.texts_view = ENTITIES
    view = st.segmented_control(
        tr("What is looked at"),
        views,
        key=Session.texts_view.name,
        required=True,
        persist_state="session",
        label_visibility="collapsed",
    )
    assert view is not None  # one is required
    return view


def _figures(graph: Graph) -> None:
    communities = graph.columns.communities
    figures = [(things(graph), graph.n_nodes), (tr("Relations"), graph.n_edges)]
    figures += [] if of_chunks(graph) else [(tr("Chunks"), n_chunks(graph))]
    figures += [(tr("Communities"), len(communities))] if communities is not None else []
    with st.container(horizontal=True, gap="medium"):
        for words, number in figures:
            st.metric(words, f"{number:,}", width="content")


@st.cache_data(max_entries=16, show_spinner=tr("Counting types …"))
def types(digest: str, _graph: Graph) -> dict[str, int]:
    """Return the number of nodes of each type, most frequent first.

    For a tree it is that of each level, highest first.
    """
    import pyarrow.compute as pc

    table = _graph.columns.nodes
    if is_tree(_graph):
        return dict(sorted(Counter(levels(_graph)).items(), reverse=True))
    if table is None or not table.has("type"):
        return {}
    counted = pc.value_counts(table.arrow.column("type")).to_pylist()
    found = {row["values"] or "": row["counts"] for row in counted}
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


@st.cache_data(max_entries=16, show_spinner=tr("Ordering entities …"))
def ordered(digest: str, type: str | None, _graph: Graph) -> np.ndarray:
    """Return the nodes of a type, or all, those with most relations first.

    In a tree the highest level comes first.
    """
    import pyarrow.compute as pc

    nodes = np.arange(_graph.n_nodes)
    if is_tree(_graph):
        nodes = nodes if type is None else np.flatnonzero(np.array(levels(_graph)) == type)
        return nodes[
            np.lexsort(
                (
                    nodes,
                    -_graph.degrees(nodes),
                    -_graph.columns.tables()["nodes"].numbers("level")[nodes],
                )
            )
        ]
    if type is not None:
        nodes = np.flatnonzero(
            pc.equal(_graph.columns.tables()["nodes"].arrow.column("type"), type).to_numpy()
        )
    return nodes[np.lexsort((nodes, -_graph.degrees(nodes)))]


def _entities(graph: Graph) -> None:
    chunks = of_chunks(graph)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        typed = st.text_input(
            tr("Search"),
            key="texts_name",
            persist_state="session",
            live=True,
            type="search",
            placeholder=tr("Words of the text") if chunks else tr("Type a name, or a part of one"),
            icon=":material/search:",
            label_visibility="collapsed",
            on_change=Session.texts_entity_page[graph.digest].put,
            args=(0,),
            width=420,
        )
        kind = _type(graph)
    nodes = ordered(graph.digest, kind, graph)
    if typed.strip():
        near = (_telling if chunks else _named)(graph, typed)
        nodes = near[np.isin(near, nodes)]
    if not len(nodes):
        if chunks:
            caption("No text holds these words, one after the other.")
        else:
            caption("No name is near to that. Try another spelling.")
        return
    shown = page_of(Session.texts_entity_page[graph.digest], len(nodes), ROWS)
    entity_table(graph, nodes[shown.start : shown.stop], f"entities-{shown.start}")
    pager(
        Session.texts_entity_page[graph.digest],
        shown,
        len(nodes),
        ROWS,
        things(graph),
        tr("Click one to read it.") if chunks else tr("Click one to see where it comes from."),
    )


def _named(graph: Graph, typed: str) -> np.ndarray:
    """Return the nodes with the nearest names, nearest first."""
    return np.array(
        [node for node, score in names(graph).search(typed, SEARCHED) if score >= NEAR], np.int64
    )


def _telling(graph: Graph, typed: str) -> np.ndarray:
    """Return the passages and summaries that contain some words."""
    words = " ".join(typed.split())
    tables = graph.columns.tables()
    chunks = tables["chunks"]
    rows = found(f"chunks of {graph.digest}", words, ("title", "text"), chunks)
    leaf = [node for id in chunks.texts("id", rows) for node in graph.nodes_named(id)]
    described = found(f"nodes of {graph.digest}", words, ("description",), tables["nodes"])
    return np.unique(np.concatenate([np.array(leaf, np.int64), described]))


def _type(graph: Graph) -> str | None:
    """Draw and return the choice of one type; None for all."""
    counted = types(graph.digest, graph)
    if len(counted) < 2:
        return None
    words = {EVERY: tr("all types  ·  {n_nodes:,}", n_nodes=graph.n_nodes)} | {
        name: f"{name or tr('without a type')}  ·  {n:,}" for name, n in counted.items()
    }
    if session.texts_type not in words:
        session.texts_type = EVERY
    kind = st.selectbox(
        tr("Type"),
        list(words),
        key=Session.texts_type.name,
        persist_state="session",
        format_func=words.__getitem__,
        label_visibility="collapsed",
        on_change=Session.texts_entity_page[graph.digest].put,
        args=(0,),
        width=260,
    )
    return None if kind == EVERY else kind
