"""Compiled searches over names sorted by their bytes, as they lie on disk: by prefix, and within a few edits."""

from __future__ import annotations

import numba
import numpy as np

from core.graph.bytes.byte_order import compare


@numba.njit(cache=True)
def first_at_least(data, ends, wanted, low, high):
    """The first place in low..high whose name is not below `wanted`; name i is data[ends[i]:ends[i + 1]]."""
    while low < high:
        middle = (low + high) // 2
        if compare(data, ends[middle], ends[middle + 1], wanted, 0, len(wanted)) < 0:
            low = middle + 1
        else:
            high = middle
    return low


@numba.njit(cache=True)
def first_after(data, ends, prefix, low, high):
    """The first place in low..high whose name is above every name that begins with `prefix`."""
    while low < high:
        middle = (low + high) // 2
        start = ends[middle]
        if (
            compare(data, start, min(ends[middle + 1], start + len(prefix)), prefix, 0, len(prefix))
            <= 0
        ):
            low = middle + 1
        else:
            high = middle
    return low


@numba.njit(cache=True)
def first_in_order(data, offsets, order, wanted):
    """The first place in `order` whose node's name is not below `wanted`."""
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) // 2
        node = order[middle]
        if compare(data, offsets[node], offsets[node + 1], wanted, 0, len(wanted)) < 0:
            low = middle + 1
        else:
            high = middle
    return low


@numba.njit(cache=True)
def shortest(data, ends, nodes, low, high, keep):
    """The places of the `keep` names of low..high with fewest letters, by (letters, node)."""
    places, letters, count = np.empty(keep, np.int64), np.empty(keep, np.int64), 0
    for place in range(low, high):
        size = ends[place + 1] - ends[place]
        if count == keep and (size + 3) // 4 > letters[count - 1]:
            continue  # of four bytes a letter at most
        size = 0
        for at in range(ends[place], ends[place + 1]):
            size += (data[at] & 0xC0) != 0x80
        at = count
        while at > 0 and (
            letters[at - 1] > size
            or (letters[at - 1] == size and nodes[places[at - 1]] > nodes[place])
        ):
            at -= 1
        if at == keep:
            continue
        count = min(keep, count + 1)
        for later in range(count - 1, at, -1):
            places[later], letters[later] = places[later - 1], letters[later - 1]
        places[at], letters[at] = place, size
    return places[:count]


@numba.njit(cache=True)
def _letter(data, at):
    """The letter at data[at:] and its bytes."""
    lead = np.int64(data[at])
    if lead < 0x80:
        return lead, 1
    size = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    letter = lead & (0xFF >> (size + 1))
    for place in range(1, size):
        letter = letter << 6 | (np.int64(data[at + place]) & 0x3F)
    return letter, size


@numba.njit(cache=True)
def _past_prefix(data, ends, place, size, high):
    """The first place after `place` whose name does not begin with the first `size` bytes of that one's."""
    prefix, step, low = data[ends[place] : ends[place] + size], 1, place + 1
    while low < high:
        probe = min(low + step, high) - 1
        start = ends[probe]
        if compare(data, start, min(ends[probe + 1], start + size), prefix, 0, size) == 0:
            low, step = probe + 1, 2 * step
        else:
            high = probe
            break
    return first_after(data, ends, prefix, low, high)


@numba.njit(cache=True)
def within(data, ends, low, high, wanted, edits, budget, found):
    """The places in low..high of names at most `edits` insertions, deletions or changes of a letter from `wanted` (code points).

    The names are walked as a trie: a row of the table of distances for each letter of the name, kept for the letters that the next
    name shares; where all of a row is too far, all names that begin so are passed over. Stops after `budget` rows or when `found`
    is full. Returns how many were found.
    """
    size = len(wanted)
    deepest = size + edits + 1
    rows, cuts = np.zeros((deepest + 1, size + 1), np.int64), np.zeros(deepest + 2, np.int64)
    for column in range(size + 1):
        rows[0, column] = column
    place, before, depth, count = low, -1, 0, 0
    while place < high and budget > 0 and count < len(found):
        start, end = ends[place], ends[place + 1]
        if before >= 0:
            shared, other = 0, ends[before]
            most = min(end - start, ends[before + 1] - other)
            while shared < most and data[start + shared] == data[other + shared]:
                shared += 1
            while cuts[depth] > shared:
                depth -= 1
        before, far = place, False
        while start + cuts[depth] < end and not far:
            letter, width = _letter(data, start + cuts[depth])
            rows[depth + 1, 0] = least = depth + 1
            for column in range(size):
                best = rows[depth, column] + (wanted[column] != letter)
                best = min(best, rows[depth, column + 1] + 1, rows[depth + 1, column] + 1)
                rows[depth + 1, column + 1], least = best, min(least, best)
            cuts[depth + 1] = cuts[depth] + width
            depth, budget = depth + 1, budget - 1
            far = least > edits or depth == deepest
        if far:
            depth -= 1
            place = _past_prefix(data, ends, place, cuts[depth + 1], high)
            continue
        if rows[depth, size] <= edits:
            found[count] = place
            count += 1
        place += 1
    return count
