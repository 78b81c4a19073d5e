"""Random walks from seeds."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from core.errors import BadParameter
from core.graph.algorithms.local import Local
from core.graph.algorithms.neighbourhood import links, seed_array
from core.graph.order import top_k
from core.graph.protocol import KnowledgeGraph
from core.types import Subgraph


def random_walks(
    graph: KnowledgeGraph,
    seeds: Iterable[int],
    walks: int,
    steps: int,
    restart: float,
    direction: str,
    rng: np.random.Generator,
    within: Subgraph | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The nodes that walks from the seeds visit: (ids int64, visits int64), ordered by (-visits, id).

    From each seed, `walks` walks of `steps` steps; a step takes any edge at the node with equal chance, so that parallel
    edges count each. The start counts as a visit. With chance `restart` a step leads back to the seed instead, and always
    does from a node without steps; with `restart` 0 a walk ends there (LEGO-GraphRAG's RWR as coded). With
    `within` only steps inside that subgraph are taken, and a seed outside it starts no walk. Raises BadParameter for
    negative numbers or a restart outside [0, 1], BadInput for unfit seeds.

    >>> from core.graph.algorithms.walks import random_walks
    >>> nodes, visits = random_walks(toy, [4], 10, 1, 0.0, "out", np.random.default_rng(0))  # only E>A leads on
    >>> toy.names(nodes), visits.tolist()
    (['A', 'E'], [10, 10])
    """
    from core.graph.algorithms.traversal import walk  # brings numba

    if walks < 1 or steps < 0 or not 0.0 <= restart <= 1.0:
        raise BadParameter(
            f"Random walks need walks >= 1, steps >= 0 and 0 <= restart <= 1, not {walks}, {steps}, {restart}."
        )
    starts: Iterable[int] = seed_array(graph, seeds)
    if within is None:
        arrays = links(graph, direction)
    else:
        local = Local(graph, within, direction)
        starts = [place for seed in starts if (place := local.place(int(seed))) >= 0]
        # all its steps are outward ones
        arrays = (1, local.indptr, local.neighbours, local.indptr, local.neighbours)
    visited = [np.zeros(0, np.int64)]
    for start in starts:
        chances = rng.random((walks, steps, 2))
        places = np.full((walks, steps + 1), -1, np.int64)
        walk(int(start), chances, float(restart), *arrays, places)
        visited.append(places[places >= 0] if within is None else local.nodes[places[places >= 0]])
    nodes, visits = np.unique(np.concatenate(visited), return_counts=True)
    return top_k(nodes, visits, len(nodes))
