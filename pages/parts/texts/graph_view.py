"""View of a built graph: counts, entities, communities, passages, comparison."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import numpy as np
import streamlit as st

from core.builds import GraphBuild
from core.corpus import Corpus
from core.graph.names.lookup import name_lookup
from core.graph.store import Graph
from core.graph.texts import n_chunks
from pages.parts.shared.sentences import caption
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.tables import page_of, pager
from pages.parts.shared.wording import tr
from pages.parts.texts.communities import draw_communities
from pages.parts.texts.entity import draw_entity
from pages.parts.texts.entity_table import draw_nodes
from pages.parts.texts.graph_comparison import draw_graph_comparison
from pages.parts.texts.graph_growth import draw_growth
from pages.parts.texts.text_search import matching_rows
from pages.parts.texts.text_trail import (
    CHUNKS_VIEW,
    COMMUNITIES_VIEW,
    COMPARISON_VIEW,
    ENTITIES_VIEW,
    has_passage_nodes,
    is_tree,
    level_names,
    node_noun,
    visited_entities,
)

ENTITIES_PER_PAGE = 50  # entities on one page
ALL_TYPES = tr("every type")
MAX_FOUND_NAMES = 200  # most names that a search returns
MIN_SEARCH_SIMILARITY = 55  # similarity of these names to the query, out of 100


def draw_graph_view(corpus: Corpus, build: GraphBuild, built_graph: Graph, graph: Graph) -> None:
    """Draw the chosen view of a graph.

    The views are: an entity or the table of all; the communities; the passages one by one; and the
    comparison with another graph. The first two show `graph`, which has the user's merges; the last
    two show `built_graph`, which is without them.
    """
    if not graph.n_nodes:
        st.info(
            tr("Nothing to build a graph from was found in these texts."),
            icon=":material/hub:",
        )
        return
    shows_entity = session.texts_view in ("", ENTITIES_VIEW) and bool(visited_entities(graph))
    if not shows_entity:
        _draw_counts(graph)
    view = _choose_view(graph)
    if view == COMMUNITIES_VIEW:
        draw_communities(graph)
    elif view == CHUNKS_VIEW:
        draw_growth(built_graph)
    elif view == COMPARISON_VIEW:
        draw_graph_comparison(corpus, build, built_graph)
    elif shows_entity:
        draw_entity(graph, visited_entities(graph)[-1])
    else:
        _draw_entities(graph)


def _choose_view(graph: Graph) -> str:
    """Draw and return the choice of the view: entities, communities, passages, or another graph."""
    table = graph.columns.communities
    views = [ENTITIES_VIEW]
    if table is not None and len(table):
        views.append(COMMUNITIES_VIEW)
    if not has_passage_nodes(graph):
        views.append(CHUNKS_VIEW)
    views.append(COMPARISON_VIEW)
    if session.texts_view not in views:
        session.texts_view = ENTITIES_VIEW
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


def _draw_counts(graph: Graph) -> None:
    figures = {node_noun(graph): graph.n_nodes, tr("Relations"): graph.n_edges}
    if not has_passage_nodes(graph):
        figures[tr("Chunks")] = n_chunks(graph)
    if graph.columns.communities is not None:
        figures[tr("Communities")] = len(graph.columns.communities)
    with st.container(horizontal=True, gap="medium"):
        for title, number in figures.items():
            st.metric(title, f"{number:,}", width="content")


@st.cache_data(max_entries=16, show_spinner=tr("Counting types …"))
def count_types(digest: str, _graph: Graph) -> dict[str, int]:
    """Return the number of nodes of each type, most frequent first.

    In a tree the levels take the place of types, highest first. Streamlit caches the result by
    `digest`, which is that of the graph.
    """
    import pyarrow.compute as pc

    table = _graph.columns.nodes
    if is_tree(_graph):
        return dict(sorted(Counter(level_names(_graph)).items(), reverse=True))
    if table is None or not table.has_column("type"):
        return {}
    counts = pc.value_counts(table.arrow.column("type")).to_pylist()
    sizes = {row["values"] or "": row["counts"] for row in counts}
    return dict(sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0])))


@st.cache_data(max_entries=16, show_spinner=tr("Ordering entities …"))
def nodes_by_degree(digest: str, type: str | None, _graph: Graph) -> np.ndarray:
    """Return the nodes of a type, or all, by descending number of relations.

    In a tree, the nodes of the highest level come first. Streamlit caches the result by `digest`,
    which is that of the graph, and `type`.
    """
    import pyarrow.compute as pc

    nodes = np.arange(_graph.n_nodes)
    if is_tree(_graph):
        if type is not None:
            nodes = np.flatnonzero(np.array(level_names(_graph)) == type)
        node_levels = _graph.columns.tables()["nodes"].numbers("level")[nodes]
        return nodes[np.lexsort((nodes, -_graph.degrees(nodes), -node_levels))]
    if type is not None:
        types_of_nodes = _graph.columns.tables()["nodes"].arrow.column("type")
        nodes = np.flatnonzero(pc.equal(types_of_nodes, type).to_numpy())
    return nodes[np.lexsort((nodes, -_graph.degrees(nodes)))]


def _draw_entities(graph: Graph) -> None:
    has_passages = has_passage_nodes(graph)
    placeholder = tr("Words of the text") if has_passages else tr("Type a name, or a part of one")
    hint = tr("Click one to read it.")
    if not has_passages:
        hint = tr("Click one to see where it comes from.")
    page = Session.texts_entity_page[graph.digest]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        query = st.text_input(
            tr("Search"),
            key="texts_name",
            persist_state="session",
            live=True,
            type="search",
            placeholder=placeholder,
            icon=":material/search:",
            label_visibility="collapsed",
            on_change=page.put,
            args=(0,),
            width=420,
        )
        kind = _choose_type(graph)
    nodes = nodes_by_degree(graph.digest, kind, graph)
    if query.strip():
        find = _passages_by_words if has_passages else _nodes_by_name
        matches = find(graph, query)
        nodes = matches[np.isin(matches, nodes)]
    if not len(nodes):
        if has_passages:
            caption("No text contains this phrase.")
        else:
            caption("No similar name found. Try another spelling.")
        return
    page_range = page_of(page, len(nodes), ENTITIES_PER_PAGE)
    draw_nodes(graph, nodes[page_range.start : page_range.stop], f"entities-{page_range.start}")
    pager(page, page_range, len(nodes), ENTITIES_PER_PAGE, node_noun(graph), hint)


def _nodes_by_name(graph: Graph, query: str) -> np.ndarray:
    """Return the nodes with similar names, most similar first."""
    matches = name_lookup(graph).search(query, MAX_FOUND_NAMES)
    nodes = [node for node, score in matches if score >= MIN_SEARCH_SIMILARITY]
    return np.array(nodes, np.int64)


def _passages_by_words(graph: Graph, query: str) -> np.ndarray:
    """Return the passage and summary nodes with these words.

    The words occur in sequence. The nodes are in ascending order.
    """
    words = " ".join(query.split())
    tables = graph.columns.tables()
    chunks = tables["chunks"]
    rows = matching_rows(f"chunks of {graph.digest}", words, ("title", "text"), chunks)
    passages = list(chain.from_iterable(map(graph.nodes_named, chunks.texts("id", rows))))
    summaries = matching_rows(f"nodes of {graph.digest}", words, ("description",), tables["nodes"])
    return np.unique(np.concatenate([np.array(passages, np.int64), summaries]))


def _choose_type(graph: Graph) -> str | None:
    """Draw and return the choice of one type.

    It is None for all types.
    """
    counts = count_types(graph.digest, graph)
    if len(counts) < 2:
        return None
    words = {ALL_TYPES: tr("all types  ·  {n_nodes:,}", n_nodes=graph.n_nodes)}
    for name, count in counts.items():
        words[name] = f"{name or tr('without a type')}  ·  {count:,}"
    if session.texts_type not in words:
        session.texts_type = ALL_TYPES
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
    return None if kind == ALL_TYPES else kind
