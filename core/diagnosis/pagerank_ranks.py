"""Ranks of the nodes that PageRank left out."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from core.graph.order import round_scores, top_k
from core.graph.pagerank.top_nodes import pagerank_exact
from core.types import State

# Edges of the largest graph whose nodes are all ranked again. WikiMovies has 133,582 and takes
# about 0.03 s.
MAX_RANKED_EDGES = 400_000
MAX_SCORE_ERROR = 1e-7  # error of the scores, summed over all nodes
# Methods whose order is that of the exact solution. `push` occurs in older saved cases.
EXACT_METHODS = ("auto", "push", "exact")


def rank_beyond_cut(graph, state: State, nodes: Iterable[int]) -> int | None:
    """Return the best rank of some nodes, from 1, in the PageRank that `state` was cut from.

    All nodes are ranked, by solving the equation once for each question. The result is None

    - where the last operator was no PageRank,
    - where it approximated by chance or by clusters,
    - where the graph is too large,
    - where the walk reaches none of the nodes,
    - where one of them ranks among the kept ones, as only the approximation left it out then.
    """
    places = pagerank_ranks(graph, state)
    if places is None:
        return None
    assert state.subgraph is not None  # PageRank wrote it
    best = min((place for node in nodes if (place := int(places[node]))), default=0)
    return best if best > len(state.subgraph.nodes) else None


def pagerank_ranks(graph, state: State) -> np.ndarray | None:
    """Return the rank of every node in the PageRank that `state` was cut from.

    Returns
    -------
    Ranks from 1, int32 [n]; 0 for nodes that the walk never reaches. None where the last operator
    was no PageRank, where it approximated by chance or by clusters, and where the graph is too
    large.
    """
    step = state.trace[-1]
    if (
        step.operator != "PersonalizedPageRank"
        or step.parameters["method"] not in EXACT_METHODS
        or graph.n_edges > MAX_RANKED_EDGES
    ):
        return None
    return _places(
        _PageRankKey(
            graph, tuple(state.seeds), step.parameters["damping"], step.parameters["direction"]
        )
    )


class _PageRankKey:
    """The cache key of an order: it compares the settings and the graph's digest."""

    def __init__(self, graph, *settings: Any):
        self.graph, self.settings = graph, (graph.digest, *settings)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _PageRankKey) and self.settings == other.settings

    def __hash__(self) -> int:
        return hash(self.settings)


@lru_cache(maxsize=8)
def _places(order: _PageRankKey) -> np.ndarray:
    """Return the rank of every node, int32 [n], by (-PageRank, id); 0 for nodes never reached."""
    _, seeds, damping, direction = order.settings
    scores = pagerank_exact(order.graph, seeds, damping, direction, MAX_SCORE_ERROR)
    reached = np.flatnonzero(scores > 0)
    ranked, _ = top_k(reached, round_scores(scores[reached]), len(reached))
    places = np.zeros(len(scores), np.int32)
    places[ranked] = np.arange(1, len(ranked) + 1)
    return places
