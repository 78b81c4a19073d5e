"""Exact PageRank results of many questions at once on a graph of any size, as a reference.

With z = p / degree the equation of PageRank is z(v) = (damping x the sum of its neighbours' z + (1
- damping) x s(v)) / degree(v). It is solved in place, node by node, by successive over-relaxation
(see core/graph/pagerank/relaxation.py) for `WIDE` questions at once. A neighbour's values lie on
one cache line, so that sixteen questions cost little more than one.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit

WIDE = 16  # Questions at once; float32, so 64 bytes per node.
BLOCK = 64  # Nodes whose neighbours are read ahead.
# Sum of changes in a whole sweep at which a question counts as solved, and highest number of
# sweeps.
CHANGE, MOST = (1e-6, 100)
TIED = 1e-5  # Scores whose relative difference is smaller count as equal.


def best_nodes(
    graph, questions: list[tuple[int, ...]], keep: int, damping: float, report=lambda text: None
) -> list[np.ndarray]:
    """For each question, the nodes whose score reaches that of the last of the best `keep`.

    Scores are in both directions, and nodes ascend.
    """
    return [
        nodes
        for at in range(0, len(questions), WIDE)
        for nodes in _solve(graph, questions[at : at + WIDE], keep, damping, report)
    ]


def _solve(
    graph, questions: list[tuple[int, ...]], keep: int, damping: float, report
) -> list[np.ndarray]:
    values, links = np.zeros((graph.n_nodes, WIDE), np.float32), graph.adjacency()
    starts = sorted(
        (seed, column, (1.0 - damping) / len(seeds))
        for column, seeds in enumerate(questions)
        for seed in seeds
    )
    seeds, columns, shares = (np.array(part) for part in zip(*starts))
    omega = 2.0 / (1.0 + sqrt(1.0 - damping * damping))
    for sweep in range(MOST):
        change = _sweep(values, seeds, columns, shares, damping, omega, *links).max()
        report(f"Sweep {sweep + 1}: a change of {change:.1e}")
        if change < CHANGE:
            break
    degrees = (np.diff(links[0]) + np.diff(links[2])).astype(np.float32)
    found = []
    for column in range(len(questions)):
        scores = values[:, column] * degrees
        bar = np.partition(scores, len(scores) - keep)[len(scores) - keep] * (1.0 - TIED)
        found.append(np.flatnonzero(scores >= bar))
    return found


@njit(cache=True, nogil=True, fastmath=True)
def _sweep(values, seeds, columns, shares, damping, omega, out_indptr, tails, in_indptr, in_heads):
    """Relax the equation at each node in turn, and return the change of each question."""
    change, total, at, seen = np.zeros(WIDE), np.zeros(WIDE, np.float32), 0, np.float32(0.0)
    for node in range(len(values)):
        # Sequential reads let the processor wait for memory once.
        if node % BLOCK == 0:
            end = min(node + BLOCK, len(values))
            for link in range(out_indptr[node], out_indptr[end]):
                seen += values[tails[link], 0]
            for link in range(in_indptr[node], in_indptr[end]):
                seen += values[in_heads[link], 0]
        degree = out_indptr[node + 1] - out_indptr[node] + in_indptr[node + 1] - in_indptr[node]
        total[:] = 0.0
        for link in range(out_indptr[node], out_indptr[node + 1]):
            near = tails[link]
            for column in range(WIDE):
                total[column] += values[near, column]
        for link in range(in_indptr[node], in_indptr[node + 1]):
            near = in_heads[link]
            for column in range(WIDE):
                total[column] += values[near, column]
        while at < len(seeds) and seeds[at] == node:
            total[columns[at]] += shares[at] / damping
            at += 1
        for column in range(WIDE):
            after = (1.0 - omega) * values[node, column] + total[column] * np.float32(
                omega * damping / max(1, degree)
            )
            change[column] += abs(after - values[node, column]) * degree
            values[node, column] = after
    change[0] += 0.0 if seen >= 0.0 else np.inf
    return change
