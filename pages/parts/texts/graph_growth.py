"""View of the growth of a graph, passage by passage.

For one passage it shows its new entities, those that earlier passages named too, and the graph as
it was after this passage. The screen calls the passages chunks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from core.errors import shorten
from core.graph.algorithms.layout import Position, node_positions
from core.graph.algorithms.neighbourhood import induced_edges
from core.graph.growth import ChunkAdditions, GraphGrowth
from core.graph.store import Graph
from core.graph.texts import chunk_lists, n_chunks, relation_names
from pages.parts.shared.actions import button
from pages.parts.shared.sentences import caption
from pages.parts.shared.session_state import Session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr
from pages.parts.texts.passage import draw_passage
from pages.parts.texts.text_trail import button_name, go_to_entity

MAX_GROWN_ENTITIES = 60  # most entities in the picture
MAX_FRAMES = 60  # most frames of its animation
MAX_GROWN_NAMES = 14  # most names in the picture
MAX_ENTITY_BUTTONS = 24  # most listed entities of a passage
MAX_LISTED_RELATIONS = 30  # most listed relations of a passage
PALE_COLOUR = "#9aa7b4"
ENTITY_COLOUR = "#2f6f9f"
CURRENT_COLOUR = "#d9822b"  # of the entities of the chosen passage, and of the curve of relations


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
    _draw_figures(graph, growth, row)


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


def _draw_figures(graph: Graph, growth: GraphGrowth, row: int) -> None:
    """Draw the entities with most relations as they appear, and the counts after each passage."""
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.markdown(tr("**Growth of the graph**"))
        st.plotly_chart(
            growing_figure(graph, growth, row),
            key="texts-growing",
            config={"displayModeBar": False},
        )
        caption(
            "The {drawn:,} entities with the most relations. Orange: named in this chunk.",
            drawn=min(MAX_GROWN_ENTITIES, graph.n_nodes),
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


def growing_figure(graph: Graph, growth: GraphGrowth, row: int) -> go.Figure:
    """Return the figure of the entities with most relations after the passage in `row`.

    Its frames show the graph after some passages; a button plays them from the first one.
    """
    nodes = np.argsort(-graph.degrees(np.arange(graph.n_nodes)), kind="stable")[:MAX_GROWN_ENTITIES]
    edges = induced_edges(graph, np.sort(nodes))
    heads, _, tails = graph.triples(edges)
    pairs = list(zip(heads.tolist(), tails.tolist()))
    positions = node_positions(nodes.tolist(), pairs)
    n_passages = len(growth.node_counts)
    frame_rows = np.linspace(0, n_passages - 1, min(MAX_FRAMES, n_passages)).astype(int).tolist()
    rows = sorted({*frame_rows, row})
    traces = {i: _traces_at(graph, growth, i, nodes, edges, pairs, positions) for i in rows}
    figure = go.Figure(
        traces[row], frames=[go.Frame(data=data, name=str(i + 1)) for i, data in traces.items()]
    )
    hidden = {"visible": False, "range": [-0.05, 1.05]}
    play = {
        "frame": {"duration": 350, "redraw": True},
        "transition": {"duration": 0},
        "fromcurrent": False,
    }
    stop = {"frame": {"duration": 0, "redraw": True}, "mode": "immediate"}
    buttons = [
        {"label": tr("▶ Play"), "method": "animate", "args": [[str(i + 1) for i in rows], play]},
        {"label": "❚❚", "method": "animate", "args": [[None], stop]},
    ]
    steps = [{"label": str(i + 1), "method": "animate", "args": [[str(i + 1)], stop]} for i in rows]
    figure.update_layout(
        height=330,
        margin={"l": 4, "r": 4, "t": 4, "b": 4},
        showlegend=False,
        xaxis=hidden,
        yaxis=hidden,
        updatemenus=[
            {
                "type": "buttons",
                "direction": "left",
                "x": 0,
                "y": -0.02,
                "xanchor": "left",
                "yanchor": "top",
                "showactive": False,
                "bgcolor": "rgba(0,0,0,0)",
                "bordercolor": PALE_COLOUR,
                "buttons": buttons,
            }
        ],
        sliders=[
            {
                "active": rows.index(row),
                "x": 0.3,
                "len": 0.7,
                "y": 0,
                "currentvalue": {"prefix": tr("chunk "), "xanchor": "right"},
                "steps": steps,
            }
        ],
    )
    return figure


def _traces_at(
    graph: Graph,
    growth: GraphGrowth,
    row: int,
    nodes: np.ndarray,
    edges: np.ndarray,
    pairs: list,
    positions: dict[int, Position],
) -> list:
    """Return the traces of relations and entities after the passage in `row`.

    The entities of this passage are orange.

    Parameters
    ----------
    nodes : the drawn entities, those with most relations first.
    edges, pairs : the edges between them, and the head and tail of each edge.
    positions : position of each node.
    """
    first_rows = growth.first_chunks("nodes")[nodes]
    additions = growth.additions(row)
    is_in_passage = np.isin(nodes, np.concatenate([additions.new_nodes, additions.known_nodes]))
    visible = growth.first_chunks("edges")[edges] <= row
    drawn_pairs = [pair for pair, shown in zip(pairs, visible) if shown]
    shown_nodes = [i for i in range(len(nodes)) if first_rows[i] <= row]
    names = [chart_name(graph.node_name(int(nodes[i]))) for i in shown_nodes]
    return [
        straight_lines(drawn_pairs, positions, {"color": PALE_COLOUR, "width": 0.8}),
        go.Scatter(
            x=[positions[int(nodes[i])][0] for i in shown_nodes],
            y=[positions[int(nodes[i])][1] for i in shown_nodes],
            mode="markers+text",
            text=[
                name if i < MAX_GROWN_NAMES or is_in_passage[i] else ""
                for i, name in zip(shown_nodes, names)
            ],
            textposition="top center",
            textfont={"size": 11},
            hovertext=names,
            hoverinfo="text",
            marker={
                "size": [13 if is_in_passage[i] else 8 for i in shown_nodes],
                "color": [
                    CURRENT_COLOUR if is_in_passage[i] else ENTITY_COLOUR for i in shown_nodes
                ],
            },
        ),
    ]


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
