"""View of one entity: its description, its relations, and the passages that name it."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from core.errors import shorten
from core.graph.store import Graph
from core.graph.texts import chunks_of, node_texts, relation_names, relation_texts, weights
from pages.parts.graphs.walk_view import neighbourhood, picture, show
from pages.parts.shared.actions import button
from pages.parts.shared.sentences import caption
from pages.parts.shared.session_state import Session
from pages.parts.shared.tables import clickable_table, page_of, pager, way_back
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr
from pages.parts.texts.entity_table import SHOWN
from pages.parts.texts.passage import passage, pattern
from pages.parts.texts.walking import (
    communities_of,
    community_title,
    go,
    is_tree,
    label,
    levels,
    of_chunks,
    open_community,
    own_chunks,
    short,
    things,
    trail,
)

NEIGHBOURS, PASSAGES = 25, 5  # relations, and passages, on one page
DRAWN = 24  # most entities in the picture
BEEN = 6  # earlier entities that are shown
# A description of more characters than `LONG` is scrolled in a box of `CUT` pixels.
LONG, CUT = 700, 220


def entity(graph: Graph, node: int) -> None:
    """Draw an entity, with links back to earlier ones."""
    _way(graph)
    name, table = label(graph, node), graph.columns.nodes
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(plain(name), anchor=False, width="content")
        if is_tree(graph):
            kind = levels(graph)[node]
        elif table is not None:
            kind = table.text("type", node)
        else:
            kind = ""
        if kind:
            st.badge(plain(kind), color="blue")
    _grouped(graph, node)
    row, tree = own_chunks(graph, [node]).get(node), is_tree(graph)
    described, related = (
        st.columns(2, gap="large") if graph.degree(node) else (st.container(), None)
    )
    with described:
        if row is not None:
            passage(graph.columns.tables()["chunks"], row)
        else:
            _described(graph, node)
            if not tree:
                _passages(graph, node)
    if related is not None:
        with related:
            _neighbours(graph, node)
            if row is None and not tree:
                _picture(graph, node)
    # A summary's own parts come first, then all passages on which it rests.
    if row is None and tree:
        _passages(graph, node)


def _described(graph: Graph, node: int) -> None:
    text = node_texts(graph, [node])[0]
    if text:
        st.markdown(tr("**Summary**") if is_tree(graph) else tr("**Description**"))
        with st.container(height=CUT if len(text) > LONG else "content", border=len(text) > LONG):
            st.write(plain(text))


def _grouped(graph: Graph, node: int) -> None:
    """Draw the communities of an entity, as links."""
    way = communities_of(graph, node)
    if way:
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.caption(tr("In the community"), width="content")
            for at, row in enumerate(way):
                words = plain(short(community_title(graph.columns.tables()["communities"], row)))
                button(
                    words,
                    partial(open_community, graph, way[: at + 1]),
                    key=f"texts-in-{row}",
                    type="tertiary",
                )


def _way(graph: Graph) -> None:
    been = trail(graph)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        button(
            tr("All {things}", things=things(graph).lower()),
            been.clear,
            key="texts-all",
            icon="arrow_back",
            type="tertiary",
        )
        places = [(short(label(graph, node)), node) for node in been[-BEEN:-1]]
        way_back(places, "texts-way", partial(go, graph))


def _neighbours(graph: Graph, node: int) -> None:
    """Draw the relations of an entity, heaviest first.

    A click goes to the other entity.
    """
    neighbours, edges, forward = graph.steps(node)
    if not len(edges):
        caption("It is related to nothing else.")
        return
    table, heavy = graph.columns.edges, _weights(graph)[edges]
    # In a tree, the summary of the node comes first.
    order = np.lexsort(
        (neighbours, edges, -heavy, forward if is_tree(graph) else np.zeros(len(edges)))
    )
    shown = page_of(Session.texts_near_page, len(order), NEIGHBOURS)
    rows = order[shown.start : shown.stop]
    some = edges[rows]
    columns = {
        tr("Way"): ["→" if ahead else "←" for ahead in forward[rows]]
        if graph.n_relations > 1 and not is_tree(graph)
        else [],
        tr("Related to"): [label(graph, int(other)) for other in neighbours[rows]],
        tr("Relation"): [
            tr("sums up") if ahead else tr("is summed up in") for ahead in forward[rows]
        ]
        if is_tree(graph)
        else relation_names(graph, some),
        tr("Keywords"): table.texts("keywords", some) if table is not None else [""] * len(some),
        tr("Weight"): heavy[rows].tolist() if np.ptp(heavy) else [],
        tr("Description"): relation_texts(graph, some),
        tr("Text"): [shorten(text, SHOWN) for text in node_texts(graph, neighbours[rows])]
        if of_chunks(graph)
        else [],
    }
    st.markdown(f"**{many(len(order), 'relation')}**")
    clickable_table(
        {name: values for name, values in columns.items() if any(map(str.strip, map(str, values)))},
        len(rows),
        lambda row: go(graph, int(neighbours[rows[row]])),
        f"near-{graph.digest[:8]}-{node}-{shown.start}",
        max_height=300,
        formats={
            tr("Way"): st.column_config.TextColumn(
                width=50, help=tr("→ the relation leads to the other, ← it comes from there")
            ),
            tr("Weight"): st.column_config.NumberColumn(
                width=80, format="%.3g", help=tr("How often, or how strongly, the texts say so")
            ),
        },
    )
    pager(
        Session.texts_near_page,
        shown,
        len(order),
        NEIGHBOURS,
        tr("Relations"),
        tr("Click one to go there."),
    )


def _picture(graph: Graph, node: int) -> None:
    """Draw the entity among its most related ones; a click goes there."""
    neighbours, edges, _ = graph.steps(node)
    near = neighbours[np.lexsort((neighbours, -_weights(graph)[edges]))][: DRAWN * 2]
    part = neighbourhood(graph, node, near.tolist(), DRAWN)
    drawn = {*part.near, *part.far}
    with st.container(border=True):
        html = picture(graph, part, st.context.theme.type == "dark")
        show(
            html,
            lambda clicked: go(graph, clicked) if clicked in drawn else None,
            tr("The entity among those it is related to"),
        )
    caption("Drawn: {near:,} it is most related to. Click a dot to go there.", near=len(part.near))


def _weights(graph: Graph) -> np.ndarray:
    """Return the weight of each relation; 1 if the graph has none."""
    found = weights(graph)
    return np.ones(graph.n_edges) if found is None else found


def _passages(graph: Graph, node: int) -> None:
    """Draw the passages of an entity, with its name marked."""
    rows_of_node = chunks_of(graph, "nodes")[node]
    name = graph.node_name(node)
    chunks = graph.columns.chunks
    if chunks is None or not len(rows_of_node):
        return
    st.markdown(
        f"**{tr('Rests on') if of_chunks(graph) else tr('Told in')} "
        f"{many(len(rows_of_node), 'chunk')}**"
    )
    shown = page_of(Session.texts_passage_page, len(rows_of_node), PASSAGES)
    rows = rows_of_node[shown.start : shown.stop].tolist()
    for row in rows:
        passage(chunks, row, "" if of_chunks(graph) else name)
    if not of_chunks(graph) and not any(
        pattern(name).search(text) for text in chunks.texts("text", rows)
    ):
        caption(
            "The name does not stand in these chunks letter by letter: the texts spell it in "
            "other ways."
        )
    pager(Session.texts_passage_page, shown, len(rows_of_node), PASSAGES, tr("Chunks"))
