"""Compiled loops over UTF-8 bytes: splitting of lines, parsing of numbers, hashing of names.

A part (head, relation or tail) is a slice `data[starts[i]:starts[i] + lengths[i]]` of a uint8
array. A triple has three parts in a row. A carriage return before a line end is ignored.
"""

from __future__ import annotations

import numba
import numpy as np

# Reasons for a bad line. To EMPTY_PART, ten times the position of the part (0 to 2) is added.
WRONG_COLUMN_COUNT, EMPTY_PART = 1, 2
# Odd 64-bit factors with well mixed bits, for multiplicative hashing.
HASH_FACTOR_A, HASH_FACTOR_B = np.uint64(0x9FB21C651E98DF25), np.uint64(0xD6E8FEB86659FD93)


@numba.njit(cache=True)
def is_blank(data, start, end):
    """Return whether the UTF-8 text data[start:end] is empty or white space.

    White space is defined as for `str.isspace`.
    """
    # The numbers are the bytes of the white space of Unicode in UTF-8.
    i = start
    while i < end:
        letter = data[i]
        if letter == 32 or 9 <= letter <= 13 or 28 <= letter <= 31:
            i += 1
        elif letter == 0xC2 and i + 1 < end and (data[i + 1] == 0x85 or data[i + 1] == 0xA0):
            i += 2
        elif letter >= 0xE1 and letter <= 0xE3 and i + 2 < end:
            second, third = data[i + 1], data[i + 2]
            if (
                letter == 0xE2
                and second == 0x80
                and (third <= 0x8A or third == 0xA8 or third == 0xA9 or third == 0xAF)
            ):
                i += 3
            elif (letter == 0xE1 and second == 0x9A and third == 0x80) or (
                letter == 0xE2 and second == 0x81 and third == 0x9F
            ):
                i += 3
            elif letter == 0xE3 and second == 0x80 and third == 0x80:
                i += 3
            else:
                return False
        else:
            return False
    return True


@numba.njit(cache=True)
def split_lines(data, end, separator, columns, max_width, starts, lengths, numbers, odd):
    """Split the lines of data[:end] into the parts of triples.

    Parameters
    ----------
    data : uint8, the text.
    separator : byte between two columns.
    columns : int64 [3], columns of head, relation and tail, from 0.
    max_width : largest number of columns of a line; 0 for no limit.
    starts, lengths : int64 [3 * lines], filled with the parts of the triples.
    numbers : int64 [lines], filled with the line of each triple, from 0.
    odd : int64 [lines, 4], filled with line, start, end and reason of each bad line. Blank lines
        are not listed.

    Returns
    -------
    The numbers of triples, of bad lines, and of all lines.
    """
    widest = columns.max() + 1
    i, line, n_triples, n_odd = 0, 0, 0, 0
    firsts, lasts = np.zeros(3, np.int64), np.zeros(3, np.int64)
    while i < end:
        start, column, first = i, 0, i
        while i < end and data[i] != 10:
            if data[i] == separator:
                for part in range(3):
                    if columns[part] == column:
                        firsts[part], lasts[part] = first, i
                column, first = column + 1, i + 1
            i += 1
        last = i
        while last > start and data[last - 1] == 13:
            last -= 1
        for part in range(3):
            if columns[part] == column:
                firsts[part], lasts[part] = first, max(first, last)
        i, line, width = i + 1, line + 1, column + 1
        reason = 0
        if width < widest or 0 < max_width < width:
            reason = WRONG_COLUMN_COUNT
        else:
            for part in range(2, -1, -1):
                if is_blank(data, firsts[part], lasts[part]):
                    reason = EMPTY_PART + 10 * part
        if reason:
            if not is_blank(data, start, last):
                odd[n_odd, 0], odd[n_odd, 1] = line - 1, start
                odd[n_odd, 2], odd[n_odd, 3] = last, reason
                n_odd += 1
            continue
        for part in range(3):
            starts[3 * n_triples + part] = firsts[part]
            lengths[3 * n_triples + part] = lasts[part] - firsts[part]
        numbers[n_triples] = line - 1
        n_triples += 1
    return n_triples, n_odd, line


