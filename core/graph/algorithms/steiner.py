"""Prize-collecting Steiner tree: a tree whose prizes are worth the edges that join them, grown as moats and pruned."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from core.watch import NO_WATCH, Watch

NEAR = 1e-12  # times nearer than this are the same


@dataclass
class _Growth:
    """Clusters of nodes that grow until they meet. Cluster `i < n` is node `i`; each merge makes a new one."""

    prizes: np.ndarray
    cluster: np.ndarray = field(init=False)  # of each node
    grown: np.ndarray = field(init=False)  # what the clusters of each node grew so far
    rate: np.ndarray = field(init=False)  # how fast the cluster of each node grows: 1 or 0
    left: list[float] = field(init=False)  # of the prizes of each cluster
    active: set[int] = field(init=False)  # the clusters that grow
    parent: list[int] = field(init=False)
    # edge, node of the active side, other node, inactive cluster
    merges: list[tuple[int, int, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        n, prized = len(self.prizes), self.prizes > 0
        self.cluster, self.grown, self.rate = np.arange(n), np.zeros(n), prized.astype(float)
        self.left, self.active, self.parent = (
            self.prizes.tolist(),
            set(np.flatnonzero(prized).tolist()),
            [-1] * n,
        )

    def run(
        self, heads: np.ndarray, tails: np.ndarray, costs: np.ndarray, watch: Watch = NO_WATCH
    ) -> None:
        """Grow until at most one cluster is active."""
        from core.graph.algorithms.moats import next_meeting  # brings numba

        waiting, n = np.arange(len(heads)), len(heads)
        while len(self.active) > 1:
            watch.check()
            n, first, soonest = next_meeting(
                waiting, n, heads, tails, costs, self.cluster, self.rate, self.grown
            )
            least, ending = min((self.left[one], one) for one in self.active)
            merges = first >= 0 and soonest < least - NEAR
            step = float(soonest) if merges else least
            self.grown += step * self.rate
            for one in self.active:
                self.left[one] -= step
            if merges:
                self._merge(int(first), int(heads[first]), int(tails[first]))
            else:
                self.active.remove(ending)
                self.rate[self.cluster == ending] = 0.0

    def _merge(self, edge: int, u: int, v: int) -> None:
        if self.cluster[u] not in self.active:
            u, v = v, u
        one, other, new = int(self.cluster[u]), int(self.cluster[v]), len(self.left)
        self.merges.append((edge, u, v, -1 if other in self.active else other))
        self.left.append(self.left[one] + self.left[other])
        self.active -= {one, other}
        self.parent[one] = self.parent[other] = new
        self.parent.append(-1)
        joined = (self.cluster == one) | (self.cluster == other)
        self.cluster[joined] = new
        if self.left[new] > NEAR:
            self.active.add(new)
        self.rate[joined] = float(new in self.active)


def prize_collecting_tree(
    n: int,
    heads: np.ndarray,
    tails: np.ndarray,
    costs: np.ndarray,
    prizes: np.ndarray,
    watch: Watch = NO_WATCH,
) -> tuple[list[int], list[int]]:
    """The nodes and the edges, ascending, of a tree whose prizes are worth its costs: at most twice as far from the best as can be.

    Goemans and Williamson's growth, unrooted, to one cluster, with their pruning: every node with a prize grows a moat; where two moats
    meet the edge is taken, a cluster whose prizes are used up stops. Then, last merge first, what a merge took in that had stopped and
    that nothing else needs is dropped. Of edges that meet at the same time the first is taken. `costs` and `prizes` are 0 or more.
    Raises what `watch` raises.

    A path 0 - 1 - 2 - 3 with prizes at 0 and 2 and edges of cost one half; 3 has no prize, so the last edge is not worth it:

    >>> from core.graph.algorithms.steiner import prize_collecting_tree
    >>> prize_collecting_tree(4, np.array([0, 1, 2]), np.array([1, 2, 3]), np.full(3, 0.5), np.array([3.0, 0.0, 2.0, 0.0]))
    ([0, 1, 2], [0, 1])
    """
    growth = _Growth(np.asarray(prizes, float))
    growth.run(heads, tails, np.asarray(costs, float), watch)
    best = min(growth.active, default=-1)
    good = set(np.flatnonzero(growth.cluster == best).tolist())
    return _pruned(growth, good, heads, tails) if good else ([], [])


def _pruned(
    growth: _Growth, good: set[int], heads: np.ndarray, tails: np.ndarray
) -> tuple[list[int], list[int]]:
    """The tree of the good nodes without what stopped growing and nothing needs."""
    merges = [merge for merge in growth.merges if merge[1] in good and merge[2] in good]
    beside: dict[int, list[int]] = {node: [] for node in good}
    for _, u, v, _ in merges:
        beside[u].append(v)
        beside[v].append(u)
    needed, dropped, retained = [False] * len(growth.parent), set[int](), []

    def need(node: int) -> None:
        while node != -1 and not needed[node]:
            needed[node], node = True, growth.parent[node]

    for edge, u, v, stopped in reversed(merges):
        if u in dropped and v in dropped:
            continue
        if stopped >= 0 and not needed[stopped]:
            waiting = [v]
            while waiting:
                node = waiting.pop()
                dropped.add(node)
                waiting += [near for near in beside[node] if near != u and near not in dropped]
        else:
            need(u)
            need(v)
            retained.append(edge)
    return sorted(good - dropped), sorted(retained)
