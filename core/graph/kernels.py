"""Compiled loops over the arrays of a graph. They hold no lock on the interpreter, so threads may call them at once.

`way` says which edges a step may use: 1 along the triple, 2 against it, 3 both. The links of a graph are the tuple
(out_indptr, tails, in_indptr, in_heads).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from core.runtime.meter import watch_compiling

watch_compiling()


@njit(cache=True, nogil=True, inline="always")
def _degree(node, way, out_indptr, in_indptr):
    degree = 0
    if way & 1:
        degree += out_indptr[node + 1] - out_indptr[node]
    if way & 2:
        degree += in_indptr[node + 1] - in_indptr[node]
    return degree


@njit(cache=True, nogil=True, inline="always")
def _gather(node, values, way, out_indptr, tails, in_indptr, in_heads):
    """The sum of `values` over the nodes from which a step leads to `node`."""
    total = 0.0
    if way & 1:
        for at in range(in_indptr[node], in_indptr[node + 1]):
            total += values[in_heads[at]]
    if way & 2:
        for at in range(out_indptr[node], out_indptr[node + 1]):
            total += values[tails[at]]
    return total


@njit(cache=True, nogil=True)
def power_iterate(estimate, residual, damping, tolerance, rounds, way, out_indptr, tails, in_indptr, in_heads):
    """Adds to `estimate` what `residual` will become, by pushing all nodes at once until at most `tolerance` is left.

    False where that takes more than so many rounds: call it again to go on.
    """
    n = len(estimate)
    spread = np.empty(n)
    while residual.sum() > tolerance:
        if rounds == 0:
            return False
        rounds -= 1
        for node in range(n):
            estimate[node] += (1.0 - damping) * residual[node]
            spread[node] = damping * residual[node] / max(1, _degree(node, way, out_indptr, in_indptr))
        for node in range(n):
            residual[node] = _gather(node, spread, way, out_indptr, tails, in_indptr, in_heads)
    for node in range(n):
        estimate[node] += (1.0 - damping) * residual[node]
    return True


@njit(cache=True, nogil=True)
def conjugate_gradient(estimate, residual, work, sizes, damping, tolerance, rounds, out_indptr, tails, in_indptr):
    """Adds to `estimate` what `residual` will become, both directions: x of (I - damping A D^-1) x = (1 - damping) residual.

    With w = D^-1 x that is (D - damping A) w = (1 - damping) residual, symmetric and positive, so conjugate gradients with
    the degrees as preconditioner apply: about a third of the rounds of a power iteration. Each round walks the out-edges
    once, for both ends. Stops when the error summed over all nodes is at most `tolerance`. Uses up `residual`.

    `work` is float64 [3, n], `sizes` float64 [2], below zero at first. False where that takes more than so many rounds: call it
    again with the same arrays to go on.
    """
    n = len(estimate)
    degree, course, image = work[0], work[1], work[2]
    square, left = sizes[0], sizes[1]
    if square < 0.0:
        square, left = 0.0, 0.0
        for node in range(n):
            degree[node] = max(1, _degree(node, 3, out_indptr, in_indptr))
            residual[node] *= 1.0 - damping
            course[node] = residual[node] / degree[node]
            square += residual[node] * course[node]
            left += residual[node]
    while left > tolerance * (1.0 - damping) and square > 0.0:
        if rounds == 0:
            sizes[0], sizes[1] = square, left
            return False
        rounds -= 1
        for node in range(n):
            image[node] = degree[node] * course[node]
        for node in range(n):
            here, around = damping * course[node], 0.0
            for at in range(out_indptr[node], out_indptr[node + 1]):
                near = np.uint32(tails[at])
                around += course[near]
                image[near] -= here
            image[node] -= damping * around
        along = 0.0
        for node in range(n):
            along += course[node] * image[node]
        pace, before, square, left = square / along, square, 0.0, 0.0
        for node in range(n):
            estimate[node] += pace * course[node] * degree[node]
            rest = residual[node] - pace * image[node]
            residual[node] = rest
            square += rest * rest / degree[node]
            left += abs(rest)
        pace = square / before
        for node in range(n):
            course[node] = residual[node] / degree[node] + pace * course[node]
    return True


@njit(cache=True, nogil=True)
def fill_scores(scores, found, damping, way, out_indptr, tails, in_indptr, in_heads):
    """Gives each found node without a score what flows to it from nodes before it, never nothing. Changes `scores`."""
    for node in found:
        if scores[node] > 0.0:
            continue
        total = 0.0
        for side in range(2):  # steps to the node: triples into it along them, out of it against them
            if not way & (side + 1):
                continue
            indptr, neighbours = (in_indptr, in_heads) if side == 0 else (out_indptr, tails)
            for at in range(indptr[node], indptr[node + 1]):
                near = neighbours[at]
                if scores[near] > 0.0:
                    total += damping * scores[near] / _degree(near, way, out_indptr, in_indptr)
        scores[node] = max(total, 1e-300)


@njit(cache=True, nogil=True)
def mix(mixed, states, rows, near, weights):
    """Adds to row `rows[i]` of `mixed` the row `near[i]` of `states`, `weights[i]` times."""
    for at in range(len(rows)):
        for place in range(states.shape[1]):
            mixed[rows[at], place] += weights[at] * states[near[at], place]
