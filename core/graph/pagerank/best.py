"""The two public questions about personalised PageRank: every node's exactly, and the best nodes by a choice of methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from core.errors import BadParameter
from core.graph.algorithms.leiden import Communities, clusters
from core.graph.order import steady, top_k
from core.graph.pagerank.problem import Found, Problem, pose
from core.graph.store import Graph
from core.watch import NO_WATCH, Watch

METHODS = ("auto", "exact", "fora", "topppr", "rbs", "partition")
FORMER = {"push": "auto"}  # how `auto` was called in files and expressions saved before
SHARE = 2  # beyond this part of the graph's steps, solving the equation is cheaper than pushing
STEPS = 1000  # that a push needs for each node to keep, at least
CLOSE = 1e-5  # the error summed over all nodes, where the best are solved for
WALKED = (
    2_000_000  # up to so many edges a graph may be arranged for relaxation, which is quicker still
)
SOLVED = 5_000_000  # up to so many edges the equation is solved where pushing costs more


@dataclass
class PageRankReport:
    """How a search went, filled by `top_pagerank`: the method that ran (one of `METHODS` but `auto`, or `relaxation`,
    `push`), the edges it walked, whether it reached the accuracy asked for, and that in a sentence."""

    method: str = ""
    edges: int = 0
    settled: bool = True
    note: str = ""


def pagerank_exact(
    graph: Graph,
    seeds: Iterable[int],
    damping: float = 0.8,
    direction: str = "graph",
    tolerance: float = 1e-10,
    weights: np.ndarray | None = None,
    watch: Watch = NO_WATCH,
) -> np.ndarray:
    """The personalised PageRank of every node, float64 [n], which sums to 1.

    p = damping x P^T p + (1 - damping) x s, with s the seeds, repeated ones counting again; what reaches a node without
    steps returns to s. `damping` is the probability of following an edge (LEGO-GraphRAG's `restart_prob`).
    In `both`, a self-loop counts twice, as in igraph. `tolerance` bounds the error summed over all nodes. `weights`, one a
    triple, say how often a step takes it. Raises BadParameter for a damping outside [0, 1) or unfit weights, BadInput for no
    seeds or a seed outside the graph, and what `watch` raises, which is called between rounds.

    With steps out of A and damping 1/2: p(A) = 1/2 + p(C) / 4, p(B) = p(A) / 4, p(C) = p(A) / 4 + p(B) / 2, p(D) = p(C) / 2.

    >>> from core.graph.pagerank.best import pagerank_exact
    >>> (29 * pagerank_exact(toy, [0], 0.5, "out")).round(6).tolist()
    [16.0, 4.0, 6.0, 3.0, 0.0]
    """
    from core.graph.pagerank.exact import solve  # brings numba

    problem = pose(graph, seeds, 0, damping, direction, weights=weights)
    scores = np.maximum(
        solve(problem.links, problem.seeds, problem.shares, damping, tolerance / 2, watch), 0.0
    )
    return scores / scores.sum()


def top_pagerank(
    graph: Graph,
    seeds: Iterable[int],
    keep: int,
    damping: float = 0.8,
    direction: str = "graph",
    method: str = "auto",
    recall: float = 0.97,
    *,
    weights: np.ndarray | None = None,
    random: int = 0,
    report: PageRankReport | None = None,
    watch: Watch = NO_WATCH,
    clusters: Callable[..., Communities] = clusters,
) -> tuple[np.ndarray, np.ndarray]:
    """The `keep` nodes of highest personalised PageRank: (ids int64, scores float64), best first by (-score, id).

    As many as `keep`, or as the seeds reach where those are fewer. `recall` is the share of the exact best nodes asked for.

    - auto: the cheapest that ranks like the exact one, as `cheapest` chooses: relaxation (pagerank/relaxation.py), the equation
      solved to `CLOSE`, or a local push (pagerank/local/push.py).
    - exact: the equation solved for the whole graph.
    - fora, topppr, rbs: as their papers define them (modules of these names); `random` seeds their draws.
    - partition: exact inside the Leiden clusters of the seeds, as `clusters(graph, progress, check)` gives them, by default found anew.

    `push` is read as `auto`, whose name it was. `report` is filled with what was done. Raises as `pagerank_exact`, and
    BadParameter for another method or a recall outside (0, 1].

    The numbers are those of `pagerank_exact`'s example:

    >>> from core.graph.pagerank.best import PageRankReport, top_pagerank
    >>> nodes, scores = top_pagerank(toy, [0], 3, 0.5, "out", report=(report := PageRankReport()))
    >>> toy.names(nodes), (29 * scores).round(3).tolist(), report.method
    (['A', 'C', 'B'], [16.0, 6.0, 4.0], 'exact')
    """
    method = FORMER.get(method, method)
    if method not in METHODS:
        raise BadParameter(
            f"PageRank's method is {', '.join(METHODS[:-1])} or {METHODS[-1]}, not “{method}”."
        )
    more = dict(recall=recall, weights=weights, random=random, watch=watch, clusters=clusters)
    problem = pose(graph, seeds, keep, damping, direction, **more)
    if keep <= 0:
        return np.empty(0, np.int64), np.empty(0)
    ran = cheapest(problem) if method == "auto" else method
    found = _by(ran, problem, CLOSE if method == "auto" else None)
    if report is not None:
        report.method, report.edges, report.settled, report.note = (
            ran,
            found.edges,
            found.settled,
            found.note,
        )
    return found.nodes, found.scores


def cheapest(problem: Problem) -> str:
    """What `auto` runs.

    - relaxation: both ways, up to `WALKED` edges, without weights;
    - exact: up to `SOLVED` edges, where a push would cost more;
    - push: all others.
    """
    graph = problem.graph
    if problem.weights is None and problem.direction == "both" and graph.n_edges <= WALKED:
        return "relaxation"
    if graph.n_edges <= SOLVED and problem.steps // SHARE < STEPS * problem.keep:
        return "exact"
    return "push"


def _by(method: str, problem: Problem, tolerance: float | None) -> Found:
    """The best nodes by a method; imported at first use, since the compiled loops bring numba."""
    if method == "relaxation":
        return _relaxed(problem)
    if method == "push":
        from core.graph.pagerank.local.push import local_push

        return local_push(problem)
    if method == "exact":
        from core.graph.pagerank.exact import FINE, exact

        return exact(problem, tolerance or FINE)
    if method == "fora":
        from core.graph.pagerank.fora import fora

        return fora(problem)
    if method == "topppr":
        from core.graph.pagerank.topppr import topppr

        return topppr(problem)
    if method == "rbs":
        from core.graph.pagerank.rbs import rbs

        return rbs(problem)
    from core.graph.pagerank.partition import partition

    return partition(problem)


def _relaxed(problem: Problem) -> Found:
    """The best nodes by relaxation of the whole graph."""
    from core.graph.pagerank.relaxation import relaxed

    nodes, scores = relaxed(
        problem.graph, problem.seeds, problem.shares, problem.damping, problem.keep, problem.recall
    )
    note = "Relaxed over the whole graph, which is small enough."
    if len(nodes) >= problem.keep:
        return Found(*top_k(nodes, steady(scores), problem.keep), note=note)
    total = scores.sum()
    nodes, scores = problem.ranked(nodes, scores)
    return Found(nodes, scores / total, note=note)
