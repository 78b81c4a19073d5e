"""A graph made of texts with some edges more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.graph.building.text_graph import assemble
from core.graph.columns import TYPES, Table
from core.graph.store import Graph

Edge = tuple[int, str, int]


def with_edges(graph: Graph, more: Mapping[Edge, tuple[float, Sequence[int]]], description: str = "") -> Graph:
    """The graph with more edges, each (node, relation, node) with its weight and the rows of its chunks, and all with one description;
    nodes keep their ids."""
    names = graph.names(range(graph.n_nodes))
    heads, relations, tails = graph.triples(np.arange(graph.n_edges))
    triples = [(names[h], graph.relation_names[r], names[t]) for h, r, t in zip(heads.tolist(), relations.tolist(), tails.tolist())]
    edges = _columns(graph.columns.edges, graph.n_edges)
    edges.setdefault("weight", [1.0] * graph.n_edges)
    edges.setdefault("chunks", [[] for _ in range(graph.n_edges)])
    if description:
        edges.setdefault("description", [""] * graph.n_edges)
    fresh = [(names[a], relation, names[b]) for a, relation, b in more]
    added: dict[str, list[Any]] = {"weight": [weight for weight, _ in more.values()], "chunks": [list(rows) for _, rows in more.values()]}
    added["description"] = [description] * len(fresh)
    for name, values in edges.items():
        values += added.get(name, [""] * len(fresh))
    nodes = _columns(graph.columns.nodes, graph.n_nodes)
    return assemble(graph.name, names, triples + fresh, nodes, edges, graph.columns.chunks, graph.direction)


def _columns(table: Table | None, rows: int) -> dict[str, list[Any]]:
    """The columns of a table as lists."""
    if table is None:
        return {}
    return {name: _values(table, name) for name in table.names}


def _values(table: Table, name: str) -> list[Any]:
    kind = TYPES[name]
    return table.texts(name) if kind == "string" else table.lists(name).lists() if kind == "ids" else table.numbers(name).tolist()
