"""Personalised PageRank: of all nodes, exactly, and the best nodes, by a choice of methods (core/graph/ppr)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from core.errors import BadParameter
from core.graph.algorithms import stepwise
from core.graph.algorithms.leiden import Communities, clusters
from core.graph.algorithms.neighbourhood import seed_array
from core.graph.order import steady, top_k
from core.graph.pagerank.problem import Found, Problem, pose
from core.graph.store import Graph
from core.runtime.meter import untold

METHODS = ("push", "exact", "fora", "topppr", "rbs", "partition")
SHARE = 2  # beyond this part of the graph's steps, solving the equation is cheaper than pushing
STEPS = 1000  # that a push needs for each node to keep, at least
CLOSE = 1e-5  # the error summed over all nodes, where the best are solved for
WALKED = 2_000_000  # up to so many edges a graph may be arranged for relaxation, which is quicker still
SOLVED = 5_000_000  # up to so many edges the equation is solved where pushing costs more


@dataclass
class PageRankReport:
    """What a search tells of itself, filled by `top_pagerank`: the edges it walked, whether it reached the accuracy asked
    for, and that in a sentence."""

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
    check: Callable[[], None] = lambda: None,
) -> np.ndarray:
    """The personalised PageRank of every node, float64 [n], which sums to 1.

    p = damping x P^T p + (1 - damping) x s, with s the seeds, repeated ones counting again; what reaches a node without
    steps returns to s. `damping` is the probability of following an edge (LEGO-GraphRAG's `restart_prob`).
    In `both`, a self-loop counts twice, as in igraph. `tolerance` bounds the error summed over all nodes. `weights`, one a
    triple, say how often a step takes it. Raises BadParameter for a damping outside [0, 1) or unfit weights, BadInput for no
    seeds or a seed outside the graph, and what `check` raises, which is called between rounds.
    """
    from core.graph.pagerank.exact import solve

    problem = pose(graph, seeds, 0, damping, direction, weights=weights)
    scores = np.maximum(solve(problem.links, problem.seeds, problem.shares, damping, tolerance / 2, check), 0.0)
    return scores / scores.sum()


def top_pagerank(
    graph: Graph,
    seeds: Iterable[int],
    keep: int,
    damping: float = 0.8,
    direction: str = "graph",
    method: str = "push",
    recall: float = 0.97,
    *,
    weights: np.ndarray | None = None,
    random: int = 0,
    report: PageRankReport | None = None,
    progress: Callable[[str, float | None], None] = untold,
    check: Callable[[], None] = lambda: None,
    clusters: Callable[..., Communities] = clusters,
) -> tuple[np.ndarray, np.ndarray]:
    """The `keep` nodes of highest personalised PageRank: (ids int64, scores float64), best first by (-score, id).

    As many as `keep`, or as the seeds reach where those are fewer. `recall` is the share of the exact best nodes asked for.

    - exact: the equation solved for the whole graph.
    - push: a local push (core/graph/pagerank/push.py) that goes on until the best nodes settle or its cap is reached; a graph of
      at most `WALKED` edges is relaxed whole in both directions (core/graph/pagerank/relaxation.py), and one of at most `SOLVED` is
      solved to `CLOSE` where pushing would cost more.
    - fora, topppr, rbs: as their papers define them (modules of these names in core/graph/ppr); `random` seeds their draws.
    - partition: exact inside the Leiden clusters of the seeds, as `clusters(graph, progress, check)` gives them, by default found anew.

    `report` is told what was done. Raises as `pagerank_exact`, and BadParameter for another method or a recall outside (0, 1].
    """
    if method not in METHODS:
        raise BadParameter(f"PageRank's method is {', '.join(METHODS[:-1])} or {METHODS[-1]}, not “{method}”.")
    more = dict(recall=recall, weights=weights, random=random, progress=progress, check=check, clusters=clusters)
    problem = pose(graph, seeds, keep, damping, direction, **more)
    if keep <= 0:
        return np.empty(0, np.int64), np.empty(0)
    if method == "push" and weights is None and not graph.at_hand and graph.n_edges > WALKED:
        found = Found(*stepwise.top_pagerank(graph, seed_array(graph, seeds), keep, damping, direction, check))
    else:
        found = _by(method, problem)
    if report is not None:
        report.edges, report.settled, report.note = found.edges, found.settled, found.note
    return found.nodes, found.scores


def _by(method: str, problem: Problem) -> Found:
    if method == "push":
        return _push(problem)
    if method == "exact":
        from core.graph.pagerank.exact import exact

        return exact(problem)
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


def _push(problem: Problem) -> Found:
    graph = problem.graph
    if problem.direction == "both" and problem.weights is None and graph.n_edges <= WALKED:
        return _relaxed(problem)
    if graph.n_edges <= SOLVED and problem.steps // SHARE < STEPS * problem.keep:
        from core.graph.pagerank.exact import exact

        return exact(problem, CLOSE)
    from core.graph.pagerank.push import local_push

    return local_push(problem)


def _relaxed(problem: Problem) -> Found:
    """By relaxation of the whole graph."""
    from core.graph.pagerank.relaxation import relaxed

    nodes, scores = relaxed(problem.graph, problem.seeds, problem.shares, problem.damping, problem.keep, problem.recall)
    note = "The graph is small enough to be relaxed whole."
    if len(nodes) >= problem.keep:
        return Found(*top_k(nodes, steady(scores), problem.keep), note=note)
    total = scores.sum()
    nodes, scores = problem.ranked(nodes, scores)
    return Found(nodes, scores / total, note=note)
