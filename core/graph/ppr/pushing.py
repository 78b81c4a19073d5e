"""Compiled loops of the local push over a table of slots. They hold no lock on the interpreter."""

from __future__ import annotations

import numpy as np
from numba import njit

from core.graph.degrees import MANY
from core.graph.kernels import _degree
from core.graph.ppr.table import COUNT, DEGREE, ESTIMATE, HEAD, LIMIT, LOW, RESIDUAL, SEEN, SIZE, STEPS, find, home, slot_of

BATCH, ROW = 16, 16  # nodes of the queue, and steps of a node, that are read ahead
DONE, SPENT = 0, -1  # of `push`: nothing over the bar is left, or the budget is spent; more is the slots it needs


@njit(cache=True, nogil=True, inline="always")
def _count(nodes, cells, slot, way, out_indptr, in_indptr, degree_bytes):
    """The number of steps from a slot's node, looked up once, in `degree_bytes` if it is there."""
    degree = cells[slot, DEGREE]
    if degree < 0.0:
        count = np.int64(degree_bytes[nodes[slot]]) if len(degree_bytes) else MANY
        degree = np.float64(count if count < MANY else _degree(nodes[slot], way, out_indptr, in_indptr))
        cells[slot, DEGREE] = degree
    return degree


@njit(cache=True, nogil=True)
def enqueue(table, bar, slots):
    """Sets the bar, and queues, in order of first touch, every one of the first `slots` whose residual may reach it: `bar` x degree,
    or x 1 where the degree is not known yet."""
    cells, state, queue = table.cells, table.state, table.queue
    for slot in range(slots):
        limit = bar * max(1.0, cells[slot, DEGREE])
        if cells[slot, RESIDUAL] >= limit:
            queue[(state[HEAD] + state[SIZE]) & (len(queue) - 1)] = slot
            state[SIZE] += 1
            limit = np.inf
        cells[slot, LIMIT] = limit


@njit(cache=True, nogil=True, inline="always")
def _read(ends, start, stop, index, cells, degree_bytes):
    """Reads the cells and degrees of the nodes at the ends of some steps, without a branch that would wait for one of them."""
    seen, known = 0.0, len(degree_bytes) > 0
    for at in range(start, stop):
        node = np.int64(ends[at])
        seen += cells[np.int64(index[home(index, node)] & LOW), RESIDUAL]
        if known:
            seen += degree_bytes[node]
    return np.int64(seen > 0.0)


@njit(cache=True, nogil=True, inline="always")
def _share_out(ends, weights, weighted, start, stop, gain, bar, index, place, nodes, cells, state, queue, degree_bytes):
    """Adds to the residuals of the nodes at the ends of some steps; those that may reach the bar queue up."""
    ring, read = len(queue) - 1, start + ROW
    for at in range(start, stop):
        if at == read:
            read = min(at + ROW, stop)
            state[SEEN] += _read(ends, at, read, index, cells, degree_bytes)
        near = slot_of(index, place, nodes, cells, state, np.int64(ends[at]), bar, degree_bytes)
        held = cells[near, RESIDUAL] + (gain * weights[at] if weighted else gain)
        cells[near, RESIDUAL] = held
        if held >= cells[near, LIMIT]:
            queue[(state[HEAD] + state[SIZE]) & ring] = near
            state[SIZE] += 1
            cells[near, LIMIT] = np.inf


