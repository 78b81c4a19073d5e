"""What a method of personalised PageRank is asked, and what it found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from core.errors import BadParameter
from core.graph.algorithms.leiden import Communities, clusters
from core.graph.algorithms.neighbourhood import links, nearest, seed_array
from core.graph.order import steady, top_k
from core.graph.store import Graph
from core.watch import NO_WATCH, Watch

NO_WEIGHTS, NO_DEGREES = np.empty(0), np.empty(0, np.uint8)


class Links(NamedTuple):
    """What the compiled loops need to walk a graph; the weights are empty where every edge counts alike."""

    way: int
    out_indptr: np.ndarray
    tails: np.ndarray
    in_indptr: np.ndarray
    in_heads: np.ndarray
    out_weights: np.ndarray  # float64, beside tails
    in_weights: np.ndarray  # float64, beside in_heads
    strength: np.ndarray  # float64 [n]: the weights of all steps from a node
    degree_bytes: np.ndarray = NO_DEGREES  # uint8 [n]: how many steps a node has both ways, up to `degrees.MANY`; empty where nobody knows


@dataclass(frozen=True, eq=False)
class Found:
    """The best nodes (ids int64, scores float64, best first), the edges walked, and whether the accuracy asked for was
    reached, with a sentence that says so."""

    nodes: np.ndarray
    scores: np.ndarray
    edges: int = 0
    settled: bool = True
    note: str = ""


@dataclass(frozen=True, eq=False)
class Problem:
    """The `keep` best nodes for some seeds. `weights`, one a triple and above zero, say how often a step takes it."""

    graph: Graph
    seeds: np.ndarray  # int64, distinct, ascending
    shares: np.ndarray  # float64, of the restarts, sum one
    keep: int
    damping: float
    direction: str  # out, in or both
    recall: float = 0.97
    random: int = 0
    weights: np.ndarray | None = None
    watch: Watch = NO_WATCH
    clusters: Callable[..., Communities] = (
        clusters  # of a graph, with progress and check; found anew unless kept ones are given
    )
    arranged: Links | None = None  # the arrays with these weights, where they were arranged before

    @cached_property
    def links(self) -> Links:
        """The arrays of the graph, with the weights on both sides of it. Raises BadParameter for unfit weights."""
        if self.arranged is not None:
            return self.arranged
        plain = links(self.graph, self.direction)
        if self.weights is None:
            degree_bytes = (
                np.asarray(self.graph.degree_bytes) if self.direction == "both" else NO_DEGREES
            )
            return Links(*plain, NO_WEIGHTS, NO_WEIGHTS, NO_WEIGHTS, degree_bytes)
        weights, graph = np.ascontiguousarray(self.weights, np.float64), self.graph
        if weights.shape != (graph.n_edges,) or not (
            np.isfinite(weights).all() and (weights > 0).all()
        ):
            raise BadParameter(
                f"The weights must be {graph.n_edges:,} finite numbers above zero, one for each triple."
            )
        out = np.bincount(graph.heads, weights, graph.n_nodes) if plain[0] & 1 else 0.0
        into = np.bincount(graph.tails, weights, graph.n_nodes) if plain[0] & 2 else 0.0
        return Links(*plain, weights, weights[graph.in_edges], np.asarray(out + into))

    @property
    def steps(self) -> int:
        """How many steps the graph has in this direction."""
        return self.graph.n_edges * (2 if self.direction == "both" else 1)

    @property
    def flow(self) -> float:
        """The weight of all steps."""
        return float(self.steps if self.weights is None else np.sum(self.links.strength))

    def unweighted(self, method: str) -> None:
        """Raises BadParameter where there are weights."""
        if self.weights is not None:
            raise BadParameter(f"PageRank by {method} takes no weights; exact and auto do.")

    def ranked(self, nodes: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The best `keep` of the nodes with a score; where those are too few, the nearest others follow with what flows to them."""
        held = scores > 0.0
        nodes, scores = nodes[held], steady(scores[held])
        if len(nodes) < self.keep and self.damping > 0.0:
            nodes, scores = self._filled(nodes, scores)
        return top_k(nodes, steady(scores), self.keep)

    def _filled(self, nodes: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        from core.graph.kernels import fill_scores  # brings numba

        near = nearest(self.graph, self.seeds, self.graph.n_nodes, self.direction, self.keep)[0]
        values = np.zeros(self.graph.n_nodes)  # the system gives memory to what is written only
        values[nodes] = scores
        fill_scores(values, near, self.damping, *self.links[:5])
        nodes = np.union1d(nodes, near)
        return nodes, values[nodes]


def pose(
    graph: Graph, seeds: Iterable[int], keep: int, damping: float, direction: str, **more
) -> Problem:
    """The problem of some seeds, repeated ones counting again. Raises BadParameter for a damping outside [0, 1) or a recall
    outside (0, 1], BadInput for no seeds or a seed outside the graph."""
    if not 0.0 <= damping < 1.0:
        raise BadParameter(
            f"damping is the probability of following an edge, from 0 to below 1, not {damping}."
        )
    if not 0.0 < more.get("recall", 1.0) <= 1.0:
        raise BadParameter(
            f"recall is the share of the best nodes to find, above 0 to 1, not {more['recall']}."
        )
    nodes, shares = seed_array(graph, seeds), np.ones(1)
    if len(nodes) > 1:
        nodes, counts = np.unique(nodes, return_counts=True)
        shares = counts / counts.sum()
    return Problem(graph, nodes, shares, keep, damping, graph.resolve(direction), **more)
