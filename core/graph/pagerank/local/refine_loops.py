"""Compiled loops that recompute scores from the neighbours.

They run over the slot table of a push. `core.graph.pagerank.local.extrapolate` explains the far
mass, the staying share and the returned mass. `returned` is the returned mass by the degree of the
neighbour.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from core.graph.pagerank.local.push_loops import (
    PUSH_BATCH_NODES,
    READ_AHEAD_STEPS,
    get_degree,
    read_ahead,
)
from core.graph.pagerank.local.table import ESTIMATE, READ_AHEAD_SUM, RESIDUAL, find_slot


@njit(cache=True, nogil=True, inline="always")
def _passed_mass(
    neighbours,
    weights,
    link,
    far_mass,
    staying_share,
    index,
    nodes,
    cells,
    mask,
    out_indptr,
    in_indptr,
    strength,
    degree_bytes,
):
    """Return the mass that a neighbour passes along a step, before damping.

    `link` is the position of the neighbour in `neighbours`.
    """
    weight, node = (weights[link] if len(strength) else 1.0), np.int64(neighbours[link])
    slot = find_slot(index, node)
    if slot < 0:
        return far_mass * weight
    mass = cells[slot, ESTIMATE] + staying_share * cells[slot, RESIDUAL]
    if len(strength):
        divisor = strength[node]
    else:
        divisor = max(
            1.0, get_degree(nodes, cells, slot, mask, out_indptr, in_indptr, degree_bytes)
        )
    return weight * (far_mass + mass / divisor)


@njit(cache=True, nogil=True)
def _small_node_mass(small, node, damping, staying_share, far_mass, returned, table, links):
    """Solve the equation of `small`, a small neighbour of `node`.

    `small` is not a seed.

    Returns
    -------
    Two parts of the mass that `small` passes along each step, before damping: the part that does
    not come from `node`, and the part that does, per unit of the score of `node`.
    """
    index, nodes, cells = table.index, table.nodes, table.cells
    mask, out_indptr, tails, in_indptr, in_heads = links[:5]
    out_weights, in_weights, strength, degree_bytes = links[5:]
    others, own_steps, return_share = 0.0, 0.0, 0.0
    if degree_bytes[small] == 1:  # its only step leads to `node`
        return 0.0, damping / max(1, degree_bytes[node])
    for side in range(2):
        indptr, neighbours, weights = (
            (out_indptr, tails, out_weights) if side == 0 else (in_indptr, in_heads, in_weights)
        )
        for link in range(indptr[small], indptr[small + 1]):
            if neighbours[link] == node:
                own_steps += 1.0
            else:
                others += _passed_mass(
                    neighbours,
                    weights,
                    link,
                    far_mass,
                    staying_share,
                    index,
                    nodes,
                    cells,
                    mask,
                    out_indptr,
                    in_indptr,
                    strength,
                    degree_bytes,
                )
                return_share += returned[degree_bytes[neighbours[link]]]
    slot, steps = find_slot(index, small), degree_bytes[small]
    return_share *= damping * damping / steps
    estimate = cells[slot, ESTIMATE] if slot >= 0 else 0.0
    gain = 1.0 / (steps * (1.0 - return_share))
    own_share = gain * damping * own_steps / max(1, degree_bytes[node])
    return gain * (damping * others - return_share * estimate), own_share


@njit(cache=True, nogil=True)
def _read_neighbours_ahead(slots, max_steps, few, table, links):
    """Read the steps of some slots into the processor's cache.

    The steps of their small neighbours are read, too. Small neighbours have at most `few` steps.
    Slots of more than `max_steps` steps are skipped. The values are read in stages, so the
    processor waits for the memory only once per stage: the neighbours of the slots, the cells of
    these neighbours, then the offsets, neighbours and cells of the small ones. The result has no
    meaning; it is used so that the compiler does not remove the loop.
    """
    index, nodes, cells = table.index, table.nodes, table.cells
    mask, out_indptr, tails, in_indptr, in_heads = links[:5]
    out_weights, in_weights, strength, degree_bytes = links[5:]
    read_sum = np.int64(0)
    for slot in slots:
        read_sum += out_indptr[nodes[slot]] + in_indptr[nodes[slot]]
    # Without degrees, the small neighbours are not known.
    for stage in range(5 if few and len(degree_bytes) else 2):
        for slot in slots:
            node = nodes[slot]
            n_out, n_in = (
                out_indptr[node + 1] - out_indptr[node],
                in_indptr[node + 1] - in_indptr[node],
            )
            if n_out + n_in > max_steps:
                continue
            for side in range(2):
                indptr, neighbours = (in_indptr, in_heads) if side == 0 else (out_indptr, tails)
                start, stop = indptr[node], indptr[node + 1]
                if stage == 0:
                    for link in range(start, stop, READ_AHEAD_STEPS):
                        read_sum += np.int64(neighbours[link])
                    continue
                if stage == 1:
                    read_sum += read_ahead(neighbours, start, stop, index, cells, degree_bytes)
                    continue
                for link in range(start, stop):
                    neighbour = np.int64(neighbours[link])
                    if not 1 < degree_bytes[neighbour] <= few:
                        continue
                    if stage == 2:
                        read_sum += out_indptr[neighbour] + in_indptr[neighbour]
                        continue
                    first = out_indptr[neighbour]
                    last = out_indptr[neighbour + 1]
                    begin = in_indptr[neighbour]
                    end = in_indptr[neighbour + 1]
                    if stage == 3:
                        read_sum += np.int64(tails[first]) if first < last else 0
                        read_sum += np.int64(in_heads[begin]) if begin < end else 0
                    else:
                        read_sum += read_ahead(tails, first, last, index, cells, degree_bytes)
                        read_sum += read_ahead(in_heads, begin, end, index, cells, degree_bytes)
    return read_sum


@njit(cache=True, nogil=True)
def recompute_scores(
    table, slots, scores, damping, staying_share, far_mass, max_steps, returned, few, n_seeds, links
):
    """Recompute some scores: damping x the mass that the neighbours of a node pass to it.

    `far_mass` is added for each step. If steps go in both directions without weights, a part of a
    slot's mass that was not pushed yet will come back from its neighbours; `returned` gives this
    part by the neighbour's degree. A neighbour of at most `few` steps is first computed
    from its own neighbours, unless it is one of the first `n_seeds` slots. A slot with more than
    `max_steps` steps to it is not changed.

    Returns
    -------
    The scores of the slots, and the number of edges walked.
    """
    index, nodes, cells = table.index, table.nodes, table.cells
    mask, out_indptr, tails, in_indptr, in_heads = links[:5]
    out_weights, in_weights, strength, degree_bytes = links[5:]
    result, edges, read_sum = np.empty(len(slots)), 0, np.int64(0)
    has_degrees = len(degree_bytes) > 0
    for row in range(len(slots)):
        if row % PUSH_BATCH_NODES == 0:
            read_sum += _read_neighbours_ahead(
                slots[row : row + PUSH_BATCH_NODES], max_steps, few, table, links
            )
        node, total, own_total, return_share, steps = nodes[slots[row]], 0.0, 0.0, 0.0, 0
        if mask & 1:
            steps += in_indptr[node + 1] - in_indptr[node]
        if mask & 2:
            steps += out_indptr[node + 1] - out_indptr[node]
        if steps > max_steps:
            result[row] = scores[slots[row]]
            continue
        edges += steps
        for side in range(2):
            if not mask & (side + 1):
                continue
            indptr, neighbours, weights = (
                (in_indptr, in_heads, in_weights) if side == 0 else (out_indptr, tails, out_weights)
            )
            start, stop = indptr[node], indptr[node + 1]
            for link in range(start, stop):
                neighbour = np.int64(neighbours[link])
                if (
                    has_degrees
                    and degree_bytes[neighbour] <= few
                    and neighbour != node
                    and not 0 <= find_slot(index, neighbour) < n_seeds
                ):
                    others_mass, own_share = _small_node_mass(
                        neighbour, node, damping, staying_share, far_mass, returned, table, links
                    )
                    total += others_mass
                    own_total += own_share
                    edges += degree_bytes[neighbour]
                    continue
                total += _passed_mass(
                    neighbours,
                    weights,
                    link,
                    far_mass,
                    staying_share,
                    index,
                    nodes,
                    cells,
                    mask,
                    out_indptr,
                    in_indptr,
                    strength,
                    degree_bytes,
                )
                if has_degrees:
                    return_share += returned[degree_bytes[neighbour]]
        return_share *= damping * damping / max(1, steps)
        result[row] = (damping * total - return_share * cells[slots[row], ESTIMATE]) / (
            1.0 - return_share - damping * own_total
        )
    table.state[READ_AHEAD_SUM] = read_sum
    return result, edges
