"""Compiled loops that recompute scores from the neighbours, over the table of a push."""

from __future__ import annotations

import numpy as np
from numba import njit

from core.graph.pagerank.local.push_loops import (
    PUSH_BATCH_NODES,
    READ_AHEAD_STEPS,
    count_of,
    read_ahead,
)
from core.graph.pagerank.local.table import ESTIMATE, READ_AHEAD_SUM, RESIDUAL, find_slot


@njit(cache=True, nogil=True, inline="always")
def _passed_mass(
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
    """Return the mass that a neighbour passes along a step, before damping."""
    weight, node = (weights[at] if len(strength) else 1.0), np.int64(ends[at])
    slot = find_slot(index, node)
    if slot < 0:
        return far * weight
    mass = cells[slot, ESTIMATE] + stays * cells[slot, RESIDUAL]
    if len(strength):
        divisor = strength[node]
    else:
        divisor = max(1.0, count_of(nodes, cells, slot, way, out_indptr, in_indptr, degree_bytes))
    return weight * (far + mass / divisor)


@njit(cache=True, nogil=True)
def _small_node_mass(small, node, damping, stays, far, returns, table, links):
    """Solve the equation of a node of few steps, at which no walk starts.

    Returns
    -------
    Two parts of the mass that it passes along each step, both before damping: the part that does
    not come from `node`, and the part per unit of `node`'s score.
    """
    index, nodes, cells = table.index, table.nodes, table.cells
    way, out_indptr, tails, in_indptr, in_heads, out_weights, in_weights, strength, degree_bytes = (
        links
    )
    others, own_steps, back = 0.0, 0.0, 0.0
    # Its only step is the one to `node`.
    if degree_bytes[small] == 1:
        return 0.0, damping / max(1, degree_bytes[node])
    for side in range(2):
        indptr, ends, weights = (
            (out_indptr, tails, out_weights) if side == 0 else (in_indptr, in_heads, in_weights)
        )
        for at in range(indptr[small], indptr[small + 1]):
            if ends[at] == node:
                own_steps += 1.0
            else:
                others += _passed_mass(
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
    slot, steps = find_slot(index, small), degree_bytes[small]
    back *= damping * damping / steps
    pushed = cells[slot, ESTIMATE] if slot >= 0 else 0.0
    gain = 1.0 / (steps * (1.0 - back))
    return gain * (damping * others - back * pushed), gain * damping * own_steps / max(
        1, degree_bytes[node]
    )


@njit(cache=True, nogil=True)
def _read_neighbours_ahead(slots, most, few, table, links):
    """Read the steps of some slots and of their small neighbours ahead.

    The neighbours are those of at most `few` steps. Only slots of at most `most` steps count. All
    values of one distance are read one after the other, so the processor waits for the memory only
    once per distance.
    """
    index, nodes, cells = table.index, table.nodes, table.cells
    way, out_indptr, tails, in_indptr, in_heads, out_weights, in_weights, strength, degree_bytes = (
        links
    )
    seen = np.int64(0)
    for slot in slots:
        seen += out_indptr[nodes[slot]] + in_indptr[nodes[slot]]
    # Without degrees, the neighbours of few steps are not known.
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
                    for at in range(start, stop, READ_AHEAD_STEPS):
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
                    first = out_indptr[near]
                    last = out_indptr[near + 1]
                    begin = in_indptr[near]
                    end = in_indptr[near + 1]
                    if look == 3:
                        seen += np.int64(tails[first]) if first < last else 0
                        seen += np.int64(in_heads[begin]) if begin < end else 0
                    else:
                        seen += read_ahead(
                            tails, first, last, index, cells, degree_bytes
                        ) + read_ahead(in_heads, begin, end, index, cells, degree_bytes)
    return seen


@njit(cache=True, nogil=True)
def recompute_scores(table, slots, scores, damping, stays, far, most, returns, few, seeds, links):
    """Recompute some scores: damping x the mass that their neighbours pass to them.

    `far` is added for each step from far away. In both directions without weights, mass that a slot
    has yet to push, and that its neighbours do not have yet, comes back from them. `returns` gives
    the amount by the neighbour's degree (uint8). A neighbour of at most `few` steps is first
    computed from its own neighbours, unless it is one of the first `seeds` slots. A slot with more
    than `most` steps to it keeps its score.

    Returns
    -------
    The scores of the slots, and the number of edges walked.
    """
    index, nodes, cells = table.index, table.nodes, table.cells
    way, out_indptr, tails, in_indptr, in_heads, out_weights, in_weights, strength, degree_bytes = (
        links
    )
    new_scores, walked, seen, knows = np.empty(len(slots)), 0, np.int64(0), len(degree_bytes) > 0
    for row in range(len(slots)):
        if row % PUSH_BATCH_NODES == 0:
            seen += _read_neighbours_ahead(
                slots[row : row + PUSH_BATCH_NODES], most, few, table, links
            )
        node, total, own, back, steps = nodes[slots[row]], 0.0, 0.0, 0.0, 0
        if way & 1:
            steps += in_indptr[node + 1] - in_indptr[node]
        if way & 2:
            steps += out_indptr[node + 1] - out_indptr[node]
        if steps > most:
            new_scores[row] = scores[slots[row]]
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
                    and not 0 <= find_slot(index, near) < seeds
                ):
                    others_mass, own_share = _small_node_mass(
                        near, node, damping, stays, far, returns, table, links
                    )
                    total, own, walked = (
                        total + others_mass,
                        own + own_share,
                        walked + degree_bytes[near],
                    )
                    continue
                total += _passed_mass(
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
        new_scores[row] = (damping * total - back * cells[slots[row], ESTIMATE]) / (
            1.0 - back - damping * own
        )
    table.state[READ_AHEAD_SUM] = seen
    return new_scores, walked
