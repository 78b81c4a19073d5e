"""Personalised PageRank of every node, solved: conjugate gradients where steps run both ways, else a power iteration."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from core.graph import kernels
from core.graph.pagerank.problem import Found, Links, Problem
from core.watch import NO_WATCH, Watch

FINE = 0.5e-10  # the error summed over all nodes
CHECK_STEPS = 10_000_000  # nodes and steps between two looks at whether a person has cancelled


def exact(problem: Problem, tolerance: float = FINE) -> Found:
    """The best nodes of the whole graph's solution, to an error of `tolerance` summed over all nodes.

    >>> from core.graph.pagerank.exact import exact
    >>> from core.graph.pagerank.problem import pose
    >>> found = exact(pose(toy, [0], 3, 0.5, "out"))
    >>> toy.names(found.nodes), (29 * found.scores).round(3).tolist()
    (['A', 'C', 'B'], [16.0, 6.0, 4.0])
    """
    scores = solve(
        problem.links, problem.seeds, problem.shares, problem.damping, tolerance, problem.watch
    )
    nodes = np.flatnonzero(scores > 0.0)
    total = scores[nodes].sum()
    nodes, scores = problem.ranked(nodes, scores[nodes])
    return Found(nodes, scores / total, note="Solved for the whole graph.")


def solve(
    links: Links,
    seeds: np.ndarray,
    shares: np.ndarray,
    damping: float,
    tolerance: float,
    watch: Watch = NO_WATCH,
) -> np.ndarray:
    """The PageRank of every node, float64 [n], not yet scaled to a sum of one for mass dropped at nodes without steps.

    Raises what `watch` raises, which is called between rounds.
    """
    n = len(links.out_indptr) - 1
    estimate, residual = np.zeros(n), np.zeros(n)
    residual[seeds] = shares
    rounds = max(1, CHECK_STEPS // (n + len(links.tails) + 1))
    settled: Callable[[], bool]  # some rounds, and whether they were enough
    if len(links.strength):
        settled = lambda: _power_iterate_weighted(
            estimate, residual, damping, tolerance, rounds, links
        )
    elif links.way == 3:
        work, course = np.empty((3, n)), np.full(2, -1.0)
        settled = lambda: kernels.conjugate_gradient(
            estimate, residual, work, course, damping, tolerance, rounds, *links[1:4]
        )
    else:
        settled = lambda: kernels.power_iterate(
            estimate, residual, damping, tolerance, rounds, *links[:5]
        )
    while not settled():
        watch.check()
    return estimate


@njit(cache=True, nogil=True)
def _power_iterate_weighted(estimate, residual, damping, tolerance, rounds, links):
    """As `kernels.power_iterate`, each step taken by its share of the weights at its start."""
    way, out_indptr, tails, in_indptr, in_heads, out_weights, in_weights, strength, _ = links
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
            if way & 1:
                for at in range(in_indptr[node], in_indptr[node + 1]):
                    total += in_weights[at] * spread[in_heads[at]]
            if way & 2:
                for at in range(out_indptr[node], out_indptr[node + 1]):
                    total += out_weights[at] * spread[tails[at]]
            residual[node] = total
    for node in range(n):
        estimate[node] += (1.0 - damping) * residual[node]
    return True
