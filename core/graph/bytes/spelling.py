"""Compiled searches in sorted names: by prefix, and within a few edits.

Names are sorted by their bytes, and name i is `data[ends[i]:ends[i + 1]]`. The arrays may be
memory-mapped files.
"""

from __future__ import annotations

import numba
import numpy as np

from core.graph.bytes.byte_order import compare


@numba.njit(cache=True)
def first_at_least(data, ends, target, low, high):
    """Return the first position in low..high with a name not below `target`."""
    while low < high:
        middle = (low + high) // 2
        if compare(data, ends[middle], ends[middle + 1], target, 0, len(target)) < 0:
            low = middle + 1
        else:
            high = middle
    return low


@numba.njit(cache=True)
def first_after(data, ends, prefix, low, high):
    """Return the first position in low..high above all names with this prefix."""
    while low < high:
        middle = (low + high) // 2
        start = ends[middle]
        stop = min(ends[middle + 1], start + len(prefix))
        if compare(data, start, stop, prefix, 0, len(prefix)) <= 0:
            low = middle + 1
        else:
            high = middle
    return low


@numba.njit(cache=True)
def first_in_order(data, offsets, order, target):
    """Return the first position in `order` whose node has a name not below `target`."""
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) // 2
        node = order[middle]
        if compare(data, offsets[node], offsets[node + 1], target, 0, len(target)) < 0:
            low = middle + 1
        else:
            high = middle
    return low


@numba.njit(cache=True)
def shortest_names(data, ends, nodes, low, high, keep):
    """Return the positions of the `keep` shortest names in low..high, by (letters, node).

    The result so far is sorted by insertion.
    """
    positions, letters, count = np.empty(keep, np.int64), np.empty(keep, np.int64), 0
    for position in range(low, high):
        size = ends[position + 1] - ends[position]
        if count == keep and (size + 3) // 4 > letters[count - 1]:
            continue  # a letter has at most four bytes
        size = 0
        for i in range(ends[position], ends[position + 1]):
            size += (data[i] & 0xC0) != 0x80  # count the first byte of each letter
        rank = count
        while rank > 0 and (
            letters[rank - 1] > size
            or (letters[rank - 1] == size and nodes[positions[rank - 1]] > nodes[position])
        ):
            rank -= 1
        if rank == keep:
            continue
        count = min(keep, count + 1)
        for slot in range(count - 1, rank, -1):
            positions[slot], letters[slot] = positions[slot - 1], letters[slot - 1]
        positions[rank], letters[rank] = position, size
    return positions[:count]


@numba.njit(cache=True)
def _read_letter(data, start):
    """Return the letter of UTF-8 that begins at `start`, and its number of bytes."""
    lead = np.int64(data[start])
    if lead < 0x80:
        return lead, 1
    size = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    letter = lead & (0xFF >> (size + 1))
    for i in range(1, size):
        letter = letter << 6 | (np.int64(data[start + i]) & 0x3F)
    return letter, size


@numba.njit(cache=True)
def _skip_prefix(data, ends, position, size, high):
    """Return the first position after `position` whose name has another prefix of `size` bytes.

    The steps of the search double, because such a position is usually near.
    """
    prefix, step, low = data[ends[position] : ends[position] + size], 1, position + 1
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
def names_within_edits(data, ends, low, high, target, edits, budget, found):
    """Find the names in low..high within `edits` edits of `target` (code points).

    An edit is an insertion, deletion or change of a letter. The names are walked as a trie, with
    one row of the edit distance table per letter. The rows of the letters that the next name shares
    are used again. If all values of a row are too large, all names with this prefix are skipped.
    The search stops after `budget` rows or when `found` is full. Returns the number of positions
    written into `found`.
    """
    size = len(target)
    deepest = size + edits + 1
    rows, cuts = np.zeros((deepest + 1, size + 1), np.int64), np.zeros(deepest + 2, np.int64)
    for column in range(size + 1):
        rows[0, column] = column
    position, previous, depth, count = low, -1, 0, 0
    while position < high and budget > 0 and count < len(found):
        start, end = ends[position], ends[position + 1]
        if previous >= 0:
            shared, other = 0, ends[previous]
            limit = min(end - start, ends[previous + 1] - other)
            while shared < limit and data[start + shared] == data[other + shared]:
                shared += 1
            while cuts[depth] > shared:
                depth -= 1
        previous, is_far = position, False
        while start + cuts[depth] < end and not is_far:
            letter, width = _read_letter(data, start + cuts[depth])
            rows[depth + 1, 0] = smallest = depth + 1
            for column in range(size):
                best = rows[depth, column] + (target[column] != letter)
                best = min(best, rows[depth, column + 1] + 1, rows[depth + 1, column] + 1)
                rows[depth + 1, column + 1], smallest = best, min(smallest, best)
            cuts[depth + 1] = cuts[depth] + width
            depth, budget = depth + 1, budget - 1
            is_far = smallest > edits or depth == deepest
        if is_far:
            depth -= 1
            position = _skip_prefix(data, ends, position, cuts[depth + 1], high)
            continue
        if rows[depth, size] <= edits:
            found[count] = position
            count += 1
        position += 1
    return count
