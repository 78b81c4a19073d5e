"""Nodes and edges of a graph in parts.

Exports then hold only one part in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.graph.columns import Table
from core.graph.protocol import KnowledgeGraph
from core.watch import NO_WATCH, Watch

# Number of nodes or edges in a part.
PART_ROWS = 1 << 16


@dataclass(frozen=True)
class NodePart:
    """Some nodes with consecutive ids.

    `first` is the id of the first node. `columns` holds the values of each column: texts, empty for
    nodes without a value.
    """

    first: int
    names: list[str]
    columns: dict[str, list]


@dataclass(frozen=True)
class EdgePart:
    """Some edges with consecutive ids.

    `heads`, `relations` and `tails` are ids. `columns` holds the values of each column: numbers for
    the weight, texts for the others, empty for edges without a value.
    """

    heads: np.ndarray
    relations: np.ndarray
    tails: np.ndarray
    columns: dict[str, list]


def node_parts(graph: KnowledgeGraph, watch: Watch = NO_WATCH) -> Iterator[NodePart]:
    """Yield the nodes of a graph by id, `PART_ROWS` at a time.

    Types and descriptions are included if the graph has them. `watch` receives the progress.
    """
    for first in range(0, graph.n_nodes, PART_ROWS):
        ids = np.arange(first, min(first + PART_ROWS, graph.n_nodes))
        yield NodePart(
            first, graph.names(ids), _columns(graph.columns.nodes, node_columns(graph), ids)
        )
        watch.step((int(ids[-1]) + 1) / graph.n_nodes)


def edge_parts(graph: KnowledgeGraph, watch: Watch = NO_WATCH) -> Iterator[EdgePart]:
    """Yield the edges of a graph by id, `PART_ROWS` at a time.

    Descriptions, keywords and weights are included if the graph has them. `watch` receives the
    progress.
    """
    for first in range(0, graph.n_edges, PART_ROWS):
        ids = np.arange(first, min(first + PART_ROWS, graph.n_edges))
        yield EdgePart(*graph.triples(ids), _columns(graph.columns.edges, edge_columns(graph), ids))
        watch.step((int(ids[-1]) + 1) / graph.n_edges)


def node_columns(graph: KnowledgeGraph) -> list[str]:
    """Return the exported columns of nodes that the graph has."""
    return _existing_columns(graph.columns.nodes, ("type", "description"))


def edge_columns(graph: KnowledgeGraph) -> list[str]:
    """Return the exported columns of edges that the graph has."""
    return _existing_columns(graph.columns.edges, ("description", "keywords", "weight"))


def _existing_columns(table: Table | None, names: tuple[str, ...]) -> list[str]:
    return [name for name in names if table is not None and table.has_column(name)]


def _columns(table: Table | None, names: list[str], ids: np.ndarray) -> dict[str, list]:
    """Return the values of some columns in the rows `ids`."""
    if table is None or not names:
        return {}
    part = table.take(ids)
    columns: dict[str, list] = {}
    for name in names:
        if name == "weight":
            columns[name] = part.numbers(name).tolist()
        else:
            columns[name] = [text or "" for text in part.texts(name)]
    return columns
