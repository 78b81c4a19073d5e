"""First picture of a graph: its best connected entities and the edges between them.

The page Graphs draws it before a walk begins. Each frequent relation has a colour, which a legend
explains. The entities are hubs (the most edges), joints (which connect hubs) and further ones.
"""

from __future__ import annotations

import html
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from core.datasets.relations import relation_words
from core.datasets.wording import relation_table
from core.errors import shorten
from core.graph.algorithms.layout import node_positions
from core.graph.algorithms.overview import Overview, overview
from pages.parts.graphs.walk_view import (
    DARK_COLOURS,
    LAYOUT_HEIGHT,
    LAYOUT_WIDTH,
    LIGHT_COLOURS,
    MAX_PICTURE_NAME_CHARACTERS,
    cut_name,
    network,
    self_contained_page,
    vis_options,
)
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

# Colours of the most frequent relations, on a light and a dark page.
HUES_LIGHT = (
    "#0b6fb3",
    "#c2570c",
    "#1b8a5a",
    "#a0377f",
    "#8a6d00",
    "#5b4bb3",
    "#b3261e",
    "#3d7a8a",
)
HUES_DARK = ("#6cb4ee", "#f2a25c", "#5fd3a0", "#e58bc4", "#e0c24f", "#a99cf5", "#f28b82", "#7fcbdc")
# Share of the evenly spread position in a node's position, 0 to 1; the rest is that of the layout.
EVEN_WEIGHT = 0.55
MAX_PUSH_ROUNDS = 300  # most rounds that push overlapping names apart
PUSH_SHARE = 0.3  # part of the overlap by which a round moves a node
LETTER_HALF_WIDTH = 0.27  # half of a letter's mean width, as a part of the font size
# Radius of the dot and font size of the name, in pixels, by role.
ROLE_SIZES = {"hub": (22, 17), "joint": (10, 13), "further": (7, 12)}
ROLE_COLOURS = {"hub": "here", "joint": "near", "further": "far"}  # keys of LIGHT_COLOURS


@st.cache_data(max_entries=32, show_spinner=tr("Drawing the graph …"))
def overview_part(digest: str, _graph: Any) -> Overview:
    """Return the part of a graph that is drawn, cached by the graph's digest."""
    return overview(_graph)


def overview_html(graph: Any, view: Overview, dark: bool) -> str:
    """Return the picture as an HTML page, which loads nothing and has all names escaped.

    It is cached by the graph's digest, the words of its relations and `dark` (a dark page).
    """
    table = dict(relation_table(graph.name))
    return _overview_page(graph.digest, graph.name, table, dark, graph, view)


@st.cache_data(max_entries=8, show_spinner=False)
def _overview_page(
    digest: str,
    name: str,
    table: dict[str, tuple[str, str]],
    dark: bool,
    _graph: Any,
    _view: Overview,
) -> str:
    """Return the page. Streamlit's cache ignores the parameters with an underscore."""
    graph, view = _graph, _view
    colours, hues = (DARK_COLOURS, HUES_DARK) if dark else (LIGHT_COLOURS, HUES_LIGHT)
    net = network(colours)
    relations_by_pair = _drawn_relations(graph, view)
    nodes = (*view.hubs, *view.joints, *view.further)
    names = graph.names(nodes)
    degrees = graph.degrees(np.array(nodes, np.int64)).tolist()
    roles = [_role(view, node) for node in nodes]
    sizes = [ROLE_SIZES[role] for role in roles]
    positions = _node_positions(nodes, list(relations_by_pair), sizes, names)
    for node, name, degree, role in zip(nodes, names, degrees, roles):
        radius, font_size = ROLE_SIZES[role]
        net.add_node(
            node,
            label=cut_name(name, MAX_PICTURE_NAME_CHARACTERS),
            title=cut_name(f"{name} · {many(degree, 'edge')}", 200),
            shape="dot",
            size=radius,
            color=colours[ROLE_COLOURS[role]],
            font={"size": font_size, "color": colours["text"]},
            x=positions[node][0],
            y=positions[node][1],
            outer=role == "further",
        )
    hue = dict(zip(_relations(relations_by_pair), hues))  # rarer relations get no hue
    for (head, tail), relations in relations_by_pair.items():
        text = ", ".join(_words(graph, relation, table) for relation in relations)
        net.add_edge(
            head,
            tail,
            title=cut_name(text, 200),
            color=hue.get(relations[0], colours["edge"]),
            width=1.4,
        )
    net.set_options(json.dumps(vis_options(colours)))
    return self_contained_page(net.generate_html(notebook=False), colours)


def _role(view: Overview, node: int) -> str:
    if node in view.hubs:
        return "hub"
    return "joint" if node in view.joints else "further"


