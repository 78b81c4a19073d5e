"""Degrees in one byte a node: a search that asks for those of all it touches finds them close together.

The offsets of a graph tell a degree by two numbers each way, on two pages of two files. A byte spares both: of the few nodes
with `MANY` edges or more the offsets are asked.
"""

from __future__ import annotations

import numpy as np

MANY, PART = 255, 1 << 22  # nodes counted at a time


def degree_bytes(out_indptr: np.ndarray, in_indptr: np.ndarray) -> np.ndarray:
    """How many edges each node has both ways, a self-loop counted twice: uint8 [n], `MANY` for as many or more.

    >>> from core.graph.degrees import degree_bytes
    >>> degree_bytes(np.array([0, 2, 300]), np.array([0, 1, 1])).tolist()  # 2 out and 1 in; 298 out
    [3, 255]
    """
    counts = np.empty(len(out_indptr) - 1, np.uint8)
    for start in range(0, len(counts), PART):
        stop = min(start + PART, len(counts))
        degrees = np.diff(out_indptr[start : stop + 1]) + np.diff(in_indptr[start : stop + 1])
        counts[start:stop] = np.minimum(degrees, MANY)
    return counts
