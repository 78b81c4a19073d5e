"""Compiled loops over N-Triples: the terms of ordinary lines, and the readable ends of terms.

Only terms in canonical form are recognised, in which equal terms have equal bytes. All other lines
are left to pyoxigraph. The numbers in comparisons are codes of ASCII characters.
"""

from __future__ import annotations

import numba
import numpy as np

# By byte, True if an absolute IRI in ASCII without escapes may hold it.
IRI_BYTES = np.array([32 < byte < 127 and chr(byte) not in '"<\\^`{|}%[]' for byte in range(256)])
XSD_STRING_BYTES = np.frombuffer(b"http://www.w3.org/2001/XMLSchema#string>", np.uint8)


@numba.njit(cache=True)
def _iri(data, i, end):
    """Return the end of an IRI that begins at data[i].

    The IRI must be absolute, in ASCII and without escapes; the result is 0 if there is none.
    """
    colon, first, i = False, i + 1, i + 1
    while i < end and data[i] != 62:  # until >
        letter = data[i]
        if not IRI_BYTES[letter]:
            return 0
        if not colon:  # in the scheme: letters, then also digits, + - and .
            alphabetic = 65 <= letter <= 90 or 97 <= letter <= 122
            if letter == 58 and i > first:
                colon = True
            elif not (
                alphabetic
                or (
                    i > first
                    and (48 <= letter <= 57 or letter == 43 or letter == 45 or letter == 46)
                )
            ):
                return 0
        i += 1
    return i + 1 if i < end and colon else 0


@numba.njit(cache=True)
def _blank_node(data, i, end):
    """Return the end of a blank node `_:` of letters and digits, or 0."""
    if i + 2 >= end or data[i + 1] != 58:  # no colon after _
        return 0
    first = i = i + 2
    while i < end and (65 <= data[i] <= 90 or 97 <= data[i] <= 122 or 48 <= data[i] <= 57):
        i += 1
    return i if i > first and (i == end or data[i] == 32 or data[i] == 9) else 0


@numba.njit(cache=True)
def _literal(data, i, end, allows_unicode):
    """Return the end of a literal in canonical form, or 0.

    `allows_unicode` is True if the literal may have letters outside of ASCII.
    """
    i += 1
    while i < end and data[i] != 34:  # until the closing quote
        # Escapes, control characters, and letters outside of ASCII
        if (
            data[i] == 92
            or data[i] < 32
            or data[i] == 127
            or (data[i] > 127 and not allows_unicode)
        ):
            return 0
        i += 1
    if i >= end:
        return 0
    i += 1
    # @ and a language of at most three lower-case letters; other tags are left to the parser
    if i < end and data[i] == 64:
        first = i = i + 1
        while i < end and (97 <= data[i] <= 122):
            i += 1
        return i if 0 < i - first <= 3 and (i == end or data[i] == 32 or data[i] == 9) else 0
    # ^^< and a datatype
    if i + 2 < end and data[i] == 94 and data[i + 1] == 94 and data[i + 2] == 60:
        last = _iri(data, i + 2, end)
        if last - i - 3 == len(XSD_STRING_BYTES):
            for offset in range(len(XSD_STRING_BYTES)):
                if data[i + 3 + offset] != XSD_STRING_BYTES[offset]:
                    return last
            return 0  # in canonical form, a plain text has no type
        return last
    return i


@numba.njit(cache=True)
def _term(data, i, end, part, allows_unicode):
    """Return the end of the term at data[i], or 0.

    Only terms that are allowed in the place of head (`part` 0), relation (1) or tail (2) are
    recognised.
    """
    if i >= end:
        return 0
    if data[i] == 60:  # <
        return _iri(data, i, end)
    if data[i] == 95 and part != 1:  # _
        return _blank_node(data, i, end)
    return _literal(data, i, end, allows_unicode) if data[i] == 34 and part == 2 else 0


@numba.njit(cache=True)
def split_terms(data, allows_unicode, starts, lengths, numbers, odd):
    """Find the terms of ordinary lines, and list all other lines as odd.

    Parameters
    ----------
    data : uint8, whole lines.
    allows_unicode : True if literals may have letters outside of ASCII; then `data` must be UTF-8.
    starts, lengths : int64 [3 * lines], filled with three terms per triple.
    numbers : int64 [lines], filled with the line of each triple, from 0.
    odd : int64 [lines, 3], filled with line, start and end of each other line, also of blank lines
        and comments.

    Returns
    -------
    The numbers of triples, of odd lines, and of all lines.
    """
    i, line, n_triples, n_odd, size = 0, 0, 0, 0, len(data)
    while i < size:
        start = i
        while i < size and data[i] != 10:
            i += 1
        end = i
        i, line, position, is_ordinary = i + 1, line + 1, start, True
        if end > start and data[end - 1] == 13:
            end -= 1
        for part in range(3):
            while position < end and (data[position] == 32 or data[position] == 9):
                position += 1
            last = _term(data, position, end, part, allows_unicode)
            if not last:
                is_ordinary = False
                break
            starts[3 * n_triples + part], lengths[3 * n_triples + part] = position, last - position
            position = last
        while position < end and (data[position] == 32 or data[position] == 9):
            position += 1
        # A full stop ends the triple.
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
    """Find the readable end of each term, by the rules of `ntriples.local_name`.

    Parameters
    ----------
    data : uint8, terms in canonical form.
    offsets : int64 [terms + 1]. Term i is `data[offsets[i]:offsets[i + 1]]`.
    starts, lengths : int64 [terms], filled with the slices of the readable ends. The length is -1
        for terms that are left to Python: those with escapes or other letters than ASCII, and those
        with empty ends.
    """
    for term in range(len(offsets) - 1):
        start, end = offsets[term], offsets[term + 1]
        first, last, is_plain = start, end, True
        for i in range(start, end):
            is_plain &= data[i] < 128 and data[i] != 92 and data[i] != 37  # \ and %
        if data[start] == 60:  # an IRI: after its last / or #, else after its last colon
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
        elif data[start] == 34:  # a literal: the text in quotes
            first = start + 1
            while data[last - 1] != 34:
                last -= 1
            last -= 1
        is_blank = True
        for i in range(first, last):
            is_blank &= data[i] <= 32
        starts[term], lengths[term] = first, last - first if is_plain and not is_blank else -1
