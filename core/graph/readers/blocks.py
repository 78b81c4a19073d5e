"""Triples of a delimited file in blocks of bytes.

Every name is a slice of its block, so no Python text is made of it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from core.errors import BadInput
from core.graph.readers.delimited import (
    QUOTED,
    SEPARATORS,
    each,
    first_lines,
    look,
    not_quoted,
    triple_of,
)
from core.graph.readers.list_cells import names_of
from core.graph.readers.source import TripleSource
from core.graph.readers.textkernels import split
from core.io.files import LONGEST_LINE, Unpacked, not_utf8, size_text

LINES = re.compile(rb"[^\n]*\n|[^\n]+$")


@dataclass(frozen=True)
class Place:
    """Position in a file after a block.

    `offset` counts the bytes of text and `line` the lines before it. `quoted` is True if rows are
    read by the csv module from there on.
    """

    offset: int = 0
    line: int = 0
    quoted: bool = False


@dataclass(frozen=True)
class Block:
    """Some triples as slices of one array of bytes.

    Part i is `data[starts[i]:starts[i] + lengths[i]]`. A triple has three parts.
    """

    data: np.ndarray  # uint8
    starts: np.ndarray  # int64 [3 triples]
    lengths: np.ndarray  # int64 [3 triples]
    lines: np.ndarray  # int64 [triples], line of each triple, from 1
    after: Place


@dataclass
class DelimitedBlocks:
    """Reader of a delimited file in blocks.

    Bad lines raise BadInput, or are counted if they may be left out.
    """

    source: TripleSource
    size: int  # bytes of text a block
    _head: tuple[int, int, int] | None = field(default=None, init=False)
    _opening: int = field(default=0, init=False)
    _form: str = field(default="", init=False)

    def __post_init__(self) -> None:
        self._path, self._columns, self._tally = (
            self.source.path,
            self.source.columns,
            self.source.tally,
        )

    def read(self, place: Place) -> Iterator[Block]:
        """Yield the blocks from a position on."""
        self._look()
        with self.source.opened() as source:
            source.skip(place.offset)
            texts = whole_lines(source, self.size)
            for text in chain([b""], texts) if place.quoted else texts:
                if place.quoted or (self._form in QUOTED and (b'"' in text or b"[" in text)):
                    yield from self._quoted(
                        chain([text], texts), Place(place.offset, place.line, True)
                    )
                    return
                block = self._sliced(np.frombuffer(bytearray(text), np.uint8), place)
                place = block.after
                yield block

    def _look(self) -> None:
        """Detect the layout of the file from its first lines, as `delimited.read` does."""
        with self.source.opened() as source:
            first = first_lines(_texts(source))
        opening = look(self.source, first)
        self._form, self._head = opening.form, opening.columns
        self._opening = opening.before
        cells = (cell for _, text in first for cell in text.split(SEPARATORS[opening.form]))
        if opening.form not in QUOTED and any(names_of(cell) != [cell] for cell in cells):
            self._tally.warn(
                "Cells that hold lists are one name each, as the file is too large to divide them."
            )

    def _sliced(self, data: np.ndarray, place: Place) -> Block:
        fault = self._drop_undecodable(data, place)
        if place.line < self._opening:
            self._hide_lines(data, self._opening - place.line)
        most = int(np.count_nonzero(data == 10)) + 1
        wanted = self._columns or self._head
        starts, lengths = np.empty(3 * most, np.int64), np.empty(3 * most, np.int64)
        numbers, odd = np.empty(most, np.int64), np.empty((most, 4), np.int64)
        columns = np.array(wanted or (1, 2, 3), np.int64) - 1
        separator = ord(SEPARATORS[self._form])
        found, strange, lines = split(
            data,
            len(data),
            separator,
            columns,
            wanted is None,
            starts,
            lengths,
            numbers,
            odd,
        )
        for line, start, end, reason in odd[:strange].tolist():
            if fault and place.line + line + 1 > fault[0]:
                break
            self._bad(place.line + line + 1, data[start:end].tobytes(), reason)
        if fault:
            raise not_utf8(self._path.name, fault[0], fault[1].start)
        after = Place(place.offset + len(data), place.line + lines)
        return Block(
            data, starts[: 3 * found], lengths[: 3 * found], numbers[:found] + place.line + 1, after
        )

    def _bad(self, number: int, line: bytes, reason: int) -> None:
        """Count a bad line, or raise the same error as `delimited.read`."""
        why = "wrong number of columns" if reason % 10 == 1 else "an empty name"
        if not self._tally.skip(why, number):
            triple_of(
                self._path,
                number,
                line.decode("utf-8").split(SEPARATORS[self._form]),
                self._form,
                self._columns or self._head,
            )

    def _drop_undecodable(
        self, data: np.ndarray, place: Place
    ) -> tuple[int, UnicodeDecodeError] | None:
        """Overwrite lines that are not UTF-8 with spaces, and count them as bad.

        If they may not be left out, the number of the first one and its error are returned.
        """
        try:
            str(data.data, "utf-8")
            return None
        except UnicodeDecodeError:
            start = 0
        for number, line in enumerate(data.tobytes().split(b"\n"), place.line + 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                if not self._tally.skip("not UTF-8", number):
                    return number, error
                data[start : start + len(line)] = 32
            start += len(line) + 1
        return None

    def _hide_lines(self, data: np.ndarray, count: int) -> None:
        """Overwrite the first lines of the block, which are no triples, with spaces."""
        start = 0
        for _ in range(count):
            end = _line_end(data, start)
            data[start:end] = 32
            start = end + 1

    def _quoted(self, chunks: Iterator[bytes], place: Place) -> Iterator[Block]:
        """Yield the blocks of quoted rows from a position on.

        The csv module reads them from chunks of whole lines.
        """
        at = place

        def texts() -> Iterator[str]:
            nonlocal at
            for line in (line for chunk in chunks for line in LINES.findall(chunk)):
                at = Place(at.offset + len(line), at.line + 1, True)
                try:
                    text = line.decode("utf-8").rstrip("\r\n")
                except UnicodeDecodeError as error:
                    if not self._tally.skip("not UTF-8", at.line):
                        raise not_utf8(self._path.name, at.line, error.start) from None
                    continue
                if text.strip():
                    yield text + "\n"

        found: list[str] = []
        lines: list[int] = []
        rows, size = csv.reader(texts(), strict=True, delimiter=SEPARATORS[self._form]), 0
        while True:
            try:
                row = next(rows, None)
                if row is None:
                    break
                if at.line > self._opening:
                    triple = triple_of(
                        self._path, at.line, row, self._form, self._columns or self._head
                    )
                    for one in each(self.source, at.line, triple):
                        found += one
                        size += sum(map(len, one))
                        lines.append(at.line)
            except (csv.Error, BadInput) as error:
                if not self._tally.skip(
                    "bad quotes"
                    if isinstance(error, csv.Error)
                    else "wrong columns or an empty name",
                    at.line,
                ):
                    raise (
                        not_quoted(self._path, at.line, error, self._form)
                        if isinstance(error, csv.Error)
                        else error
                    ) from None
            if size >= self.size:
                yield packed(found, lines, at)
                found, size, lines = [], 0, []
        yield packed(found, lines, at)


def packed(parts: list[str], lines: list[int], after: Place) -> Block:
    """Build a block from texts, three per triple.

    Raises
    ------
    BadInput
        If a text cannot be written as UTF-8.
    """
    data, lengths = bytes_of(parts)
    return Block(data, np.cumsum(lengths) - lengths, lengths, np.array(lines, np.int64), after)


def bytes_of(parts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the concatenated UTF-8 of texts, and their lengths in bytes.

    Raises
    ------
    BadInput
        If a text cannot be written as UTF-8.
    """
    try:
        encoded = [part.encode("utf-8") for part in parts]
    except UnicodeEncodeError as error:
        raise BadInput(f"A name cannot be written as UTF-8: {error.object!r}.") from None
    return np.frombuffer(b"".join(encoded) or b" ", np.uint8), np.fromiter(
        map(len, encoded), np.int64, len(encoded)
    )


def whole_lines(source: Unpacked, size: int) -> Iterator[bytes]:
    """Yield the rest of a file in chunks of whole lines.

    A chunk has about `size` bytes.

    Raises
    ------
    BadInput
        If a line is longer than `LONGEST_LINE`.
    """
    rest = b""
    while True:
        data = source.read(size)
        cut = len(data) if not data else data.rfind(b"\n") + 1
        if data and not cut:
            rest += data
            if len(rest) > LONGEST_LINE:
                raise BadInput(
                    f"{source.name}: a line of more than {size_text(LONGEST_LINE)} is too long."
                )
            continue
        text, rest = rest + data[:cut], data[cut:]
        if text:
            yield text
        if not data:
            return


def _texts(source: Unpacked) -> Iterator[tuple[int, str]]:
    """Yield the lines that are UTF-8 and not blank, with their numbers."""
    for line in source.lines():
        try:
            text = line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            continue
        if text.strip():
            yield source.line, text


def _line_end(data: np.ndarray, start: int) -> int:
    ends = np.flatnonzero(data[start:] == 10)
    return start + int(ends[0]) if len(ends) else len(data)
