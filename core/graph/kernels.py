"""Compiled loops over the arrays of a graph, for PageRank and re-ranking.

They release Python's global lock, so several threads may run them at the same time. Arrays with one
value per node are float64 [n].

`mask` is the code of the direction of steps: 1 from head to tail, 2 from tail to head, 3 both. For
a graph of n nodes and m edges, the adjacency is (out_indptr, tails, in_indptr, in_heads). The tails
of node v are `tails[out_indptr[v]:out_indptr[v + 1]]`, and the heads of the edges that end in v are
`in_heads[in_indptr[v]:in_indptr[v + 1]]`. Offsets are int64 [n + 1], heads and tails int32 [m].

An undirected graph is (indptr, neighbour_ids), both int64, as in
`core.graph.algorithms.simple_graph`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from core.runtime.meter import watch_compiling

watch_compiling()  # before the first function, so that its compilation is measured


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
    """Sum `values` over the nodes from which a step leads to `node`."""
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

    `estimate` and `residual` are changed in place. Each round pushes the residual of all nodes. The
    loop stops when the sum of the residuals is at most `tolerance`. Returns False if that takes
    more than `rounds` rounds; the caller may then call again with the same arrays to continue.
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
    estimate, residual, workspace, norms, damping, tolerance, rounds, out_indptr, tails, in_indptr
):
    """Add the PageRank of `residual` to `estimate` by conjugate gradients.

    Steps go in both directions. `estimate` is changed in place, and `residual` is overwritten. The
    loop stops when the error summed over all nodes is at most `tolerance`. That error is at most
    the sum of the absolute residuals, divided by (1 - damping).

    `workspace`, float64 [3, n], and `norms`, float64 [2], hold the state between calls. Before the
    first call, `norms` must hold negative numbers. Returns False if more than `rounds` rounds are
    needed; the caller may then call again with the same arrays to continue.

    Notes
    -----
    The solution is x of (I - damping A D^-1) x = (1 - damping) residual. With w = D^-1 x it becomes
    (D - damping A) w = (1 - damping) residual. This matrix is symmetric and positive definite, so
    conjugate gradients apply, with the degrees as preconditioner. They take about a third of the
    rounds of a power iteration. Each round walks the out-edges once, for both ends.
    """
    n = len(estimate)
    degree = workspace[0]
    direction = workspace[1]  # the search direction, p in textbooks
    matrix_direction = workspace[2]  # the matrix times the direction, A p
    squared_norm = norms[0]  # of the residual, divided by the degrees: r z
    residual_sum = norms[1]
    if squared_norm < 0.0:
        squared_norm = 0.0
        residual_sum = 0.0
        for node in range(n):
            degree[node] = max(1, _degree(node, 3, out_indptr, in_indptr))
            residual[node] *= 1.0 - damping
            direction[node] = residual[node] / degree[node]
            squared_norm += residual[node] * direction[node]
            residual_sum += residual[node]
    while residual_sum > tolerance * (1.0 - damping) and squared_norm > 0.0:
        if rounds == 0:
            norms[0] = squared_norm
            norms[1] = residual_sum
            return False
        rounds -= 1
        for node in range(n):
            matrix_direction[node] = degree[node] * direction[node]
        _subtract_flow(matrix_direction, direction, damping, out_indptr, tails)
        curvature = 0.0
        for node in range(n):
            curvature += direction[node] * matrix_direction[node]
        step_size = squared_norm / curvature
        previous_squared_norm = squared_norm
        squared_norm = 0.0
        residual_sum = 0.0
        for node in range(n):
            estimate[node] += step_size * direction[node] * degree[node]
            new_residual = residual[node] - step_size * matrix_direction[node]
            residual[node] = new_residual
            squared_norm += new_residual * new_residual / degree[node]
            residual_sum += abs(new_residual)
        momentum = squared_norm / previous_squared_norm
        for node in range(n):
            direction[node] = residual[node] / degree[node] + momentum * direction[node]
    return True


@njit(cache=True, nogil=True, inline="always")
def _subtract_flow(result, values, damping, out_indptr, tails):
    """Subtract from `result` the values of all neighbours, times `damping`."""
    for node in range(len(result)):
        outflow = damping * values[node]
        inflow = 0.0
        for index in range(out_indptr[node], out_indptr[node + 1]):
            # With an unsigned index, numba omits the check for negative ones, which is faster.
            tail = np.uint32(tails[index])
            inflow += values[tail]
            result[tail] -= outflow
        result[node] -= damping * inflow


@njit(cache=True, nogil=True)
def fill_scores(scores, nodes, damping, mask, out_indptr, tails, in_indptr, in_heads):
    """Score the nodes without a score, in turn.

    The new score is the mass that flows to the node in one step. A score of 0 means none. `scores`
    is changed in place, so a new score counts for the nodes that follow in `nodes`. A new score is
    always above zero.
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
                neighbour = neighbours[index]
                if scores[neighbour] > 0.0:
                    degree = _degree(neighbour, mask, out_indptr, in_indptr)
                    total += damping * scores[neighbour] / degree
        scores[node] = max(total, 1e-300)  # not 0, which marks a node without a score


