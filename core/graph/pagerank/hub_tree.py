"""Division of a graph into nested parts that are connected only through hub nodes.

Each edge between two parts has a hub at one end. Without the hubs, a part has no edge to any other
part. HGPA solves PageRank part by part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.graph.algorithms.hierarchy import hierarchical_communities
from core.graph.store import Graph
from core.watch import NO_WATCH, Watch


@dataclass(frozen=True, eq=False)
class HubPart:
    """A part of a graph: its nodes, its hubs among them, and the smaller parts between its hubs.

    `nodes` and `hubs` are int64 and ascending. The `children` contain all nodes except the hubs. A
    part without hubs is a leaf.
    """

    nodes: np.ndarray
    hubs: np.ndarray
    children: tuple[HubPart, ...] = ()


NO_HUBS = np.empty(0, np.int64)
# Numbers for the whole graph, as the parent of the coarsest communities, and for no community.
WHOLE_GRAPH, NO_GROUP = -1, -2


def make_hub_tree(graph: Graph, leaf_nodes: int, watch: Watch = NO_WATCH) -> HubPart:
    """Divide a graph into nested parts, and return the outermost one.

    The outermost part is the whole graph. The parts are nested Leiden communities. A community of
    more than `leaf_nodes` nodes is divided again, unless Leiden does not split it. One end of each
    edge between two parts becomes a hub, mostly the end with more such edges.

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
    """Divides communities into parts and hubs.

    `members` are the nodes of each community, `subgroups` the communities inside each community.
    """

    def __init__(self, n_nodes: int, members: list[np.ndarray], subgroups: dict[int, list[int]]):
        self.members = members
        self.subgroups = subgroups
        self.subgroup_of = np.full(n_nodes, NO_GROUP)  # subgroup of each node
        self.is_hub = np.zeros(n_nodes, bool)

    def split(self, nodes: np.ndarray, edges: np.ndarray, group: int) -> HubPart:
        """Return the part on some nodes of the community `group`.

        `edges`, int64 [2, m], are the edges among these nodes.
        """
        subgroups = self.subgroups.get(group, [])
        if not subgroups:
            return HubPart(nodes, NO_HUBS)
        self.subgroup_of[nodes] = NO_GROUP
        for number in subgroups:
            self.subgroup_of[self.members[number]] = number
        hubs = self._choose_hubs(edges)
        self.is_hub[hubs] = True
        edges = edges[:, ~self.is_hub[edges].any(axis=0)]
        inner_nodes = nodes[~self.is_hub[nodes]]
        # Both are copies, because the recursive calls change `subgroup_of`.
        subgroup, edge_subgroup = self.subgroup_of[inner_nodes], self.subgroup_of[edges[0]]
        children = []
        for number in [*subgroups, NO_GROUP]:
            if len(piece := inner_nodes[subgroup == number]):
                children.append(self.split(piece, edges[:, edge_subgroup == number], number))
        return HubPart(nodes, hubs, tuple(children)) if children else HubPart(nodes, NO_HUBS)

    def _choose_hubs(self, edges: np.ndarray) -> np.ndarray:
        """Return hubs that cover each edge between subgroups, ascending.

        The nodes with the most uncovered edges are chosen first.
        """
        first, second = self.subgroup_of[edges]
        # Nodes outside all subgroups do not form a part, so their edges are covered, too.
        is_cut = (first != second) | ((first == NO_GROUP) & (edges[0] != edges[1]))
        cut = edges[:, is_cut]
        chosen = [NO_HUBS]
        while cut.size:
            counts = np.bincount(cut.ravel())
            # If no two of the remaining edges share an end, one end of each is enough.
            hubs = cut[0] if counts.max() == 1 else np.flatnonzero(counts > counts.max() / 2)
            chosen.append(hubs)
            cut = cut[:, ~np.isin(cut, hubs).any(axis=0)]
        return np.unique(np.concatenate(chosen))
