"""Directional distance encoding of the nodes of a subgraph relative to the question entities."""

from __future__ import annotations

import numpy as np

DISTANCE_ROUNDS = 2  # in each direction


def distance_width(rounds: int = DISTANCE_ROUNDS) -> int:
    """Return the number of values of an encoding per node."""
    return 2 + 4 * rounds


def directional_distances(
    heads: np.ndarray, tails: np.ndarray, topics: np.ndarray, rounds: int = DISTANCE_ROUNDS
) -> np.ndarray:
    """Return the directional distance encoding of nodes.

    The first two values of a node are (0, 1) if it is a question entity, else (1, 0). Each round
    adds two values: the means of the two values of the previous round over the heads of the triples
    that end in the node, or 0 if there are none. The rounds of the reverse direction follow.

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
    n = len(topics)
    is_topic = np.stack([~topics, topics], axis=1).astype(np.float32)
    parts = [is_topic]
    for start, end in ((heads, tails), (tails, heads)):
        values, counts = is_topic, np.maximum(1, np.bincount(end, minlength=n))[:, None]
        for _ in range(rounds):
            sums = [np.bincount(end, weights=values[start, i], minlength=n) for i in (0, 1)]
            values = (np.stack(sums, axis=1) / counts).astype(np.float32)
            parts.append(values)
    return np.concatenate(parts, axis=1)
