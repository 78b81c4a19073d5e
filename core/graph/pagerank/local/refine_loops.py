"""Compiled loops that compute scores once more from what the neighbours hand on, over the table of a push."""

from __future__ import annotations

import numpy as np
from numba import njit

from core.graph.pagerank.local.push_loops import BATCH, ROW, count_of, read_ahead
from core.graph.pagerank.local.table import ESTIMATE, RESIDUAL, SEEN, find


@njit(cache=True, nogil=True, inline="always")
def _held(
    ends,
    weights,
    at,
    far,
    stays,
    index,
    nodes,
    cells,
    way,
    out_indptr,
    in_indptr,
    strength,
    degree_bytes,
):
    """What the node at the end of a step hands on along it, before damping."""
    weight, node = (weights[at] if len(strength) else 1.0), np.int64(ends[at])
    near = find(index, node)
    if near < 0:
        return far * weight
    held = cells[near, ESTIMATE] + stays * cells[near, RESIDUAL]
    if len(strength):
        divisor = strength[node]
    else:
        divisor = max(1.0, count_of(nodes, cells, near, way, out_indptr, in_indptr, degree_bytes))
    return weight * (far + held / divisor)


@njit(cache=True, nogil=True)
def _through(small, node, damping, stays, far, returns, table, links):
    """What a node of few steps, that no walk starts at, hands on along each of them, by the equation there: (what does not come
    from `node`, the part that does for each unit of `node`'s score); both before damping."""
    index, nodes, cells = table.index, table.nodes, table.cells
    way, out_indptr, tails, in_indptr, in_heads, out_weights, in_weights, strength, degree_bytes = (
        links
    )
    others, own, back = 0.0, 0.0, 0.0
    if degree_bytes[small] == 1:  # whose step is the one to `node`
        return 0.0, damping / max(1, degree_bytes[node])
    for side in range(2):
        indptr, ends, weights = (
            (out_indptr, tails, out_weights) if side == 0 else (in_indptr, in_heads, in_weights)
        )
        for at in range(indptr[small], indptr[small + 1]):
            if ends[at] == node:
                own += 1.0
            else:
                others += _held(
                    ends,
                    weights,
                    at,
                    far,
                    stays,
                    index,
                    nodes,
                    cells,
                    way,
                    out_indptr,
                    in_indptr,
                    strength,
                    degree_bytes,
                )
                back += returns[degree_bytes[ends[at]]]
    slot, steps = find(index, small), degree_bytes[small]
    back *= damping * damping / steps
    pushed = cells[slot, ESTIMATE] if slot >= 0 else 0.0
    gain = 1.0 / (steps * (1.0 - back))
    return gain * (damping * others - back * pushed), gain * damping * own / max(
        1, degree_bytes[node]
    )


@njit(cache=True, nogil=True)
def _read_about(slots, most, few, table, links):
    """Reads the steps of some slots of `most` steps at most and what they lead to, and so those of their neighbours of `few` steps at
    most: one after the other at each remove, so that the processor waits for memory once."""
    index, nodes, cells = table.index, table.nodes, table.cells
    way, out_indptr, tails, in_indptr, in_heads, out_weights, in_weights, strength, degree_bytes = (
        links
    )
    seen = np.int64(0)
    for slot in slots:
        seen += out_indptr[nodes[slot]] + in_indptr[nodes[slot]]
    # without degrees nobody knows who has few steps
    for look in range(5 if few and len(degree_bytes) else 2):
        for slot in slots:
            node = nodes[slot]
            if (
                out_indptr[node + 1] - out_indptr[node] + in_indptr[node + 1] - in_indptr[node]
                > most
            ):
                continue
            for side in range(2):
                indptr, ends = (in_indptr, in_heads) if side == 0 else (out_indptr, tails)
                start, stop = indptr[node], indptr[node + 1]
                if look == 0:
                    for at in range(start, stop, ROW):
                        seen += np.int64(ends[at])
                    continue
                if look == 1:
                    seen += read_ahead(ends, start, stop, index, cells, degree_bytes)
                    continue
                for at in range(start, stop):
                    near = np.int64(ends[at])
                    if not 1 < degree_bytes[near] <= few:
                        continue
                    if look == 2:
                        seen += out_indptr[near] + in_indptr[near]
                        continue
                    first, last, begin, end = (
                        out_indptr[near],
                        out_indptr[near + 1],
                        in_indptr[near],
                        in_indptr[near + 1],
                    )
                    if look == 3:
                        seen += np.int64(tails[first]) if first < last else 0
                        seen += np.int64(in_heads[begin]) if begin < end else 0
                    else:
                        seen += read_ahead(
                            tails, first, last, index, cells, degree_bytes
                        ) + read_ahead(in_heads, begin, end, index, cells, degree_bytes)
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
    way, out_indptr, tails, in_indptr, in_heads, out_weights, in_weights, strength, degree_bytes = (
        links
    )
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
            indptr, ends, weights = (
                (in_indptr, in_heads, in_weights) if side == 0 else (out_indptr, tails, out_weights)
            )
            start, stop = indptr[node], indptr[node + 1]
            for at in range(start, stop):
                near = np.int64(ends[at])
                if (
                    knows
                    and degree_bytes[near] <= few
                    and near != node
                    and not 0 <= find(index, near) < seeds
                ):
                    given, mine = _through(near, node, damping, stays, far, returns, table, links)
                    total, own, walked = total + given, own + mine, walked + degree_bytes[near]
                    continue
                total += _held(
                    ends,
                    weights,
                    at,
                    far,
                    stays,
                    index,
                    nodes,
                    cells,
                    way,
                    out_indptr,
                    in_indptr,
                    strength,
                    degree_bytes,
                )
                if knows:
                    back += returns[degree_bytes[near]]
        back *= damping * damping / max(1, steps)
        better[place] = (damping * total - back * cells[slots[place], ESTIMATE]) / (
            1.0 - back - damping * own
        )
    table.state[SEEN] = seen
    return better, walked