@njit(cache=True, nogil=True)
def push(table, damping, bar, budget, links):
    """Pushes the queue, first in, first out, until it is empty: `DONE`; `SPENT` at `budget` edges; or how many slots it needs.

    A push of node v moves (1 - damping) of its residual to its estimate and shares the rest among its steps, if it has at
    least `bar` x degree; with a bar of infinity what is queued is pushed and nothing else queues up. Mass at a node without
    steps is dropped: to give it back to the seeds is to scale all scores alike. The queue is taken in batches whose degrees
    and neighbours are read one after the other before the first is pushed, so that the processor waits for memory once.
    """
    index, place, nodes, cells, queue, state = table
    way, out_indptr, tails, in_indptr, in_heads, out_weights, in_weights, strength, degree_bytes = links
    ring, weighted, ahead = len(queue) - 1, len(strength) > 0, np.zeros((BATCH, 4), np.int64)
    while state[SIZE] > 0:
        batch, seen = min(state[SIZE], BATCH), 0
        for at in range(batch):
            node = nodes[queue[(state[HEAD] + at) & ring]]
            ahead[at, 0], ahead[at, 1] = out_indptr[node], out_indptr[node + 1] if way & 1 else out_indptr[node]
            ahead[at, 2], ahead[at, 3] = in_indptr[node], in_indptr[node + 1] if way & 2 else in_indptr[node]
        for at in range(batch):
            if ahead[at, 0] < ahead[at, 1]:
                seen += tails[ahead[at, 0]]
            if ahead[at, 2] < ahead[at, 3]:
                seen += in_heads[ahead[at, 2]]
        for at in range(batch):
            seen += _read(tails, ahead[at, 0], min(ahead[at, 1], ahead[at, 0] + ROW), index, cells, degree_bytes)
            seen += _read(in_heads, ahead[at, 2], min(ahead[at, 3], ahead[at, 2] + ROW), index, cells, degree_bytes)
        state[SEEN] = seen
        for at in range(batch):
            slot = queue[state[HEAD]]
            degree = ahead[at, 1] - ahead[at, 0] + ahead[at, 3] - ahead[at, 2]
            node, mass, limit = nodes[slot], cells[slot, RESIDUAL], bar * max(1, degree)
            waits = mass < limit < np.inf
            if not waits and state[STEPS] >= budget:
                return SPENT
            if not waits and state[COUNT] + degree > len(nodes):
                return np.int64(state[COUNT] + degree)
            state[HEAD] = (state[HEAD] + 1) & ring
            state[SIZE] -= 1
            cells[slot, LIMIT], cells[slot, DEGREE] = limit, degree
            if waits:
                continue
            state[STEPS] += degree + 1
            cells[slot, RESIDUAL] = 0.0
            cells[slot, ESTIMATE] += (1.0 - damping) * mass
            gain = damping * mass / (max(strength[node], 1e-300) if weighted else max(1, degree))
            if gain == 0.0:
                continue
            _share_out(
                tails, out_weights, weighted, ahead[at, 0], ahead[at, 1], gain, bar, index, place, nodes, cells, state, queue, degree_bytes
            )
            _share_out(
                in_heads,
                in_weights,
                weighted,
                ahead[at, 2],
                ahead[at, 3],
                gain,
                bar,
                index,
                place,
                nodes,
                cells,
                state,
                queue,
                degree_bytes,
            )
    return DONE


@njit(cache=True, nogil=True)
def known_scores(table, stays):
    """For each slot, what is certain and what stays of its residual: estimate + stays x residual; and all residual."""
    cells, scores, rest = table.cells, np.empty(table.state[COUNT]), 0.0
    for slot in range(len(scores)):
        scores[slot] = cells[slot, ESTIMATE] + stays * cells[slot, RESIDUAL]
        rest += cells[slot, RESIDUAL]
    return scores, rest


@njit(cache=True, nogil=True)
def add_far(table, scores, far, links):
    """Adds to each score what is expected to arrive there from afar: `far` for each step to the node."""
    nodes, cells = table.nodes, table.cells
    way, out_indptr, tails, in_indptr, in_heads, out_weights, in_weights, strength, degree_bytes = links
    if way == 3 and len(strength) == 0:
        for slot in range(len(scores)):
            degree = cells[slot, DEGREE]
            scores[slot] += far * (degree if degree >= 0.0 else _count(nodes, cells, slot, way, out_indptr, in_indptr, degree_bytes))
        return
    for slot in range(len(scores)):
        node, total = nodes[slot], 0.0
        if way == 3:
            total = strength[node]
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
def _held(ends, weights, at, far, stays, index, nodes, cells, way, out_indptr, in_indptr, strength, degree_bytes):
    """What the node at the end of a step hands on along it, before damping."""
    weight, node = (weights[at] if len(strength) else 1.0), np.int64(ends[at])
    near = find(index, node)
    if near < 0:
        return far * weight
    held = cells[near, ESTIMATE] + stays * cells[near, RESIDUAL]
    divisor = strength[node] if len(strength) else max(1.0, _count(nodes, cells, near, way, out_indptr, in_indptr, degree_bytes))
    return weight * (far + held / divisor)


@njit(cache=True, nogil=True)
def _through(small, node, damping, stays, far, returns, table, links):
    """What a node of few steps, that no walk starts at, hands on along each of them, by the equation there: (what does not come
    from `node`, the part that does for each unit of `node`'s score); both before damping."""
    index, nodes, cells = table.index, table.nodes, table.cells
    way, out_indptr, tails, in_indptr, in_heads, out_weights, in_weights, strength, degree_bytes = links
    others, own, back = 0.0, 0.0, 0.0
    for side in range(2):
        indptr, ends, weights = (out_indptr, tails, out_weights) if side == 0 else (in_indptr, in_heads, in_weights)
        for at in range(indptr[small], indptr[small + 1]):
            if ends[at] == node:
                own += 1.0
            else:
                others += _held(ends, weights, at, far, stays, index, nodes, cells, way, out_indptr, in_indptr, strength, degree_bytes)
                back += returns[degree_bytes[ends[at]]]
    slot, steps = find(index, small), degree_bytes[small]
    back *= damping * damping / steps
    pushed = cells[slot, ESTIMATE] if slot >= 0 else 0.0
    gain = 1.0 / (steps * (1.0 - back))
    return gain * (damping * others - back * pushed), gain * damping * own / max(1, degree_bytes[node])