def _node_positions(
    nodes, edges, sizes: list[tuple[int, int]], names: list[str]
) -> dict[int, tuple[float, float]]:
    """Return a position for each node.

    Adjacent nodes are near each other, the area is filled, and names do not overlap if that is
    possible.

    Parameters
    ----------
    nodes, edges : ids of the nodes, and pairs of ids.
    sizes : radius of the dot and font size of the name of each node, in pixels.
    names : names of the nodes.

    Returns
    -------
    By id, x and y in pixels from the top left corner of the layout area.
    """
    positions = node_positions(nodes, edges)  # x and y from 0 to 1
    xy = np.array([positions[node] for node in nodes])  # nodes by 2
    # Rank of each node in both directions, from 0 to 1: these positions are evenly spread.
    ranks = xy.argsort(0, kind="stable").argsort(0, kind="stable") / max(1, len(nodes) - 1)
    plane = np.array([LAYOUT_WIDTH, LAYOUT_HEIGHT], float)
    # Half of the width and height of each node with its name.
    half_sizes = []
    for (radius, font_size), name in zip(sizes, names):
        half_width = LETTER_HALF_WIDTH * font_size * min(len(name), MAX_PICTURE_NAME_CHARACTERS)
        half_sizes.append((max(radius, half_width), radius + 0.75 * font_size))
    half = np.array(half_sizes)
    xy = ((1 - EVEN_WEIGHT) * xy + EVEN_WEIGHT * ranks) * (plane - 2 * half) + half
    for _ in range(MAX_PUSH_ROUNDS):
        # For each pair of nodes and both directions: distance, and overlap of the boxes (nodes by
        # nodes by 2). Boxes overlap if they do so in both directions.
        offsets = xy[:, None] - xy[None]
        overlap = half[:, None] + half[None] - abs(offsets)
        overlap[np.arange(len(nodes)), np.arange(len(nodes))] = 0
        overlapping = (overlap > 0).all(2)
        if not overlapping.any():
            break
        # Each pair is pushed apart in the direction of the smaller overlap. Nodes at the same place
        # are pushed by the order of their numbers.
        axis = overlap.argmin(2)
        sign = np.where(
            offsets != 0,
            np.sign(offsets),
            np.sign(np.arange(len(nodes))[:, None] - np.arange(len(nodes)))[..., None],
        )
        for column in (0, 1):
            push = np.where(overlapping & (axis == column), overlap[..., column], 0)
            xy[:, column] += PUSH_SHARE * (push * sign[..., column]).sum(1)
        xy = np.clip(xy, half, plane - half)  # into the area
    return dict(zip(nodes, xy.round(1).tolist()))


def legend_html(graph: Any, view: Overview, dark: bool) -> str:
    """Return the legend of the relations' colours as HTML with escaped names.

    Relations without a colour of their own are counted in its last item.
    """
    hues = HUES_DARK if dark else HUES_LIGHT
    relations = _relations(_drawn_relations(graph, view))
    table = relation_table(graph.name)
    rows = [(hue, _words(graph, relation, table)) for hue, relation in zip(hues, relations)]
    if len(relations) > len(hues):
        colours = DARK_COLOURS if dark else LIGHT_COLOURS
        rows.append((colours["edge"], many(len(relations) - len(hues), "other relation")))
    line = (
        "display:inline-block;width:1.4em;height:.28em;border-radius:.14em;"
        "margin-right:.45em;vertical-align:middle;background:"
    )
    items = [
        (
            '<span style="white-space:nowrap"><span '
            f'style="{line}{hue}"></span>{html.escape(name)}</span>'
        )
        for hue, name in rows
    ]
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:.2em '
        f'1.4em;font-size:.9rem">{"".join(items)}</div>'
    )


def overview_sentence(graph: Any, view: Overview) -> str:
    """Return a sentence on what the picture shows."""
    if view.is_whole:
        nodes_text = tr(
            "All {entities} (large: most connected)",
            entities=many(graph.n_nodes, "entity", "entities"),
        )
    else:
        others_text = ""
        if view.further:
            others_text = tr(", and {further:,} more that these link to", further=len(view.further))
        nodes_text = tr(
            "The {hubs} most connected of {n_nodes:,} entities (large), {joints} that link "
            "them{more}",
            hubs=len(view.hubs),
            n_nodes=graph.n_nodes,
            joints=len(view.joints),
            more=others_text,
        )
    return plain(
        tr(
            "{seen}: {edges:,} of {n_edges:,} triples, coloured by relation. Click a dot to walk "
            "there.",
            seen=nodes_text,
            edges=len(view.edges),
            n_edges=graph.n_edges,
        )
    )


def _drawn_relations(graph: Any, view: Overview) -> dict[tuple[int, int], list[int]]:
    """Return the relations by head and tail of the drawn triples.

    Self-loops are left out.
    """
    relations_by_pair: dict[tuple[int, int], list[int]] = {}
    heads, relations, tails = (
        ids.tolist() for ids in graph.triples(np.array(view.edges, np.int64))
    )
    for head, relation, tail in zip(heads, relations, tails):
        if head != tail and relation not in relations_by_pair.setdefault((head, tail), []):
            relations_by_pair[head, tail].append(relation)
    return relations_by_pair


def _relations(relations_by_pair: dict[tuple[int, int], list[int]]) -> list[int]:
    """Return the relations that colour an arrow, most frequent first.

    An arrow for several relations has the colour of the first.
    """
    counts = Counter(relations[0] for relations in relations_by_pair.values())
    return sorted(counts, key=lambda relation: (-counts[relation], relation))


def _words(graph: Any, relation: int, table: Mapping[str, tuple[str, str]]) -> str:
    """Return a relation in words, in the direction from head to tail."""
    return shorten(relation_words(graph.relation_names[relation], True, table), 40)
