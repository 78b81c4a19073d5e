"""Compiled loops over N-Triples: the terms of ordinary lines, and the readable ends of terms."""

from __future__ import annotations

import numba
import numpy as np

XSD_STRING_BYTES = np.frombuffer(b"http://www.w3.org/2001/XMLSchema#string>", np.uint8)


@numba.njit(cache=True)
def _iri(data, at, end):
    """Return the end of an absolute ASCII IRI without escapes that begins at data[at], or 0."""
    colon, first, at = False, at + 1, at + 1
    while at < end and data[at] != 62:
        letter = data[at]
        if (
            letter <= 32
            or letter >= 127
            or letter == 34
            or letter == 60
            or letter == 92
            or letter == 94
            or letter == 96
        ):
            return 0
        if (
            letter == 123
            or letter == 124
            or letter == 125
            or letter == 37
            or letter == 91
            or letter == 93
        ):
            return 0
        if not colon:
            alphabetic = 65 <= letter <= 90 or 97 <= letter <= 122
            if letter == 58 and at > first:
                colon = True
            elif not (
                alphabetic
                or (
                    at > first
                    and (48 <= letter <= 57 or letter == 43 or letter == 45 or letter == 46)
                )
            ):
                return 0
        at += 1
    return at + 1 if at < end and colon else 0


@numba.njit(cache=True)
def _node(data, at, end):
    """Return the end of a blank node `_:` of letters and digits, or 0."""
    if at + 2 >= end or data[at + 1] != 58:
        return 0
    first = at = at + 2
    while at < end and (65 <= data[at] <= 90 or 97 <= data[at] <= 122 or 48 <= data[at] <= 57):
        at += 1
    return at if at > first and (at == end or data[at] == 32 or data[at] == 9) else 0


@numba.njit(cache=True)
def _literal(data, at, end, letters):
    """Return the end of a literal in canonical form, or 0."""
    at += 1
    while at < end and data[at] != 34:
        if data[at] == 92 or data[at] < 32 or data[at] == 127 or (data[at] > 127 and not letters):
            return 0
        at += 1
    if at >= end:
        return 0
    at += 1
    if at < end and data[at] == 64:
        first = at = at + 1
        while at < end and (97 <= data[at] <= 122):
            at += 1
        return at if 0 < at - first <= 3 and (at == end or data[at] == 32 or data[at] == 9) else 0
    if at + 2 < end and data[at] == 94 and data[at + 1] == 94 and data[at + 2] == 60:
        last = _iri(data, at + 2, end)
        if last - at - 3 == len(XSD_STRING_BYTES):
            for offset in range(len(XSD_STRING_BYTES)):
                if data[at + 3 + offset] != XSD_STRING_BYTES[offset]:
                    return last
            return 0  # the canonical form of a plain text has no type
        return last
    return at


@numba.njit(cache=True)
def _term(data, at, end, part, letters):
    """Return the end of the term at data[at], or 0.

    Only ordinary terms that are allowed as head, relation or tail (`part`) are recognised.
    """
    if at >= end:
        return 0
    if data[at] == 60:
        return _iri(data, at, end)
    if data[at] == 95 and part != 1:
        return _node(data, at, end)
    return _literal(data, at, end, letters) if data[at] == 34 and part == 2 else 0


@numba.njit(cache=True)
def split_terms(data, letters, starts, lengths, numbers, odd):
    """Find the terms of ordinary lines, and list all other lines as odd.

    Lines with letters outside of ASCII are ordinary only if `letters` is True. Fills starts and
    lengths (three per triple), numbers (lines from 0) and odd (rows: line, start, end). Returns the
    counts of triples, odd lines and all lines.
    """
    at, line, n_triples, n_odd, size = 0, 0, 0, 0, len(data)
    while at < size:
        start = at
        while at < size and data[at] != 10:
            at += 1
        end = at
        at, line, position, is_ordinary = at + 1, line + 1, start, True
        if end > start and data[end - 1] == 13:
            end -= 1
        for part in range(3):
            while position < end and (data[position] == 32 or data[position] == 9):
                position += 1
            last = _term(data, position, end, part, letters)
            if not last:
                is_ordinary = False
                break
            starts[3 * n_triples + part], lengths[3 * n_triples + part] = position, last - position
            position = last
        while position < end and (data[position] == 32 or data[position] == 9):
            position += 1
        if is_ordinary and position < end and data[position] == 46:
            position += 1
            while position < end and (data[position] == 32 or data[position] == 9):
                position += 1
            if position == end:
                numbers[n_triples] = line - 1
                n_triples += 1
                continue
        odd[n_odd, 0], odd[n_odd, 1], odd[n_odd, 2] = line - 1, start, end
        n_odd += 1
    return n_triples, n_odd, line


@numba.njit(cache=True)
def find_readable_ends(data, offsets, starts, lengths):
    """Find the readable end of each ordinary term, as a slice.

    The length is -1 for terms that are left to Python: escapes, letters outside of ASCII, and empty
    ends.
    """
    for term in range(len(offsets) - 1):
        start, end = offsets[term], offsets[term + 1]
        first, last, is_plain = start, end, True
        for i in range(start, end):
            is_plain &= data[i] < 128 and data[i] != 92 and data[i] != 37
        if data[start] == 60:
            first, last = start + 1, end - 1
            while last > first and (data[last - 1] == 47 or data[last - 1] == 35):
                last -= 1
            end_start, colon = last, last
            while end_start > first and data[end_start - 1] != 47 and data[end_start - 1] != 35:
                end_start -= 1
            if end_start == first:
                while colon > first and data[colon - 1] != 58:
                    colon -= 1
                end_start = colon
            first = end_start
        elif data[start] == 34:
            first = start + 1
            while data[last - 1] != 34:
                last -= 1
            last -= 1
        is_blank = True
        for i in range(first, last):
            is_blank &= data[i] <= 32
        starts[term], lengths[term] = first, last - first if is_plain and not is_blank else -1
