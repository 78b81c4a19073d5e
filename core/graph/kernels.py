"""Compiled loops over the arrays of a graph.

They release Python's global lock, so several threads may run them at the same time. `mask` is the
direction of steps: 1 from head to tail, 2 from tail to head, 3 both. The adjacency of a graph is
the tuple (out_indptr, tails, in_indptr, in_heads).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from core.runtime.meter import watch_compiling

watch_compiling()


@njit(cache=True, nogil=True, inline="always")
def _degree(node, mask, out_indptr, in_indptr):
    degree = 0
    if mask & 1:
        degree += out_indptr[node + 1] - out_indptr[node]
    if mask & 2:
        degree += in_indptr[node + 1] - in_indptr[node]
    return degree


@njit(cache=True, nogil=True, inline="always")
def _gather(node, values, mask, out_indptr, tails, in_indptr, in_heads):
    """Return the sum of `values` over the nodes from which a step leads to `node`."""
    total = 0.0
    if mask & 1:
        for index in range(in_indptr[node], in_indptr[node + 1]):
            total += values[in_heads[index]]
    if mask & 2:
        for index in range(out_indptr[node], out_indptr[node + 1]):
            total += values[tails[index]]
    return total


@njit(cache=True, nogil=True)
def power_iterate(
    estimate, residual, damping, tolerance, rounds, mask, out_indptr, tails, in_indptr, in_heads
):
    """Add the PageRank of `residual` to `estimate` by power iteration.

    Each round pushes the residual of all nodes. The loop stops when the residual sums up to at most
    `tolerance`. Returns False if that takes more than `rounds` rounds. A further call with the same
    arrays then continues.
    """
    n = len(estimate)
    shares = np.empty(n)
    while residual.sum() > tolerance:
        if rounds == 0:
            return False
        rounds -= 1
        for node in range(n):
            estimate[node] += (1.0 - damping) * residual[node]
            shares[node] = (
                damping * residual[node] / max(1, _degree(node, mask, out_indptr, in_indptr))
            )
        for node in range(n):
            residual[node] = _gather(node, shares, mask, out_indptr, tails, in_indptr, in_heads)
    for node in range(n):
        estimate[node] += (1.0 - damping) * residual[node]
    return True


@njit(cache=True, nogil=True)
def conjugate_gradient(
    estimate, residual, work, sizes, damping, tolerance, rounds, out_indptr, tails, in_indptr
):
    """Add the PageRank of `residual` to `estimate` by conjugate gradients.

    Steps go in both directions. The solution is x of (I - damping A D^-1) x = (1 - damping)
    residual.
    With w = D^-1 x it becomes (D - damping A) w = (1 - damping) residual.
    This matrix is symmetric and positive definite, so conjugate gradients apply, with the degrees
    as preconditioner. They take about a third of the rounds of a power iteration. Each round walks
    the out-edges once, for both ends.

    The loop stops when the error summed over all nodes is at most `tolerance`. `residual` is
    overwritten.

    `work` is float64 [3, n] and `sizes` float64 [2], the state between calls; `sizes` holds
    negative numbers at the first call. Returns False if more than `rounds` rounds are needed. A
    further call with the same arrays then continues.
    """
    n = len(estimate)
    # `course` is the search direction, `image` its product with the matrix.
    degree, course, image = work[0], work[1], work[2]
    square, error = sizes[0], sizes[1]  # norms of the residual: preconditioned square, and sum
    if square < 0.0:
        square, error = 0.0, 0.0
        for node in range(n):
            degree[node] = max(1, _degree(node, 3, out_indptr, in_indptr))
            residual[node] *= 1.0 - damping
            course[node] = residual[node] / degree[node]
            square += residual[node] * course[node]
            error += residual[node]
    while error > tolerance * (1.0 - damping) and square > 0.0:
        if rounds == 0:
            sizes[0], sizes[1] = square, error
            return False
        rounds -= 1
        for node in range(n):
            image[node] = degree[node] * course[node]
        for node in range(n):
            outflow, inflow = damping * course[node], 0.0
            for index in range(out_indptr[node], out_indptr[node + 1]):
                other = np.uint32(tails[index])
                inflow += course[other]
                image[other] -= outflow
            image[node] -= damping * inflow
        curvature = 0.0
        for node in range(n):
            curvature += course[node] * image[node]
        step_size, previous, square, error = square / curvature, square, 0.0, 0.0
        for node in range(n):
            estimate[node] += step_size * course[node] * degree[node]
            new_residual = residual[node] - step_size * image[node]
            residual[node] = new_residual
            square += new_residual * new_residual / degree[node]
            error += abs(new_residual)
        momentum = square / previous
        for node in range(n):
            course[node] = residual[node] / degree[node] + momentum * course[node]
    return True


@njit(cache=True, nogil=True)
def fill_scores(scores, nodes, damping, mask, out_indptr, tails, in_indptr, in_heads):
    """Give each of the nodes without a score the mass from its scored neighbours.

    `scores` is changed in place. A new score is always above zero.
    """
    for node in nodes:
        if scores[node] > 0.0:
            continue
        total = 0.0
        # Steps that lead to the node: forward from heads, backward from tails.
        for side in range(2):
            if not mask & (side + 1):
                continue
            indptr, neighbours = (in_indptr, in_heads) if side == 0 else (out_indptr, tails)
            for index in range(indptr[node], indptr[node + 1]):
                other = neighbours[index]
                if scores[other] > 0.0:
                    total += damping * scores[other] / _degree(other, mask, out_indptr, in_indptr)
        scores[node] = max(total, 1e-300)


@njit(cache=True, nogil=True)
def mix_neighbour_states(states, rows, nodes, indptr, near, alpha, alone):
    """Mix the state of each node with the mean of its neighbours' states.

    The result is (1 - alpha) times the node's own state plus alpha times the mean over its
    neighbours among `nodes`, each weighted by 1 / its degree. A node without such neighbours gets
    `alone` times its own state. The state of `nodes[i]` is in row `rows[i]` of `states`. The
    neighbours of node v are `near[indptr[v]:indptr[v + 1]]`.
    """
    n, width = len(nodes), states.shape[1]
    result, neighbour_rows, weights = np.empty((n, width)), np.empty(n, np.int64), np.empty(n)
    # Position of each node in `nodes`, counted from 1; 0 for other nodes.
    row_numbers = np.zeros(len(indptr) - 1, np.int32)
    for row in range(n):
        row_numbers[nodes[row]] = row + 1
    for row in range(n):
        count, total = 0, 0.0
        for index in range(indptr[nodes[row]], indptr[nodes[row] + 1]):
            row_number = row_numbers[near[index]]
            if row_number > 0:
                neighbour_rows[count] = rows[row_number - 1]
                weights[count] = 1.0 / (indptr[near[index] + 1] - indptr[near[index]])
                total += weights[count]
                count += 1
        state, into, share = states[rows[row]], result[row], 1.0 - alpha if count else alone
        for k in range(width):
            into[k] = share * state[k]
        for index in range(count):
            neighbour_state, share = states[neighbour_rows[index]], alpha * weights[index] / total
            for k in range(width):
                into[k] += share * neighbour_state[k]
    return result


@njit(cache=True, nogil=True)
def structural_scores(nodes, indptr, near):
    """Return the neighbours of ranked nodes, and a structural score of each.

    `nodes` are ranked best first. Neighbours among them are left out. The ids are int64, the scores
    float64. A score is the sum of two parts, and a part whose divisor is 0 counts as 0:
    - 1 - (r - 1) / (n - 1), where r is the rank of the best adjacent node of the n ranked ones;
    - (a - 1) / (min(degree, n) - 1), where a is the number of ranked nodes adjacent to it.
    """
    n, steps = len(nodes), 0
    # Position of each node in `neighbours`, counted from 1; 0 if not yet in it, -1 for `nodes`.
    numbers = np.zeros(len(indptr) - 1, np.int32)
    for node in nodes:
        numbers[node] = -1
        steps += indptr[node + 1] - indptr[node]
    neighbours = np.empty(steps, np.int64)
    score = np.zeros(steps)
    counts = np.empty(steps, np.int64)
    size = 0
    for row in range(n):
        for index in range(indptr[nodes[row]], indptr[nodes[row] + 1]):
            neighbour_number = numbers[near[index]]
            if neighbour_number > 0:
                counts[neighbour_number - 1] += 1
            elif neighbour_number == 0:
                neighbours[size], counts[size] = near[index], 1
                score[size] = 1.0 - row / (n - 1) if n > 1 else 0.0
                size += 1
                numbers[near[index]] = size
    for index in range(size):
        limit = min(indptr[neighbours[index] + 1] - indptr[neighbours[index]], n)
        if limit > 1:
            score[index] += (counts[index] - 1) / (limit - 1)
    return neighbours[:size], score[:size]


@njit(cache=True, nogil=True)
def least_path_sums(target, weights, indptr, near):
    """Return the least sum of node weights on a shortest path from each node to `target`.

    The result is float64 [n]. Of all paths with the fewest links, the one with the least sum of
    weights counts. The weight of `target` itself is left out. Nodes that cannot reach it get
    infinity. The neighbours of node v are `near[indptr[v]:indptr[v + 1]]`.
    """
    n = len(indptr) - 1
    sums, links = np.full(n, np.inf), np.full(n, -1)
    queue = np.empty(n, np.int64)
    queue[0], sums[target], links[target], end = target, 0.0, 0, 1
    for position in range(n):
        if position == end:
            break
        node = queue[position]
        for index in range(indptr[node], indptr[node + 1]):
            neighbour = near[index]
            if links[neighbour] < 0:
                links[neighbour], queue[end] = links[node] + 1, neighbour
                end += 1
            if links[neighbour] == links[node] + 1:
                sums[neighbour] = min(sums[neighbour], sums[node] + weights[neighbour])
    return sums
