"""Compiled loops of the PageRank relaxation.

They arrange a graph, run half-sweeps and choose the best nodes. They release Python's global lock.
The adjacency of a graph is (out_indptr, tails, in_indptr, in_heads). The rows of a `SweepLayout`
are (indptr, near), with both directions merged, by place.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from core.graph.order import ROUNDED_BITS

# Largest number of half-sweeps that push, which are the first ones.
MAX_PUSHED_SWEEPS = 4
# Divisor of the number of links; a half-sweep pushes only if it then walks fewer links.
PUSHED_LINK_DIVISOR = 16
# Shift that drops all but 6 bits of a score's fraction, which gives 64 bins per power of two.
BIN_SHIFT = 46
# The first bin holds all scores below 2^-64.
FIRST_BIN, BIN_COUNT = ((1023 - 64) << (52 - BIN_SHIFT), 66 << (52 - BIN_SHIFT))
HALF_ROUNDING = 1 << (ROUNDED_BITS - 1)  # half of the last bit that rounding leaves


@njit(cache=True, nogil=True)
def colour_nodes(order, out_indptr, tails, in_indptr, in_heads):
    """Colour every node 0 or 1, with few links within a colour.

    The search is breadth-first from each node of `order`. A node gets the colour that is rarer
    among its neighbours.
    """
    colour = np.full(len(order), -1, np.int8)
    queue, queued, size, head = np.empty(len(order), np.int32), np.zeros(len(order), np.bool_), 0, 0
    for root in order:
        if not queued[root]:
            queue[size], queued[root] = root, True
            size += 1
        while head < size:
            node, zeros = queue[head], 0
            head += 1
            for side in range(2):
                indptr, neighbours = (out_indptr, tails) if side == 0 else (in_indptr, in_heads)
                for link in range(indptr[node], indptr[node + 1]):
                    neighbour = neighbours[link]
                    if colour[neighbour] >= 0:
                        zeros += 1 - 2 * colour[neighbour]
                    elif not queued[neighbour]:
                        queue[size], queued[neighbour] = neighbour, True
                        size += 1
            colour[node] = 1 if zeros > 0 else 0
    return colour


@njit(cache=True, nogil=True)
def merge_directions(nodes, place, out_indptr, tails, in_indptr, in_heads):
    """Return (indptr, near): the links in both directions among `nodes`, by their places.

    Each row is ascending. Nodes with a place of -1 are left out.
    """
    indptr = np.zeros(len(nodes) + 1, np.uint32)
    fill, near = indptr, np.empty(0, np.uint32)
    for writes in (False, True):
        if writes:
            for row in range(len(nodes)):
                indptr[row + 1] += indptr[row]
            fill, near = indptr[:-1].copy(), np.empty(indptr[-1], np.uint32)
        for row in range(len(nodes)):
            node = nodes[row]
            for side in range(2):
                starts, neighbours = (out_indptr, tails) if side == 0 else (in_indptr, in_heads)
                for link in range(starts[node], starts[node + 1]):
                    end_place = place[neighbours[link]]
                    if end_place >= 0 and writes:
                        near[fill[end_place]] = row
                        fill[end_place] += 1
                    elif end_place >= 0:
                        indptr[end_place + 1] += 1
    return indptr, near


@njit(cache=True, nogil=True)
def _push(
    values,
    mass,
    active,
    count,
    seen,
    colour,
    start,
    end,
    seeds,
    bonus,
    over,
    step,
    inverse,
    indptr,
    near,
):
    """Push a half-sweep to the places from `start` to `end` next to active ones.

    These are of the other colour. Returns the number of active places of this colour.
    """
    size = count[colour]
    for index in range(count[1 - colour]):
        at_place = active[1 - colour, index]
        for link in range(indptr[at_place], indptr[at_place + 1]):
            next_place = near[link]
            if start <= next_place < end:
                mass[next_place] += values[at_place]
                if not seen[next_place]:
                    seen[next_place] = True
                    active[colour, size] = next_place
                    size += 1
    for index in range(size):
        at_place = active[colour, index]
        values[at_place] = over * values[at_place] + inverse[at_place] * step * mass[at_place]
        mass[at_place] = 0.0
    for index in range(len(seeds)):
        if start <= seeds[index] < end:
            values[seeds[index]] += inverse[seeds[index]] * bonus[index]
    return size


@njit(cache=True, nogil=True, inline="always")
def _pull(values, start, end, extra, over, step, inverse, indptr, near):
    """Relax each place from `start` to `end` in turn.

    Returns the sum of their changes, each multiplied by the number of its links.
    """
    change, link = 0.0, np.int64(indptr[start])
    for at_place in range(start, end):
        total, second_total, stop = 0.0, 0.0, np.int64(indptr[at_place + 1])
        size = np.float64(stop - link)
        # Two sums, so that an addition need not wait for the previous one.
        while link + 1 < stop:
            total += values[near[link]]
            second_total += values[near[link + 1]]
            link += 2
        if link < stop:
            total += values[near[link]]
        total += second_total
        link = stop
        before = values[at_place]
        after = over * before + inverse[at_place] * (step * total + extra)
        change += abs(after - before) * size
        values[at_place] = after
    return change


@njit(cache=True, nogil=True)
def relax(
    values,
    mass,
    active,
    seen,
    split,
    seeds,
    bonus,
    omega,
    step,
    inverse,
    indptr,
    near,
    min_sweeps,
    tolerance,
):
    """Run half-sweeps until the values change little.

    They alternate between the places before `split` and the others. At least `min_sweeps`
    half-sweeps run, until two of them together change at most `tolerance`. In each, values[v]
    becomes (1 - omega) values[v] + inverse[v] x (step x the sum of its neighbours' values + the
    bonus of a seed). The first half-sweeps push along the links of the places that have a value,
    the others compute every place. `values`, `active` and `seen` are overwritten. `mass` is zero
    before and after the call. Returns the number of half-sweeps.
    """
    values[:], seen[:], count = 0.0, False, np.zeros(2, np.int64)
    for index in range(len(seeds)):
        place, colour = seeds[index], int(seeds[index] >= split)
        values[place], seen[place] = inverse[place] * bonus[index] / omega, True
        active[colour, count[colour]] = place
        count[colour] += 1
    over, half, change, previous, pushes = 1.0 - omega, 0, np.inf, np.inf, True
    while half < min_sweeps or change + previous > tolerance:
        colour = (half + int(seeds[0] < split)) & 1
        start, end = (0, split) if colour == 0 else (split, len(values))
        half += 1
        walk = 0
        for index in range(count[1 - colour] if pushes else 0):
            walk += indptr[active[1 - colour, index] + 1] - indptr[active[1 - colour, index]]
        pushes = pushes and half <= MAX_PUSHED_SWEEPS and walk * PUSHED_LINK_DIVISOR < len(near)
        if pushes:
            count[colour] = _push(
                values,
                mass,
                active,
                count,
                seen,
                colour,
                start,
                end,
                seeds,
                bonus,
                over,
                step,
                inverse,
                indptr,
                near,
            )
            continue
        previous, change, low = change, 0.0, start
        for index in range(len(seeds)):
            if start <= seeds[index] < end:
                change += _pull(values, low, seeds[index], 0.0, over, step, inverse, indptr, near)
                change += _pull(
                    values,
                    seeds[index],
                    seeds[index] + 1,
                    bonus[index],
                    over,
                    step,
                    inverse,
                    indptr,
                    near,
                )
                low = seeds[index] + 1
        change += _pull(values, low, end, 0.0, over, step, inverse, indptr, near)
    return half


@njit(cache=True, nogil=True)
def select_best(values, scores, degree, damping, keep, nodes, hosts, leaf_indptr, leaves):
    """Return the best `keep` nodes and their scores.

    Others in the same bin as the last one are included. A place's score is its value x degree, a
    leaf's damping x the value of its neighbour. Bins count scores as rounded by
    `core.graph.order.round_scores`, so those equal to the last are all included. `scores` is
    overwritten.
    """
    counts = np.zeros(BIN_COUNT, np.int64)
    bits, shares = scores.view(np.int64), values[hosts] * damping
    share_bits = shares.view(np.int64)
    for at_place in range(len(scores)):
        scores[at_place] = values[at_place] * degree[at_place]
        if scores[at_place] > 0.0:
            counts[_find_bin(bits[at_place])] += 1
    for index in range(len(hosts)):
        if shares[index] > 0.0:
            n_leaves = leaf_indptr[index + 1] - leaf_indptr[index]
            counts[_find_bin(share_bits[index])] += n_leaves
    last, n_found = BIN_COUNT - 1, counts[BIN_COUNT - 1]
    while last > 0 and n_found < keep:
        last -= 1
        n_found += counts[last]
    min_bits = ((last + FIRST_BIN) << BIN_SHIFT) - HALF_ROUNDING if last > 0 else 1
    ids, best, size = np.empty(n_found, np.int64), np.empty(n_found), 0
    for at_place in range(len(scores)):
        if bits[at_place] >= min_bits:  # bits are ordered as the scores, negative ones below
            ids[size], best[size] = nodes[at_place], scores[at_place]
            size += 1
    for index in range(len(hosts)):
        if share_bits[index] >= min_bits:
            for entry in range(leaf_indptr[index], leaf_indptr[index + 1]):
                ids[size], best[size] = leaves[entry], shares[index]
                size += 1
    return ids, best


@njit(cache=True, nogil=True, inline="always")
def _find_bin(bits):
    """Return the bin of a score, given as bits."""
    return min(max(((bits + HALF_ROUNDING) >> BIN_SHIFT) - FIRST_BIN, 0), BIN_COUNT - 1)
