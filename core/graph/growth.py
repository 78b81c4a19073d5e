"""Growth of a text graph chunk by chunk, and the additions of each chunk."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.graph.protocol import KnowledgeGraph
from core.graph.texts import chunks_of, n_chunks


@dataclass(frozen=True, eq=False)
class ChunkAdditions:
    """Nodes and edges that one chunk mentions, split into new and already known ones.

    `new_nodes` are the nodes that no earlier chunk mentions, `known_nodes` the others. The same
    holds for the edges. All are int64 ids. Nodes are ordered by descending degree.
    """

    new_nodes: np.ndarray
    known_nodes: np.ndarray
    new_edges: np.ndarray
    known_edges: np.ndarray


class GraphGrowth:
    """Sizes of a text graph after each of its chunks.

    Nodes and edges that no chunk mentions count from the first chunk on.

    >>> from core.graph.growth import GraphGrowth
    >>> growth = GraphGrowth(story)
    >>> growth.node_counts.tolist(), growth.edge_counts.tolist()  # after each of its four chunks
    ([2, 4, 5, 5], [1, 3, 4, 4])
    >>> story.names(growth.additions(1).new_nodes), story.names(growth.additions(1).known_nodes)
    (['Cratchit', 'Fred'], ['Scrooge'])
    """

    def __init__(self, graph: KnowledgeGraph):
        self._graph, self._chunks = graph, n_chunks(graph)
        self._first = {what: _first_chunks(graph, what) for what in ("nodes", "edges")}

    @cached_property
    def node_counts(self) -> np.ndarray:
        """Number of nodes after each chunk, int64 [chunks]."""
        return self._sizes("nodes")

    @cached_property
    def edge_counts(self) -> np.ndarray:
        """Number of edges after each chunk, int64 [chunks]."""
        return self._sizes("edges")

    def first_chunks(self, what: str) -> np.ndarray:
        """First chunk that mentions each of the “nodes” or “edges”, int64; -1 if none does."""
        return self._first[what]

    def additions(self, row: int) -> ChunkAdditions:
        """Return the nodes and edges that the chunk in this row mentions."""
        nodes, edges = (
            chunks_of(self._graph, what).invert(self._chunks)[row] for what in ("nodes", "edges")
        )
        degrees = self._graph.degrees(nodes) if len(nodes) else np.empty(0)
        nodes = nodes[np.lexsort((nodes, -degrees))]
        fresh, fresh_edges = self._first["nodes"][nodes] == row, self._first["edges"][edges] == row
        return ChunkAdditions(nodes[fresh], nodes[~fresh], edges[fresh_edges], edges[~fresh_edges])

    def _sizes(self, what: str) -> np.ndarray:
        first = self._first[what]
        if self._chunks:
            return np.cumsum(np.bincount(np.maximum(first, 0), minlength=self._chunks))
        return np.empty(0, np.int64)


def _first_chunks(graph: KnowledgeGraph, what: str) -> np.ndarray:
    """Row of the first chunk that mentions each node or edge, int64; -1 if none does."""
    rows = chunks_of(graph, what)
    first_chunk = np.full(len(rows), -1, np.int64)
    mentioned = np.flatnonzero(rows.counts)
    if len(mentioned):
        first_chunk[mentioned] = np.minimum.reduceat(rows.ids, rows.indptr[mentioned])
    return first_chunk
