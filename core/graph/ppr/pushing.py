"""Compiled loops of the local push over a table of slots. They hold no lock on the interpreter."""

from __future__ import annotations

import numpy as np
from numba import njit

from core.graph.kernels import _degree
from core.graph.ppr.table import COUNT, DEGREE, ESTIMATE, HEAD, LIMIT, RESIDUAL, SIZE, STEPS, find, slot_of

DONE, SPENT = 0, -1  # of `push`: nothing over the bar is left, or the budget is spent; more is the slots it needs


@njit(cache=True, nogil=True, inline="always")
def _count(nodes, cells, slot, way, out_indptr, in_indptr):
    """The number of steps from a slot's node, looked up once."""
    degree = cells[slot, DEGREE]
    if degree < 0.0:
        degree = np.float64(_degree(nodes[slot], way, out_indptr, in_indptr))
        cells[slot, DEGREE] = degree
    return degree


@njit(cache=True, nogil=True)
def enqueue(table, bar, force, links):
    """Sets the bar, and queues, in order of first touch, every slot whose residual reaches it; with `force`, every slot."""
    nodes, cells, state, queue = table.nodes, table.cells, table.state, table.queue
    way, out_indptr, in_indptr = links.way, links.out_indptr, links.in_indptr
    for slot in range(state[COUNT]):
        mass, limit = cells[slot, RESIDUAL], bar
        if force or mass >= bar or cells[slot, DEGREE] >= 0.0:
            limit = bar * max(1.0, _count(nodes, cells, slot, way, out_indptr, in_indptr))
        if force or mass >= limit:
            queue[(state[HEAD] + state[SIZE]) & (len(queue) - 1)] = slot
            state[SIZE] += 1
            limit = np.inf
        cells[slot, LIMIT] = limit


@njit(cache=True, nogil=True, inline="always")
def _share_out(ends, weights, weighted, start, stop, gain, bar, index, place, nodes, cells, state, queue, way, out_indptr, in_indptr):
    """Adds to the residuals of the nodes at the ends of some steps; those that reach the bar queue up."""
    ring = len(queue) - 1
    for at in range(start, stop):
        near = slot_of(index, place, nodes, cells, state, np.int64(ends[at]), bar)
        held = cells[near, RESIDUAL] + (gain * weights[at] if weighted else gain)
        cells[near, RESIDUAL] = held
        if held >= cells[near, LIMIT]:
            limit = bar * max(1.0, _count(nodes, cells, near, way, out_indptr, in_indptr))
            if held >= limit:
                queue[(state[HEAD] + state[SIZE]) & ring] = near
                state[SIZE] += 1
                limit = np.inf
            cells[near, LIMIT] = limit


@njit(cache=True, nogil=True)
def push(table, damping, bar, budget, links):
    """Pushes the queue, first in, first out, until it is empty: `DONE`; `SPENT` at `budget` edges; or how many slots it needs.

    A push of node v moves (1 - damping) of its residual to its estimate and shares the rest among its steps. What reaches
    `bar` x degree queues up. Mass at a node without steps is dropped: to give it back to the seeds is to scale all scores
    alike.
    """
    index, place, nodes, cells, queue, state = table
    way, out_indptr, tails, in_indptr, in_heads, out_weights, in_weights, strength = links
    ring, weighted = len(queue) - 1, len(strength) > 0
    while state[SIZE] > 0:
        if state[STEPS] >= budget:
            return SPENT
        slot = queue[state[HEAD]]
        node, mass, degree = nodes[slot], cells[slot, RESIDUAL], cells[slot, DEGREE]
        if state[COUNT] + degree > len(nodes):
            return np.int64(state[COUNT] + degree)
        state[HEAD] = (state[HEAD] + 1) & ring
        state[SIZE] -= 1
        state[STEPS] += np.int64(degree) + 1
        cells[slot, RESIDUAL], cells[slot, LIMIT] = 0.0, bar * max(1.0, degree)
        cells[slot, ESTIMATE] += (1.0 - damping) * mass
        gain = damping * mass / (max(strength[node], 1e-300) if weighted else max(1.0, degree))
        if gain == 0.0:
            continue
        if way & 1:
            start, stop = out_indptr[node], out_indptr[node + 1]
            _share_out(
                tails, out_weights, weighted, start, stop, gain, bar, index, place, nodes, cells, state, queue, way, out_indptr, in_indptr
            )
        if way & 2:
            start, stop = in_indptr[node], in_indptr[node + 1]
            _share_out(
                in_heads, in_weights, weighted, start, stop, gain, bar, index, place, nodes, cells, state, queue, way, out_indptr, in_indptr
            )
    return DONE