@njit(cache=True, nogil=True)
def _read_about(slots, most, few, table, links):
    """Reads the steps of some slots of `most` steps at most and what they lead to, and so those of their neighbours of `few` steps at
    most: one after the other at each remove, so that the processor waits for memory once."""
    index, nodes, cells = table.index, table.nodes, table.cells
    way, out_indptr, tails, in_indptr, in_heads, out_weights, in_weights, strength, degree_bytes = links
    seen = np.int64(0)
    for look in range(4):
        for slot in slots:
            node = nodes[slot]
            if out_indptr[node + 1] - out_indptr[node] + in_indptr[node + 1] - in_indptr[node] > most:
                continue
            for side in range(2):
                indptr, ends = (in_indptr, in_heads) if side == 0 else (out_indptr, tails)
                start, stop = indptr[node], indptr[node + 1]
                if look == 0:
                    seen += _read(ends, start, min(stop, start + ROW), index, cells, degree_bytes)
                    continue
                for at in range(start, stop):
                    near = np.int64(ends[at])
                    if degree_bytes[near] > few:
                        continue
                    if look == 1:
                        seen += out_indptr[near] + in_indptr[near]
                        continue
                    first, last, begin, end = out_indptr[near], out_indptr[near + 1], in_indptr[near], in_indptr[near + 1]
                    if look == 2:
                        seen += np.int64(tails[first]) if first < last else 0
                        seen += np.int64(in_heads[begin]) if begin < end else 0
                    else:
                        seen += _read(tails, first, last, index, cells, degree_bytes) + _read(
                            in_heads, begin, end, index, cells, degree_bytes
                        )
        if not few:
            break
    return seen


@njit(cache=True, nogil=True)
def pull(table, slots, scores, damping, stays, far, most, returns, few, seeds, links):
    """The equation once more at some slots: damping x what their neighbours hand on, with `far` for each step from afar.

    Both ways without weights, what a slot has yet to push and its neighbours do not hold comes back from them: `returns` of the
    neighbour's degree, uint8, tells how much. A neighbour of `few` steps or fewer is computed from its own neighbours first, if it
    is none of the first `seeds` slots. Gives (scores of the slots, edges walked); a slot with more than `most` steps to it keeps
    the score it has.
    """
    index, nodes, cells = table.index, table.nodes, table.cells
    way, out_indptr, tails, in_indptr, in_heads, out_weights, in_weights, strength, degree_bytes = links
    better, walked, seen, knows = np.empty(len(slots)), 0, np.int64(0), len(degree_bytes) > 0
    for place in range(len(slots)):
        if place % BATCH == 0:
            seen += _read_about(slots[place : place + BATCH], most, few, table, links)
        node, total, own, back, steps = nodes[slots[place]], 0.0, 0.0, 0.0, 0
        if way & 1:
            steps += in_indptr[node + 1] - in_indptr[node]
        if way & 2:
            steps += out_indptr[node + 1] - out_indptr[node]
        if steps > most:
            better[place] = scores[slots[place]]
            continue
        walked += steps
        for side in range(2):
            if not way & (side + 1):
                continue
            indptr, ends, weights = (in_indptr, in_heads, in_weights) if side == 0 else (out_indptr, tails, out_weights)
            start, stop = indptr[node], indptr[node + 1]
            for at in range(start, stop):
                near = np.int64(ends[at])
                if knows and degree_bytes[near] <= few and near != node and not 0 <= find(index, near) < seeds:
                    given, mine = _through(near, node, damping, stays, far, returns, table, links)
                    total, own, walked = total + given, own + mine, walked + degree_bytes[near]
                    continue
                total += _held(ends, weights, at, far, stays, index, nodes, cells, way, out_indptr, in_indptr, strength, degree_bytes)
                if knows:
                    back += returns[degree_bytes[near]]
        back *= damping * damping / max(1, steps)
        better[place] = (damping * total - back * cells[slots[place], ESTIMATE]) / (1.0 - back - damping * own)
    table.state[SEEN] = seen
    return better, walked
