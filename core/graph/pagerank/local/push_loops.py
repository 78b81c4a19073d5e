"""Compiled loops of the local push over a table of slots.

They release Python's global lock.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from core.graph.degrees import DEGREE_BYTE_CAP
from core.graph.kernels import _degree
from core.graph.pagerank.local.table import (
    CELL_DEGREE,
    EDGES_WALKED,
    ESTIMATE,
    LOW_32_BITS,
    QUEUE_HEAD,
    QUEUE_LIMIT,
    QUEUE_SIZE,
    READ_AHEAD_SUM,
    RESIDUAL,
    SLOT_COUNT,
    home,
    slot_of,
)

# Number of queued nodes, and of steps of a node, that are read into the processor's cache together.
PUSH_BATCH_NODES, READ_AHEAD_STEPS = 16, 16
# Return values of `push_queue`: no node is queued, or the budget is spent. A positive value is the
# number of slots that the table needs.
QUEUE_EMPTY, BUDGET_SPENT = (0, -1)


@njit(cache=True, nogil=True, inline="always")
def get_degree(nodes, cells, slot, mask, out_indptr, in_indptr, degree_bytes):
    """Return the number of steps from the node of a slot.

    The number is stored in the slot.
    """
    degree = cells[slot, CELL_DEGREE]
    if degree < 0.0:
        count = np.int64(degree_bytes[nodes[slot]]) if len(degree_bytes) else DEGREE_BYTE_CAP
        degree = np.float64(
            count if count < DEGREE_BYTE_CAP else _degree(nodes[slot], mask, out_indptr, in_indptr)
        )
        cells[slot, CELL_DEGREE] = degree
    return degree


@njit(cache=True, nogil=True)
def enqueue(table, threshold, slots):
    """Set the threshold, and queue slots whose residual may reach it.

    Only the first `slots` slots are considered, in the order of their first visit. The
    limit of a slot is `threshold` x its degree. If the degree was not looked up yet, the least
    possible degree is used.
    """
    cells, state, queue = table.cells, table.state, table.queue
    for slot in range(slots):
        limit = threshold * max(1.0, abs(cells[slot, CELL_DEGREE]))
        if cells[slot, RESIDUAL] >= limit:
            queue[(state[QUEUE_HEAD] + state[QUEUE_SIZE]) & (len(queue) - 1)] = slot
            state[QUEUE_SIZE] += 1
            limit = np.inf
        cells[slot, QUEUE_LIMIT] = limit


@njit(cache=True, nogil=True, inline="always")
def read_ahead(neighbours, start, stop, index, cells, degree_bytes):
    """Read the ends of some steps into the processor's cache.

    Their cells and degrees are read. No branch depends on a value, so the processor does not wait
    for the values. The result has no meaning; it is used so that the compiler does not remove the
    loop.
    """
    read_sum, has_degrees = 0.0, len(degree_bytes) > 0
    for link in range(start, stop):
        node = np.int64(neighbours[link])
        read_sum += cells[np.int64(index[home(index, node)] & LOW_32_BITS), RESIDUAL]
        if has_degrees:
            read_sum += degree_bytes[node]
    return np.int64(read_sum > 0.0)


@njit(cache=True, nogil=True, inline="always")
def _share_out(
    neighbours,
    weights,
    has_weights,
    start,
    stop,
    gain,
    threshold,
    index,
    positions,
    nodes,
    cells,
    state,
    queue,
    degree_bytes,
):
    """Add `gain` to the residuals of the ends of some steps.

    The steps are those from `start` to below `stop`. Nodes that may reach the threshold are queued.
    With weights, each gain is multiplied by the weight of its step.
    """
    ring, read = len(queue) - 1, start + READ_AHEAD_STEPS
    for link in range(start, stop):
        if link == read:
            read = min(link + READ_AHEAD_STEPS, stop)
            state[READ_AHEAD_SUM] += read_ahead(neighbours, link, read, index, cells, degree_bytes)
        node = np.int64(neighbours[link])
        slot = slot_of(index, positions, nodes, cells, state, node, threshold, degree_bytes)
        residual = cells[slot, RESIDUAL] + (gain * weights[link] if has_weights else gain)
        cells[slot, RESIDUAL] = residual
        if residual >= cells[slot, QUEUE_LIMIT]:
            queue[(state[QUEUE_HEAD] + state[QUEUE_SIZE]) & ring] = slot
            state[QUEUE_SIZE] += 1
            cells[slot, QUEUE_LIMIT] = np.inf


@njit(cache=True, nogil=True)
def push_queue(table, damping, threshold, budget, links):
    """Push the nodes of the queue, first in, first out, until it is empty.

    A push of node v moves (1 - damping) of its residual to its estimate and shares the rest among
    its steps. Only nodes with a residual of at least `threshold` x degree are pushed. If the
    threshold is infinite, the queued nodes are pushed and no others are queued. Mass at a node
    without steps is dropped; returning it to the seeds would only multiply all scores by the same
    number. The queue is processed in batches. The degrees and neighbours of a batch are read before
    its first node is pushed, so the processor waits for the memory only once per batch.

    Returns
    -------
    `QUEUE_EMPTY`, or `BUDGET_SPENT` after `budget` edges, or the number of slots that the table
    needs.
    """
    index, positions, nodes, cells, queue, state = table
    mask, out_indptr, tails, in_indptr, in_heads = links[:5]
    out_weights, in_weights, strength, degree_bytes = links[5:]
    ring = len(queue) - 1
    has_weights = len(strength) > 0
    # Of each node of a batch: start and end of its out-steps, start and end of its in-steps.
    ranges = np.zeros((PUSH_BATCH_NODES, 4), np.int64)
    while state[QUEUE_SIZE] > 0:
        batch, read_sum = min(state[QUEUE_SIZE], PUSH_BATCH_NODES), 0
        for row in range(batch):
            node = nodes[queue[(state[QUEUE_HEAD] + row) & ring]]
            ranges[row, 0] = out_indptr[node]
            ranges[row, 1] = out_indptr[node + 1] if mask & 1 else out_indptr[node]
            ranges[row, 2] = in_indptr[node]
            ranges[row, 3] = in_indptr[node + 1] if mask & 2 else in_indptr[node]
        for row in range(batch):
            if ranges[row, 0] < ranges[row, 1]:
                read_sum += tails[ranges[row, 0]]
            if ranges[row, 2] < ranges[row, 3]:
                read_sum += in_heads[ranges[row, 2]]
        for row in range(batch):
            read_sum += read_ahead(
                tails,
                ranges[row, 0],
                min(ranges[row, 1], ranges[row, 0] + READ_AHEAD_STEPS),
                index,
                cells,
                degree_bytes,
            )
            read_sum += read_ahead(
                in_heads,
                ranges[row, 2],
                min(ranges[row, 3], ranges[row, 2] + READ_AHEAD_STEPS),
                index,
                cells,
                degree_bytes,
            )
        state[READ_AHEAD_SUM] = read_sum
        for row in range(batch):
            slot = queue[state[QUEUE_HEAD]]
            degree = ranges[row, 1] - ranges[row, 0] + ranges[row, 3] - ranges[row, 2]
            node, mass, limit = nodes[slot], cells[slot, RESIDUAL], threshold * max(1, degree)
            is_below = mass < limit < np.inf  # its degree was larger than the least possible one
            if not is_below and state[EDGES_WALKED] >= budget:
                return BUDGET_SPENT
            if not is_below and state[SLOT_COUNT] + degree > len(nodes):
                return np.int64(state[SLOT_COUNT] + degree)
            state[QUEUE_HEAD] = (state[QUEUE_HEAD] + 1) & ring
            state[QUEUE_SIZE] -= 1
            cells[slot, QUEUE_LIMIT], cells[slot, CELL_DEGREE] = limit, degree
            if is_below:
                continue
            state[EDGES_WALKED] += degree + 1
            cells[slot, RESIDUAL] = 0.0
            cells[slot, ESTIMATE] += (1.0 - damping) * mass
            gain = damping * mass / (max(strength[node], 1e-300) if has_weights else max(1, degree))
            if gain == 0.0:
                continue
            _share_out(
                tails,
                out_weights,
                has_weights,
                ranges[row, 0],
                ranges[row, 1],
                gain,
                threshold,
                index,
                positions,
                nodes,
                cells,
                state,
                queue,
                degree_bytes,
            )
            _share_out(
                in_heads,
                in_weights,
                has_weights,
                ranges[row, 2],
                ranges[row, 3],
                gain,
                threshold,
                index,
                positions,
                nodes,
                cells,
                state,
                queue,
                degree_bytes,
            )
    return QUEUE_EMPTY


@njit(cache=True, nogil=True)
def known_scores(table, staying_share):
    """Return estimate + staying_share x residual of each slot.

    The sum of all residuals is returned, too.
    """
    cells, scores, residual_sum = table.cells, np.empty(table.state[SLOT_COUNT]), 0.0
    for slot in range(len(scores)):
        scores[slot] = cells[slot, ESTIMATE] + staying_share * cells[slot, RESIDUAL]
        residual_sum += cells[slot, RESIDUAL]
    return scores, residual_sum


@njit(cache=True, nogil=True)
def add_far_mass(table, scores, far_mass, links):
    """Add `far_mass` to each score for each step that leads to the node."""
    nodes, cells = table.nodes, table.cells
    mask, out_indptr, tails, in_indptr, in_heads = links[:5]
    out_weights, in_weights, strength, degree_bytes = links[5:]
    if mask == 3 and len(strength) == 0:
        for slot in range(len(scores)):
            scores[slot] += far_mass * get_degree(
                nodes, cells, slot, mask, out_indptr, in_indptr, degree_bytes
            )
        return
    for slot in range(len(scores)):
        node, total = nodes[slot], 0.0
        if mask == 3:
            total = strength[node]
        elif len(strength) == 0:
            if mask == 1:
                total = in_indptr[node + 1] - in_indptr[node]
            else:
                total = out_indptr[node + 1] - out_indptr[node]
        elif mask == 1:
            for link in range(in_indptr[node], in_indptr[node + 1]):
                total += in_weights[link]
        else:
            for link in range(out_indptr[node], out_indptr[node + 1]):
                total += out_weights[link]
        scores[slot] += far_mass * total
