"""Compiled loops of the PageRank relaxation in `core.graph.pagerank.relaxation`.

They arrange a graph, run half-sweeps and choose the best nodes. They release Python's global lock.
The adjacency of a graph is (out_indptr, tails, in_indptr, in_heads). The adjacency of a
`SweepLayout` is (indptr, links): row r is linked to the rows
`links[indptr[r]:indptr[r + 1]]`, in either direction.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from core.graph.order import ROUNDED_BITS

# Only the first half-sweeps push, at most this number.
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
    """Colour every node 0 or 1.

    The aim is that few links connect nodes of the same colour. The search is breadth-first from
    each node of `order` in turn. A node gets the colour that fewer of its coloured neighbours have.
    Returns int8 [n].
    """
    colour = np.full(len(order), -1, np.int8)
    queue, queued, size, head = np.empty(len(order), np.int32), np.zeros(len(order), np.bool_), 0, 0
    for root in order:
        if not queued[root]:
            queue[size], queued[root] = root, True
            size += 1
        while head < size:
            node, balance = queue[head], 0  # neighbours of colour 0 minus those of colour 1
            head += 1
            for side in range(2):
                indptr, neighbours = (out_indptr, tails) if side == 0 else (in_indptr, in_heads)
                for link in range(indptr[node], indptr[node + 1]):
                    neighbour = neighbours[link]
                    if colour[neighbour] >= 0:
                        balance += 1 - 2 * colour[neighbour]
                    elif not queued[neighbour]:
                        queue[size], queued[neighbour] = neighbour, True
                        size += 1
            colour[node] = 1 if balance > 0 else 0
    return colour


@njit(cache=True, nogil=True)
def merge_directions(nodes, row_of, out_indptr, tails, in_indptr, in_heads):
    """Return (indptr, links): the links in both directions among `nodes`, by their rows.

    `row_of` is the row of each node, -1 for nodes that are left out. The links of a row are
    ascending.
    """
    indptr = np.zeros(len(nodes) + 1, np.uint32)
    fill, links = indptr, np.empty(0, np.uint32)
    for writes in (False, True):  # the first pass counts the links of each row
        if writes:
            for row in range(len(nodes)):
                indptr[row + 1] += indptr[row]
            fill, links = indptr[:-1].copy(), np.empty(indptr[-1], np.uint32)
        for row in range(len(nodes)):
            node = nodes[row]
            for side in range(2):
                starts, neighbours = (out_indptr, tails) if side == 0 else (in_indptr, in_heads)
                for link in range(starts[node], starts[node + 1]):
                    end_row = row_of[neighbours[link]]
                    if end_row >= 0 and writes:
                        links[fill[end_row]] = row
                        fill[end_row] += 1
                    elif end_row >= 0:
                        indptr[end_row + 1] += 1
    return indptr, links


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
    links,
):
    """Run a half-sweep on the rows of one colour.

    It covers rows that are linked to active rows of the other colour. The rows of `colour` are
    those from `start` to below `end`. Active rows have a value. Returns the number of active rows
    of this colour.
    """
    size = count[colour]
    for index in range(count[1 - colour]):
        row = active[1 - colour, index]
        for link in range(indptr[row], indptr[row + 1]):
            next_row = links[link]
            if start <= next_row < end:
                mass[next_row] += values[row]
                if not seen[next_row]:
                    seen[next_row] = True
                    active[colour, size] = next_row
                    size += 1
    for index in range(size):
        row = active[colour, index]
        values[row] = over * values[row] + inverse[row] * step * mass[row]
        mass[row] = 0.0
    for index in range(len(seeds)):
        if start <= seeds[index] < end:
            values[seeds[index]] += inverse[seeds[index]] * bonus[index]
    return size


@njit(cache=True, nogil=True, inline="always")
def _pull(values, start, end, extra, over, step, inverse, indptr, links):
    """Relax each row from `start` to below `end` in turn.

    `extra` is added to the equation of each. Returns the sum of the changes, each multiplied by the
    number of links of its row.
    """
    change, link = 0.0, np.int64(indptr[start])
    for row in range(start, end):
        total, second_total, stop = 0.0, 0.0, np.int64(indptr[row + 1])
        size = np.float64(stop - link)
        # Two sums, so that an addition need not wait for the previous one.
        while link + 1 < stop:
            total += values[links[link]]
            second_total += values[links[link + 1]]
            link += 2
        if link < stop:
            total += values[links[link]]
        total += second_total
        link = stop
        before = values[row]
        after = over * before + inverse[row] * (step * total + extra)
        change += abs(after - before) * size
        values[row] = after
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
    links,
    min_sweeps,
    tolerance,
):
    """Run half-sweeps until the values change little.

    They alternate between the rows before `split` and the others, which are the two colours. At
    least `min_sweeps` half-sweeps run, and more until two of them together change at most
    `tolerance`. In each, values[v] becomes (1 - omega) values[v] + inverse[v] x (step x the sum of
    the values of the rows linked to v + bonus of v). Only the rows `seeds`, ascending, have a
    bonus. The first half-sweeps push along the links of the rows that have a value, the others
    compute every row. `values`, `active` and `seen` are overwritten. `mass` is zero before and
    after the call. Returns the number of half-sweeps.
    """
    values[:], seen[:], count = 0.0, False, np.zeros(2, np.int64)
    for index in range(len(seeds)):
        row, colour = seeds[index], int(seeds[index] >= split)
        values[row], seen[row] = inverse[row] * bonus[index] / omega, True
        active[colour, count[colour]] = row
        count[colour] += 1
    over, half, change, previous, pushes = 1.0 - omega, 0, np.inf, np.inf, True
    # The first half-sweep is on the colour that the first seed does not have.
    while half < min_sweeps or change + previous > tolerance:
        colour = (half + int(seeds[0] < split)) & 1
        start, end = (0, split) if colour == 0 else (split, len(values))
        half += 1
        walk = 0
        for index in range(count[1 - colour] if pushes else 0):
            walk += indptr[active[1 - colour, index] + 1] - indptr[active[1 - colour, index]]
        pushes = pushes and half <= MAX_PUSHED_SWEEPS and walk * PUSHED_LINK_DIVISOR < len(links)
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
                links,
            )
            continue
        previous, change, low = change, 0.0, start
        for index in range(len(seeds)):
            if start <= seeds[index] < end:
                change += _pull(values, low, seeds[index], 0.0, over, step, inverse, indptr, links)
                change += _pull(
                    values,
                    seeds[index],
                    seeds[index] + 1,
                    bonus[index],
                    over,
                    step,
                    inverse,
                    indptr,
                    links,
                )
                low = seeds[index] + 1
        change += _pull(values, low, end, 0.0, over, step, inverse, indptr, links)
    return half


@njit(cache=True, nogil=True)
def select_best(values, scores, degree, damping, keep, nodes, hosts, leaf_indptr, leaves):
    """Return at least the best `keep` nodes and their scores, unordered.

    Scores are counted in bins of similar scores, which is faster than sorting. All nodes in the bin
    of the `keep`-th best are included. Scores are rounded as by `core.graph.order.round_scores`
    before, so nodes that tie are in the same bin. The score of a row is its value x degree, the
    score of a leaf damping x the value of its row. `scores` is overwritten. (`hosts`,
    `leaf_indptr`, `leaves`) are the leaves of a `SweepLayout`.
    """
    counts = np.zeros(BIN_COUNT, np.int64)
    bits, shares = scores.view(np.int64), values[hosts] * damping
    share_bits = shares.view(np.int64)
    for row in range(len(scores)):
        scores[row] = values[row] * degree[row]
        if scores[row] > 0.0:
            counts[_find_bin(bits[row])] += 1
    for index in range(len(hosts)):
        if shares[index] > 0.0:
            n_leaves = leaf_indptr[index + 1] - leaf_indptr[index]
            counts[_find_bin(share_bits[index])] += n_leaves
    last, n_found = BIN_COUNT - 1, counts[BIN_COUNT - 1]  # last bin that is included
    while last > 0 and n_found < keep:
        last -= 1
        n_found += counts[last]
    min_bits = ((last + FIRST_BIN) << BIN_SHIFT) - HALF_ROUNDING if last > 0 else 1
    ids, best, size = np.empty(n_found, np.int64), np.empty(n_found), 0
    for row in range(len(scores)):
        if bits[row] >= min_bits:  # bits are ordered as the scores, negative ones below
            ids[size], best[size] = nodes[row], scores[row]
            size += 1
    for index in range(len(hosts)):
        if share_bits[index] >= min_bits:
            for entry in range(leaf_indptr[index], leaf_indptr[index + 1]):
                ids[size], best[size] = leaves[entry], shares[index]
                size += 1
    return ids, best


@njit(cache=True, nogil=True, inline="always")
def _find_bin(bits):
    """Return the bin of a score, given as the bits of a float64."""
    return min(max(((bits + HALF_ROUNDING) >> BIN_SHIFT) - FIRST_BIN, 0), BIN_COUNT - 1)
