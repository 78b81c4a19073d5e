"""The spread of PageRank's mass from the question entities, step by step, for display."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.comparison.lane import MethodLane
from core.graph.order import top_k
from core.graph.pagerank.problem import Adjacency, PageRankProblem, pose_problem
from core.graph.storage.excerpt import ExcerptGraph
from core.graph.texts import edge_weights
from core.operators.extract import PersonalizedPageRank
from core.operators.texts.pagerank import PageRankNodes, restart_weights
from core.types import State

MOMENT_STEPS = (0, 1, 2, 3, 5, 8)  # steps after which a moment is shown, besides the converged one
MAX_STEPPED_EDGES = 2_000_000  # edges of the largest graph whose steps are computed one by one
MAX_MOMENT_NODES = 80  # nodes of the largest mass that a moment holds
SETTLED_MASS = 1e-6  # mass that may still move at convergence, summed over all nodes


@dataclass(frozen=True, eq=False)
class MassMoment:
    """The PageRank mass of the nodes that hold most, after some steps.

    Parameters
    ----------
    steps : the number of steps; None for the converged mass.
    mass : the mass by node. That of all nodes sums to 1.
    moved_mass : the mass that moved between nodes in the last step, at most 1.
    """

    steps: int | None
    mass: Mapping[int, float]
    moved_mass: float


def pagerank_moments(lane: MethodLane) -> tuple[MassMoment, ...]:
    """Return the mass at some moments of the first PageRank in a lane's line.

    The result is empty if the line has none, the graph has more than 2 million edges, or it is
    the excerpt that was saved with a case, in which mass would move differently.
    """
    number = first_pagerank(lane)
    if number is None:
        return ()
    first = lane.states[0]
    before = lane.states[number - 1] if number else State(first.question, first.seeds)
    problem = _problem(lane.graph, lane.method.line.operators[number], before)
    return mass_moments(problem) if problem is not None else ()


def first_pagerank(lane: MethodLane) -> int | None:
    """Return the index of the first PageRank in a line.

    The line has run. The result is None if there is none.
    """
    indices = (
        i
        for i, operator in enumerate(lane.method.line)
        if isinstance(operator, PersonalizedPageRank | PageRankNodes)
    )
    return next((i for i in indices if i < len(lane.states)), None)


def mass_moments(problem: PageRankProblem) -> tuple[MassMoment, ...]:
    """Return the mass p after some steps, and at convergence.

    A step is p <- damping * P^T p + (1 - damping) * s, beginning at p = s, the shares of the seeds.
    The mass of nodes without an edge to follow goes back to s. So the mass sums to one at each
    step.
    """
    from core.graph.pagerank.exact import solve  # imported here because it loads numba

    origin = np.zeros(problem.graph.n_nodes)
    origin[problem.seeds] = problem.shares
    step = _Step(problem, origin)
    mass, moments = origin, [_moment(0, origin, 0.0)]
    for number in range(1, max(MOMENT_STEPS) + 1):
        mass, old_mass = step(mass), mass
        if number in MOMENT_STEPS:
            moments.append(_moment(number, mass, _moved_mass(mass, old_mass)))
    final_mass = solve(
        problem.links, problem.seeds, problem.shares, problem.damping, SETTLED_MASS, problem.watch
    )
    return (*moments, _moment(None, final_mass / final_mass.sum(), 0.0))


class _Step:
    """A function that moves the mass one step along all edges.

    The edges are those of a problem's graph. `origin` is s, float64 [n].
    """

    def __init__(self, problem: PageRankProblem, origin: np.ndarray):
        from scipy.sparse import csr_array

        links, n = problem.links, problem.graph.n_nodes
        equal_weights = np.ones(len(links.tails))  # weights of an unweighted graph
        all_sides = (
            (links.in_indptr, links.in_heads, links.in_weights),
            (links.out_indptr, links.tails, links.out_weights),
        )
        # bit 1 of the mask follows edges from head to tail, bit 2 from tail to head
        sides = [side for bit, side in zip((1, 2), all_sides) if links.mask & bit]
        is_weighted = problem.weights is not None
        self._flows = [
            csr_array((weights if is_weighted else equal_weights, nodes, indptr), (n, n))
            for indptr, nodes, weights in sides
        ]
        strength = links.strength if is_weighted else _out_degrees(links)
        self._strength, self._dangling = np.where(strength > 0, strength, 1.0), strength == 0
        self._origin, self._damping = origin, problem.damping

    def __call__(self, mass: np.ndarray) -> np.ndarray:
        share = mass / self._strength  # what a node gives to each edge, per unit of weight
        flow = sum(side @ share for side in self._flows) + mass[self._dangling].sum() * self._origin
        return self._damping * flow + (1.0 - self._damping) * self._origin


def _out_degrees(links: Adjacency) -> np.ndarray:
    """Return the number of edges that lead on from each node."""
    sides = [
        indptr for bit, indptr in ((1, links.out_indptr), (2, links.in_indptr)) if links.mask & bit
    ]
    return np.asarray(sum(np.diff(indptr).astype(float) for indptr in sides))


def _problem(graph, operator: Any, state: State) -> PageRankProblem | None:
    """Return the PageRank problem that an operator solves in a state.

    The result is None if there is no start node, if the graph is too large to walk step by step, or
    if it is the excerpt that was saved with a case.
    """
    if isinstance(graph, ExcerptGraph) or graph.n_edges > MAX_STEPPED_EDGES:
        return None
    if isinstance(operator, PersonalizedPageRank):
        if state.seeds:
            return pose_problem(
                graph, state.seeds, 0, operator.damping, graph.resolve(operator.direction)
            )
        return None
    shares = restart_weights(operator.reset, state, graph)
    if not shares.any():
        return None
    seeds = np.flatnonzero(shares)
    weights = edge_weights(graph) if operator.weighted else None
    return replace(
        pose_problem(graph, seeds, 0, operator.damping, "both", weights=weights),
        seeds=seeds,
        shares=shares[seeds] / shares.sum(),
    )


def _moved_mass(mass: np.ndarray, old_mass: np.ndarray) -> float:
    return float(np.abs(mass - old_mass).sum() / 2)


def _moment(steps: int | None, mass: np.ndarray, moved_mass: float) -> MassMoment:
    nodes = np.flatnonzero(mass > 0)
    best, shares = top_k(nodes, mass[nodes], MAX_MOMENT_NODES)
    return MassMoment(steps, dict(zip(best.tolist(), shares.tolist())), moved_mass)
