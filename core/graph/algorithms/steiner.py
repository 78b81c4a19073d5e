"""Prize-collecting Steiner tree by the growth and pruning of Goemans and Williamson.

Nodes have prizes, such as their relevance, and edges have costs. The tree connects nodes with large
prizes over cheap edges, as in G-Retriever.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from core.watch import NO_WATCH, Watch

# Times and prizes that differ by less than this count as equal.
PRIZE_TOLERANCE = 1e-12


@dataclass
class _MoatGrowth:
    """Clusters of nodes, surrounded by moats that grow until they meet.

    At first, each node is a cluster, with the number of the node. Each merge makes a new cluster
    with the next number. Growth uses up the prizes of a cluster, and it stops when none is left.
    """

    prizes: np.ndarray  # float64 [n], prize of each node
    cluster: np.ndarray = field(init=False)  # current cluster of each node
    growth: np.ndarray = field(init=False)  # total growth of the clusters of each node
    rate: np.ndarray = field(init=False)  # growth rate of each node's cluster: 1 or 0
    prize_left: list[float] = field(init=False)  # unused prize of each cluster
    active: set[int] = field(init=False)  # growing clusters
    parent: list[int] = field(init=False)  # cluster into which each was merged, else -1
    # (edge; its node in an active cluster; its other node; cluster of the latter if it had stopped,
    # else -1).
    merges: list[tuple[int, int, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        n, has_prize = len(self.prizes), self.prizes > 0
        self.cluster, self.growth, self.rate = np.arange(n), np.zeros(n), has_prize.astype(float)
        self.prize_left = self.prizes.tolist()
        self.active = set(np.flatnonzero(has_prize).tolist())
        self.parent = [-1] * n

    def run(
        self, heads: np.ndarray, tails: np.ndarray, costs: np.ndarray, watch: Watch = NO_WATCH
    ) -> None:
        """Grow the clusters until at most one is active."""
        from core.graph.algorithms.moats import next_meeting  # imports numba

        waiting, n = np.arange(len(heads)), len(heads)
        while len(self.active) > 1:
            watch.check()
            n, first_edge, soonest = next_meeting(
                waiting, n, heads, tails, costs, self.cluster, self.rate, self.growth
            )
            min_left, stopping = min((self.prize_left[cluster], cluster) for cluster in self.active)
            is_merge = first_edge >= 0 and soonest < min_left - PRIZE_TOLERANCE
            time = float(soonest) if is_merge else min_left
            self.growth += time * self.rate
            for cluster in self.active:
                self.prize_left[cluster] -= time
            if is_merge:
                self._merge(int(first_edge), int(heads[first_edge]), int(tails[first_edge]))
            else:
                self.active.remove(stopping)
                self.rate[self.cluster == stopping] = 0.0

    def _merge(self, edge: int, u: int, v: int) -> None:
        if self.cluster[u] not in self.active:
            u, v = v, u
        first_cluster = int(self.cluster[u])
        second_cluster = int(self.cluster[v])
        merged_cluster = len(self.prize_left)
        self.merges.append((edge, u, v, -1 if second_cluster in self.active else second_cluster))
        self.prize_left.append(self.prize_left[first_cluster] + self.prize_left[second_cluster])
        self.active -= {first_cluster, second_cluster}
        self.parent[first_cluster] = self.parent[second_cluster] = merged_cluster
        self.parent.append(-1)
        merged = (self.cluster == first_cluster) | (self.cluster == second_cluster)
        self.cluster[merged] = merged_cluster
        if self.prize_left[merged_cluster] > PRIZE_TOLERANCE:
            self.active.add(merged_cluster)
        self.rate[merged] = float(merged_cluster in self.active)


def prize_collecting_tree(
    n: int,
    heads: np.ndarray,
    tails: np.ndarray,
    costs: np.ndarray,
    prizes: np.ndarray,
    watch: Watch = NO_WATCH,
) -> tuple[list[int], list[int]]:
    """Return the nodes and edges of a tree with large prizes and small costs.

    Every node with a prize grows a moat. If two moats meet, the edge between them is chosen and
    their clusters merge. A cluster whose prizes are used up stops. Then the merges are visited from
    last to first, and stopped clusters that do not connect others are dropped. If moats meet on
    several edges at the same time, the first edge is chosen. The costs of the edges plus the prizes
    of the nodes outside are at most twice the least possible sum.

    Parameters
    ----------
    n : number of nodes.
    heads, tails : ends of the edges, int [m], from 0 to n - 1.
    costs : float [m], not negative.
    prizes : float [n], not negative.
    watch : may raise RunCancelled.

    Returns
    -------
    Nodes and edges, both ascending; empty if no node has a prize.

    Notes
    -----
    This is the unrooted variant of Goemans and Williamson's growth, until one active cluster is
    left, with their pruning.

    Examples
    --------
    >>> from core.graph.algorithms.steiner import prize_collecting_tree
    >>> heads, tails, costs = np.array([0, 1, 2]), np.array([1, 2, 3]), np.full(3, 0.5)
    >>> prize_collecting_tree(4, heads, tails, costs, np.array([3.0, 0.0, 2.0, 0.0]))
    ([0, 1, 2], [0, 1])
    """
    growth = _MoatGrowth(np.asarray(prizes, float))
    growth.run(heads, tails, np.asarray(costs, float), watch)
    last = min(growth.active, default=-1)  # at most one cluster is left
    nodes = set(np.flatnonzero(growth.cluster == last).tolist())
    return _prune_tree(growth, nodes)


def _prune_tree(growth: _MoatGrowth, nodes: set[int]) -> tuple[list[int], list[int]]:
    """Return the pruned tree of the last cluster.

    Stopped clusters that do not connect others are left out. `nodes` are the nodes of the last
    cluster.
    """
    merges = [merge for merge in growth.merges if merge[1] in nodes and merge[2] in nodes]
    neighbours_of: dict[int, list[int]] = {node: [] for node in nodes}
    for _, u, v, _ in merges:
        neighbours_of[u].append(v)
        neighbours_of[v].append(u)
    needed, dropped, retained = [False] * len(growth.parent), set[int](), []

    def mark_needed(node: int) -> None:
        """Mark all clusters that contain a node."""
        while node != -1 and not needed[node]:
            needed[node] = True
            node = growth.parent[node]

    for edge, u, v, stopped in reversed(merges):
        if u in dropped and v in dropped:
            continue
        if stopped >= 0 and not needed[stopped]:
            waiting = [v]
            while waiting:
                node = waiting.pop()
                dropped.add(node)
                waiting += [
                    other for other in neighbours_of[node] if other != u and other not in dropped
                ]
        else:
            mark_needed(u)
            mark_needed(v)
            retained.append(edge)
    return sorted(nodes - dropped), sorted(retained)
