"""Personalised PageRank restarted at very many nodes: what all of them get alike, known before, and a push of how each differs.

PageRank is linear in its restarts. With s = c u + r, where u restarts alike at a set of nodes and r is what remains, p(s) = c p(u) + p(r).
p(u) is solved once for a graph. r is small, and of both signs, so that it cancels out where its pushes meet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from core.graph.order import steady, top_k
from core.graph.pagerank.problem import Links
from core.watch import NO_WATCH, Watch

# the first bar, of the last score that is wanted; its divisor from one to the next; how many bars
FIRST, TIGHTER, MOST = (0.03, 4.0, 8)
FINEST, NOBODY = 1e-16, np.empty(0, np.int64)  # the last bar
RECALL = 0.99  # the share of the best that must be the same under two bars


@dataclass(frozen=True, eq=False)
class Pushed:
    """The PageRank of every node, float64 [n], with what is `left` to push of a sum of one, which bounds the error summed over all nodes,
    and the steps walked."""

    scores: np.ndarray
    left: float
    steps: int

    def note(self, best: str) -> str:
        """How far the push went, as a sentence, where it was to settle the `best`."""
        return (
            f"PageRank was pushed until the best {best} had settled, after {self.steps:,} steps; {self.left:.1%} of the weight was left to "
            "push, and scores may be off by as much together."
        )


def pushed_everywhere(
    links: Links,
    shares: np.ndarray,
    alike: np.ndarray,
    known: np.ndarray,
    damping: float,
    wanted: slice,
    keep: int,
    watch: Watch = NO_WATCH,
) -> Pushed:
    """The PageRank of restarts by `shares` (float64 [n], sum one), as exact as the best `keep` of the nodes `wanted` need.

    `alike` are the nodes that many restarts are at, ascending, and `known` the PageRank of one that restarts alike at them. `links` have
    weights. Residuals of at least a bar times a node's steps are pushed, first in, first out;
    the bar falls until the best are the same, all but 1 - `RECALL` of them. Raises what `watch` raises.
    """
    common = float(np.median(shares[alike])) if len(alike) else 0.0
    residual, estimate = shares.copy(), np.zeros(len(shares))
    residual[alike] -= common
    base = common * len(alike) * known if len(alike) else estimate
    degrees = np.zeros(len(shares))
    for side, indptr in ((1, links.out_indptr), (2, links.in_indptr)):
        degrees += np.diff(indptr) if links.way & side else 0.0
    queue, queued, steps, before = (
        np.empty(len(shares), np.int64),
        np.zeros(len(shares), bool),
        0,
        NOBODY,
    )
    bar = np.inf
    for _ in range(MOST):
        watch.check()
        scores = (base + estimate + (1.0 - damping) * residual)[wanted]
        best, values = top_k(np.arange(len(scores)), steady(scores), keep)
        if len(np.intersect1d(best, before)) >= RECALL * len(best):
            break
        bar = min(
            bar / TIGHTER, FIRST * float(values[-1]) / max(1.0, float(degrees[wanted][best].mean()))
        )
        steps += _push(estimate, residual, queue, queued, damping, max(bar, FINEST), degrees, links)
        before = best if steps else NOBODY
    scores = np.maximum(base + estimate + (1.0 - damping) * residual, 0.0)
    return Pushed(scores / scores.sum(), float(np.abs(residual).sum()), steps)


@njit(cache=True, nogil=True)
def _push(estimate, residual, queue, queued, damping, bar, degrees, links):
    """Pushes residuals of at least `bar` times a node's steps until there are none, and gives the steps walked; those of both signs, by
    the weights of the steps. Nobody is in the queue before and after."""
    way, out_indptr, tails, in_indptr, in_heads, out_weights, in_weights, strength, _ = links
    n, size, head, walked = len(residual), 0, 0, 0
    for node in range(n):
        if abs(residual[node]) >= bar * max(1.0, degrees[node]):
            queue[size] = node
            queued[node] = True
            size += 1
    while size > 0:
        node = queue[head]
        head = head + 1 if head + 1 < n else 0
        size -= 1
        queued[node] = False
        held = residual[node]
        residual[node] = 0.0
        estimate[node] += (1.0 - damping) * held
        gain = damping * held / max(strength[node], 1e-300)
        for side in range(2):
            if not way & (side + 1):
                continue
            indptr, ends, weights = (
                (out_indptr, tails, out_weights) if side == 0 else (in_indptr, in_heads, in_weights)
            )
            walked += indptr[node + 1] - indptr[node]
            for at in range(indptr[node], indptr[node + 1]):
                near = ends[at]
                after = residual[near] + gain * weights[at]
                residual[near] = after
                if not queued[near] and abs(after) >= bar * max(1.0, degrees[near]):
                    tail = head + size
                    queue[tail if tail < n else tail - n] = near
                    queued[near] = True
                    size += 1
    return walked
