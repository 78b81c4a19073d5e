"""Node degrees stored in one byte each, for local PageRank on large graphs.

The degree of a node also follows from the graph's CSR offsets, but these take 16 bytes per node. A
search that looks up the degree of every visited node therefore reads fewer pages from the disk.
Only for the few nodes with `DEGREE_BYTE_CAP` or more edges, the offsets are needed.
"""

from __future__ import annotations

import numpy as np

# Largest value of a byte. It stands for this degree and for all larger ones.
DEGREE_BYTE_CAP = 255
# Number of nodes whose degrees are counted at a time, to bound the memory.
DEGREE_BATCH_NODES = 1 << 22


def degree_bytes(out_indptr: np.ndarray, in_indptr: np.ndarray) -> np.ndarray:
    """Return the degree of each node in both directions, capped at `DEGREE_BYTE_CAP`, uint8 [n].

    A self-loop counts twice.

    >>> from core.graph.degrees import degree_bytes
    >>> degree_bytes(np.array([0, 2, 300]), np.array([0, 1, 1])).tolist()  # 2 out and 1 in; 298 out
    [3, 255]
    """
    counts = np.empty(len(out_indptr) - 1, np.uint8)
    for start in range(0, len(counts), DEGREE_BATCH_NODES):
        stop = min(start + DEGREE_BATCH_NODES, len(counts))
        degrees = np.diff(out_indptr[start : stop + 1]) + np.diff(in_indptr[start : stop + 1])
        counts[start:stop] = np.minimum(degrees, DEGREE_BYTE_CAP)
    return counts