@numba.njit(cache=True)
def whole_numbers(data, starts, lengths, limit, values):
    """Fill `values` with the parts as numbers from 0 to `limit`.

    The value is -1 for other parts.
    """
    for part in range(len(starts)):
        number = np.int64(0)
        for i in range(starts[part], starts[part] + lengths[part]):
            digit = np.int64(data[i]) - 48
            if digit < 0 or digit > 9 or number > limit:
                number = limit + 1
                break
            number = 10 * number + digit
        if lengths[part] > 1 and data[starts[part]] == 48:
            # A name with leading zeros would differ from the name of its number.
            number = limit + 1
        values[part] = number if number <= limit else -1


@numba.njit(cache=True)
def _hash_bytes(data, start, length, seed):
    """Return two independent 64-bit hashes of data[start:start + length]."""
    first, second, i, end = seed ^ HASH_FACTOR_A, seed ^ np.uint64(length), start, start + length
    while i < end:
        word = np.uint64(0)
        for offset in range(min(8, end - i)):
            word |= np.uint64(data[i + offset]) << np.uint64(8 * offset)
        first = (first ^ word) * HASH_FACTOR_A
        first ^= first >> np.uint64(32)
        second = (second + word) * HASH_FACTOR_B
        second ^= second >> np.uint64(29)
        i += 8
    first = (first ^ np.uint64(length)) * HASH_FACTOR_B
    first ^= first >> np.uint64(31)
    second = (second ^ (second >> np.uint64(33))) * HASH_FACTOR_A
    return first * HASH_FACTOR_A ^ (first >> np.uint64(28)), second ^ (second >> np.uint64(32))


@numba.njit(cache=True)
def hash_parts(data, starts, lengths, seed, hashes):
    """Fill `hashes` (uint64) with the hash of each part. Another `seed` gives other hashes."""
    for part in range(len(starts)):
        hashes[part] = _hash_bytes(data, starts[part], lengths[part], seed)[0]


@numba.njit(cache=True)
def _is_equal(data, start, other, length):
    for offset in range(length):
        if data[start + offset] != data[other + offset]:
            return False
    return True


@numba.njit(cache=True)
def codes_of(data, starts, lengths, seed, table, codes, firsts, hashes, second_hashes):
    """Number the distinct names of a block by first appearance, with a hash table.

    Parameters
    ----------
    table : int64, the hash table, filled with -1. Its length is a power of two and at least twice
        the number of names.
    codes : int64, filled with the number of each name.
    firsts, hashes, second_hashes : filled with the first position of each distinct name, its hash,
        and 32 bits of a second, independent hash.

    Returns
    -------
    The number of distinct names.
    """
    mask, count = np.uint64(len(table) - 1), 0
    for name in range(len(starts)):
        first, second = _hash_bytes(data, starts[name], lengths[name], seed)
        entry = np.int64(first & mask)
        while True:
            code = table[entry]
            if code < 0:
                table[entry] = code = count
                firsts[count] = name
                hashes[count] = first
                second_hashes[count] = np.uint32(second >> np.uint64(32))
                count += 1
                break
            if hashes[code] == first:
                other = firsts[code]
                if lengths[other] == lengths[name] and _is_equal(
                    data, starts[other], starts[name], lengths[name]
                ):
                    break
            entry = (entry + 1) & np.int64(mask)
        codes[name] = code
    return count


@numba.njit(cache=True)
def copy_parts(data, starts, lengths, out):
    """Copy the parts to `out` one after the other.

    Their total number of bytes is returned.
    """
    end = 0
    for part in range(len(starts)):
        for offset in range(lengths[part]):
            out[end + offset] = data[starts[part] + offset]
        end += lengths[part]
    return end
