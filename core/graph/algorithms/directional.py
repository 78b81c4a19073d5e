"""How the nodes of a subgraph lie to a question's entities, seen along the triples and against them."""

from __future__ import annotations

import numpy as np

ROUNDS = 2


def width(rounds: int = ROUNDS) -> int:
    """How many numbers a node has."""
    return 2 + 4 * rounds


def directional_distances(
    heads: np.ndarray, tails: np.ndarray, topics: np.ndarray, rounds: int = ROUNDS
) -> np.ndarray:
    """Directional distance encoding (SubgraphRAG, section 3.1), float32 [n, 2 + 4 * rounds].

    `heads` and `tails` are places of nodes, `topics` bool [n]. First whether a node is an entity of the question, as (no, yes); then,
    round by round, the mean of what the heads of its triples had a round before; then the same against the triples. What no triple
    leads to has 0.

    >>> from core.graph.algorithms.directional import directional_distances
    >>> directional_distances(np.array([0, 1]), np.array([1, 2]), np.array([True, False, False]))[2]  # two steps from the entity
    array([1., 0., 1., 0., 0., 1., 0., 0., 0., 0.], dtype=float32)
    """
    first = np.stack([~topics, topics], axis=1).astype(np.float32)
    parts = [first]
    for start, end in ((heads, tails), (tails, heads)):
        now, many = first, np.maximum(1, np.bincount(end, minlength=len(topics)))[:, None]
        for _ in range(rounds):
            columns = [
                np.bincount(end, weights=now[start, column], minlength=len(topics))
                for column in (0, 1)
            ]
            now = (np.stack(columns, axis=1) / many).astype(np.float32)
            parts.append(now)
    return np.concatenate(parts, axis=1)
