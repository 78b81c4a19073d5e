"""Compiled loops over the bytes of text, which split lines, parse numbers and code names."""

from __future__ import annotations

import numba
import numpy as np

# Reasons for a line that is no triple. For an empty part, 10 x its position is added to the second.
TOO_FEW_COLUMNS, EMPTY_PART = 1, 2
HASH_FACTOR_A, HASH_FACTOR_B = np.uint64(0x9FB21C651E98DF25), np.uint64(0xD6E8FEB86659FD93)


@numba.njit(cache=True)
def is_blank(data, start, end):
    """Return whether the UTF-8 text data[start:end] is empty or white space.

    White space is defined as for `str.isspace`.
    """
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
def split_lines(data, end, separator, columns, exactly, starts, lengths, numbers, odd):
    """Split the lines of data[:end] into the parts of triples.

    `columns` are those of head, relation and tail, from 0. `exactly` is True if there may be no
    others. Fills starts and lengths (three per triple), numbers (lines from 0) and odd (rows: line,
    start, end, reason). Returns the counts of triples, odd lines and all lines.
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
        if width < widest or (exactly and width != 3):
            reason = TOO_FEW_COLUMNS
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
    """Parse parts of digits as numbers from 0 to `limit`; other parts give -1."""
    for part in range(len(starts)):
        number = np.int64(0)
        for i in range(starts[part], starts[part] + lengths[part]):
            digit = np.int64(data[i]) - 48
            if digit < 0 or digit > 9 or number > limit:
                number = limit + 1
                break
            number = 10 * number + digit
        if lengths[part] > 1 and data[starts[part]] == 48:
            # Leading zeros: its name would differ from its number.
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
    """Fill `hashes` with the hash of each part."""
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
    """Number the names of a block by first appearance.

    `table` must hold -1 everywhere. Its length is a power of two and at least twice the number of
    names. Fills codes (one per name), and for each distinct name its first position, its hash and
    32 bits of a second hash. Returns the number of distinct names.
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
    """Copy the parts to `out` one after the other, and return the end."""
    end = 0
    for part in range(len(starts)):
        for offset in range(lengths[part]):
            out[end + offset] = data[starts[part] + offset]
        end += lengths[part]
    return end
