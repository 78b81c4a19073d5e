"""TopPPR: forward push, random walks, and backward pushes from the nodes in doubt.

Wei, He, Xiao, Wang, Shang, Wen, SIGMOD 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log, sqrt

import numpy as np

from core.graph.order import round_scores, top_k
from core.graph.pagerank.fora import FORA_EPSILON, walk_rate
from core.graph.pagerank.local.push import drain_queue
from core.graph.pagerank.local.push_loops import enqueue
from core.graph.pagerank.local.table import (
    EDGES_WALKED,
    ESTIMATE,
    RESIDUAL,
    SLOT_COUNT,
    add_residual,
    borrow_work,
)
from core.graph.pagerank.problem import PageRankProblem, PageRankResult
from core.graph.pagerank.walk_loops import push_backward, walk_from

# Largest residual that the first backward pushes leave, and its divisor from one round to the next.
FIRST_BACKWARD_BAR, BACKWARD_BAR_DIVISOR = (0.1, 4.0)
# Largest number of rounds; the number of walks doubles from one to the next.
TOPPPR_ROUNDS = 8
# Largest number of edges walked.
TOPPPR_MAX_EDGES = 10_000_000


def topppr(problem: PageRankProblem, budget: int = TOPPPR_MAX_EDGES) -> PageRankResult:
    """Return the best nodes, a share of them proved to be correct.

    At least the share `recall` is proved to be among the true best. This share is the paper's
    precision rho. A forward push leaves residuals, and random walks start from them in proportion.
    The PageRank of a node is its estimate by the push plus a mean over the walks. An empirical
    Bernstein bound (Maurer and Pontil 2009) holds for all nodes and rounds at once with probability
    1 - 1/n. A node is proved if fewer than `keep` others may lie above its lower bound. Nodes that
    may or may not belong to the best are pushed backward. The mean is then one of small numbers,
    and its bound is tight. After that the walks double. Nodes that tie at the last place cannot be
    proved; the search then ends at its budget, not settled. The paper bounds the walks in the same
    way, with another schedule of pushes.

    Raises
    ------
    BadParameter
        If there are weights.

    >>> from core.graph.pagerank.problem import pose_problem
    >>> from core.graph.pagerank.topppr import topppr
    >>> toy.names(topppr(pose_problem(toy, [0], 2, 0.5, "out")).nodes)  # in truth A 16/29, C 6/29
    ['A', 'C']
    """
    problem.unweighted("topppr")
    with borrow_work() as work:
        for seed, share in zip(problem.seeds.tolist(), problem.shares.tolist()):
            add_residual(work.table, seed, share)
        rate = walk_rate(FORA_EPSILON, 1.0 / problem.keep, problem.graph.n_nodes)
        bar = 1.0 / sqrt(max(1, problem.steps) * rate)
        enqueue(work.table, bar, int(work.table.state[SLOT_COUNT]))
        drain_queue(work, problem, bar, budget // 2)
        count = int(work.table.state[SLOT_COUNT])
        order = np.argsort(work.table.nodes[:count])
        search = _BoundedSearch(
            problem,
            work.table.nodes[order],
            work.table.cells[order, ESTIMATE],
            work.table.cells[order, RESIDUAL],
        )
        search.edges = int(work.table.state[EDGES_WALKED])
    walks, backward_bar = max(2, ceil(search.rest * rate)), FIRST_BACKWARD_BAR
    for _ in range(TOPPPR_ROUNDS):
        problem.watch.check()
        n_proved = search.walk(walks)
        if n_proved < problem.recall * problem.keep:
            n_proved = search.refine(backward_bar, budget)
        if (
            n_proved >= min(problem.recall * problem.keep, search.reached())
            or 2 * search.edges > budget
        ):
            break
        walks, backward_bar = search.walks, backward_bar / BACKWARD_BAR_DIVISOR
    settled = n_proved >= min(problem.recall * problem.keep, search.reached())
    nodes, scores = problem.ranked(search.nodes, search.scores)
    edges, total_mass = search.edges, float(search.start.sum()) + search.rest * search.retained
    return PageRankResult(
        nodes,
        scores / total_mass,
        edges,
        settled,
        f"TopPPR proved {n_proved:,} of the best {problem.keep:,} after {edges:,} edges.",
    )


@dataclass(eq=False)
class _BoundedSearch:
    """State of a search: nodes with estimates and bounds of their errors.

    Nodes are ascending. `start` and `residual` are the results of the forward push. The PageRank of
    a node lies within `half` of its score.
    """

    problem: PageRankProblem
    nodes: np.ndarray
    start: np.ndarray
    residual: np.ndarray
    edges: int = 0

    def __post_init__(self) -> None:
        self.rest = float(self.residual.sum())
        self.pushed, self.left = self.nodes, self.residual  # result of the forward push alone
        self.sum = np.cumsum(self.residual)
        self.ends = np.zeros(len(self.nodes), np.int64)  # number of walks that ended at each node
        self.walks, self.retained = 0, 1.0
        self.random = np.array([2 * self.problem.random + 1], np.uint64) * np.uint64(
            0x9E3779B97F4A7C15
        )
        self.dice = np.random.default_rng(self.problem.random)
        self.sure = 2.0 * log(max(2, self.problem.graph.n_nodes)) + log(4.0 * TOPPPR_ROUNDS)
        self.scores, self.half, self.unseen = self.start.copy(), np.zeros(len(self.nodes)), 0.0

    def reached(self) -> int:
        """Number of nodes that are known to have a score, at most `keep`."""
        return (
            int(min(self.problem.keep, len(self.nodes))) if self.rest == 0.0 else self.problem.keep
        )

    def walk(self, walks: int) -> int:
        """Run more walks from the residuals and update the bounds of all nodes.

        Returns the number of proved nodes among the best.
        """
        if self.rest > 0.0:
            starts = self.pushed[
                np.minimum(
                    np.searchsorted(self.sum, self.dice.random(walks) * self.rest),
                    len(self.sum) - 1,
                )
            ]
            stops, steps = walk_from(starts, self.problem.damping, self.random, self.problem.links)
            self.edges += steps
            self._count_ends(stops[stops >= 0])
            self.walks += walks
            mean = self.ends / self.walks
            self.retained = float(mean.sum())
            self.scores = self.start + self.rest * mean
            self.half = self._bound(mean * (1.0 - mean), 1.0)
            self.unseen = float(self._bound(np.zeros(1), 1.0)[0])
        return self._count_proved()

    def refine(self, bar: float, budget: int) -> int:
        """Tighten the bounds of the nodes in doubt by a backward push from each.

        Nodes closest to the last place come first. Returns the number of proved nodes among the
        best.
        """
        problem = self.problem
        if self.rest == 0.0:
            return self._count_proved()
        last = top_k(self.nodes, self.scores, problem.keep)[1][-1]
        doubt = np.flatnonzero(
            (self.scores + self.half >= last) & (self.scores - self.half <= last)
        )
        for position in doubt[np.argsort(np.abs(self.scores[doubt] - last), kind="stable")]:
            if self.edges > budget:
                break
            problem.watch.check()
            with borrow_work() as work:
                add_residual(work.table, int(self.nodes[position]), 1.0)
                n_slots = 1
                while n_slots:
                    cap, n_slots = push_backward(
                        work.table, problem.damping, bar, budget, problem.links
                    )
                    if n_slots:
                        work.grow(n_slots)
                count = int(work.table.state[SLOT_COUNT])
                nodes, cells = work.table.nodes[:count].copy(), work.table.cells[:count].copy()
                self.edges += int(work.table.state[EDGES_WALKED])
            self._combine(position, nodes, cells, cap)
        return self._count_proved()

    def _combine(self, position: int, nodes: np.ndarray, cells: np.ndarray, cap: float) -> None:
        """Compute the score of one node from all parts of the search.

        These are the forward push, the walks and a backward push.
        """
        certain = float(np.sum(_values_at(self.pushed, self.left, nodes) * cells[:, ESTIMATE]))
        counts, values = _values_at(self.nodes, self.ends, nodes), cells[:, RESIDUAL]
        mean = float(np.sum(counts * values)) / self.walks
        variance = max(0.0, float(np.sum(counts * values * values)) / self.walks - mean * mean)
        half = float(self._bound(np.array([variance]), cap)[0])
        if half < self.half[position]:
            self.scores[position], self.half[position] = (
                self.start[position] + certain + self.rest * mean,
                half,
            )

    def _bound(self, variance: np.ndarray, cap: float) -> np.ndarray:
        """Bound the error of the residual times a mean over the walks.

        The mean is one of numbers from 0 to `cap`.
        """
        walks = self.walks
        spread = variance * walks / (walks - 1)
        return self.rest * (
            np.sqrt(2.0 * spread * self.sure / walks) + cap * 7.0 * self.sure / (3.0 * (walks - 1))
        )

    def _count_ends(self, stops: np.ndarray) -> None:
        nodes = np.union1d(self.nodes, stops)
        positions = np.searchsorted(nodes, self.nodes)
        start, counts = np.zeros(len(nodes)), np.zeros(len(nodes), np.int64)
        start[positions], counts[positions] = self.start, self.ends
        np.add.at(counts, np.searchsorted(nodes, stops), 1)
        self.nodes, self.start, self.ends = nodes, start, counts

    def _count_proved(self) -> int:
        keep = self.problem.keep
        best = np.searchsorted(self.nodes, top_k(self.nodes, round_scores(self.scores), keep)[0])
        low, high = (self.scores - self.half)[best], np.sort(self.scores + self.half)
        above = len(high) - np.searchsorted(high, low, side="right") - (self.half[best] > 0.0)
        if len(self.nodes) < self.problem.graph.n_nodes and self.rest > 0.0:
            bar = self.unseen
        else:
            bar = -1.0
        return int(np.sum((above < keep) & (low > bar)))


def _values_at(nodes: np.ndarray, values: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the values of some nodes, zero for those not in `nodes`.

    `nodes` are ascending.
    """
    positions = np.minimum(np.searchsorted(nodes, targets), len(nodes) - 1)
    return np.where(nodes[positions] == targets, values[positions], 0)
