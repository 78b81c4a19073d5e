"""Exact personalised PageRank of every node.

The linear equation is solved by conjugate gradients if steps go in both directions and have no
weights, else by power iteration.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numba import njit

from core.graph import kernels
from core.graph.pagerank.problem import Adjacency, PageRankProblem, PageRankResult
from core.watch import NO_WATCH, Watch

# Largest absolute error, summed over all nodes.
EXACT_TOLERANCE = 0.5e-10
# Number of nodes and steps that are processed between two checks for a cancellation.
CHECK_STEPS = 10_000_000


def exact_pagerank(problem: PageRankProblem, tolerance: float = EXACT_TOLERANCE) -> PageRankResult:
    """Return the best nodes of the exact solution.

    Their scores sum up to 1. `tolerance` bounds the error summed over all nodes.

    >>> from core.graph.pagerank.exact import exact_pagerank
    >>> from core.graph.pagerank.problem import pose_problem
    >>> found = exact_pagerank(pose_problem(toy, [0], 3, 0.5, "out"))
    >>> toy.names(found.nodes), (29 * found.scores).round(3).tolist()
    (['A', 'C', 'B'], [16.0, 6.0, 4.0])
    """
    scores = solve(
        problem.links, problem.seeds, problem.shares, problem.damping, tolerance, problem.watch
    )
    nodes = np.flatnonzero(scores > 0.0)
    total = scores[nodes].sum()
    nodes, scores = problem.rank_nodes(nodes, scores[nodes])
    return PageRankResult(nodes, scores / total, note="Solved for the whole graph.")


def solve(
    links: Adjacency,
    seeds: np.ndarray,
    shares: np.ndarray,
    damping: float,
    tolerance: float,
    watch: Watch = NO_WATCH,
) -> np.ndarray:
    """Return the PageRank of every node, unscaled.

    The result is float64 [n], not yet scaled to a sum of 1. Mass that reaches a node without steps
    is dropped, so the sum may be below 1. `shares` is the restart probability of each seed.
    `tolerance` bounds the error summed over all nodes. `watch` is checked between rounds and may
    raise RunCancelled.
    """
    n = len(links.out_indptr) - 1
    estimate, residual = np.zeros(n), np.zeros(n)
    residual[seeds] = shares
    rounds = max(1, CHECK_STEPS // (n + len(links.tails) + 1))
    # Runs up to `rounds` rounds, and returns False if more are needed.
    run_rounds: Callable[[], bool]
    if len(links.strength):
        run_rounds = partial(
            _power_iterate_weighted, estimate, residual, damping, tolerance, rounds, links
        )
    elif links.mask == 3:
        state = np.empty((3, n)), np.full(2, -1.0)  # workspace and norms
        run_rounds = partial(
            kernels.conjugate_gradient,
            *(estimate, residual, *state, damping, tolerance, rounds, *links[1:4]),
        )
    else:
        run_rounds = partial(
            kernels.power_iterate, estimate, residual, damping, tolerance, rounds, *links[:5]
        )
    while not run_rounds():
        watch.check()
    return estimate


@njit(cache=True, nogil=True)
def _power_iterate_weighted(estimate, residual, damping, tolerance, rounds, links):
    """Run a power iteration as `kernels.power_iterate`, with weighted steps.

    The probability of a step is its share of the weight of all steps from its start.
    """
    mask, out_indptr, tails, in_indptr, in_heads, out_weights, in_weights, strength, _ = links
    n = len(estimate)
    spread = np.empty(n)
    while residual.sum() > tolerance:
        if rounds == 0:
            return False
        rounds -= 1
        for node in range(n):
            estimate[node] += (1.0 - damping) * residual[node]
            spread[node] = damping * residual[node] / max(strength[node], 1e-300)
        for node in range(n):
            total = 0.0
            if mask & 1:
                for link in range(in_indptr[node], in_indptr[node + 1]):
                    total += in_weights[link] * spread[in_heads[link]]
            if mask & 2:
                for link in range(out_indptr[node], out_indptr[node + 1]):
                    total += out_weights[link] * spread[tails[link]]
            residual[node] = total
    for node in range(n):
        estimate[node] += (1.0 - damping) * residual[node]
    return True
