"""Orders that make results reproducible: top-k with ties by id, rounded scores, sorted names."""

from __future__ import annotations

import numpy as np

# Number of the 52 fraction bits of a float64 that are rounded off. Scores then count as equal if
# they differ by about 1e-11 of their size or less.
ROUNDED_BITS = 16


def top_k(ids: np.ndarray, scores: np.ndarray, keep: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the `keep` best ids and their scores, by descending score, then by id.

    >>> from core.graph.order import top_k
    >>> ids, scores = top_k(np.array([3, 1, 2]), np.array([0.5, 0.9, 0.5]), 2)
    >>> ids.tolist(), scores.tolist()
    ([1, 2], [0.9, 0.5])
    """
    if keep <= 0:
        return ids[:0], scores[:0]
    if len(ids) > 2 * keep:  # below that, sorting all ids is faster than partitioning
        min_score = np.partition(scores, len(scores) - keep)[len(scores) - keep]
        ids, scores = ids[scores >= min_score], scores[scores >= min_score]
    order = np.lexsort((ids, -scores))[:keep]
    return ids[order], scores[order]


def round_scores(scores: np.ndarray) -> np.ndarray:
    """Round off the last bits of scores.

    Floating-point noise then does not break ties.

    >>> from core.graph.order import round_scores
    >>> a, b = round_scores(np.array([0.1 + 0.2, 0.3]))
    >>> 0.1 + 0.2 == 0.3, bool(a == b)
    (False, True)
    """
    # As integers, positive floats have the same order, and their low bits can be rounded.
    bits = np.ascontiguousarray(scores, np.float64).view(np.int64)
    half = np.int64(1 << (ROUNDED_BITS - 1))
    return ((bits + half) & ~np.int64((1 << ROUNDED_BITS) - 1)).view(np.float64)


def in_name_order(names: list[str]) -> tuple[list[str], np.ndarray]:
    """Sort names by code points, which is also the order of their UTF-8 bytes.

    Returns
    -------
    The sorted names, and for each name of the input its position among them, int64.

    >>> from core.graph.order import in_name_order
    >>> names, positions = in_name_order(["b", "c", "a"])
    >>> names, positions.tolist()
    (['a', 'b', 'c'], [1, 2, 0])
    """
    order = sorted(range(len(names)), key=names.__getitem__)
    positions = np.empty(len(names), np.int64)
    positions[order] = np.arange(len(names))
    return [names[index] for index in order], positions
