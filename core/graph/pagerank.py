"""Personalised PageRank of all nodes, exactly, and of the best nodes, by forward push."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Literal

import numpy as np

from core.errors import BadParameter
from core.graph import stepwise
from core.graph.neighbourhood import links, nearest, seed_array
from core.graph.order import steady, top_k
from core.graph.store import Graph

FIRST, TIGHTER, FINEST = 6e-7, 4.0, 1e-16  # the bar of the first push, its divisor from one to the next, the last bar
AGREE = 0.985  # of the best nodes must be the same after two pushes in a row
SHARE = 2  # beyond this part of the graph's steps, solving the equation is cheaper than pushing
STEPS = 1000  # that a push needs for each node to keep, at least
CLOSE = 1e-5  # the error summed over all nodes, where the best are solved for
WALKED = 2_000_000  # up to so many edges a graph may be arranged for relaxation, which is quicker still


def pagerank_exact(
    graph: Graph, seeds: Iterable[int], damping: float = 0.8, direction: str = "graph", tolerance: float = 1e-10
) -> np.ndarray:
    """The personalised PageRank of every node, float64 [n], which sums to 1.

    p = damping x P^T p + (1 - damping) x s, with s the seeds, repeated ones counting again; what reaches a node without
    steps returns to s. `damping` is the probability of following an edge (LEGO-GraphRAG's `restart_prob`).
    In `both`, a self-loop counts twice, as in igraph. `tolerance` bounds the error summed over all nodes. Raises
    BadParameter for a damping outside [0, 1), BadInput for no seeds or a seed outside the graph.
    """
    push = _Push(graph, seeds, damping, direction)
    push.solve(tolerance / 2)
    scores = np.maximum(push.estimate, 0.0)
    return scores / scores.sum()


def top_pagerank(
    graph: Graph, seeds: Iterable[int], keep: int, damping: float = 0.8, direction: str = "graph", method: Literal["push", "exact"] = "push"
) -> tuple[np.ndarray, np.ndarray]:
    """The `keep` nodes of highest personalised PageRank: (ids int64, scores float64), best first by (-score, id).

    As many as `keep`, or as the seeds reach where those are fewer. `push` is a first-in first-out forward push (Andersen,
    Chung, Lang 2006), its nodes ranked by estimate + (1 - damping) x residual, its bar lowered until the best nodes stay
    the same; where that would cost more than solving the equation for the whole graph, it solves it: in both directions
    by relaxation (core/graph/relaxation.py) of a graph of at most `WALKED` edges, otherwise to `CLOSE`. Raises as
    `pagerank_exact`.
    """
    if method not in ("push", "exact"):
        raise BadParameter(f"PageRank's method is push or exact, not “{method}”.")
    push = _Push(graph, seeds, damping, direction)
    if method == "push" and not graph.at_hand and graph.n_edges > WALKED:
        return stepwise.top_pagerank(graph, seed_array(graph, seeds), keep, damping, direction)
    if method == "exact":
        push.solve(0.5e-10)
    elif not push.settle(keep):
        if push.both and graph.n_edges <= WALKED:
            return push.relax(keep)
        push.solve(CLOSE)
    return push.best(keep)


class _Push:
    """A forward push in progress: what each node has for sure (`estimate`) and what is still to flow on (`residual`).

    `touched[:count]` are the nodes that hold either. The invariant, for any state: the PageRank of the seeds is
    estimate + the PageRank of residual, up to a factor where mass was dropped at nodes without steps.
    """

    def __init__(self, graph: Graph, seeds: Iterable[int], damping: float, direction: str):
        if not 0.0 <= damping < 1.0:
            raise BadParameter(f"damping is the probability of following an edge, from 0 to below 1, not {damping}.")
        self.graph, self.damping, self.direction = graph, damping, direction
        self.both = graph.resolve(direction) == "both"
        self.seeds, self.shares = seed_array(graph, seeds), np.ones(1)
        if len(self.seeds) > 1:
            self.seeds, counts = np.unique(self.seeds, return_counts=True)
            self.shares = counts / counts.sum()
        self.estimate = None

    @cached_property
    def links(self) -> tuple:
        return links(self.graph, self.direction)

    def _start(self) -> None:
        """Makes the arrays, all the mass at the seeds."""
        n = self.graph.n_nodes
        self.estimate, self.residual, self.queued = np.zeros(n), np.zeros(n), np.zeros(n, bool)
        self.touched, self.count = np.empty(n, np.int64), len(self.seeds)
        self.touched[: self.count] = self.seeds
        self.residual[self.seeds] = self.shares

    def push(self, bar: float, budget: int, force: bool = False) -> int:
        """Pushes down to `bar`; gives the steps taken, more than `budget` where it ran out."""
        from core.graph import kernels

        self.count, steps = kernels.push_queue(
            self.estimate, self.residual, self.queued, self.touched, self.count, self.damping, bar, force, budget, *self.links
        )
        return steps

    def settle(self, keep: int) -> bool:
        """Whether pushing alone found the best `keep` nodes: they stay the same, or nothing is left to push."""
        left = self.graph.n_edges * (2 if self.both else 1) // SHARE
        if left < STEPS * keep:
            return False
        self._start()
        left -= self.push(1.0, left, force=True)  # the seeds are pushed whatever their degree
        bar, before, spent = FIRST, None, 0
        while spent * TIGHTER <= left:  # the next push takes about so much more than the last
            spent = self.push(bar, left)
            left -= spent
            if left <= 0:
                return False
            touched = self.touched[: self.count]
            if bar <= FINEST or self.residual[touched].sum() < 1e-12:
                return True
            best = top_k(touched, self._scores(touched), keep)[0]
            if before is not None and self.count >= keep and np.isin(best, before).mean() >= AGREE:
                return True
            before, bar = best, bar / TIGHTER
        return False

    def solve(self, tolerance: float) -> None:
        """Lets the whole residual flow, until the error summed over all nodes is at most `tolerance`."""
        from core.graph import kernels

        if self.estimate is None:
            self._start()
        if self.both:
            kernels.conjugate_gradient(self.estimate, self.residual, self.damping, tolerance, *self.links[1:4])
        else:
            kernels.power_iterate(self.estimate, self.residual, self.damping, tolerance, *self.links)
        self.residual[:] = 0.0
        self.touched = np.flatnonzero(self.estimate > 0.0)
        self.count = len(self.touched)

    def relax(self, keep: int) -> tuple[np.ndarray, np.ndarray]:
        """As `best`, by relaxation of the whole graph."""
        from core.graph.relaxation import relaxed

        nodes, scores = relaxed(self.graph, self.seeds, self.shares, self.damping, keep)
        if len(nodes) >= keep:
            return top_k(nodes, steady(scores), keep)
        self._start()
        self.estimate[nodes], self.residual[self.seeds] = scores, 0.0
        self.touched, self.count = nodes, len(nodes)
        return self.best(keep)

    def best(self, keep: int) -> tuple[np.ndarray, np.ndarray]:
        """The best nodes and their scores; where too few hold a score, the nearest others follow with what reaches them."""
        nodes = self.touched[: self.count]
        total = self.estimate[nodes].sum() + self.residual[nodes].sum()
        if self.count < keep and self.damping > 0.0:
            from core.graph import kernels

            near = nearest(self.graph, self.seeds, self.graph.n_nodes, self.direction, keep)[0]
            self.estimate[nodes], self.residual[nodes] = self._scores(nodes), 0.0
            kernels.fill_scores(self.estimate, near, self.damping, *self.links)
            nodes = np.union1d(nodes, near)
        nodes, scores = top_k(nodes, self._scores(nodes), keep)
        return nodes, scores / total

    def _scores(self, nodes: np.ndarray) -> np.ndarray:
        return steady(self.estimate[nodes] + (1.0 - self.damping) * self.residual[nodes])
