"""Parts of a graph, nested, that are joined by hub nodes only.

Hub nodes cover the edges between parts. Without them, a part has no edge to any other part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.graph.algorithms.hierarchy import hierarchical_communities
from core.graph.store import Graph
from core.watch import NO_WATCH, Watch


@dataclass(frozen=True, eq=False)
class HubPart:
    """A part of a graph: its nodes, its hubs among them, and the parts between its hubs.

    Nodes are int64 and ascending. A part without hubs is a leaf.
    """

    nodes: np.ndarray
    hubs: np.ndarray
    children: tuple[HubPart, ...] = ()


NO_HUBS = np.empty(0, np.int64)
WHOLE_GRAPH, NO_GROUP = -1, -2  # numbers of communities


def make_hub_tree(graph: Graph, leaf_nodes: int, watch: Watch = NO_WATCH) -> HubPart:
    """Return the whole graph as a part.

    Parts are the nested Leiden communities, down to `leaf_nodes` nodes or until a community does
    not split. Of the ends of an edge between two parts one is a hub, mostly the one with more such
    edges.

    >>> from core.graph.pagerank.hub_tree import make_hub_tree
    >>> make_hub_tree(toy, 5).children
    ()
    """
    nodes = np.arange(graph.n_nodes)
    if graph.n_nodes <= leaf_nodes:
        return HubPart(nodes, NO_HUBS)
    heads, tails = graph.heads.astype(np.int64), graph.tails.astype(np.int64)
    groups = hierarchical_communities(
        graph.n_nodes, heads, tails, max_size=leaf_nodes, largest=False, watch=watch
    )
    members_of: dict[int, list[int]] = {}
    for number, group in enumerate(groups):
        members_of.setdefault(group.parent, []).append(number)
    splitter = _Splitter(graph.n_nodes, [group.members for group in groups], members_of)
    return splitter.split(nodes, np.stack([heads, tails]), WHOLE_GRAPH)


class _Splitter:
    """Divides communities into parts and hubs."""

    def __init__(self, n_nodes: int, members: list[np.ndarray], subgroups: dict[int, list[int]]):
        self.members = members
        self.subgroups = subgroups
        self.owner = np.full(n_nodes, NO_GROUP)  # subgroup of each node
        self.is_hub = np.zeros(n_nodes, bool)

    def split(self, nodes: np.ndarray, edges: np.ndarray, group: int) -> HubPart:
        """Return the part on some nodes of a community, with the edges among them, int64 [2, m]."""
        subgroups = self.subgroups.get(group, [])
        if not subgroups:
            return HubPart(nodes, NO_HUBS)
        self.owner[nodes] = NO_GROUP
        for number in subgroups:
            self.owner[self.members[number]] = number
        hubs = self._choose_hubs(edges)
        self.is_hub[hubs] = True
        edges = edges[:, ~self.is_hub[edges].any(axis=0)]
        left = nodes[~self.is_hub[nodes]]
        # Both are copies, because the next levels change `owner`.
        owner, edge_owner = self.owner[left], self.owner[edges[0]]
        children = []
        for number in [*subgroups, NO_GROUP]:
            if len(piece := left[owner == number]):
                children.append(self.split(piece, edges[:, edge_owner == number], number))
        return HubPart(nodes, hubs, tuple(children)) if children else HubPart(nodes, NO_HUBS)

    def _choose_hubs(self, edges: np.ndarray) -> np.ndarray:
        """Return an end of each edge between subgroups, ascending; those with most edges first."""
        owners = self.owner[edges]
        is_cut = (owners[0] != owners[1]) | ((owners[0] == NO_GROUP) & (edges[0] != edges[1]))
        cut = edges[:, is_cut]
        chosen = [NO_HUBS]
        while cut.size:
            counts = np.bincount(cut.ravel())
            # At last, no two edges have an end in common.
            hubs = cut[0] if counts.max() == 1 else np.flatnonzero(counts > counts.max() / 2)
            chosen.append(hubs)
            cut = cut[:, ~np.isin(cut, hubs).any(axis=0)]
        return np.unique(np.concatenate(chosen))
