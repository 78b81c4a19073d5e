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
def power_iterate(
    estimate, residual, damping, tolerance, rounds, way, out_indptr, tails, in_indptr, in_heads
):
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
            spread[node] = (
                damping * residual[node] / max(1, _degree(node, way, out_indptr, in_indptr))
            )
        for node in range(n):
            residual[node] = _gather(node, spread, way, out_indptr, tails, in_indptr, in_heads)
    for node in range(n):
        estimate[node] += (1.0 - damping) * residual[node]
    return True


@njit(cache=True, nogil=True)
def conjugate_gradient(
    estimate, residual, work, sizes, damping, tolerance, rounds, out_indptr, tails, in_indptr
):
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
        # steps to the node: triples into it along them, out of it against them
        for side in range(2):
            if not way & (side + 1):
                continue
            indptr, neighbours = (in_indptr, in_heads) if side == 0 else (out_indptr, tails)
            for at in range(indptr[node], indptr[node + 1]):
                near = neighbours[at]
                if scores[near] > 0.0:
                    total += damping * scores[near] / _degree(near, way, out_indptr, in_indptr)
        scores[node] = max(total, 1e-300)


@njit(cache=True, nogil=True)
def smooth(states, rows, nodes, indptr, near, alpha, alone):
    """float64 [n, d]: of each node its own state, that in row `rows[i]` of `states`, with those of its neighbours among the nodes.

    (1 - alpha) times its own and alpha times the mean of theirs, each with the weight 1 / its degree; `alone` times its own where there
    is none.
    """
    n, width = len(nodes), states.shape[1]
    mixed, beside, weights = np.empty((n, width)), np.empty(n, np.int64), np.empty(n)
    places = np.zeros(len(indptr) - 1, np.int32)  # of the nodes, from 1 on
    for row in range(n):
        places[nodes[row]] = row + 1
    for row in range(n):
        count, total = 0, 0.0
        for at in range(indptr[nodes[row]], indptr[nodes[row] + 1]):
            place = places[near[at]]
            if place > 0:
                beside[count] = rows[place - 1]
                weights[count] = 1.0 / (indptr[near[at] + 1] - indptr[near[at]])
                total += weights[count]
                count += 1
        own, into, share = states[rows[row]], mixed[row], 1.0 - alpha if count else alone
        for k in range(width):
            into[k] = share * own[k]
        for at in range(count):
            other, share = states[beside[at]], alpha * weights[at] / total
            for k in range(width):
                into[k] += share * other[k]
    return mixed


@njit(cache=True, nogil=True)
def structure(nodes, indptr, near):
    """The neighbours of ranked nodes that are none of them, int64, and how each of them lies there, float64.

    1 - (r - 1) / (n - 1), r the rank of the best of the n nodes that it lies beside, and (a - 1) / (min(degree, n) - 1), a how many of
    them it lies beside; a part whose divisor is 0 counts 0.
    """
    n, steps = len(nodes), 0
    places = np.zeros(len(indptr) - 1, np.int32)  # of neighbours, from 1 on; -1 for the nodes
    for node in nodes:
        places[node] = -1
        steps += indptr[node + 1] - indptr[node]
    found, score, counts = np.empty(steps, np.int64), np.zeros(steps), np.empty(steps, np.int64)
    size = 0
    for row in range(n):
        for at in range(indptr[nodes[row]], indptr[nodes[row] + 1]):
            place = places[near[at]]
            if place > 0:
                counts[place - 1] += 1
            elif place == 0:
                found[size], counts[size] = near[at], 1
                score[size] = 1.0 - row / (n - 1) if n > 1 else 0.0
                size += 1
                places[near[at]] = size
    for at in range(size):
        most = min(indptr[found[at] + 1] - indptr[found[at]], n)
        if most > 1:
            score[at] += (counts[at] - 1) / (most - 1)
    return found[:size], score[:size]


@njit(cache=True, nogil=True)
def fewest_links(target, weights, indptr, near):
    """float64 [n]: of the ways from each node to `target` with the fewest links the least sum of the weights passed, those of the target
    excepted; infinite where there is none. One breadth-first search over neighbours `near`, of node v from indptr[v] on."""
    n = len(indptr) - 1
    sums, links = np.full(n, np.inf), np.full(n, -1)
    queue = np.empty(n, np.int64)
    queue[0], sums[target], links[target], end = target, 0.0, 0, 1
    for place in range(n):
        if place == end:
            break
        node = queue[place]
        for at in range(indptr[node], indptr[node + 1]):
            other = near[at]
            if links[other] < 0:
                links[other], queue[end] = links[node] + 1, other
                end += 1
            if links[other] == links[node] + 1:
                sums[other] = min(sums[other], sums[node] + weights[other])
    return sums
