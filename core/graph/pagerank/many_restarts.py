"""Personalised PageRank with restarts at very many nodes.

PageRank p is linear in its restarts. Let s = c u + r, where u restarts equally at a set of nodes
and r is the remainder. Then p(s) = c p(u) + p(r). p(u) is solved once for a graph. r is small and
has both signs, so pushed values partly cancel out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from core.graph.order import round_scores, top_k
from core.graph.pagerank.problem import Adjacency
from core.watch import NO_WATCH, Watch

# A bar is the residual per step of a node from which on the node is pushed. First bar as a share of
# the last of the best scores, divisor from one bar to the next, and largest number of bars.
FIRST_BAR_SHARE, BAR_DIVISOR, MAX_BAR_ROUNDS = (0.03, 4.0, 8)
MIN_BAR = 1e-16
NO_NODES = np.empty(0, np.int64)
# Share of the best nodes that must be the same under two successive bars.
STABLE_SHARE = 0.99


@dataclass(frozen=True, eq=False)
class PushResult:
    """Result of a push: the PageRank of every node, float64 [n].

    `residual_mass` is the mass that was not pushed, of a sum of one. It bounds the error summed
    over all nodes. `steps` is the number of steps walked.
    """

    scores: np.ndarray
    residual_mass: float
    steps: int

    def describe_end(self, noun: str) -> str:
        """Return a sentence about how far the push went; `noun` names the results."""
        return (
            f"PageRank was pushed until the best {noun} had settled, after {self.steps:,} steps; "
            f"{self.residual_mass:.1%} of the weight was left to push, and scores may be off by as much "
            "together."
        )


def push_everywhere(
    links: Adjacency,
    shares: np.ndarray,
    alike: np.ndarray,
    alike_scores: np.ndarray,
    damping: float,
    targets: slice,
    keep: int,
    watch: Watch = NO_WATCH,
) -> PushResult:
    """Return the PageRank for the given restarts, precise enough for the best of `targets`.

    Residuals of at least a bar times the number of a node's steps are pushed, first in, first out.
    The bar falls until the share `STABLE_SHARE` of the best nodes stays the same from one bar to
    the next. Exceptions of `watch` pass through.

    Parameters
    ----------
    links : adjacency with weights.
    shares : restarts, float64 [n], with sum one.
    alike : nodes with about equal shares of most restarts, ascending.
    alike_scores : PageRank, float64 [n], of restarts spread equally over `alike`.
    targets : nodes of which the best `keep` are to be found.
    """
    common = float(np.median(shares[alike])) if len(alike) else 0.0
    residual, estimate = shares.copy(), np.zeros(len(shares))
    residual[alike] -= common
    base = common * len(alike) * alike_scores if len(alike) else estimate
    degrees = np.zeros(len(shares))
    for side, indptr in ((1, links.out_indptr), (2, links.in_indptr)):
        degrees += np.diff(indptr) if links.mask & side else 0.0
    queue = np.empty(len(shares), np.int64)
    is_queued = np.zeros(len(shares), bool)
    steps = 0
    previous_best = NO_NODES
    bar = np.inf
    for _ in range(MAX_BAR_ROUNDS):
        watch.check()
        scores = (base + estimate + (1.0 - damping) * residual)[targets]
        best, values = top_k(np.arange(len(scores)), round_scores(scores), keep)
        if len(np.intersect1d(best, previous_best)) >= STABLE_SHARE * len(best):
            break
        mean_degree = max(1.0, float(degrees[targets][best].mean()))
        bar = min(bar / BAR_DIVISOR, FIRST_BAR_SHARE * float(values[-1]) / mean_degree)
        steps += _push(
            estimate, residual, queue, is_queued, damping, max(bar, MIN_BAR), degrees, links
        )
        previous_best = best if steps else NO_NODES
    scores = np.maximum(base + estimate + (1.0 - damping) * residual, 0.0)
    return PushResult(scores / scores.sum(), float(np.abs(residual).sum()), steps)


@njit(cache=True, nogil=True)
def _push(estimate, residual, queue, is_queued, damping, bar, degrees, links):
    """Push residuals above the bar until none is left.

    The bar of a node is `bar` times the number of its steps. Residuals may have both signs. They
    are divided among the steps by their weights. `is_queued` is all False before and after the
    call. Returns the number of steps walked.
    """
    mask, out_indptr, tails, in_indptr, in_heads, out_weights, in_weights, strength, _ = links
    n, size, head, steps = len(residual), 0, 0, 0
    for node in range(n):
        if abs(residual[node]) >= bar * max(1.0, degrees[node]):
            queue[size] = node
            is_queued[node] = True
            size += 1
    while size > 0:
        node = queue[head]
        head = head + 1 if head + 1 < n else 0
        size -= 1
        is_queued[node] = False
        mass = residual[node]
        residual[node] = 0.0
        estimate[node] += (1.0 - damping) * mass
        gain = damping * mass / max(strength[node], 1e-300)
        for side in range(2):
            if not mask & (side + 1):
                continue
            indptr, neighbours, weights = (
                (out_indptr, tails, out_weights) if side == 0 else (in_indptr, in_heads, in_weights)
            )
            steps += indptr[node + 1] - indptr[node]
            for link in range(indptr[node], indptr[node + 1]):
                neighbour = neighbours[link]
                after = residual[neighbour] + gain * weights[link]
                residual[neighbour] = after
                if not is_queued[neighbour] and abs(after) >= bar * max(1.0, degrees[neighbour]):
                    tail = head + size
                    queue[tail if tail < n else tail - n] = neighbour
                    is_queued[neighbour] = True
                    size += 1
    return steps
