"""Best connected nodes of a graph, of a very large one by a sample of its triples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.graph.order import top_k


@dataclass(frozen=True)
class OverviewDefaults:
    """Sizes of the sample that finds the busiest entities of a very large graph."""

    # triples above which the busiest entities are taken from a sample, because counting all degrees
    # reads the whole graph
    max_counted_triples: int = 20_000_000
    sample_blocks: int = 256  # number of positions in the graph that are sampled
    sample_block_triples: int = 64  # triples read at each position


OVERVIEW = OverviewDefaults()


def busiest_nodes(graph: Any, count: int) -> list[int]:
    """Return the nodes with the highest degrees, ordered by (-degree, id).

    Of a very large graph, the candidates are the nodes that occur most in a sample of its triples.

    Parameters
    ----------
    count : number of nodes.

    Returns
    -------
    At most `count` node ids.

    Examples
    --------
    >>> from core.graph.algorithms.overview import busiest_nodes
    >>> toy.names(busiest_nodes(toy, 3))  # A and C have 4 edges each, D 3 with its loop twice
    ['A', 'C', 'D']
    """
    if graph.n_edges <= OVERVIEW.max_counted_triples:
        return list(graph.shape().busiest[:count])
    starts = np.random.default_rng(0).integers(
        0, graph.n_edges - OVERVIEW.sample_block_triples, OVERVIEW.sample_blocks
    )
    rows = (np.sort(starts)[:, None] + np.arange(OVERVIEW.sample_block_triples)).ravel()
    nodes, counts = np.unique(
        np.concatenate([graph.tails[rows], graph.in_heads[rows]]), return_counts=True
    )
    candidates = nodes[np.argsort(-counts, kind="stable")[: count * 8]].astype(np.int64)
    return top_k(candidates, graph.degrees(candidates), count)[0].tolist()
