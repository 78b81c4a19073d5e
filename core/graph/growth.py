"""How a graph of texts grows chunk by chunk, and what one chunk adds to it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.graph.protocol import KnowledgeGraph
from core.graph.texts import chunks_of, n_chunks


@dataclass(frozen=True, eq=False)
class ChunkAdds:
    """What the chunk in one row says: the `fresh` nodes, which no earlier chunk names, the `known` ones, which merge with those, and the
    edges, fresh and known; int64 ids, nodes with the most relations first."""

    fresh: np.ndarray
    known: np.ndarray
    fresh_edges: np.ndarray
    known_edges: np.ndarray


class Growth:
    """A graph by the order of its chunks. What no chunk names counts as there from the beginning.

    >>> from core.graph.growth import Growth
    >>> growth = Growth(story)
    >>> growth.nodes.tolist(), growth.edges.tolist()  # how many there are after each of its four chunks
    ([2, 4, 5, 5], [1, 3, 4, 4])
    >>> story.names(growth.adds(1).fresh), story.names(growth.adds(1).known)
    (['Cratchit', 'Fred'], ['Scrooge'])
    """

    def __init__(self, graph: KnowledgeGraph):
        self._graph, self._chunks = graph, n_chunks(graph)
        self._first = {what: _first(graph, what) for what in ("nodes", "edges")}

    @cached_property
    def nodes(self) -> np.ndarray:
        """How many nodes there are after each chunk, int64 [chunks]."""
        return self._sizes("nodes")

    @cached_property
    def edges(self) -> np.ndarray:
        """How many edges there are after each chunk, int64 [chunks]."""
        return self._sizes("edges")

    def first(self, what: str) -> np.ndarray:
        """The row of the first chunk that tells of each of the “nodes” or “edges”, int64; -1 of those that none tells of."""
        return self._first[what]

    def adds(self, row: int) -> ChunkAdds:
        """What the chunk in this row says."""
        nodes, edges = (
            chunks_of(self._graph, what).inverse(self._chunks)[row] for what in ("nodes", "edges")
        )
        degrees = self._graph.degrees(nodes) if len(nodes) else np.empty(0)
        nodes = nodes[np.lexsort((nodes, -degrees))]
        fresh, fresh_edges = self._first["nodes"][nodes] == row, self._first["edges"][edges] == row
        return ChunkAdds(nodes[fresh], nodes[~fresh], edges[fresh_edges], edges[~fresh_edges])

    def _sizes(self, what: str) -> np.ndarray:
        first = self._first[what]
        if self._chunks:
            return np.cumsum(np.bincount(np.maximum(first, 0), minlength=self._chunks))
        return np.empty(0, np.int64)


def _first(graph: KnowledgeGraph, what: str) -> np.ndarray:
    """The row of the first chunk that tells of each node or edge, int64; -1 of those that none tells of."""
    rows = chunks_of(graph, what)
    found = np.full(len(rows), -1, np.int64)
    some = np.flatnonzero(rows.counts)
    if len(some):
        found[some] = np.minimum.reduceat(rows.ids, rows.indptr[some])
    return found
