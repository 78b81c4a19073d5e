"""Directional distance encoding of the nodes of a subgraph relative to the question entities."""

from __future__ import annotations

import numpy as np

DISTANCE_ROUNDS = 2


def distance_width(rounds: int = DISTANCE_ROUNDS) -> int:
    """Number of values per node."""
    return 2 + 4 * rounds


def directional_distances(
    heads: np.ndarray, tails: np.ndarray, topics: np.ndarray, rounds: int = DISTANCE_ROUNDS
) -> np.ndarray:
    """Directional distance encoding of nodes.

    The first two values say whether a node is a question entity, as (no, yes). Then, for each
    round, follows the mean of the previous values over the heads of the triples that end in the
    node. The same follows for the reverse direction. A node that no triple leads to has 0.

    Parameters
    ----------
    heads, tails : local node numbers of the triples, int [m].
    topics : bool [n], True for question entities.
    rounds : number of rounds in each direction.

    Returns
    -------
    float32 [n, 2 + 4 * rounds].

    Notes
    -----
    SubgraphRAG, section 3.1.

    Examples
    --------
    >>> from core.graph.algorithms.directional import directional_distances
    >>> topics = np.array([True, False, False])
    >>> distances = directional_distances(np.array([0, 1]), np.array([1, 2]), topics)
    >>> distances[2]  # two steps from the entity
    array([1., 0., 1., 0., 0., 1., 0., 0., 0., 0.], dtype=float32)
    """
    first = np.stack([~topics, topics], axis=1).astype(np.float32)
    parts = [first]
    for start, end in ((heads, tails), (tails, heads)):
        now, counts = first, np.maximum(1, np.bincount(end, minlength=len(topics)))[:, None]
        for _ in range(rounds):
            columns = [
                np.bincount(end, weights=now[start, column], minlength=len(topics))
                for column in (0, 1)
            ]
            now = (np.stack(columns, axis=1) / counts).astype(np.float32)
            parts.append(now)
    return np.concatenate(parts, axis=1)
