"""Growth of a graph that was extracted from texts, chunk by chunk, for display."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.graph.protocol import KnowledgeGraph
from core.graph.texts import chunks_of, n_chunks


@dataclass(frozen=True, eq=False)
class ChunkAdditions:
    """Nodes and edges that one chunk mentions.

    They are split by whether an earlier chunk mentions them. `new_nodes` are the nodes that no
    earlier chunk mentions, `known_nodes` the others, and likewise for the edges. All are int64 ids.
    Nodes are ordered by (-degree, id), edges by id.
    """

    new_nodes: np.ndarray
    known_nodes: np.ndarray
    new_edges: np.ndarray
    known_edges: np.ndarray


class GraphGrowth:
    """Numbers of nodes and edges of a graph after each of its chunks.

    Chunks are read in the order of their rows. Nodes and edges that no chunk mentions count from
    the first chunk on.

    >>> from core.graph.growth import GraphGrowth
    >>> growth = GraphGrowth(story)
    >>> growth.node_counts.tolist(), growth.edge_counts.tolist()  # after each of its four chunks
    ([2, 4, 5, 5], [1, 3, 4, 4])
    >>> story.names(growth.additions(1).new_nodes), story.names(growth.additions(1).known_nodes)
    (['Cratchit', 'Fred'], ['Scrooge'])
    """

    def __init__(self, graph: KnowledgeGraph):
        self._graph, self._chunks = graph, n_chunks(graph)
        self._first = {kind: _first_chunks(graph, kind) for kind in ("nodes", "edges")}

    @cached_property
    def node_counts(self) -> np.ndarray:
        """Number of nodes after each chunk, int64 [chunks]."""
        return self._sizes("nodes")

    @cached_property
    def edge_counts(self) -> np.ndarray:
        """Number of edges after each chunk, int64 [chunks]."""
        return self._sizes("edges")

    def first_chunks(self, kind: str) -> np.ndarray:
        """Return the first chunk that mentions each row of `kind`.

        The result is int64; -1 if no chunk does. `kind` is “nodes” or “edges”.
        """
        return self._first[kind]

    def additions(self, chunk: int) -> ChunkAdditions:
        """Return the nodes and edges that a chunk, given by its row, mentions."""
        nodes, edges = (
            chunks_of(self._graph, kind).invert(self._chunks)[chunk] for kind in ("nodes", "edges")
        )
        degrees = self._graph.degrees(nodes) if len(nodes) else np.empty(0)
        nodes = nodes[np.lexsort((nodes, -degrees))]
        is_new = self._first["nodes"][nodes] == chunk
        new_edge = self._first["edges"][edges] == chunk
        return ChunkAdditions(nodes[is_new], nodes[~is_new], edges[new_edge], edges[~new_edge])

    def _sizes(self, kind: str) -> np.ndarray:
        first = self._first[kind]
        if self._chunks:  # rows without a chunk, -1, count from chunk 0 on
            return np.cumsum(np.bincount(np.maximum(first, 0), minlength=self._chunks))
        return np.empty(0, np.int64)


def _first_chunks(graph: KnowledgeGraph, kind: str) -> np.ndarray:
    """Return the first chunk that mentions each node or edge.

    The result is the row of the chunk, int64; -1 if no chunk does.
    """
    rows = chunks_of(graph, kind)
    first_chunk = np.full(len(rows), -1, np.int64)
    mentioned = np.flatnonzero(rows.counts)
    if len(mentioned):
        first_chunk[mentioned] = np.minimum.reduceat(rows.ids, rows.indptr[mentioned])
    return first_chunk