@njit(cache=True, nogil=True)
def known_scores(table, restart):
    """For each slot, what is certain and what stays of its residual: estimate + restart x residual; and all residual."""
    cells, scores, rest = table.cells, np.empty(table.state[COUNT]), 0.0
    for slot in range(len(scores)):
        scores[slot] = cells[slot, ESTIMATE] + restart * cells[slot, RESIDUAL]
        rest += cells[slot, RESIDUAL]
    return scores, rest


@njit(cache=True, nogil=True)
def add_far(table, scores, far, links):
    """Adds to each score what is expected to arrive there from afar: `far` for each step to the node."""
    nodes, cells = table.nodes, table.cells
    way, out_indptr, tails, in_indptr, in_heads, out_weights, in_weights, strength = links
    for slot in range(len(scores)):
        node, total = nodes[slot], 0.0
        if way == 3:
            total = strength[node] if len(strength) else _count(nodes, cells, slot, way, out_indptr, in_indptr)
        elif len(strength) == 0:
            total = in_indptr[node + 1] - in_indptr[node] if way == 1 else out_indptr[node + 1] - out_indptr[node]
        elif way == 1:
            for at in range(in_indptr[node], in_indptr[node + 1]):
                total += in_weights[at]
        else:
            for at in range(out_indptr[node], out_indptr[node + 1]):
                total += out_weights[at]
        scores[slot] += far * total


@njit(cache=True, nogil=True, inline="always")
def _handed(ends, weights, start, stop, far, restart, index, nodes, cells, way, out_indptr, in_indptr, strength):
    """What the nodes at the ends of some steps hand on along them, before damping."""
    total, weighted = 0.0, len(strength) > 0
    for at in range(start, stop):
        weight, node = (weights[at] if weighted else 1.0), np.int64(ends[at])
        total += far * weight
        near = find(index, node)
        if near >= 0:
            held = cells[near, ESTIMATE] + restart * cells[near, RESIDUAL]
            divisor = strength[node] if weighted else max(1.0, _count(nodes, cells, near, way, out_indptr, in_indptr))
            total += weight * held / divisor
    return total


@njit(cache=True, nogil=True)
def pull(table, slots, scores, damping, far, most, links):
    """The equation once more at some slots: damping x what their neighbours hand on, with `far` for each step from afar.

    Gives (scores of the slots, edges walked); a slot with more than `most` steps to it keeps the score it has.
    """
    index, nodes, cells = table.index, table.nodes, table.cells
    way, out_indptr, tails, in_indptr, in_heads, out_weights, in_weights, strength = links
    better, walked, restart = np.empty(len(slots)), 0, 1.0 - damping
    for place in range(len(slots)):
        node, total, steps = nodes[slots[place]], 0.0, 0
        if way & 1:
            steps += in_indptr[node + 1] - in_indptr[node]
        if way & 2:
            steps += out_indptr[node + 1] - out_indptr[node]
        if steps > most:
            better[place] = scores[slots[place]]
            continue
        walked += steps
        if way & 1:
            start, stop = in_indptr[node], in_indptr[node + 1]
            total += _handed(in_heads, in_weights, start, stop, far, restart, index, nodes, cells, way, out_indptr, in_indptr, strength)
        if way & 2:
            start, stop = out_indptr[node], out_indptr[node + 1]
            total += _handed(tails, out_weights, start, stop, far, restart, index, nodes, cells, way, out_indptr, in_indptr, strength)
        better[place] = damping * total
    return better, walked
