"""TopPPR: forward push, random walks, and backward pushes from uncertain nodes.

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

# Largest residual after the first backward pushes, and its divisor from one round to the next.
FIRST_BACKWARD_THRESHOLD, BACKWARD_THRESHOLD_DIVISOR = (0.1, 4.0)
# Largest number of rounds; the number of walks doubles from one round to the next.
TOPPPR_ROUNDS = 8
# Largest number of edges that a search may walk.
TOPPPR_MAX_EDGES = 10_000_000


def topppr(problem: PageRankProblem, budget: int = TOPPPR_MAX_EDGES) -> PageRankResult:
    """Return the best nodes by TopPPR.

    A share of them is proved to be correct. The search continues until at least the share
    `problem.recall`, the paper's precision rho, is proved to be among the true best. A forward push
    leaves residuals, and random walks start from them in proportion. The PageRank of a node is its
    estimate by the push plus a mean over the walks. An empirical Bernstein bound (Maurer and Pontil
    2009) holds for all nodes and rounds together with probability 1 - 1/n. A node is proved if
    fewer than `keep` others may be above its lower bound. A backward push runs from each node that
    is still uncertain. The mean is then over small numbers, so its bound is tight. Then the number
    of walks is doubled. Nodes that tie with the `keep`-th best cannot be proved; the search then
    ends at its budget and is not settled. The paper bounds the walks in the same way, with another
    schedule of pushes.

    Raises
    ------
    BadParameter
        If the edges have weights.

    >>> from core.graph.pagerank.problem import pose_problem
    >>> from core.graph.pagerank.topppr import topppr
    >>> toy.names(topppr(pose_problem(toy, [0], 2, 0.5, "out")).nodes)  # in truth A 16/29, C 6/29
    ['A', 'C']
    """
    problem.check_unweighted("topppr")
    with borrow_work() as work:
        for seed, share in zip(problem.seeds.tolist(), problem.shares.tolist()):
            add_residual(work.table, seed, share)
        rate = walk_rate(FORA_EPSILON, 1.0 / problem.keep, problem.graph.n_nodes)
        threshold = 1.0 / sqrt(max(1, problem.n_steps) * rate)
        enqueue(work.table, threshold, int(work.table.state[SLOT_COUNT]))
        drain_queue(work, problem, threshold, budget // 2)
        count = int(work.table.state[SLOT_COUNT])
        order = np.argsort(work.table.nodes[:count])
        search = _BoundedSearch(
            problem,
            work.table.nodes[order],
            work.table.cells[order, ESTIMATE],
            work.table.cells[order, RESIDUAL],
        )
        search.edges = int(work.table.state[EDGES_WALKED])
    walks, backward_threshold = max(2, ceil(search.residual_sum * rate)), FIRST_BACKWARD_THRESHOLD
    for _ in range(TOPPPR_ROUNDS):
        problem.watch.check()
        n_proved = search.walk(walks)
        if n_proved < problem.recall * problem.keep:
            n_proved = search.refine(backward_threshold, budget)
        settled = n_proved >= min(problem.recall * problem.keep, search.n_reached())
        if settled or 2 * search.edges > budget:
            break
        walks, backward_threshold = search.n_walks, backward_threshold / BACKWARD_THRESHOLD_DIVISOR
    nodes, scores = problem.rank_nodes(search.nodes, search.scores)
    edges = search.edges
    total_mass = float(search.start.sum()) + search.residual_sum * search.ended_share
    return PageRankResult(
        nodes,
        scores / total_mass,
        edges,
        settled,
        f"TopPPR proved {n_proved:,} of the best {problem.keep:,} after {edges:,} edges.",
    )


@dataclass(eq=False)
class _BoundedSearch:
    """State of a search: the reached nodes, their scores, and bounds of the errors of the scores.

    `nodes` are ascending. `start` and `residual` are the estimates and residuals of the forward
    push. `max_errors` bounds the difference between the PageRank of a node and its score.
    """

    problem: PageRankProblem
    nodes: np.ndarray
    start: np.ndarray
    residual: np.ndarray
    edges: int = 0

    def __post_init__(self) -> None:
        self.residual_sum = float(self.residual.sum())
        self.pushed_nodes = self.nodes  # aligned with `residual`; walks add further `nodes`
        self.cumulated_residual = np.cumsum(self.residual)
        self.ends = np.zeros(len(self.nodes), np.int64)  # number of walks that ended at each node
        # The number of walks, and the share of them that did not end at a node without steps.
        self.n_walks, self.ended_share = 0, 1.0
        self.random = np.array([2 * self.problem.random_seed + 1], np.uint64) * np.uint64(
            0x9E3779B97F4A7C15
        )
        self.rng = np.random.default_rng(self.problem.random_seed)
        # Logarithm of the inverse failure probability of one bound.
        self.log_inverse = 2.0 * log(max(2, self.problem.graph.n_nodes)) + log(4.0 * TOPPPR_ROUNDS)
        self.scores, self.max_errors = self.start.copy(), np.zeros(len(self.nodes))
        self.unseen_error = 0.0  # of a node that neither the push nor a walk has reached

    def n_reached(self) -> int:
        """Return the number of nodes that can be proved: `keep`, or fewer if fewer are reached."""
        if self.residual_sum == 0.0:
            return min(self.problem.keep, len(self.nodes))
        return self.problem.keep

    def walk(self, walks: int) -> int:
        """Run further walks from the residuals.

        The scores and bounds of all nodes are updated. Returns the number of proved nodes among the
        best.
        """
        if self.residual_sum > 0.0:
            draws = self.rng.random(walks) * self.residual_sum
            rows = np.searchsorted(self.cumulated_residual, draws)
            starts = self.pushed_nodes[np.minimum(rows, len(self.pushed_nodes) - 1)]
            stops, steps = walk_from(starts, self.problem.damping, self.random, self.problem.links)
            self.edges += steps
            self._count_ends(stops[stops >= 0])
            self.n_walks += walks
            mean = self.ends / self.n_walks
            self.ended_share = float(mean.sum())
            self.scores = self.start + self.residual_sum * mean
            self.max_errors = self._bound(mean * (1.0 - mean), 1.0)
            self.unseen_error = float(self._bound(np.zeros(1), 1.0)[0])
        return self._count_proved()

    def refine(self, threshold: float, budget: int) -> int:
        """Tighten the bounds of the uncertain nodes by a backward push from each.

        A node is uncertain if the `keep`-th best score is within the bounds of its own. Nodes with
        scores closest to it come first. No further push starts after `budget` edges. Returns the
        number of proved nodes among the best.
        """
        problem = self.problem
        if self.residual_sum == 0.0:
            return self._count_proved()
        last = top_k(self.nodes, self.scores, problem.keep)[1][-1]
        low, high = self.scores - self.max_errors, self.scores + self.max_errors
        uncertain = np.flatnonzero((low <= last) & (last <= high))
        order = np.argsort(np.abs(self.scores[uncertain] - last), kind="stable")
        for position in uncertain[order]:
            if self.edges > budget:
                break
            problem.watch.check()
            with borrow_work() as work:
                add_residual(work.table, int(self.nodes[position]), 1.0)
                n_slots = 1
                while n_slots:
                    max_residual, n_slots = push_backward(
                        work.table, problem.damping, threshold, budget, problem.links
                    )
                    if n_slots:
                        work.grow(n_slots)
                count = int(work.table.state[SLOT_COUNT])
                nodes, cells = work.table.nodes[:count].copy(), work.table.cells[:count].copy()
                self.edges += int(work.table.state[EDGES_WALKED])
            self._combine(position, nodes, cells, max_residual)
        return self._count_proved()

    def _combine(
        self, position: int, nodes: np.ndarray, cells: np.ndarray, max_residual: float
    ) -> None:
        """Compute the score of one node.

        It combines the forward push, the walks and a backward push. `nodes` and `cells` are the
        results of the backward push.
        """
        residuals = _values_at(self.pushed_nodes, self.residual, nodes)
        certain = float(np.sum(residuals * cells[:, ESTIMATE]))
        counts, values = _values_at(self.nodes, self.ends, nodes), cells[:, RESIDUAL]
        mean = float(np.sum(counts * values)) / self.n_walks
        variance = max(0.0, float(np.sum(counts * values * values)) / self.n_walks - mean * mean)
        max_error = float(self._bound(np.array([variance]), max_residual)[0])
        if max_error < self.max_errors[position]:
            self.scores[position] = self.start[position] + certain + self.residual_sum * mean
            self.max_errors[position] = max_error

    def _bound(self, variance: np.ndarray, limit: float) -> np.ndarray:
        """Bound the error of a scaled mean over the walks.

        The scaled mean is residual_sum x the mean of numbers in 0..limit. This is the empirical
        Bernstein bound. `variance` is that of the numbers.
        """
        walks = self.n_walks
        spread = variance * walks / (walks - 1)
        return self.residual_sum * (
            np.sqrt(2.0 * spread * self.log_inverse / walks)
            + limit * 7.0 * self.log_inverse / (3.0 * (walks - 1))
        )

    def _count_ends(self, stops: np.ndarray) -> None:
        """Count the ends of walks, and add the nodes that were not reached before."""
        nodes = np.union1d(self.nodes, stops)
        positions = np.searchsorted(nodes, self.nodes)
        start, counts = np.zeros(len(nodes)), np.zeros(len(nodes), np.int64)
        start[positions], counts[positions] = self.start, self.ends
        np.add.at(counts, np.searchsorted(nodes, stops), 1)
        self.nodes, self.start, self.ends = nodes, start, counts

    def _count_proved(self) -> int:
        """Count the best nodes that are proved.

        Fewer than `keep` other nodes may be above the lower bound of such a node.
        """
        keep = self.problem.keep
        best = np.searchsorted(self.nodes, top_k(self.nodes, round_scores(self.scores), keep)[0])
        low, high = (self.scores - self.max_errors)[best], np.sort(self.scores + self.max_errors)
        # The last term subtracts the node itself, whose upper bound is above its lower bound.
        above = len(high) - np.searchsorted(high, low, side="right") - (self.max_errors[best] > 0.0)
        max_unseen = -1.0
        if len(self.nodes) < self.problem.graph.n_nodes and self.residual_sum > 0.0:
            max_unseen = self.unseen_error
        return int(np.sum((above < keep) & (low > max_unseen)))


def _values_at(nodes: np.ndarray, values: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the values of `targets`, 0 for those not in `nodes`, which are ascending."""
    positions = np.minimum(np.searchsorted(nodes, targets), len(nodes) - 1)
    return np.where(nodes[positions] == targets, values[positions], 0)
