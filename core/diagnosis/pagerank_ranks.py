"""Ranks of the nodes that personalised PageRank left out of a subgraph.

They tell how many more nodes would have to be kept.
"""

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
    """Return the best rank, from 1, of some nodes in a PageRank.

    It is the PageRank by which `state` was cut. All nodes are ranked, by solving the equation once
    for each question. The result is None

    - if `pagerank_ranks` has none,
    - if the walk reaches none of the nodes,
    - if one of them ranks among the kept nodes: then only the approximation left it out.
    """
    ranks = pagerank_ranks(graph, state)
    if ranks is None:
        return None
    assert state.subgraph is not None  # PageRank wrote it
    best = min(filter(None, (int(ranks[node]) for node in nodes)), default=0)
    return best if best > len(state.subgraph.nodes) else None


def pagerank_ranks(graph, state: State) -> np.ndarray | None:
    """Return the rank of every node in a PageRank.

    It is the PageRank by which the subgraph of `state` was cut.

    Returns
    -------
    Ranks from 1, int32 [n]; 0 for nodes that the walk never reaches. None if the last operator
    was no PageRank, if it approximated by random walks or by clusters, or if the graph has more
    than `MAX_RANKED_EDGES` edges.
    """
    step = state.trace[-1]
    if (
        step.operator != "PersonalizedPageRank"
        or step.parameters["method"] not in EXACT_METHODS
        or graph.n_edges > MAX_RANKED_EDGES
    ):
        return None
    return _node_ranks(
        _PageRankKey(
            graph, tuple(state.seeds), step.parameters["damping"], step.parameters["direction"]
        )
    )


class _PageRankKey:
    """The cache key of ranks: it holds the graph, but compares only its digest and the settings."""

    def __init__(self, graph, *settings: Any):
        self.graph, self.settings = graph, (graph.digest, *settings)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _PageRankKey) and self.settings == other.settings

    def __hash__(self) -> int:
        return hash(self.settings)


@lru_cache(maxsize=8)
def _node_ranks(key: _PageRankKey) -> np.ndarray:
    """Return the rank of every node, int32 [n], by (-PageRank, id).

    The rank is 0 for nodes never reached.
    """
    _, seeds, damping, direction = key.settings
    scores = pagerank_exact(key.graph, seeds, damping, direction, MAX_SCORE_ERROR)
    reached_nodes = np.flatnonzero(scores > 0)
    ordered_nodes, _ = top_k(reached_nodes, round_scores(scores[reached_nodes]), len(reached_nodes))
    ranks = np.zeros(len(scores), np.int32)
    ranks[ordered_nodes] = np.arange(1, len(ordered_nodes) + 1)
    return ranks
