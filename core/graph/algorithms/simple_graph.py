"""Undirected graph of a knowledge graph without relations, for re-ranking of documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.graph.protocol import KnowledgeGraph
from core.graph.store import row_entries


@dataclass(frozen=True, eq=False)
class SimpleGraph:
    """An undirected graph without parallel links and loops, in CSR form.

    The neighbours of node `v` are `neighbour_ids[indptr[v]:indptr[v + 1]]`, ascending. Each link
    occurs at both ends.
    """

    indptr: np.ndarray  # int64 [n + 1]
    neighbour_ids: np.ndarray  # int64

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def neighbours(self, node: int) -> np.ndarray:
        """Return the neighbours of a node."""
        return self.neighbour_ids[self.indptr[node] : self.indptr[node + 1]]

    def degrees(self, nodes: np.ndarray) -> np.ndarray:
        """Return the number of neighbours of each node, int64."""
        return self.indptr[nodes + 1] - self.indptr[nodes]

    def steps(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return every step from some nodes: positions in `nodes` and neighbours, both int64.

        The steps are in the order of `nodes`, then by neighbour.
        """
        rows, index = row_entries(self.indptr, nodes)
        return rows, self.neighbour_ids[index]


def simple_graph(graph: KnowledgeGraph) -> SimpleGraph:
    """Return the undirected simple graph of a knowledge graph, cached on the graph.

    >>> from core.graph.algorithms.simple_graph import simple_graph
    >>> links = simple_graph(toy)  # A>B A>C C>A and E>A; the loop at D is none
    >>> links.neighbours(0).tolist(), links.degrees(np.arange(5)).tolist()
    ([1, 2, 4], [3, 2, 3, 1, 1])
    """
    return graph.derived.get_or_make("simple", 0, lambda: _make_simple_graph(graph))


def _make_simple_graph(graph: KnowledgeGraph) -> SimpleGraph:
    n = graph.n_nodes
    heads, _, tails = graph.triples(np.arange(graph.n_edges))
    not_loops = heads != tails
    heads, tails = heads[not_loops], tails[not_loops]
    keys = np.unique(np.concatenate([heads * n + tails, tails * n + heads]))
    indptr = np.searchsorted(keys, np.arange(n + 1) * n).astype(np.int64)
    return SimpleGraph(indptr, keys % n if n else keys)
