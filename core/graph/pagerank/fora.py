"""FORA: forward push, then random walks from the residuals.

Wang, Yang, Xiao, Wei, Yang, KDD 2017.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from core.graph.order import top_k
from core.graph.pagerank.local.disk import DiskReadAhead
from core.graph.pagerank.local.push import drain_queue
from core.graph.pagerank.local.push_loops import enqueue
from core.graph.pagerank.local.table import (
    EDGES_WALKED,
    ESTIMATE,
    SLOT_COUNT,
    WorkArrays,
    add_residual,
    borrow_work,
)
from core.graph.pagerank.problem import PageRankProblem, PageRankResult
from core.graph.pagerank.walk_loops import CHECK_STEPS, walk_residuals

# Relative error, as set in the paper.
FORA_EPSILON = 0.5
# Divisor of delta, the least PageRank with a guarantee, from one round to the next.
FORA_DELTA_DIVISOR = 2.0
# Largest number of edges that a search may walk.
FORA_MAX_EDGES = 30_000_000


def fora(
    problem: PageRankProblem, epsilon: float = FORA_EPSILON, budget: int = FORA_MAX_EDGES
) -> PageRankResult:
    """Return the best nodes by FORA.

    Delta is the least PageRank for which the guarantee holds. It starts at 1 / keep and is halved
    until all best nodes are above it. For a given delta, the following holds with probability at
    least 1 - 1/n. Every node with a PageRank of at least delta has an estimate within a relative
    error of epsilon. Every other node has an estimate below (1 + epsilon) x delta. The search ends
    once the `keep`-th best estimate is at least (1 + epsilon) x delta, because the guarantee then
    covers all best nodes. (The paper's top-k version stops by upper and lower bounds of the best
    nodes; its delta falls in the same way, down to 1/n.)

    A walk that would continue at a node without steps is lost, and scores are scaled to a sum of 1.
    The result is the same as if the walk restarted at the seeds. The paper's alpha is 1 - damping.

    LEGO-GraphRAG's report runs FORA, TopPPR and RBS at their programs' default settings for a
    subgraph of a fixed size, which loses most answers (Table 5: recalls of .18, .44 and .31). Here
    all three continue until their guarantee covers `keep` nodes, so recalls are higher.

    Raises
    ------
    BadParameter
        If the edges have weights.

    >>> from core.graph.pagerank.fora import fora
    >>> from core.graph.pagerank.problem import pose_problem
    >>> found = fora(pose_problem(toy, [0], 3, 0.5, "out"))  # in truth A 16/29, C 6/29, B 4/29
    >>> toy.names(found.nodes)
    ['A', 'C', 'B']
    """
    problem.check_unweighted("fora")
    min_delta, delta = 1.0 / max(1, problem.graph.n_nodes), 1.0 / problem.keep
    with borrow_work() as work:
        for seed, share in zip(problem.seeds.tolist(), problem.shares.tolist()):
            add_residual(work.table, seed, share)
        edges = 0
        while True:
            problem.watch.check()
            rate = walk_rate(epsilon, delta, problem.graph.n_nodes)
            # With this threshold of residuals, pushing and walking cost about the same.
            threshold = 1.0 / sqrt(max(1, problem.n_steps) * rate)
            enqueue(work.table, threshold, int(work.table.state[SLOT_COUNT]))
            _push(work, problem, threshold, budget // 2)
            nodes, scores, walk_edges = add_walk_ends(work, problem, rate)
            edges += walk_edges
            last = 0.0
            if len(nodes) >= problem.keep:
                last = top_k(nodes, scores, problem.keep)[1][-1]
            total = edges + int(work.table.state[EDGES_WALKED])
            settled = last >= (1.0 + epsilon) * delta or delta <= min_delta
            if settled or total * 2 > budget:
                break
            delta = max(min_delta, delta / FORA_DELTA_DIVISOR)
    best, values = problem.rank_nodes(nodes, scores)
    guarantee_text = "before its guarantee held"
    if settled:
        guarantee_text = f"each within {epsilon:.0%} of its value with probability 1 - 1/n"
    return PageRankResult(
        best,
        values / scores.sum(),
        total,
        settled,
        f"FORA ended at delta {delta:.1e}, {guarantee_text}, after {total:,} edges.",
    )


def walk_rate(epsilon: float, delta: float, n: int) -> float:
    """Return the number of walks per unit of residual.

    It is chosen for a failure probability of 1/n.
    The number is (2 epsilon / 3 + 2) x ln(2 n) / (epsilon^2 x delta).
    """
    return (2.0 * epsilon / 3.0 + 2.0) * log(2.0 * max(2, n)) / (epsilon * epsilon * delta)


def _push(work: WorkArrays, problem: PageRankProblem, threshold: float, budget: int) -> None:
    """Push until the queue is empty or `budget` edges are walked."""
    disk, steps = DiskReadAhead(problem.links), work.table.state[EDGES_WALKED]
    while not drain_queue(work, problem, threshold, min(budget, int(steps) + CHECK_STEPS), disk):
        problem.watch.check()
        steps = work.table.state[EDGES_WALKED]
        if steps >= budget:
            return


def add_walk_ends(
    work: WorkArrays, problem: PageRankProblem, rate: float
) -> tuple[np.ndarray, np.ndarray, int]:
    """Add the ends of random walks to the estimates.

    From each node, `rate` walks run per unit of residual.

    Returns
    -------
    The nodes, ascending, the estimate of each, and the number of edges walked.
    """
    # An odd number times an odd number is odd, so the state of the random numbers is never 0.
    random = np.array([2 * problem.random_seed + 1], np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    with borrow_work() as walks:
        table, slot = work.table, 0
        count = int(table.state[SLOT_COUNT])
        while slot < count:
            problem.watch.check()
            slot, n_slots = walk_residuals(
                table, slot, rate, walks.table, problem.damping, random, problem.links, CHECK_STEPS
            )
            if n_slots:
                walks.grow(n_slots)
        n_ends = int(walks.table.state[SLOT_COUNT])
        all_nodes = np.concatenate([table.nodes[:count], walks.table.nodes[:n_ends]])
        estimates = np.concatenate(
            [table.cells[:count, ESTIMATE], walks.table.cells[:n_ends, ESTIMATE]]
        )
        edges = int(walks.table.state[EDGES_WALKED])
    nodes, rows = np.unique(all_nodes, return_inverse=True)
    return nodes, np.bincount(rows, estimates), edges
