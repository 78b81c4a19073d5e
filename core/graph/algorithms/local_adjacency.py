"""Adjacency of a subgraph, with its nodes renumbered from 0, for path search."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from core.graph.columns import row_offsets
from core.graph.protocol import KnowledgeGraph
from core.types import Subgraph

# Largest number of steps that are kept as tuples.
MAX_TUPLE_STEPS = 500_000


class LocalAdjacency:
    """Adjacency of a subgraph in CSR form, with local node ids.

    Local ids are positions in `nodes`, which holds the graph's ids, ascending. The steps from local
    node `v` are the entries from `indptr[v]` to below `indptr[v + 1]` of `neighbours`, `edges` and
    `forward`. They are ordered by edge id, and a forward step comes before a backward one.
    `relation_of` maps edges to relations.

    Parameters
    ----------
    subgraph : nodes, ascending, and edges; an edge with an end outside the nodes is left out.
    direction : steps go from head to tail (out), from tail to head (in), or both ways (both); a
        self-loop then gives two steps.

    Raises
    ------
    BadParameter : the direction is unknown.

    Examples
    --------
    >>> from core.graph.algorithms.local_adjacency import LocalAdjacency
    >>> from core.types import Subgraph
    >>> local = LocalAdjacency(toy, Subgraph(np.array([0, 1, 2]), np.array([0, 2])), "out")  # A>B and B>C
    >>> local.indptr.tolist(), local.neighbours.tolist(), local.step_lists[0]
    ([0, 1, 2, 2], [1, 2], [(1, 0, True)])
    """

    def __init__(self, graph: KnowledgeGraph, subgraph: Subgraph, direction: str = "graph"):
        self.graph, self.subgraph, self.direction = graph, subgraph, graph.resolve(direction)
        self.nodes = np.asarray(subgraph.nodes, np.int64)
        edges = np.asarray(subgraph.edges, np.int64)
        heads, relations, tails = graph.triples(edges)
        heads, tails = self._local_ids(heads), self._local_ids(tails)
        inside = (heads >= 0) & (tails >= 0)
        edges, relations = edges[inside], relations[inside]
        heads, tails = heads[inside], tails[inside]
        flags = {"out": (True,), "in": (False,), "both": (True, False)}[self.direction]
        sources = np.concatenate([heads if is_out else tails for is_out in flags])
        targets = np.concatenate([tails if is_out else heads for is_out in flags])
        forward = np.repeat(np.array(flags, bool), len(edges))
        edges = np.tile(edges, len(flags))
        order = np.lexsort((~forward, edges, sources))
        self.indptr = row_offsets(np.bincount(sources, minlength=len(self.nodes)))
        self.neighbours = targets[order]  # int64, local
        self.edges = edges[order]  # int64, the graph's ids
        self.forward = forward[order]  # bool
        self.relation_of = dict(zip(edges.tolist(), relations.tolist()))

    def __len__(self) -> int:
        """Number of nodes."""
        return len(self.nodes)

    def _local_ids(self, nodes: np.ndarray) -> np.ndarray:
        """Return the local ids of the graph's nodes, -1 for those outside."""
        if not len(self.nodes):
            return np.full(len(nodes), -1, np.int64)
        index = np.minimum(np.searchsorted(self.nodes, nodes), len(self.nodes) - 1)
        return np.where(self.nodes[index] == nodes, index, -1)

    def local_id(self, node: int) -> int:
        """Return the local id of a node.

        The local id is -1 if the node is not in the subgraph.
        """
        return int(self._local_ids(np.array([node], np.int64))[0])

    def steps(self, local_id: int) -> slice:
        """Return the slice of `neighbours`, `edges` and `forward` for the steps of a node."""
        return slice(int(self.indptr[local_id]), int(self.indptr[local_id + 1]))

    @cached_property
    def step_lists(self) -> Sequence[list[tuple[int, int, bool]]]:
        """Steps (neighbour, edge, forward) of each local node as tuples, for loops in Python.

        Tuples take ten times the memory of the arrays. If there are more than `MAX_TUPLE_STEPS`
        steps, they are made on each access.
        """
        if len(self.edges) > MAX_TUPLE_STEPS:
            return _StepLists(self)
        entries = list(zip(self.neighbours.tolist(), self.edges.tolist(), self.forward.tolist()))
        bounds = self.indptr.tolist()
        return tuple(entries[start:end] for start, end in zip(bounds, bounds[1:]))


class _StepLists(Sequence):
    """Steps of the local nodes as tuples, made on each access and not kept."""

    def __init__(self, local: LocalAdjacency):
        self._local = local

    def __len__(self) -> int:
        return len(self._local)

    def __getitem__(self, index):
        local, span = self._local, self._local.steps(index)
        return list(
            zip(
                local.neighbours[span].tolist(),
                local.edges[span].tolist(),
                local.forward[span].tolist(),
            )
        )
