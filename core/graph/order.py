"""The one order of everything ranked (best score first, equal scores by id), and that of names, by which ids are given."""

from __future__ import annotations

import numpy as np

ROUNDED_BITS = (
    16  # of the 52 of a float64: scores that agree to about 1e-11 of their size count as equal
)


def top_k(ids: np.ndarray, scores: np.ndarray, keep: int) -> tuple[np.ndarray, np.ndarray]:
    """The `keep` best (ids, scores) by (-score, id).

    >>> from core.graph.order import top_k
    >>> ids, scores = top_k(np.array([3, 1, 2]), np.array([0.5, 0.9, 0.5]), 2)
    >>> ids.tolist(), scores.tolist()
    ([1, 2], [0.9, 0.5])
    """
    if keep <= 0:
        return ids[:0], scores[:0]
    if len(ids) > 2 * keep:  # with fewer, to sort them all is quicker
        bar = np.partition(scores, len(scores) - keep)[len(scores) - keep]
        ids, scores = ids[scores >= bar], scores[scores >= bar]
    order = np.lexsort((ids, -scores))[:keep]
    return ids[order], scores[order]


def steady(scores: np.ndarray) -> np.ndarray:
    """The scores with their last bits rounded off, so that noise of arithmetic does not decide between equals.

    >>> from core.graph.order import steady
    >>> a, b = steady(np.array([0.1 + 0.2, 0.3]))
    >>> 0.1 + 0.2 == 0.3, bool(a == b)
    (False, True)
    """
    bits = np.ascontiguousarray(scores, np.float64).view(np.int64)
    half = np.int64(1 << (ROUNDED_BITS - 1))
    return ((bits + half) & ~np.int64((1 << ROUNDED_BITS) - 1)).view(np.float64)


def in_name_order(names: list[str]) -> tuple[list[str], np.ndarray]:
    """The names by code points, as by the bytes of UTF-8, and for each as it was given its place there (int64).

    >>> from core.graph.order import in_name_order
    >>> names, places = in_name_order(["b", "c", "a"])
    >>> names, places.tolist()
    (['a', 'b', 'c'], [1, 2, 0])
    """
    order = sorted(range(len(names)), key=names.__getitem__)
    places = np.empty(len(names), np.int64)
    places[order] = np.arange(len(names))
    return [names[at] for at in order], places
