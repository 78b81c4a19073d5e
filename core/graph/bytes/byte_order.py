"""Sorting of names by their bytes, with multikey quicksort, for graphs that exceed memory.

The names are sorted in ranges, one after the other, so that the work arrays of one range fit into
memory. For every name, the seven bytes at the current depth are cached in a key of 64 bits. The
lowest byte of the key is the number of bytes from the depth to the end of the name, or 8 if there
are more than seven.

References
----------
Bentley and Sedgewick, Fast algorithms for sorting and searching strings, SODA 1997, section 3.
"""

from __future__ import annotations

from collections.abc import Iterator

import numba
import numpy as np

from core.graph.columns import row_offsets
from core.watch import NO_WATCH, Watch

# Memory in bytes per name while a range is sorted.
SORTED_NAME_BYTES = 48
# Approximate number of sampled names from which the bounds of the ranges are chosen.
BOUND_SAMPLE_NAMES = 4096
# Largest number of names that are sorted by insertion, which is faster for few names.
INSERTION_SORT_NAMES = 16


def sorted_pieces(
    data: np.ndarray, offsets: np.ndarray, memory: int, watch: Watch = NO_WATCH
) -> Iterator[tuple[float, np.ndarray]]:
    """Yield the numbers of the names in order of their bytes, in pieces.

    Equal names are in the order of their numbers.

    Parameters
    ----------
    data : uint8, the names.
    offsets : int64 [names + 1]. Name i is `data[offsets[i]:offsets[i + 1]]`.
    memory : bytes of memory for sorting one piece.
    watch : may cancel between pieces.

    Yields
    ------
    The progress from 0 to 1 after the piece, and the numbers of its names (int32).
    """
    count = len(offsets) - 1
    pieces = max(1, -(-count * SORTED_NAME_BYTES // max(1, memory)))
    step = max(1, count // BOUND_SAMPLE_NAMES)
    sample = []
    if pieces > 1:
        sample = sorted(
            {bytes(data[offsets[name] : offsets[name + 1]]) for name in range(0, count, step)}
        )
    # Quantiles of the sample divide the names into ranges of about equal size.
    bounds = []
    if sample:
        bounds = sorted({sample[len(sample) * piece // pieces] for piece in range(1, pieces)})
    flat = np.frombuffer(b"".join(bounds) or b" ", np.uint8)
    ends = row_offsets([len(bound) for bound in bounds])
    done = 0
    for piece in range(len(bounds) + 1):
        watch.check()
        ids = _names_in_range(data, offsets, flat, ends, piece)
        _sort(data, offsets, ids, np.empty(len(ids), np.uint64))
        done += len(ids)
        yield done / max(1, count), ids


@numba.njit(cache=True)
def compare(data, start, end, other, first, last):
    """Compare data[start:end] with other[first:last].

    The result is negative if the former is less, 0 if both are equal, else positive.
    """
    for i in range(min(end - start, last - first)):
        if data[start + i] != other[first + i]:
            return np.int64(data[start + i]) - np.int64(other[first + i])
    return (end - start) - (last - first)


@numba.njit(cache=True)
def _find_range(data, start, end, flat, ends):
    """Return the range of a name, from 0: the number of bounds that are not above the name.

    Bound i is `flat[ends[i]:ends[i + 1]]`.
    """
    low, high = 0, len(ends) - 1
    while low < high:
        middle = (low + high) // 2
        if compare(data, start, end, flat, ends[middle], ends[middle + 1]) >= 0:
            low = middle + 1
        else:
            high = middle
    return low


@numba.njit(cache=True)
def _names_in_range(data, offsets, flat, ends, piece):
    """Return the numbers of the names in one range between the bounds, ascending (int32)."""
    count = len(offsets) - 1
    if len(ends) == 1:
        return np.arange(count).astype(np.int32)
    names, size = np.empty(count // (len(ends) - 1) + 1024, np.int32), 0
    for name in range(count):
        if _find_range(data, offsets[name], offsets[name + 1], flat, ends) == piece:
            if size == len(names):
                longer = np.empty(size + size // 2, np.int32)
                longer[:size] = names
                names = longer
            names[size] = name
            size += 1
    return names[:size]


@numba.njit(cache=True)
def _make_key(data, start, end):
    """Return a key of the first seven bytes of data[start:end].

    The key also holds the number of bytes, at most 8. Keys are ordered like the names, as far as
    seven bytes decide.
    """
    key, size = np.uint64(0), end - start
    for i in range(min(7, size)):
        key |= np.uint64(data[start + i]) << np.uint64(56 - 8 * i)
    return key | np.uint64(min(size, 8))


@numba.njit(cache=True)
def _insert(data, offsets, ids, keys, low, high, depth):
    """Sort ids[low:high] by insertion, comparing whole names if their keys are equal.

    The first `depth` bytes of these names are equal.
    """
    for row in range(low + 1, high):
        name, key, slot = ids[row], keys[row], row
        while slot > low:
            previous = ids[slot - 1]
            if keys[slot - 1] < key:
                break
            if keys[slot - 1] == key:
                order = np.int64(0)
                if (key & np.uint64(255)) == np.uint64(8):  # both names continue
                    start, first = offsets[previous] + depth, offsets[name] + depth
                    order = compare(
                        data, start, offsets[previous + 1], data, first, offsets[name + 1]
                    )
                if order < 0 or (order == 0 and previous < name):
                    break
            ids[slot], keys[slot] = previous, keys[slot - 1]
            slot -= 1
        ids[slot], keys[slot] = name, key


@numba.njit(cache=True)
def _sort(data, offsets, ids, keys):
    """Sort `ids` by name in place.

    `keys` is a work array of the same length (uint64).
    """
    # Parts to sort: first row, end, number of equal leading bytes, and True if keys are missing.
    stack = [(np.int64(0), np.int64(len(ids)), np.int64(0), True)]
    while len(stack):
        low, high, depth, needs_keys = stack.pop()
        if needs_keys:
            for row in range(low, high):
                keys[row] = _make_key(data, offsets[ids[row]] + depth, offsets[ids[row] + 1])
        if high - low <= INSERTION_SORT_NAMES:
            _insert(data, offsets, ids, keys, low, high, depth)
            continue
        # The pivot is the median of three keys from inside the part. If the names are sorted
        # already, its ends would be bad pivots.
        quarter = (high - low) // 4
        first, middle, last = keys[low + quarter], keys[(low + high) // 2], keys[high - 1 - quarter]
        pivot = max(min(first, middle), min(max(first, middle), last))
        # Partition into keys less than, equal to and greater than the pivot.
        less, row, greater = low, low, high
        while row < greater:
            key = keys[row]
            if key < pivot:
                ids[row], ids[less] = ids[less], ids[row]
                keys[row], keys[less] = keys[less], key
                less, row = less + 1, row + 1
            elif key > pivot:
                greater -= 1
                ids[row], ids[greater] = ids[greater], ids[row]
                keys[row], keys[greater] = keys[greater], key
            else:
                row += 1
        if less > low:
            stack.append((low, less, depth, False))
        if high > greater:
            stack.append((greater, high, depth, False))
        if greater - less > 1:
            if (pivot & np.uint64(255)) == np.uint64(8):  # the names continue: sort by later bytes
                stack.append((less, greater, depth + 7, True))
            else:  # the names are equal
                ids[less:greater].sort()
