"""Visit counts of random walks with restart from seeds (RWR)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from core.errors import BadParameter
from core.graph.algorithms.local_adjacency import LocalAdjacency
from core.graph.algorithms.neighbourhood import seed_array, walk_arguments
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
    subgraph: Subgraph | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Count the visits of random walks from the seeds to each node.

    Each edge of a node is drawn with equal probability, so parallel edges make a neighbour more
    likely. The start counts as a visit. At a node without steps, a walk restarts if `restart` is
    above 0, else it ends.

    Parameters
    ----------
    seeds : ids of the start nodes; each starts its own walks.
    walks : number of walks from each seed, at least 1.
    steps : number of steps of a walk.
    restart : probability of a step back to the seed, 0 to 1.
    direction : direction of the steps: out, in, both or graph.
    rng : source of the random numbers.
    subgraph : walks stay inside this subgraph, and no walk starts from a seed outside. None for the
        whole graph.

    Returns
    -------
    The visited nodes and their numbers of visits, both int64, ordered by (-visits, id).

    Raises
    ------
    BadParameter : `walks` is below 1, `steps` is negative, or `restart` is outside [0, 1].
    BadInput : there are no seeds, or one is not a node of the graph.

    Notes
    -----
    With a restart of 0, this is RWR in the code of LEGO-GraphRAG.

    Examples
    --------
    >>> from core.graph.algorithms.walks import random_walks
    >>> rng = np.random.default_rng(0)
    >>> nodes, visits = random_walks(toy, [4], 10, 1, 0.0, "out", rng)  # only E>A leads on
    >>> toy.names(nodes), visits.tolist()
    (['A', 'E'], [10, 10])
    """
    from core.graph.algorithms.traversal import run_walks  # imports numba

    if walks < 1 or steps < 0 or not 0.0 <= restart <= 1.0:
        raise BadParameter(
            "Random walks need walks >= 1, steps >= 0 and 0 <= restart <= 1, "
            f"not {walks}, {steps}, {restart}."
        )
    starts: Iterable[int] = seed_array(graph, seeds)
    if subgraph is None:
        arrays = walk_arguments(graph, direction)
    else:
        local = LocalAdjacency(graph, subgraph, direction)
        starts = [local_id for seed in starts if (local_id := local.local_id(int(seed))) >= 0]
        # The arrays of `LocalAdjacency` hold all allowed steps as outgoing ones.
        arrays = (1, local.indptr, local.neighbours, local.indptr, local.neighbours)
    visited = [np.zeros(0, np.int64)]
    for start in starts:
        chances = rng.random((walks, steps, 2))
        paths = np.full((walks, steps + 1), -1, np.int64)
        run_walks(int(start), chances, float(restart), *arrays, paths)
        visited.append(paths[paths >= 0] if subgraph is None else local.nodes[paths[paths >= 0]])
    nodes, visits = np.unique(np.concatenate(visited), return_counts=True)
    return top_k(nodes, visits, len(nodes))
