"""View of a built graph: its picture, entities, communities, or what a card opened."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np
import streamlit as st

from core.builds import Status
from core.corpus import Corpus
from core.graph.names.lookup import name_lookup
from core.graph.store import Graph
from pages.parts.map.graph_map import draw_graph_map
from pages.parts.shared.actions import button
from pages.parts.shared.required_choice import required_choice
from pages.parts.shared.sentences import caption
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.tables import page_of, pager
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr
from pages.parts.texts.building_cost import draw_building_cost
from pages.parts.texts.communities import draw_communities
from pages.parts.texts.entity_merges import MergeReview, draw_merges
from pages.parts.texts.entity_table import draw_nodes
from pages.parts.texts.graph_builds import draw_report, start_build
from pages.parts.texts.graph_comparison import draw_graph_comparison
from pages.parts.texts.graph_growth import draw_growth
from pages.parts.texts.text_search import matching_rows
from pages.parts.texts.text_trail import (
    CHUNKS_VIEW,
    COMMUNITIES_VIEW,
    COMPARISON_VIEW,
    ENTITIES_VIEW,
    MAP_VIEW,
    MERGES_VIEW,
    go_to_entity,
    has_passage_nodes,
    is_tree,
    level_names,
    node_label,
    node_noun,
    visited_entities,
)

ENTITIES_PER_PAGE = 50  # entities on one page
ALL_TYPES = tr("every type")
MAX_FOUND_NAMES = 200  # most names that a search returns
MAP_PIXELS = 520  # height of the picture
OPEN_COLOUR = "#d9822b"  # of the entity that is open
CARD_VIEWS = (CHUNKS_VIEW, COMPARISON_VIEW, MERGES_VIEW)
MIN_SEARCH_SIMILARITY = 55  # similarity of these names to the query, out of 100


@dataclass(frozen=True)
class PageGraph:
    """Graph that the page shows.

    Attributes
    ----------
    built_graph : the graph as it was built; None if there is none to open.
    review : the merges of its names; None if its nodes are no entities.
    """

    corpus: Corpus
    status: Status
    built_graph: Graph | None = None
    review: MergeReview | None = None

    @property
    def graph(self) -> Graph | None:
        """Graph with the user's merges."""
        return self.built_graph if self.review is None else self.review.merged_graph


def draw_graph_view(page: PageGraph) -> None:
    """Draw the chosen view of the graph.

    It is the picture, the table of entities or the communities, or a view that a card opened in
    their place. Its growth and the comparison show the graph without the user's merges.
    """
    graph = page.graph
    built_graph = page.built_graph
    assert graph is not None and built_graph is not None
    if not graph.n_nodes:
        st.info(
            tr("Nothing to build a graph from was found in these texts."),
            icon=":material/hub:",
        )
        return
    if session.texts_view == MERGES_VIEW and page.review is None:
        session.texts_view = MAP_VIEW  # the nodes of another graph may be no names
    view = _choose_view(graph)
    if view == MAP_VIEW:
        _draw_map(graph)
        return
    with st.container(border=True):
        if view == COMMUNITIES_VIEW:
            draw_communities(graph)
        elif view == CHUNKS_VIEW:
            draw_report(page.status)
            st.caption(plain(page.status.build.line.words()))
            draw_building_cost(page.corpus, page.status)
            if not has_passage_nodes(graph):
                draw_growth(built_graph)
        elif view == COMPARISON_VIEW:
            draw_graph_comparison(page.corpus, page.status.build, built_graph)
        elif view == MERGES_VIEW and page.review is not None:
            draw_merges(page.review, start_build)
        else:
            _draw_entities(graph)


def draw_way_back() -> None:
    """Draw the way back to the picture from a view that a card opened."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        back = partial(Session.texts_view.put, MAP_VIEW)
        button(tr("Back to the graph"), back, icon="arrow_back", type="tertiary")
        st.markdown(f"**{session.texts_view}**", width="content")


def _choose_view(graph: Graph) -> str:
    """Draw the choice of the view and return it, or draw the way back from a card's view."""
    if session.texts_view in CARD_VIEWS:
        draw_way_back()
        return session.texts_view
    table = graph.columns.communities
    views = [MAP_VIEW, ENTITIES_VIEW]
    if table is not None and len(table):
        views.append(COMMUNITIES_VIEW)
    return required_choice(tr("What is looked at"), views, Session.texts_view)


def _draw_map(graph: Graph) -> None:
    """Draw the picture of the graph. A click on an entity opens it beside the picture."""
    visited = visited_entities(graph)[-1:]
    highlights = [(node_label(graph, node), OPEN_COLOUR, [node]) for node in visited]
    draw_graph_map(
        graph,
        key=f"texts-map-{graph.digest[:8]}",
        height=MAP_PIXELS,
        highlights=highlights,
        on_click=partial(go_to_entity, graph),
    )


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
