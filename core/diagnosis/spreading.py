"""How PageRank's mass spreads from the question's entities, step by step, so that a person can watch it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from core.comparison.comparing import Lane
from core.graph.pagerank.problem import Problem, pose
from core.graph.storage.excerpt import ExcerptGraph
from core.graph.texts import weights
from core.operators.extract import PersonalizedPageRank
from core.operators.texts.pagerank import PageRankNodes, restarts
from core.types import State

STEPS = (0, 1, 2, 3, 5, 8)  # after which a moment is shown, before the one where it has settled
MAX_EDGES, MAX_READ = 2_000_000, 20_000  # of a graph whose steps are computed one by one, and of one that is read from a database for it
SHOWN_NODES = 80  # of largest mass, at each moment
ENOUGH = 200  # steps after which what is left counts as settled: 0.9 ** 200 is below 1e-9


@dataclass(frozen=True, eq=False)
class Moment:
    """The mass after so many `steps`, None once it has settled: of the nodes that hold most, by node. `moved` is the mass that went from
    one node to another since the step before, 1 at most."""

    steps: int | None
    mass: Mapping[int, float]
    moved: float


def spread(lane: Lane) -> tuple[Moment, ...]:
    """The moments of the first PageRank in a line; none where it has none, the graph has more than 2 million edges, or is the excerpt
    that was saved with a case, in which mass would go other ways."""
    for number, operator in enumerate(lane.instance.line):
        if isinstance(operator, PersonalizedPageRank | PageRankNodes) and number < len(lane.states):
            before = lane.states[number - 1] if number else State(lane.states[0].question, lane.states[0].seeds)
            problem = _problem(lane.graph, operator, before)
            return moments(problem) if problem is not None else ()
    return ()


def moments(problem: Problem) -> tuple[Moment, ...]:
    """The mass p after each of some steps of p <- damping * P^T p + (1 - damping) * s, beginning at p = s.

    The mass of nodes without a step goes back to s. It is all on the graph at each step, so the masses sum to one.
    """
    origin = np.zeros(problem.graph.n_nodes)
    origin[problem.seeds] = problem.shares
    step = _Step(problem, origin)
    mass, found = origin, [_moment(0, origin, 0.0)]
    for number in range(1, max(STEPS) + 1):
        mass, before = step(mass), mass
        if number in STEPS:
            found.append(_moment(number, mass, _moved(mass, before)))
    for _ in range(ENOUGH):
        mass, before = step(mass), mass
        if _moved(mass, before) < 1e-6:
            break
    return (*found, _moment(None, mass, 0.0))


class _Step:
    """One step of the mass along all edges of a problem's graph."""

    def __init__(self, problem: Problem, origin: np.ndarray):
        graph, weigh = problem.graph, problem.weights
        heads, _, tails = graph.triples(np.arange(graph.n_edges))
        out, back = problem.direction in ("out", "both"), problem.direction in ("in", "both")
        self._from = np.concatenate([heads] * out + [tails] * back)
        self._to = np.concatenate([tails] * out + [heads] * back)
        self._weights = None if weigh is None else np.concatenate([weigh] * (out + back))
        strength = np.bincount(self._from, self._weights, graph.n_nodes).astype(float)
        self._strength, self._dangling = np.where(strength > 0, strength, 1.0), strength == 0
        self._origin, self._damping = origin, problem.damping

    def __call__(self, mass: np.ndarray) -> np.ndarray:
        share = (mass / self._strength)[self._from]
        flow = np.bincount(self._to, share if self._weights is None else share * self._weights, len(mass))
        return self._damping * (flow + mass[self._dangling].sum() * self._origin) + (1.0 - self._damping) * self._origin


def _problem(graph, operator: PersonalizedPageRank | PageRankNodes, before: State) -> Problem | None:
    """What the operator solves; None where it has nothing to start from or the graph is too large to walk step by step."""
    if isinstance(graph, ExcerptGraph) or graph.n_edges > (MAX_EDGES if graph.at_hand else MAX_READ):
        return None
    if isinstance(operator, PersonalizedPageRank):
        return pose(graph, before.seeds, 0, operator.damping, graph.resolve(operator.direction)) if before.seeds else None
    shares = restarts(operator.reset, before, graph)
    if not shares.any():
        return None
    seeds, weigh = np.flatnonzero(shares), weights(graph) if operator.weighted else None
    return replace(pose(graph, seeds, 0, operator.damping, "both", weights=weigh), seeds=seeds, shares=shares[seeds] / shares.sum())


def _moved(mass: np.ndarray, before: np.ndarray) -> float:
    return float(np.abs(mass - before).sum() / 2)


def _moment(steps: int | None, mass: np.ndarray, moved: float) -> Moment:
    best = np.argsort(-mass, kind="stable")[:SHOWN_NODES]
    return Moment(steps, {int(node): float(mass[node]) for node in best if mass[node] > 0}, moved)