@njit(cache=True, nogil=True)
def mix_neighbour_states(states, rows, nodes, indptr, neighbour_ids, alpha, lonely_factor):
    """Mix the state of each node with the mean of its neighbours' states.

    The result is (1 - alpha) times the state of the node plus alpha times the mean state of its
    neighbours among `nodes`, in which a neighbour weighs 1 / its degree. A node without neighbours
    among `nodes` gets `lonely_factor` times its own state.

    `states` is float64 [any number, width]. The state of `nodes[i]` is in row `rows[i]`. The result
    is float64 [len(nodes), width], with the mixed state of `nodes[i]` in row i.
    """
    n = len(nodes)
    width = states.shape[1]
    result = np.empty((n, width))
    neighbour_rows = np.empty(n, np.int64)
    weights = np.empty(n)
    # Position of each node in `nodes`, counted from 1; 0 for other nodes.
    node_numbers = np.zeros(len(indptr) - 1, np.int32)
    for row in range(n):
        node_numbers[nodes[row]] = row + 1
    for row in range(n):
        count = 0
        total = 0.0
        for index in range(indptr[nodes[row]], indptr[nodes[row] + 1]):
            neighbour = neighbour_ids[index]
            number = node_numbers[neighbour]
            if number > 0:
                neighbour_rows[count] = rows[number - 1]
                weights[count] = 1.0 / (indptr[neighbour + 1] - indptr[neighbour])
                total += weights[count]
                count += 1
        own_share = 1.0 - alpha if count else lonely_factor
        for k in range(width):
            result[row, k] = own_share * states[rows[row], k]
        for index in range(count):
            neighbour_share = alpha * weights[index] / total
            for k in range(width):
                result[row, k] += neighbour_share * states[neighbour_rows[index], k]
    return result


@njit(cache=True, nogil=True)
def structural_scores(nodes, indptr, neighbour_ids):
    """Return the neighbours of ranked nodes, and a structural score of each.

    `nodes` are ranked best first. Neighbours that are ranked themselves are left out. The ids are
    int64, the scores float64. A score is the sum of two parts; a part whose divisor is 0 counts as
    0:
    - 1 - (r - 1) / (n - 1), where r is the rank of the best adjacent node of the n ranked ones;
    - (a - 1) / (min(degree, n) - 1), where a is the number of ranked nodes adjacent to it.
    """
    n = len(nodes)
    max_candidates = 0
    # Position of each node in `candidates`, counted from 1; 0 if not yet in it, -1 for `nodes`.
    candidate_numbers = np.zeros(len(indptr) - 1, np.int32)
    for node in nodes:
        candidate_numbers[node] = -1
        max_candidates += indptr[node + 1] - indptr[node]
    candidates = np.empty(max_candidates, np.int64)
    scores = np.zeros(max_candidates)
    counts = np.empty(max_candidates, np.int64)  # ranked nodes adjacent to each candidate
    size = 0
    for row in range(n):
        for index in range(indptr[nodes[row]], indptr[nodes[row] + 1]):
            neighbour = neighbour_ids[index]
            number = candidate_numbers[neighbour]
            if number > 0:
                counts[number - 1] += 1
            elif number == 0:
                candidates[size] = neighbour
                counts[size] = 1
                scores[size] = 1.0 - row / (n - 1) if n > 1 else 0.0
                size += 1
                candidate_numbers[neighbour] = size
    for index in range(size):
        degree = indptr[candidates[index] + 1] - indptr[candidates[index]]
        limit = min(degree, n)
        if limit > 1:
            scores[index] += (counts[index] - 1) / (limit - 1)
    return candidates[:size], scores[:size]


@njit(cache=True, nogil=True)
def least_path_sums(target, weights, indptr, neighbour_ids):
    """Return the least node-weight sums of shortest paths to `target`.

    There is one sum for each node from which a path starts. The result is float64 [n]. Of all paths
    with the fewest hops, the one with the least sum of weights counts. The weight of `target`
    itself is left out, the weight of the start is included. Nodes without a path to `target` get
    infinity.
    """
    n = len(indptr) - 1
    sums = np.full(n, np.inf)
    hops = np.full(n, -1)  # -1 for a node that is not yet reached
    queue = np.empty(n, np.int64)
    queue[0] = target
    sums[target] = 0.0
    hops[target] = 0
    end = 1
    for position in range(n):
        if position == end:
            break
        node = queue[position]
        for index in range(indptr[node], indptr[node + 1]):
            neighbour = neighbour_ids[index]
            if hops[neighbour] < 0:
                hops[neighbour] = hops[node] + 1
                queue[end] = neighbour
                end += 1
            if hops[neighbour] == hops[node] + 1:
                sums[neighbour] = min(sums[neighbour], sums[node] + weights[neighbour])
    return sums
