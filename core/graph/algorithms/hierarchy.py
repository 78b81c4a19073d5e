"""Hierarchical communities, as in GraphRAG: Leiden, run again inside large communities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.graph.algorithms.igraph_library import seed_igraph, uses_igraph
from core.watch import NO_WATCH, Watch

# Number of iterations of Leiden in igraph.
HIERARCHY_ITERATIONS = 10
# Largest number of edges that igraph clusters; larger graphs go to `core.graph.large.leiden`.
HIERARCHY_IGRAPH_EDGES = 1_000_000


@dataclass(frozen=True, eq=False)
class NestedCommunity:
    """A community with its level, its parent and its nodes.

    Level 0 is the coarsest. `parent` is a position in the list of communities, -1 on level 0.
    `members` are ascending node ids.
    """

    level: int
    parent: int
    members: np.ndarray  # int64


def hierarchical_communities(
    n: int,
    heads: np.ndarray,
    tails: np.ndarray,
    weights: np.ndarray | None = None,
    max_size: int = 10,
    largest: bool = True,
    watch: Watch = NO_WATCH,
    seed: int = 0,
) -> list[NestedCommunity]:
    """Return the hierarchical communities of an undirected graph.

    Leiden maximises modularity. Each community of more than `max_size` nodes is split again on its
    induced subgraph, until it is small enough or Leiden does not split it. Communities of one node
    are left out. The same graph and seed always give the same result.

    A graph of more than `HIERARCHY_IGRAPH_EDGES` edges is clustered by `core.graph.large.leiden`,
    and its smaller parts by igraph. This takes a time of order n log n. If igraph is not installed,
    all graphs and parts are clustered by `core.graph.large.leiden`, which draws nothing and ignores
    the seed.

    Parameters
    ----------
    n : number of nodes.
    heads, tails : ends of the edges, int [m], from 0 to n - 1.
    weights : float [m]; those of parallel edges are added. None weighs each edge 1.
    max_size : number of nodes above which a community is split again.
    largest : cluster only the largest connected component, as Microsoft's GraphRAG does. Of several
        equally large components, the one with the smallest node is used.
    watch : may raise RunCancelled.
    seed : seed of igraph's Leiden.

    Returns
    -------
    The communities, ordered by (level, smallest member), each with the position of its parent.

    Examples
    --------
    >>> import numpy as np
    >>> from core.graph.algorithms.hierarchy import hierarchical_communities
    >>> heads = np.array([0, 0, 1, 3, 3, 4, 2])  # two triangles and an edge between
    >>> tails = np.array([1, 2, 2, 4, 5, 5, 3])
    >>> groups = hierarchical_communities(6, heads, tails, max_size=3)
    >>> [(group.level, group.parent, group.members.tolist()) for group in groups]
    [(0, -1, [0, 1, 2]), (0, -1, [3, 4, 5])]
    """
    edge_weights = np.ones(len(heads)) if weights is None else weights
    graph_class: type[_IgraphGraph] | type[_EdgeArrays] = _IgraphGraph
    if not uses_igraph(len(heads), HIERARCHY_IGRAPH_EDGES):
        graph_class = _EdgeArrays
    graph = graph_class.from_edges(n, heads, tails, edge_weights)
    groups: list[NestedCommunity] = []
    # (level, parent, nodes). The search is breadth-first, so the groups are ordered by level.
    waiting = [(0, -1, graph.largest_component() if largest else np.arange(n))]
    while waiting:
        next_level: list[tuple[int, int, np.ndarray]] = []
        level_groups: list[NestedCommunity] = []
        for (level, parent, _), pieces in zip(
            waiting, graph.split([part for _, _, part in waiting], seed, watch)
        ):
            if parent < 0 or len(pieces) > 1:
                level_groups += [
                    NestedCommunity(level, parent, piece) for piece in pieces if len(piece) > 1
                ]
        for group in sorted(level_groups, key=lambda group: int(group.members[0])):
            groups.append(group)
            if len(group.members) > max_size:
                next_level.append((group.level + 1, len(groups) - 1, group.members))
        waiting = next_level
    return groups


def nest_communities(n: int, groups: Sequence[np.ndarray]) -> list[NestedCommunity]:
    """Return communities with their levels and parents, given their members.

    It restores the result of `hierarchical_communities` from the members alone.

    Parameters
    ----------
    n : number of nodes.
    groups : members of each community, ascending; a community comes after those it is part of.

    Examples
    --------
    >>> import numpy as np
    >>> from core.graph.algorithms.hierarchy import nest_communities
    >>> nested = nest_communities(4, [np.array([0, 1, 2, 3]), np.array([0, 1]), np.array([2, 3])])
    >>> [(group.level, group.parent) for group in nested]
    [(0, -1), (1, 0), (1, 0)]
    """
    latest = np.full(n, -1)  # for each node, the last community so far that holds it
    nested: list[NestedCommunity] = []
    for number, members in enumerate(groups):
        parent = int(latest[members[0]])
        level = nested[parent].level + 1 if parent >= 0 else 0
        nested.append(NestedCommunity(level, parent, members))
        latest[members] = number
    return nested


@dataclass(frozen=True, eq=False)
class _IgraphGraph:
    """A graph in igraph.

    Making an induced subgraph takes a time in proportion to the whole graph, so this class is for
    small graphs.
    """

    graph: Any

    @classmethod
    def from_edges(
        cls, n: int, heads: np.ndarray, tails: np.ndarray, weights: np.ndarray
    ) -> _IgraphGraph:
        import igraph

        igraph_graph = igraph.Graph(
            n=n,
            edges=np.column_stack([heads, tails]).astype(np.int64),
            edge_attrs={"weight": weights.tolist()},
        )
        igraph_graph.simplify(combine_edges="sum")
        return cls(igraph_graph)

    def largest_component(self) -> np.ndarray:
        """Nodes of the largest component; of equally large ones, that with the smallest node."""
        parts = self.graph.connected_components()
        return np.array(
            min(parts, key=lambda part: (-len(part), part[0])) if len(parts) else [], np.int64
        )

    def split(
        self, parts: list[np.ndarray], seed: int, watch: Watch = NO_WATCH
    ) -> Iterator[list[np.ndarray]]:
        """Yield the communities of the induced subgraph of each part, each ascending."""
        for part in parts:
            watch.check()
            yield (
                _cluster(self.graph.induced_subgraph(part.tolist()), part, seed)
                if len(part)
                else []
            )


class _EdgeArrays:
    """A graph of more than `HIERARCHY_IGRAPH_EDGES` edges, or without igraph, as arrays.

    Each pair of nodes occurs once, with the sum of its weights. All subgraphs of a level are made
    in one pass, so that the time grows as n log n.
    """

    def __init__(self, n: int, edges: np.ndarray, weights: np.ndarray):
        self.n, self.edges, self.weights = n, edges, weights  # int32 [m, 2], float64 [m]

    @classmethod
    def from_edges(
        cls, n: int, heads: np.ndarray, tails: np.ndarray, weights: np.ndarray
    ) -> _EdgeArrays:
        keys, pair_of = np.unique(
            np.minimum(heads, tails).astype(np.int64) * n + np.maximum(heads, tails),
            return_inverse=True,
        )
        edges = np.column_stack([keys // n, keys % n]).astype(np.int32)
        sums = np.bincount(pair_of, weights, len(keys))
        not_loops = edges[:, 0] != edges[:, 1]
        return cls(n, edges[not_loops], sums[not_loops])

    def largest_component(self) -> np.ndarray:
        """Nodes of the largest component; of equally large ones, that with the smallest node."""
        if not self.n:
            return np.empty(0, np.int64)
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        component_of = connected_components(
            coo_array((np.ones(len(self.edges), bool), self.edges.T), shape=(self.n, self.n)), False
        )[1]
        sizes = np.bincount(component_of)
        return np.flatnonzero(component_of == component_of[np.argmax(sizes[component_of])])

    def split(
        self, parts: list[np.ndarray], seed: int, watch: Watch = NO_WATCH
    ) -> Iterator[list[np.ndarray]]:
        """Yield the communities of the induced subgraph of each part, each ascending."""
        # Edges between parts are dropped for good, because later parts are inside these.
        part_of, position_in_part = np.full(self.n, -1, np.int32), np.empty(self.n, np.int32)
        for number, part in enumerate(parts):
            part_of[part], position_in_part[part] = number, np.arange(len(part))
        parts_of_ends = part_of[self.edges]
        order = np.flatnonzero(
            (parts_of_ends[:, 0] == parts_of_ends[:, 1]) & (parts_of_ends[:, 0] >= 0)
        )
        order = order[np.argsort(parts_of_ends[order, 0], kind="stable")]
        self.edges, self.weights = self.edges[order], self.weights[order]
        bounds = np.searchsorted(part_of[self.edges[:, 0]], np.arange(len(parts) + 1))
        for part, first, end in zip(parts, bounds, bounds[1:]):
            watch.check()
            local_edges = position_in_part[self.edges[first:end]]
            yield _cluster_edges(part, local_edges, self.weights[first:end], seed, watch)


def _cluster_edges(
    nodes: np.ndarray, edges: np.ndarray, weights: np.ndarray, seed: int, watch: Watch
) -> list[np.ndarray]:
    """Return the communities of some nodes, each ascending.

    `edges` are pairs of positions in `nodes`.
    """
    if not len(nodes):
        return []
    if not uses_igraph(len(edges), HIERARCHY_IGRAPH_EDGES):
        from core.graph.large import leiden, make_links  # imports numba

        labels = leiden(make_links(len(nodes), edges, weights), watch.without_reports)
        order = np.argsort(labels, kind="stable")
        return [nodes[rows] for rows in np.split(order, np.cumsum(np.bincount(labels))[:-1])]
    import igraph

    graph = igraph.Graph(n=len(nodes), edges=edges, edge_attrs={"weight": weights})
    return _cluster(graph, nodes, seed)


def _cluster(graph: Any, nodes: np.ndarray, seed: int) -> list[np.ndarray]:
    """Return the communities of an igraph graph, whose vertex i is `nodes[i]`, each ascending."""
    with seed_igraph(seed):
        communities = graph.community_leiden(
            objective_function="modularity", weights="weight", n_iterations=HIERARCHY_ITERATIONS
        )
    return [np.sort(nodes[np.asarray(piece, np.int64)]) for piece in communities if piece]
