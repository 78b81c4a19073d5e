"""Compiled searches in sorted names: by prefix, and within a few edits.

Name i is `data[offsets[i]:offsets[i + 1]]` in UTF-8, and the names are sorted by their bytes. A
range low..high includes `low` and excludes `high`. The arrays may be memory-mapped files. These
functions serve the look-up of names in graphs that exceed memory.
"""

from __future__ import annotations

import numba
import numpy as np

from core.graph.bytes.byte_order import compare


@numba.njit(cache=True)
def first_at_least(data, offsets, target, low, high):
    """Return the first position in low..high with a name not below `target`.

    The position is `high` if there is no such name.
    """
    while low < high:
        middle = (low + high) // 2
        if compare(data, offsets[middle], offsets[middle + 1], target, 0, len(target)) < 0:
            low = middle + 1
        else:
            high = middle
    return low


@numba.njit(cache=True)
def first_after(data, offsets, prefix, low, high):
    """Return the first position in low..high above all names with a prefix.

    The position is `high` if there is none.
    """
    while low < high:
        middle = (low + high) // 2
        start = offsets[middle]
        stop = min(offsets[middle + 1], start + len(prefix))
        if compare(data, start, stop, prefix, 0, len(prefix)) <= 0:
            low = middle + 1
        else:
            high = middle
    return low


@numba.njit(cache=True)
def first_in_order(data, offsets, order, target):
    """Return the first position in `order` whose node has a name not below `target`.

    The names of the nodes are not sorted here; `order` lists the nodes by name.
    """
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
def shortest_names(data, offsets, nodes, low, high, k):
    """Return the positions of the `k` shortest names in low..high, by (letters, node).

    Position i has the name of the node `nodes[i]`. Each match is inserted into the sorted result.
    """
    positions, letters, count = np.empty(k, np.int64), np.empty(k, np.int64), 0
    for position in range(low, high):
        size = offsets[position + 1] - offsets[position]
        if count == k and (size + 3) // 4 > letters[count - 1]:
            continue  # too long in any case, since a letter has at most four bytes
        size = 0
        for i in range(offsets[position], offsets[position + 1]):
            size += (data[i] & 0xC0) != 0x80  # count the first byte of each letter
        rank = count
        while rank > 0 and (
            letters[rank - 1] > size
            or (letters[rank - 1] == size and nodes[positions[rank - 1]] > nodes[position])
        ):
            rank -= 1
        if rank == k:
            continue
        count = min(k, count + 1)
        for slot in range(count - 1, rank, -1):
            positions[slot], letters[slot] = positions[slot - 1], letters[slot - 1]
        positions[rank], letters[rank] = position, size
    return positions[:count]


@numba.njit(cache=True)
def _read_letter(data, start):
    """Return the code point in UTF-8 that begins at `start`.

    The second result is its number of bytes.
    """
    lead = np.int64(data[start])
    if lead < 0x80:
        return lead, 1
    size = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    letter = lead & (0xFF >> (size + 1))
    for i in range(1, size):
        letter = letter << 6 | (np.int64(data[start + i]) & 0x3F)
    return letter, size


@numba.njit(cache=True)
def _skip_prefix(data, offsets, position, size, high):
    """Return the first position after `position` whose name has another prefix of `size` bytes.

    Only positions below `high` are searched. The steps double, since the position is usually near.
    """
    prefix, step, low = data[offsets[position] : offsets[position] + size], 1, position + 1
    while low < high:
        probe = min(low + step, high) - 1
        start = offsets[probe]
        if compare(data, start, min(offsets[probe + 1], start + size), prefix, 0, size) == 0:
            low, step = probe + 1, 2 * step
        else:
            high = probe
            break
    return first_after(data, offsets, prefix, low, high)


@numba.njit(cache=True)
def names_within_edits(data, offsets, low, high, target, edits, remaining_rows, matches):
    """Find the names in low..high within a number of edits of a text.

    An edit is an insertion, deletion or change of a letter. The names are walked as a trie, with
    one row of the edit distance table per letter. The rows of the letters that the next name shares
    are used again. If all values of a row are too large, all names with this prefix are skipped.

    Parameters
    ----------
    target : int64, code points of the text.
    edits : largest number of edits.
    remaining_rows : number of rows of the table that may be computed before the search stops.
    matches : int64, filled with the positions of the names. The search stops when it is full.

    Returns
    -------
    The number of positions in `matches`.
    """
    size = len(target)
    deepest = size + edits + 1  # letters of a name that is certainly too long
    # Row d compares the first d letters of a name, which end at byte letter_ends[d].
    rows, letter_ends = np.zeros((deepest + 1, size + 1), np.int64), np.zeros(deepest + 2, np.int64)
    for column in range(size + 1):
        rows[0, column] = column
    position, previous, depth, count = low, -1, 0, 0
    while position < high and remaining_rows > 0 and count < len(matches):
        start, end = offsets[position], offsets[position + 1]
        if previous >= 0:
            shared, other = 0, offsets[previous]
            limit = min(end - start, offsets[previous + 1] - other)
            while shared < limit and data[start + shared] == data[other + shared]:
                shared += 1
            while letter_ends[depth] > shared:
                depth -= 1
        previous, is_far = position, False
        while start + letter_ends[depth] < end and not is_far:
            letter, width = _read_letter(data, start + letter_ends[depth])
            rows[depth + 1, 0] = smallest = depth + 1
            for column in range(size):
                best = rows[depth, column] + (target[column] != letter)
                best = min(best, rows[depth, column + 1] + 1, rows[depth + 1, column] + 1)
                rows[depth + 1, column + 1], smallest = best, min(smallest, best)
            letter_ends[depth + 1] = letter_ends[depth] + width
            depth, remaining_rows = depth + 1, remaining_rows - 1
            is_far = smallest > edits or depth == deepest
        if is_far:
            depth -= 1
            position = _skip_prefix(data, offsets, position, letter_ends[depth + 1], high)
            continue
        if rows[depth, size] <= edits:
            matches[count] = position
            count += 1
        position += 1
    return count
