"""Compiled random walks, and the backward push from a target, for approximate PageRank.

A walk continues with the probability `damping` at each node, else it ends there. The loops release
Python's global lock.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from core.graph.kernels import _degree
from core.graph.pagerank.local.table import (
    EDGES_WALKED,
    ESTIMATE,
    RESIDUAL,
    SLOT_COUNT,
    UNKNOWN_DEGREES,
    slot_of,
)

# Number of steps between two checks for a cancellation.
CHECK_STEPS = 2_000_000
# The integer that stands for a mass of 1 in `sum_ends`. Sums of integers are the same in any order,
# so they do not depend on how walks are divided among threads or processes.
FIXED_ONE = 2.0**60


@njit(cache=True, nogil=True, inline="always")
def draw(random):
    """Draw a random number in [0, 1) by xorshift64* (Vigna 2016).

    `random` is the state, a uint64 [1] that must not be zero. It is changed.
    """
    bits = random[0]
    bits ^= bits >> np.uint64(12)
    bits ^= bits << np.uint64(25)
    bits ^= bits >> np.uint64(27)
    random[0] = bits
    return np.float64((bits * np.uint64(2685821657736338717)) >> np.uint64(11)) / 9007199254740992.0


@njit(cache=True, nogil=True, inline="always")
def _run_walk(node, damping, random, mask, out_indptr, tails, in_indptr, in_heads):
    """Run a random walk from a node.

    The end of the walk and the number of its steps are returned. The end is -1, and the walk is
    lost, if it would continue at a node without steps.
    """
    steps = 0
    while draw(random) < damping:
        degree = _degree(node, mask, out_indptr, in_indptr)
        if degree == 0:
            return np.int64(-1), steps
        pick, out = np.int64(draw(random) * degree), np.int64(0)
        if mask & 1:
            out = out_indptr[node + 1] - out_indptr[node]
        if pick < out:
            node = np.int64(tails[out_indptr[node] + pick])
        else:
            node = np.int64(in_heads[in_indptr[node] + pick - out])
        steps += 1
    return np.int64(node), steps


@njit(cache=True, nogil=True)
def walk_residuals(table, first, rate, end_table, damping, random, links, budget):
    """Start random walks at the node of each slot from `first` on.

    There are ceil(residual x rate) walks from each. Each walk adds residual / number of walks to
    the estimate of its end in `end_table`. The loop stops after about `budget` steps.

    Returns
    -------
    The slot to continue with, which is the number of slots if the loop is finished; and the number
    of slots that `end_table` needs, 0 if it is large enough.
    """
    mask, out_indptr, tails, in_indptr, in_heads = links[:5]
    index, positions, nodes, cells, _, state = end_table
    edge_limit = state[EDGES_WALKED] + budget
    for slot in range(first, table.state[SLOT_COUNT]):
        if state[EDGES_WALKED] >= edge_limit:
            return slot, np.int64(0)
        mass = table.cells[slot, RESIDUAL]
        if mass <= 0.0:
            continue
        walks = np.int64(np.ceil(mass * rate))
        if state[SLOT_COUNT] + walks > len(nodes):
            return slot, state[SLOT_COUNT] + walks
        for _ in range(walks):
            end, steps = _run_walk(
                table.nodes[slot], damping, random, mask, out_indptr, tails, in_indptr, in_heads
            )
            state[EDGES_WALKED] += steps + 1
            if end >= 0:
                end_slot = slot_of(index, positions, nodes, cells, state, end, 0.0, UNKNOWN_DEGREES)
                cells[end_slot, ESTIMATE] += mass / walks
    return table.state[SLOT_COUNT], np.int64(0)


@njit(cache=True, nogil=True)
def walk_from(starts, damping, random, links):
    """Run a random walk from each start.

    Returns
    -------
    The ends of the walks, -1 for lost ones, and the number of steps of all walks.
    """
    mask, out_indptr, tails, in_indptr, in_heads = links[:5]
    end_nodes, total = np.empty(len(starts), np.int64), 0
    for row in range(len(starts)):
        end_nodes[row], steps = _run_walk(
            starts[row], damping, random, mask, out_indptr, tails, in_indptr, in_heads
        )
        total += steps + 1
    return end_nodes, total


@njit(cache=True, nogil=True, inline="always")
def _seed_node(random, seed, node):
    """Seed the random numbers of a node.

    Seed and node are mixed by splitmix64 (Steele 2014).
    """
    bits = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(node + 1)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    random[0] = bits ^ (bits >> np.uint64(31)) | np.uint64(1)


@njit(cache=True, nogil=True)
def draw_ends(damping, per_step, seed, start, end, links):
    """Return the ends of random walks from a range of nodes.

    The nodes are `start` to `end` - 1, and the ends are int32. From each node there are
    ceil(per_step x number of its steps) walks. They are ordered by their start. Lost walks end at
    -1. The random numbers of a node depend only on the seed and the node.
    """
    mask, out_indptr, tails, in_indptr, in_heads = links[:5]
    size = np.int64(0)
    for node in range(start, end):
        size += np.int64(np.ceil(per_step * _degree(node, mask, out_indptr, in_indptr)))
    ends, random, position = np.empty(size, np.int32), np.empty(1, np.uint64), 0
    for node in range(start, end):
        _seed_node(random, seed, node)
        for _ in range(np.int64(np.ceil(per_step * _degree(node, mask, out_indptr, in_indptr)))):
            ends[position], _ = _run_walk(
                node, damping, random, mask, out_indptr, tails, in_indptr, in_heads
            )
            position += 1
    return ends


@njit(cache=True, nogil=True)
def sum_ends(residual, rate, ends, per_step, start, end, links):
    """Return the mass that walks bring to each node.

    The walks start at the nodes `start` to `end` - 1. The walks are those of `draw_ends`. Each node
    shares its residual among the first ceil(residual x rate) of its walks, or among all if there
    are fewer. The sums are int64 [n], in units of 1 / `FIXED_ONE`.
    """
    mask, out_indptr, _, in_indptr, _ = links[:5]
    sums, first = np.zeros(len(residual), np.int64), np.int64(0)
    for node in range(start, end):
        drawn = np.int64(np.ceil(per_step * _degree(node, mask, out_indptr, in_indptr)))
        if residual[node] > 0.0 and drawn > 0:
            walks = min(drawn, np.int64(np.ceil(residual[node] * rate)))
            gain = np.int64(residual[node] / walks * FIXED_ONE)
            for position in range(first, first + walks):
                if ends[position] >= 0:
                    sums[ends[position]] += gain
        first += drawn
    return sums


@njit(cache=True, nogil=True)
def push_backward(table, damping, threshold, budget, links):
    """Push residuals backward until none exceeds `threshold` or `budget` edges are walked.

    The method is that of Andersen et al. 2007. Before the first call, the target has the residual
    1. Afterwards, the following holds for every node u: the PageRank of the target from u =
    estimate(u) + the sum over v of (PageRank of v from u) x residual(v). The state is in the table
    alone, so a further call continues an earlier one.

    Returns
    -------
    The largest remaining residual and 0; or, if the table is too small, 0 and the number of slots
    that it needs.
    """
    index, positions, nodes, cells, queue, state = table
    mask, out_indptr, tails, in_indptr, in_heads = links[:5]
    size, head = 0, 0
    waiting = np.empty(len(nodes), np.int64)
    for slot in range(state[SLOT_COUNT]):
        if cells[slot, RESIDUAL] > threshold:
            waiting[size] = slot
            size += 1
    while head < size and state[EDGES_WALKED] < budget:
        slot = waiting[head]
        node, mass = nodes[slot], cells[slot, RESIDUAL]
        degree = 0
        if mask & 1:
            degree += in_indptr[node + 1] - in_indptr[node]
        if mask & 2:
            degree += out_indptr[node + 1] - out_indptr[node]
        if state[SLOT_COUNT] + degree > len(nodes):
            return 0.0, np.int64(state[SLOT_COUNT] + degree)
        head += 1
        if mass <= threshold:
            continue
        state[EDGES_WALKED] += degree + 1
        cells[slot, RESIDUAL] = 0.0
        cells[slot, ESTIMATE] += (1.0 - damping) * mass
        for side in range(2):
            if not mask & (side + 1):
                continue
            indptr, neighbours = (in_indptr, in_heads) if side == 0 else (out_indptr, tails)
            for link in range(indptr[node], indptr[node + 1]):
                neighbour = np.int64(neighbours[link])
                near_slot = slot_of(
                    index, positions, nodes, cells, state, neighbour, 0.0, UNKNOWN_DEGREES
                )
                before = cells[near_slot, RESIDUAL]
                cells[near_slot, RESIDUAL] = before + damping * mass / _degree(
                    neighbour, mask, out_indptr, in_indptr
                )
                if before <= threshold < cells[near_slot, RESIDUAL]:
                    if size == len(waiting):
                        waiting = np.concatenate((waiting[head:], np.empty(size + 16, np.int64)))
                        size, head = size - head, 0
                    waiting[size] = near_slot
                    size += 1
    max_residual = 0.0
    for slot in range(state[SLOT_COUNT]):
        max_residual = max(max_residual, cells[slot, RESIDUAL])
    return max_residual, np.int64(0)
