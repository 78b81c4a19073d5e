"""Entry point of personalised PageRank: scores of every node, or the best nodes by a method."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from core.errors import BadParameter
from core.graph.algorithms.leiden import NodeCommunities, detect_clusters
from core.graph.order import round_scores, top_k
from core.graph.pagerank.problem import PageRankProblem, PageRankResult, pose_problem
from core.graph.store import Graph
from core.runtime.cluster import Workers
from core.watch import NO_WATCH, Watch

PARALLEL_METHODS = ("pafo", "hgpa", "delta-push")  # on threads or worker processes
PAGERANK_METHODS = ("auto", "exact", "fora", "topppr", "rbs", "partition", *PARALLEL_METHODS)
# Name of `auto` in older files and expressions.
FORMER_METHOD_NAMES = {"push": "auto"}


@dataclass(frozen=True)
class PageRankChoice:
    """Sizes by which `auto` chooses between relaxation, a local push and the exact equation."""

    # a push that would walk more than this part of the graph's steps costs more than the equation
    push_step_divisor: int = 2
    push_steps_per_node: int = 1000  # least number of steps of a push for each node to keep
    auto_tolerance: float = 1e-5  # error summed over all nodes, if `auto` solves the equation
    max_relaxed_edges: int = 2_000_000  # largest graph for relaxation, the fastest method
    max_solved_edges: int = 5_000_000  # largest graph for the equation, if a push costs more


PAGERANK_CHOICE = PageRankChoice()


@dataclass
class PageRankReport:
    """Report on a search, which `top_pagerank` fills in.

    `method` is the method that ran: one of `PAGERANK_METHODS` except `auto`, or `relaxation` or
    `push`. `edges` is the number of edges walked. `settled` is True if the requested accuracy was
    reached, and `note` is a sentence about it.
    """

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
    """Return the personalised PageRank of every node, float64 [n], which sums to 1.

    p = damping x P^T p + (1 - damping) x s, where P holds the probabilities of steps and s is the
    distribution of the seeds. Repeated seeds count several times. Mass that reaches a node without
    steps returns to s. In `both`, a self-loop counts twice, as in igraph. `damping` is the
    probability of following an edge (LEGO-GraphRAG's “restart_prob”). `tolerance` bounds the error
    summed over all nodes. `weights` has one number above zero per triple; steps are taken in
    proportion to it.

    Raises
    ------
    BadParameter
        If the damping is outside [0, 1) or the weights are invalid.
    BadInput
        If there are no seeds, or one is not a node of the graph.

    Examples
    --------
    Steps go from head to tail and the damping is 1/2: p(A) = 1/2 + p(C) / 4, p(B) = p(A) / 4, p(C)
    = p(A) / 4 + p(B) / 2, p(D) = p(C) / 2.

    >>> from core.graph.pagerank.top_nodes import pagerank_exact
    >>> (29 * pagerank_exact(toy, [0], 0.5, "out")).round(6).tolist()
    [16.0, 4.0, 6.0, 3.0, 0.0]
    """
    from core.graph.pagerank.exact import solve  # imports numba

    problem = pose_problem(graph, seeds, 0, damping, direction, weights=weights)
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
    clusters: Callable[..., NodeCommunities] = detect_clusters,
    threads: int = 1,
    workers: Workers | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the `keep` nodes with the highest personalised PageRank, best first.

    There are fewer if the seeds reach fewer. `recall` is the share of the exact best nodes that
    must be found. The methods are:

    - auto: the cheapest one that ranks like the exact one, as `cheapest_method` chooses: relaxation
      (pagerank/relaxation.py), the equation solved to `PAGERANK_CHOICE.auto_tolerance`, or a local
      push (pagerank/local/push.py).
    - exact: the equation solved for the whole graph.
    - fora, topppr, rbs: as their papers define them (modules of these names); `random` is the seed
      of their random numbers.
    - partition: exact inside the Leiden clusters of the seeds. `clusters(graph, watch)` returns the
      clusters; by default they are detected on each call.
    - pafo: a push in rounds on `threads` threads, then walks, which the first call for a graph
      draws.
    - hgpa: exact to a tolerance, from vectors, which the first call for a graph computes.
    - delta-push: like pafo with fewer rounds, over `workers`.

    Without `workers`, hgpa and delta-push run in this process. The number of threads or workers
    does not change a result. `push` is the former name of `auto` and still accepted. `report` is
    filled with a description of the search.

    Returns
    -------
    The ids (int64) and their scores (float64), ordered by (-score, id).

    Raises
    ------
    BadParameter
        As `pagerank_exact`, or if the method is unknown or the recall outside (0, 1].
    BadInput
        As `pagerank_exact`.

    Examples
    --------
    The numbers are those of `pagerank_exact`'s example:

    >>> from core.graph.pagerank.top_nodes import PageRankReport, top_pagerank
    >>> nodes, scores = top_pagerank(toy, [0], 3, 0.5, "out", report=(report := PageRankReport()))
    >>> toy.names(nodes), (29 * scores).round(3).tolist(), report.method
    (['A', 'C', 'B'], [16.0, 6.0, 4.0], 'exact')
    """
    method = FORMER_METHOD_NAMES.get(method, method)
    if method not in PAGERANK_METHODS:
        raise BadParameter(
            f"PageRank's method is {', '.join(PAGERANK_METHODS[:-1])} or {PAGERANK_METHODS[-1]}, not “{method}”."
        )
    settings = dict(recall=recall, weights=weights, random_seed=random, watch=watch)
    problem = pose_problem(graph, seeds, keep, damping, direction, **settings)
    problem = replace(problem, clusters=clusters, threads=threads, workers=workers)
    if keep <= 0:
        return np.empty(0, np.int64), np.empty(0)
    tolerance = None
    if method == "auto":
        method, tolerance = cheapest_method(problem), PAGERANK_CHOICE.auto_tolerance
    result = _run_method(method, problem, tolerance)
    if report is not None:
        report.method = method
        report.edges = result.edges
        report.settled = result.settled
        report.note = result.note
    return result.nodes, result.scores


def cheapest_method(problem: PageRankProblem) -> str:
    """Return the name of the method that `auto` runs.

    - relaxation: in both directions, up to `PAGERANK_CHOICE.max_relaxed_edges` edges, without
      weights;
    - exact: up to `PAGERANK_CHOICE.max_solved_edges` edges, if a push would cost more;
    - push: all others.
    """
    n_edges, can_relax = problem.graph.n_edges, problem.weights is None
    if can_relax and problem.direction == "both" and n_edges <= PAGERANK_CHOICE.max_relaxed_edges:
        return "relaxation"
    push_steps = PAGERANK_CHOICE.push_steps_per_node * problem.keep
    is_push_slower = problem.n_steps // PAGERANK_CHOICE.push_step_divisor < push_steps
    if is_push_slower and n_edges <= PAGERANK_CHOICE.max_solved_edges:
        return "exact"
    return "push"


def _run_method(method: str, problem: PageRankProblem, tolerance: float | None) -> PageRankResult:
    """Return the best nodes by a method.

    The methods are imported at first use, because they import numba. None is the default tolerance.
    """
    if method == "relaxation":
        return _best_by_relaxation(problem)
    if method == "push":
        from core.graph.pagerank.local.push import local_push

        return local_push(problem)
    if method == "exact":
        from core.graph.pagerank.exact import EXACT_TOLERANCE, exact_pagerank

        return exact_pagerank(problem, tolerance or EXACT_TOLERANCE)
    if method == "fora":
        from core.graph.pagerank.fora import fora

        return fora(problem)
    if method == "topppr":
        from core.graph.pagerank.topppr import topppr

        return topppr(problem)
    if method == "rbs":
        from core.graph.pagerank.rbs import rbs

        return rbs(problem)
    if method == "partition":
        from core.graph.pagerank.partition import partition

        return partition(problem)
    return _run_parallel_method(method, problem)


def _run_parallel_method(method: str, problem: PageRankProblem) -> PageRankResult:
    """Return the best nodes by a method that uses threads or worker processes."""
    if method == "pafo":
        from core.graph.pagerank.pafo import pafo

        return pafo(problem)
    if method == "hgpa":
        from core.graph.pagerank.hgpa import hgpa

        return hgpa(problem)
    from core.graph.pagerank.delta_push import delta_push

    return delta_push(problem)


def _best_by_relaxation(problem: PageRankProblem) -> PageRankResult:
    """Return the best nodes by relaxation of the whole graph."""
    from core.graph.pagerank.relaxation import relax_graph

    nodes, scores = relax_graph(
        problem.graph, problem.seeds, problem.shares, problem.damping, problem.keep, problem.recall
    )
    note = "Relaxed over the whole graph, which is small enough."
    if len(nodes) >= problem.keep:
        return PageRankResult(*top_k(nodes, round_scores(scores), problem.keep), note=note)
    total = scores.sum()
    nodes, scores = problem.rank_nodes(nodes, scores)
    return PageRankResult(nodes, scores / total, note=note)
