"""View of one entity: its description, its relations, and the passages that name it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from core.errors import shorten
from core.graph.store import Graph
from core.graph.texts import chunks_of, edge_weights, node_texts, relation_names, relation_texts
from pages.parts.shared.actions import button
from pages.parts.shared.sentences import caption
from pages.parts.shared.session_state import Session
from pages.parts.shared.tables import clickable_table, draw_back_links, page_of, pager
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr
from pages.parts.texts.entity_table import MAX_TABLE_CHARACTERS
from pages.parts.texts.passage import draw_passage, name_pattern
from pages.parts.texts.text_trail import (
    button_name,
    communities_of,
    community_title,
    go_to_entity,
    has_passage_nodes,
    is_tree,
    level_names,
    node_label,
    open_community,
    rows_of_passage_nodes,
    visited_entities,
)

RELATIONS_PER_PAGE = 25
ENTITY_PASSAGES_PER_PAGE = 5
MAX_SHOWN_VISITS = 6  # earlier entities that are shown
SCROLLED_CHARACTERS = 700  # A longer description is scrolled in a box.
SCROLL_BOX_PIXELS = 220  # height of this box


def draw_entity(graph: Graph, node: int) -> None:
    """Draw an entity, with links back to earlier ones."""
    _draw_trail(graph)
    table = graph.columns.nodes
    in_tree = is_tree(graph)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(plain(node_label(graph, node)), anchor=False, width="content")
        kind = ""
        if in_tree:
            kind = level_names(graph)[node]
        elif table is not None:
            kind = table.text("type", node)
        if kind:
            st.badge(plain(kind), color="blue")
    _draw_communities(graph, node)
    # None unless the node is itself a passage.
    passage_row = rows_of_passage_nodes(graph, [node]).get(node)
    if passage_row is not None:
        draw_passage(graph.columns.tables()["chunks"], passage_row)
    else:
        _draw_description(graph, node)
    n_passages = 0 if passage_row is not None else len(chunks_of(graph, "nodes")[node])
    n_relations = graph.degree(node)
    parts: dict[str, Callable[[Graph, int], None]] = {}
    if n_passages:
        relation = tr("Rests on") if has_passage_nodes(graph) else tr("Mentioned in")
        parts[f"{relation} {many(n_passages, 'chunk')}"] = _draw_passages
    if n_relations:
        parts[many(n_relations, "relation")] = _draw_relations
    if not parts:
        return
    for tab, draw in zip(st.tabs(list(parts)), parts.values()):
        with tab:
            draw(graph, node)


def _draw_description(graph: Graph, node: int) -> None:
    text = node_texts(graph, [node])[0]
    if text:
        st.markdown(tr("**Summary**") if is_tree(graph) else tr("**Description**"))
        is_long = len(text) > SCROLLED_CHARACTERS
        with st.container(height=SCROLL_BOX_PIXELS if is_long else "content", border=is_long):
            st.write(plain(text))


def _draw_communities(graph: Graph, node: int) -> None:
    """Draw the communities of an entity, as links."""
    rows = communities_of(graph, node)
    if not rows:
        return
    table = graph.columns.tables()["communities"]
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption(tr("In the community"), width="content")
        for i, row in enumerate(rows):
            title = plain(button_name(community_title(table, row)))
            go = partial(open_community, graph, rows[: i + 1])
            button(title, go, key=f"texts-in-{row}", type="tertiary")


def _draw_trail(graph: Graph) -> None:
    """Draw the links back to the table and to earlier entities."""
    visited = visited_entities(graph)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        button(
            tr("Close"),
            visited.clear,
            key="texts-all",
            icon="close",
            type="tertiary",
        )
        views = [
            (button_name(node_label(graph, node)), node) for node in visited[-MAX_SHOWN_VISITS:-1]
        ]
        draw_back_links(views, "texts-way", partial(go_to_entity, graph))


@dataclass(frozen=True)
class EntityRelations:
    """Relations of an entity, as arrays with an element for each relation."""

    neighbours: np.ndarray  # ids of the other entities
    edges: np.ndarray  # ids of the edges in the graph
    is_forward: np.ndarray  # true if the relation goes to the other entity
    weights: np.ndarray

    def select(self, rows: np.ndarray | slice) -> EntityRelations:
        """Return some of the relations, in the order of the rows."""
        return EntityRelations(
            self.neighbours[rows], self.edges[rows], self.is_forward[rows], self.weights[rows]
        )


def _draw_relations(graph: Graph, node: int) -> None:
    """Draw the relations of an entity, heaviest first.

    A click goes to the other entity.
    """
    relations = _sorted_relations(graph, node)
    total = len(relations.edges)
    page_range = page_of(Session.texts_near_page, total, RELATIONS_PER_PAGE)
    page_relations = relations.select(slice(page_range.start, page_range.stop))
    clickable_table(
        _relation_columns(graph, page_relations, has_weights=bool(np.ptp(relations.weights))),
        len(page_relations.edges),
        lambda row: go_to_entity(graph, int(page_relations.neighbours[row])),
        f"near-{graph.digest[:8]}-{node}-{page_range.start}",
        max_height=300,
        formats={
            tr("Way"): st.column_config.TextColumn(
                width=50, help=tr("→ to the other entity, ← from it")
            ),
            tr("Weight"): st.column_config.NumberColumn(
                width=80, format="%.3g", help=tr("How often, or how strongly, the texts state it")
            ),
        },
    )
    pager(
        Session.texts_near_page,
        page_range,
        total,
        RELATIONS_PER_PAGE,
        tr("Relations"),
        tr("Click one to go there."),
    )


def _sorted_relations(graph: Graph, node: int) -> EntityRelations:
    """Return the relations of an entity, heaviest first."""
    neighbours, edges, is_forward = graph.steps(node)
    weights = _weights(graph)[edges]
    # In a tree, edges lead from a summary to its parts, so a backward edge leads to the summary of
    # the node, which comes first.
    summary_rank = is_forward if is_tree(graph) else np.zeros(len(edges))
    order = np.lexsort((neighbours, edges, -weights, summary_rank))
    return EntityRelations(neighbours, edges, is_forward, weights).select(order)


def _relation_columns(
    graph: Graph, relations: EntityRelations, has_weights: bool
) -> dict[str, Sequence[Any]]:
    """Return the columns of the table of relations.

    Columns without any text are left out.
    """
    columns: dict[str, Sequence[Any]] = {}
    if graph.n_relations > 1 and not is_tree(graph):
        columns[tr("Way")] = ["→" if forward else "←" for forward in relations.is_forward]
    columns[tr("Related to")] = [node_label(graph, int(other)) for other in relations.neighbours]
    columns[tr("Relation")] = _relation_words(graph, relations)
    if graph.columns.edges is not None:
        columns[tr("Keywords")] = graph.columns.edges.texts("keywords", relations.edges)
    if has_weights:
        columns[tr("Weight")] = relations.weights.tolist()
    columns[tr("Description")] = relation_texts(graph, relations.edges)
    if has_passage_nodes(graph):
        texts = node_texts(graph, relations.neighbours)
        columns[tr("Text")] = [shorten(text, MAX_TABLE_CHARACTERS) for text in texts]
    return {name: values for name, values in columns.items() if _has_text(values)}


def _relation_words(graph: Graph, relations: EntityRelations) -> Sequence[str]:
    """Return the words of each relation."""
    if not is_tree(graph):
        return relation_names(graph, relations.edges)
    return [tr("sums up") if forward else tr("is summed up in") for forward in relations.is_forward]


def _has_text(values: Sequence[Any]) -> bool:
    """Return whether one of the values is not blank."""
    return any(str(value).strip() for value in values)


def _weights(graph: Graph) -> np.ndarray:
    """Return the weight of each edge of the graph.

    If it has no weights, all are 1.
    """
    weights = edge_weights(graph)
    return np.ones(graph.n_edges) if weights is None else weights


def _draw_passages(graph: Graph, node: int) -> None:
    """Draw the passages of an entity, with its name marked."""
    rows_of_node = chunks_of(graph, "nodes")[node]
    name = graph.node_name(node)
    chunks = graph.columns.tables()["chunks"]
    page_range = page_of(Session.texts_passage_page, len(rows_of_node), ENTITY_PASSAGES_PER_PAGE)
    rows = rows_of_node[page_range.start : page_range.stop].tolist()
    for row in rows:
        draw_passage(chunks, row, "" if has_passage_nodes(graph) else name)
    if not has_passage_nodes(graph) and not any(
        name_pattern(name).search(text) for text in chunks.texts("text", rows)
    ):
        caption("These chunks spell the name differently.")
    pager(
        Session.texts_passage_page,
        page_range,
        len(rows_of_node),
        ENTITY_PASSAGES_PER_PAGE,
        tr("Chunks"),
    )
