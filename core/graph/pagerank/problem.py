"""Inputs and results that all methods of personalised PageRank share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from core.errors import BadParameter
from core.graph.algorithms.leiden import NodeCommunities, detect_clusters
from core.graph.algorithms.neighbourhood import nearest_nodes, seed_array, walk_arguments
from core.graph.order import round_scores, top_k
from core.graph.store import Graph
from core.runtime.cluster import Workers
from core.watch import NO_WATCH, Watch

NO_WEIGHTS, NO_DEGREES = np.empty(0), np.empty(0, np.uint8)


class Adjacency(NamedTuple):
    """Adjacency of a graph in CSR form, for compiled loops.

    `mask` is the code of the direction of steps, as in `core.graph.kernels`: 1 out, 2 in, 3 both.
    The offsets are int64 [n + 1], `tails` and `in_heads` int32 [m]. The weights and `strength` are
    empty if edges have no weights.
    """

    mask: int
    out_indptr: np.ndarray
    tails: np.ndarray
    in_indptr: np.ndarray
    in_heads: np.ndarray
    out_weights: np.ndarray  # float64, parallel to tails
    in_weights: np.ndarray  # float64, parallel to in_heads
    strength: np.ndarray  # float64 [n]: sum of the weights of all steps from a node
    # uint8 [n]: number of steps from a node in both directions, at most 255 (see
    # `core.graph.degrees`); empty if unknown.
    degree_bytes: np.ndarray = NO_DEGREES


@dataclass(frozen=True, eq=False)
class PageRankResult:
    """Result of a method: the best nodes, and the effort and accuracy of the search.

    `nodes` are int64 and `scores` float64, best first. `edges` is the number of edges walked, 0 if
    the method does not count them. `settled` is True if the promised accuracy was reached. `note`
    is a sentence about it.
    """

    nodes: np.ndarray
    scores: np.ndarray
    edges: int = 0
    settled: bool = True
    note: str = ""


@dataclass(frozen=True, eq=False)
class PageRankProblem:
    """The problem of finding the `keep` best nodes by personalised PageRank.

    PageRank is from seeds, and any method can solve the problem. Build one with `pose_problem`,
    which checks the values.
    """

    graph: Graph
    seeds: np.ndarray  # int64, distinct, ascending
    shares: np.ndarray  # float64, restart probability of each seed, with a sum of 1
    keep: int  # number of nodes to find
    damping: float  # probability of following an edge, from 0 to below 1
    direction: str  # out, in or both
    recall: float = 0.97  # share of the exact best nodes that must be found
    random_seed: int = 0  # of the methods that draw random numbers
    # float64, one above zero per triple; steps are taken in proportion to them. None for equal
    # ones.
    weights: np.ndarray | None = None
    watch: Watch = NO_WATCH
    # Returns the communities of a graph; by default they are detected anew.
    clusters: Callable[..., NodeCommunities] = detect_clusters
    # The value of `links`, if it was computed before; else None.
    prepared_links: Adjacency | None = None
    threads: int = 1  # number of threads of the methods that use several
    # Worker processes of the methods that can be distributed; None for this process alone.
    workers: Workers | None = None

    @cached_property
    def links(self) -> Adjacency:
        """Adjacency of the graph, with the weights for both directions.

        Raises
        ------
        BadParameter
            If there is not one finite weight above zero per triple.
        """
        if self.prepared_links is not None:
            return self.prepared_links
        arrays = walk_arguments(self.graph, self.direction)
        if self.weights is None:
            degree_bytes = NO_DEGREES
            if self.direction == "both":
                degree_bytes = np.asarray(self.graph.degree_bytes)
            return Adjacency(*arrays, NO_WEIGHTS, NO_WEIGHTS, NO_WEIGHTS, degree_bytes)
        weights, graph = np.ascontiguousarray(self.weights, np.float64), self.graph
        is_positive = np.isfinite(weights).all() and (weights > 0).all()
        if weights.shape != (graph.n_edges,) or not is_positive:
            raise BadParameter(
                f"The weights must be {graph.n_edges:,} finite numbers above zero, one for each "
                "triple."
            )
        out = np.bincount(graph.heads, weights, graph.n_nodes) if arrays[0] & 1 else 0.0
        into = np.bincount(graph.tails, weights, graph.n_nodes) if arrays[0] & 2 else 0.0
        return Adjacency(*arrays, weights, weights[graph.in_edges], np.asarray(out + into))

    @property
    def n_steps(self) -> int:
        """Number of steps of the graph in this direction; in both, two per edge."""
        return self.graph.n_edges * (2 if self.direction == "both" else 1)

    @property
    def total_weight(self) -> float:
        """Sum of the weights of all steps.

        The weights are 1 if edges have none.
        """
        return float(self.n_steps if self.weights is None else np.sum(self.links.strength))

    def check_unweighted(self, method: str) -> None:
        """Raise BadParameter if there are weights, which this method does not support."""
        if self.weights is not None:
            raise BadParameter(f"PageRank by {method} takes no weights; exact and auto do.")

    def rank_nodes(self, nodes: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the best `keep` of the nodes, and their scores.

        Only nodes with a score above zero are among the best. If there are fewer than `keep`, the
        nodes nearest to the seeds follow. Their score is the mass that flows to them in one step
        from nodes with a score.
        """
        has_score = scores > 0.0
        nodes, scores = nodes[has_score], round_scores(scores[has_score])
        if len(nodes) < self.keep and self.damping > 0.0:
            nodes, scores = self._add_nearest(nodes, scores)
        return top_k(nodes, round_scores(scores), self.keep)

    def _add_nearest(self, nodes: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        from core.graph.kernels import fill_scores  # imports numba

        closest = nearest_nodes(
            self.graph, self.seeds, self.graph.n_nodes, self.direction, self.keep
        )[0]
        # An array over all nodes is cheap here: only the pages that are written take memory.
        values = np.zeros(self.graph.n_nodes)
        values[nodes] = scores
        fill_scores(values, closest, self.damping, *self.links[:5])
        nodes = np.union1d(nodes, closest)
        return nodes, values[nodes]


def pose_problem(
    graph: Graph, seeds: Iterable[int], keep: int, damping: float, direction: str, **fields
) -> PageRankProblem:
    """Build the problem for some seeds.

    A seed that is repeated gets a larger share of restarts. `fields` are further fields of
    `PageRankProblem`.

    Raises
    ------
    BadParameter
        If the damping is outside [0, 1) or the recall outside (0, 1].
    BadInput
        If there are no seeds, or one is not a node of the graph.
    """
    if not 0.0 <= damping < 1.0:
        raise BadParameter(
            f"damping is the probability of following an edge, from 0 to below 1, not {damping}."
        )
    if not 0.0 < fields.get("recall", 1.0) <= 1.0:
        raise BadParameter(
            f"recall is the share of the best nodes to find, above 0 to 1, not {fields['recall']}."
        )
    nodes, shares = seed_array(graph, seeds), np.ones(1)
    if len(nodes) > 1:
        nodes, counts = np.unique(nodes, return_counts=True)
        shares = counts / counts.sum()
    return PageRankProblem(graph, nodes, shares, keep, damping, graph.resolve(direction), **fields)
