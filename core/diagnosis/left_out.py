"""At which place PageRank had the nodes that it left out."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from core.graph.order import steady, top_k
from core.graph.pagerank.best import pagerank_exact
from core.types import State

MOST_EDGES = (
    400_000  # of a graph for which all nodes are ranked again; WikiMovies' 133,582 take some 0.03 s
)
CLOSE = 1e-7  # the error of the scores, summed over all nodes
# the methods whose order is that of the equation; push in what was saved before
LIKE_EXACT = ("auto", "push", "exact")


def place_beyond(graph, state: State, nodes: Iterable[int]) -> int | None:
    """The best place, from 1, of some nodes among all nodes by the PageRank that `state`'s last operator kept the first of.

    None where that was no PageRank, where it approximated by chance or by clusters, where the graph is too large to tell at once,
    where the walk reaches none of the nodes, and where one lies among the places that were kept: then only the approximation left
    it out. Solved by the equation once for each question.
    """
    places = pagerank_places(graph, state)
    if places is None:
        return None
    assert state.subgraph is not None  # the step wrote it
    best = min((place for node in nodes if (place := int(places[node]))), default=0)
    return best if best > len(state.subgraph.nodes) else None


def pagerank_places(graph, state: State) -> np.ndarray | None:
    """The place of every node, int32 [n], from 1, by the PageRank that `state`'s last operator kept the first of; 0 for those that the walk
    never reaches. None where that was no PageRank, where it approximated by chance or by clusters, and where the graph is too large."""
    step = state.trace[-1]
    if (
        step.operator != "PersonalizedPageRank"
        or step.parameters["method"] not in LIKE_EXACT
        or graph.n_edges > MOST_EDGES
    ):
        return None
    return _places(
        _Order(graph, tuple(state.seeds), step.parameters["damping"], step.parameters["direction"])
    )


class _Order:
    """What an order depends on, alike where it is the same; keeps the graph out of the comparison."""

    def __init__(self, graph, *settings: Any):
        self.graph, self.settings = graph, (graph.digest, *settings)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Order) and self.settings == other.settings

    def __hash__(self) -> int:
        return hash(self.settings)


@lru_cache(maxsize=8)
def _places(order: _Order) -> np.ndarray:
    """The place of every node, int32 [n], by (-PageRank, id); 0 for those that the walk never reaches."""
    _, seeds, damping, direction = order.settings
    scores = pagerank_exact(order.graph, seeds, damping, direction, CLOSE)
    reached = np.flatnonzero(scores > 0)
    ranked, _ = top_k(reached, steady(scores[reached]), len(reached))
    places = np.zeros(len(scores), np.int32)
    places[ranked] = np.arange(1, len(ranked) + 1)
    return places
