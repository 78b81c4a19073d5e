"""View of the growth of a graph, passage by passage.

For one passage it shows its new entities, those that earlier passages named too, and where they are
in the graph. The screen calls the passages chunks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from core.errors import shorten
from core.graph.algorithms.layout import Position
from core.graph.growth import ChunkAdditions, GraphGrowth
from core.graph.store import Graph
from core.graph.texts import chunk_lists, n_chunks, relation_names
from pages.parts.map.graph_map import draw_graph_map
from pages.parts.shared.actions import button
from pages.parts.shared.sentences import caption
from pages.parts.shared.session_state import Session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr
from pages.parts.texts.passage import draw_passage
from pages.parts.texts.text_trail import button_name, go_to_entity

MAX_ENTITY_BUTTONS = 24  # most listed entities of a passage
MAX_LISTED_RELATIONS = 30  # most listed relations of a passage
PALE_COLOUR = "#9aa7b4"
ENTITY_COLOUR = "#2f6f9f"
CURRENT_COLOUR = "#d9822b"  # of the new entities of a passage, and of the curve of relations


def draw_growth(graph: Graph) -> None:
    """Draw one passage with its additions, and the growth of the graph."""
    growth: GraphGrowth = graph.derived.get_or_make(
        "growth of", "chunks", lambda: GraphGrowth(graph)
    )
    total = n_chunks(graph)
    number = Session.texts_chunk[graph.digest]  # counted from 1
    if not total:
        caption("This graph does not record which chunk its facts come from.")
        return
    number.value = min(max(1, number.value), total)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.number_input(tr("Chunk"), 1, total, key=number.name, persist_state="session", width=150)
        st.caption(tr("of {total:,}, in reading order", total=total), width="content")
    row = number.value - 1
    additions = growth.additions(row)
    left, right = st.columns(2, gap="large")
    with left:
        draw_passage(
            graph.columns.tables()["chunks"],
            row,
            *graph.names([*additions.new_nodes, *additions.known_nodes]),
        )
        caption("Marked: names spelled as in the graph.")
    with right:
        _draw_entities(graph, tr("New with this chunk"), additions.new_nodes, tr("No new entity."))
        _draw_entities(
            graph,
            tr("Merged with an earlier entity"),
            additions.known_nodes,
            tr("No earlier entity."),
        )
        _draw_relations(graph, additions)
    _draw_figures(graph, growth, row, additions)


def _draw_entities(graph: Graph, title: str, nodes: np.ndarray, empty_text: str) -> None:
    """Draw some entities as buttons under a title.

    If there is none, `empty_text` is drawn.
    """
    st.markdown(f"**{title}**  ·  {len(nodes):,}")
    if not len(nodes):
        st.caption(empty_text)
        return
    with st.container(horizontal=True, gap="small"):
        listed = nodes[:MAX_ENTITY_BUTTONS]
        for node, chunks in zip(listed.tolist(), chunk_lists(graph, "nodes", listed)):
            help_text = None
            if chunks:
                help_text = tr(
                    "In {chunks}, first in chunk {first:,}.",
                    chunks=many(len(chunks), "chunk"),
                    first=chunks[0] + 1,
                )
            name = plain(button_name(graph.node_name(node)))
            button(
                name,
                partial(go_to_entity, graph, node),
                key=f"texts-adds-{node}",
                type="tertiary",
                help=help_text,
            )
    if len(nodes) > MAX_ENTITY_BUTTONS:
        caption("and {more:,} more", more=len(nodes) - MAX_ENTITY_BUTTONS)


def _draw_relations(graph: Graph, additions: ChunkAdditions) -> None:
    """Draw the relations of one passage as a table, new ones first."""
    n_new = len(additions.new_edges)
    total = n_new + len(additions.known_edges)
    st.markdown(
        tr(
            "**Relations in this chunk**  ·  {fresh:,} new, {known:,} known before",
            fresh=n_new,
            known=len(additions.known_edges),
        )
    )
    edges = np.concatenate([additions.new_edges, additions.known_edges])[:MAX_LISTED_RELATIONS]
    if not len(edges):
        caption("None.")
        return
    heads, _, tails = graph.triples(edges)
    columns = {
        tr("Said"): [tr("new") if i < n_new else tr("before") for i in range(len(edges))],
        tr("From"): graph.names(heads),
        tr("Relation"): relation_names(graph, edges),
        tr("To"): graph.names(tails),
    }
    st.dataframe(
        {
            name: [shorten(text, 80) for text in texts]
            for name, texts in columns.items()
            if any(texts)
        },
        hide_index=True,
        height=min(240, 38 + 35 * len(edges)),
        column_config={tr("Said"): st.column_config.TextColumn(width=70)},
    )
    if total > MAX_LISTED_RELATIONS:
        caption("The first {listed} of {fresh:,}.", listed=MAX_LISTED_RELATIONS, fresh=total)


def _draw_figures(graph: Graph, growth: GraphGrowth, row: int, additions: ChunkAdditions) -> None:
    """Draw the graph with the entities of one passage marked, and the counts after each passage."""
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.markdown(tr("**This chunk in the graph**"))
        marked = (
            (tr("new"), CURRENT_COLOUR, additions.new_nodes.tolist()),
            (tr("known before"), ENTITY_COLOUR, additions.known_nodes.tolist()),
        )
        draw_graph_map(
            graph,
            key="texts-growing",
            height=330,
            highlights=[mark for mark in marked if mark[2]],
            on_click=partial(go_to_entity, graph),
        )
    with right:
        st.markdown(tr("**Entities and relations so far**"))
        st.plotly_chart(
            sizes_figure(growth, row), key="texts-sizes", config={"displayModeBar": False}
        )
        caption("A flatter curve means that later chunks mention mostly known entities.")


def sizes_figure(growth: GraphGrowth, row: int) -> go.Figure:
    """Return the figure of the numbers of entities and relations after each passage.

    A vertical line marks the passage in `row`.
    """
    numbers = np.arange(1, len(growth.node_counts) + 1)
    figure = go.Figure(
        [
            go.Scatter(
                x=numbers, y=growth.node_counts, name=tr("entities"), line={"color": ENTITY_COLOUR}
            ),
            go.Scatter(
                x=numbers,
                y=growth.edge_counts,
                name=tr("relations"),
                line={"color": CURRENT_COLOUR},
            ),
        ]
    )
    figure.add_vline(x=row + 1, line={"color": PALE_COLOUR, "dash": "dot"})
    figure.update_layout(
        height=330,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        xaxis={"title": "chunk"},
        yaxis={"rangemode": "tozero"},
        legend={"orientation": "h", "y": 1.12},
    )
    return figure


def straight_lines(
    pairs: Iterable[tuple[int, int]], positions: Mapping[int, Position], line: dict
) -> go.Scatter:
    """Return a straight line between the positions of each pair of nodes."""
    x: list[float | None] = []
    y: list[float | None] = []
    # None ends a line, so that one trace can hold all of them.
    for start, end in pairs:
        x += [positions[start][0], positions[end][0], None]
        y += [positions[start][1], positions[end][1], None]
    return go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip")


def chart_name(name: str) -> str:
    """Return a name for a chart, shortened and without tags that plotly would read."""
    return shorten(name, 28).replace("&", "&amp;").replace("<", "&lt;")
