"""The nodes and the edges of a graph in parts, with what is said of each, for writers that hold one part at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.graph.columns import Table
from core.graph.protocol import KnowledgeGraph
from core.watch import NO_WATCH, Watch

ROWS = 1 << 16  # nodes or edges that are held at once


@dataclass(frozen=True)
class Nodes:
    """Some nodes in a row: the first one's id, and of each its name and the texts of its columns, empty where there is none."""

    first: int
    names: list[str]
    columns: dict[str, list]


@dataclass(frozen=True)
class Edges:
    """Some edges in a row: of each the ids of both ends and of its relation, and its columns."""

    heads: np.ndarray
    relations: np.ndarray
    tails: np.ndarray
    columns: dict[str, list]


def node_parts(graph: KnowledgeGraph, watch: Watch = NO_WATCH) -> Iterator[Nodes]:
    """The nodes of a graph by id, `ROWS` at a time, with types and descriptions where it has some; `watch` hears the share."""
    for first in range(0, graph.n_nodes, ROWS):
        ids = np.arange(first, min(first + ROWS, graph.n_nodes))
        yield Nodes(
            first, graph.names(ids), _columns(graph.columns.nodes, node_columns(graph), ids)
        )
        watch.step((int(ids[-1]) + 1) / graph.n_nodes)


def edge_parts(graph: KnowledgeGraph, watch: Watch = NO_WATCH) -> Iterator[Edges]:
    """The edges of a graph by id, as `node_parts`, with descriptions, keywords and weights."""
    for first in range(0, graph.n_edges, ROWS):
        ids = np.arange(first, min(first + ROWS, graph.n_edges))
        yield Edges(*graph.triples(ids), _columns(graph.columns.edges, edge_columns(graph), ids))
        watch.step((int(ids[-1]) + 1) / graph.n_edges)


def node_columns(graph: KnowledgeGraph) -> list[str]:
    """The columns of nodes that are written: those that the graph has."""
    return _there(graph.columns.nodes, ("type", "description"))


def edge_columns(graph: KnowledgeGraph) -> list[str]:
    """The columns of edges that are written: those that the graph has."""
    return _there(graph.columns.edges, ("description", "keywords", "weight"))


def _there(table: Table | None, names: tuple[str, ...]) -> list[str]:
    return [name for name in names if table is not None and table.has(name)]


def _columns(table: Table | None, names: list[str], ids: np.ndarray) -> dict[str, list]:
    if table is None or not names:
        return {}
    part = table.taken(ids)
    return {
        name: part.numbers(name).tolist()
        if name == "weight"
        else [text or "" for text in part.texts(name)]
        for name in names
    }
