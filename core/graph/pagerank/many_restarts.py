"""Personalised PageRank with restarts at very many nodes.

They may be all passages of a corpus, for example. PageRank p is linear in its restarts s. Let s = c
u + r, where u restarts at each node of a set with the same probability, c is a number and r is the
remainder. Then p(s) = c p(u) + p(r). p(u) is solved once for a graph. r is small and has both
signs, so pushed values partly cancel out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from core.graph.order import round_scores, top_k
from core.graph.pagerank.problem import Adjacency
from core.watch import NO_WATCH, Watch

# A threshold is the residual per step of a node from which on the node is pushed. These are the
# first threshold as a share of the `keep`-th best score per step, the divisor from one threshold to
# the next, and the largest number of thresholds.
FIRST_THRESHOLD_SHARE, THRESHOLD_DIVISOR, MAX_THRESHOLD_ROUNDS = (0.03, 4.0, 8)
MIN_THRESHOLD = 1e-16
NO_NODES = np.empty(0, np.int64)
# Share of the best nodes that must be the same under two successive thresholds.
STABLE_SHARE = 0.99


@dataclass(frozen=True, eq=False)
class PushResult:
    """Result of a push: the PageRank of every node, float64 [n], with a sum of 1.

    `residual_mass` is the mass that was not pushed, as a share of all mass. It bounds the error
    summed over all nodes. `steps` is the number of steps walked.
    """

    scores: np.ndarray
    residual_mass: float
    steps: int

    def describe_end(self, noun: str) -> str:
        """Return a sentence about the accuracy of the scores; `noun` names the ranked things."""
        return (
            f"PageRank was pushed until the best {noun} had settled, after {self.steps:,} steps; "
            f"{self.residual_mass:.1%} of the weight was left to push, and scores may be off by as much "
            "together."
        )


def push_everywhere(
    links: Adjacency,
    shares: np.ndarray,
    uniform_nodes: np.ndarray,
    uniform_scores: np.ndarray,
    damping: float,
    targets: slice,
    keep: int,
    watch: Watch = NO_WATCH,
) -> PushResult:
    """Return the PageRank of every node, accurate enough to rank the best of `targets`.

    A node is pushed if its residual is at least the threshold times the number of its steps. The
    threshold falls until the share `STABLE_SHARE` of the best nodes stays the same from one
    threshold to the next. `watch` may raise RunCancelled.

    Parameters
    ----------
    links : adjacency with weights.
    shares : restart probability of each node, float64 [n], with a sum of 1.
    uniform_nodes : nodes that have about equal shares, ascending.
    uniform_scores : PageRank, float64 [n], of restarts spread equally over `uniform_nodes`.
    targets : range of nodes of which the best `keep` are to be found.
    """
    common = float(np.median(shares[uniform_nodes])) if len(uniform_nodes) else 0.0
    residual, estimate = shares.copy(), np.zeros(len(shares))
    residual[uniform_nodes] -= common
    base = common * len(uniform_nodes) * uniform_scores if len(uniform_nodes) else estimate
    degrees = np.zeros(len(shares))
    for side, indptr in ((1, links.out_indptr), (2, links.in_indptr)):
        degrees += np.diff(indptr) if links.mask & side else 0.0
    queue = np.empty(len(shares), np.int64)
    is_queued = np.zeros(len(shares), bool)
    steps = 0
    previous_best = NO_NODES
    threshold = np.inf
    for _ in range(MAX_THRESHOLD_ROUNDS):
        watch.check()
        scores = (base + estimate + (1.0 - damping) * residual)[targets]
        best, values = top_k(np.arange(len(scores)), round_scores(scores), keep)
        if len(np.intersect1d(best, previous_best)) >= STABLE_SHARE * len(best):
            break
        mean_degree = max(1.0, float(degrees[targets][best].mean()))
        first_threshold = FIRST_THRESHOLD_SHARE * float(values[-1]) / mean_degree
        threshold = max(MIN_THRESHOLD, min(threshold / THRESHOLD_DIVISOR, first_threshold))
        steps += _push(estimate, residual, queue, is_queued, damping, threshold, degrees, links)
        previous_best = best if steps else NO_NODES
    scores = np.maximum(base + estimate + (1.0 - damping) * residual, 0.0)
    return PushResult(scores / scores.sum(), float(np.abs(residual).sum()), steps)


@njit(cache=True, nogil=True)
def _push(estimate, residual, queue, is_queued, damping, threshold, degrees, links):
    """Push residuals until each is below `threshold` times the number of its node's steps.

    Residuals may have both signs; their absolute values count. A pushed residual is divided among
    the steps by their weights. Nodes are pushed first in, first out. `estimate` and `residual` are
    changed in place. `queue`, int64 [n], is a work array; `is_queued` is all False before and after
    the call. Returns the number of steps walked.
    """
    mask, out_indptr, tails, in_indptr, in_heads, out_weights, in_weights, strength, _ = links
    n, size, head, steps = len(residual), 0, 0, 0
    for node in range(n):
        if abs(residual[node]) >= threshold * max(1.0, degrees[node]):
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
                limit = threshold * max(1.0, degrees[neighbour])
                if not is_queued[neighbour] and abs(after) >= limit:
                    tail = head + size
                    queue[tail if tail < n else tail - n] = neighbour
                    is_queued[neighbour] = True
                    size += 1
    return steps
