"""Triples of a large delimited file in blocks of bytes.

Each name is a slice of its block. The builder of graphs that exceed memory (`core.graph.large`)
reads blocks. It saves the position after each one, from which a stopped build continues.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from core.errors import BadInput
from core.graph.readers.delimited import report_wide_row, triple_of, triples_of_row
from core.graph.readers.delimited_layout import detect_layout, sample_lines
from core.graph.readers.delimited_rows import FORMAT_SEPARATORS, QUOTED_FORMATS, bad_quotes_error
from core.graph.readers.list_cells import cell_names
from core.graph.readers.source import TripleSource
from core.graph.readers.text_loops import WRONG_COLUMN_COUNT, split_lines
from core.io.files import MAX_LINE_BYTES, UnpackedBytes, not_utf8_error, size_text

LINE_PATTERN = re.compile(rb"[^\n]*\n|[^\n]+$")


@dataclass(frozen=True)
class BlockPosition:
    """Position in a file after a block.

    `offset` is the number of bytes of text before the position, after unpacking, or the number of
    triples in formats that are read by triples. `line` is the number of lines before it. `quoted`
    is True if the csv module reads all rows from the position on.
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
    after: BlockPosition  # position of the next block


@dataclass
class DelimitedBlocks:
    """Reader of a delimited file in blocks.

    Compiled loops split lines without quotes and lists. A bad line raises BadInput, or is counted
    in the tally if bad lines may be left out.
    """

    source: TripleSource
    size: int  # bytes of text in a block
    # Columns of head, relation and tail that the header names, from 1.
    _header_columns: tuple[int, int, int] | None = field(default=None, init=False)
    _n_header_columns: int = field(default=0, init=False)  # 0 without a header
    # Number of the last line before the first triple, 0 if there is none.
    _last_opening_line: int = field(default=0, init=False)
    _format_name: str = field(default="", init=False)

    def __post_init__(self) -> None:
        self._path, self._tally = self.source.path, self.source.tally
        self._columns = self.source.columns

    def read(self, position: BlockPosition) -> Iterator[Block]:
        """Yield the blocks from a position on, about `size` bytes each."""
        self._detect_layout()
        with self.source.open_text() as source:
            source.skip(position.offset)
            texts = whole_lines(source, self.size)
            if position.quoted:
                yield from self._read_quoted(texts, position)
                return
            for text in texts:
                # The compiled loops know neither quotes nor lists, so the csv module reads the rest
                # of the file from the first one on.
                if self._format_name in QUOTED_FORMATS and (b'"' in text or b"[" in text):
                    start = BlockPosition(position.offset, position.line, True)
                    yield from self._read_quoted(chain([text], texts), start)
                    return
                block = self._split_block(np.frombuffer(bytearray(text), np.uint8), position)
                position = block.after
                yield block

    def _detect_layout(self) -> None:
        """Detect the layout of the file from its first lines, as `delimited.read` does."""
        with self.source.open_text() as source:
            sample = sample_lines(_decoded_lines(source))
        layout = detect_layout(self.source, sample)
        self._format_name = layout.format_name
        self._header_columns = layout.columns
        self._n_header_columns = layout.n_header_columns
        self._last_opening_line = layout.last_opening_line
        separator = FORMAT_SEPARATORS[layout.format_name]
        cells = chain.from_iterable(text.split(separator) for _, text in sample)
        if layout.format_name not in QUOTED_FORMATS and any(
            cell_names(cell) != [cell] for cell in cells
        ):
            self._tally.warn(
                "Cells that hold lists are one name each, as the file is too large to divide them."
            )

    def _split_block(self, data: np.ndarray, position: BlockPosition) -> Block:
        """Return the triples of whole lines without quotes, which begin at a position."""
        fault = self._drop_undecodable(data, position)
        if position.line < self._last_opening_line:
            self._hide_lines(data, self._last_opening_line - position.line)
        max_lines = int(np.count_nonzero(data == ord("\n"))) + 1
        chosen_columns = self._columns or self._header_columns
        max_columns = 0 if self._columns else self._n_header_columns
        if chosen_columns is None:
            max_columns = 3
        starts, lengths = np.empty(3 * max_lines, np.int64), np.empty(3 * max_lines, np.int64)
        numbers, odd = np.empty(max_lines, np.int64), np.empty((max_lines, 4), np.int64)
        columns = np.array(chosen_columns or (1, 2, 3), np.int64) - 1
        separator = ord(FORMAT_SEPARATORS[self._format_name])
        n_triples, n_odd, lines = split_lines(
            data,
            len(data),
            separator,
            columns,
            max_columns,
            starts,
            lengths,
            numbers,
            odd,
        )
        for line, start, end, reason in odd[:n_odd].tolist():
            # Earlier bad lines are reported first, as in a reading line by line.
            if fault and position.line + line + 1 > fault[0]:
                break
            self._count_bad_line(position.line + line + 1, data[start:end].tobytes(), reason)
        if fault:
            raise not_utf8_error(self._path.name, fault[0], fault[1].start)
        after = BlockPosition(position.offset + len(data), position.line + lines)
        return Block(
            data,
            starts[: 3 * n_triples],
            lengths[: 3 * n_triples],
            numbers[:n_triples] + position.line + 1,
            after,
        )

    def _count_bad_line(self, number: int, line: bytes, reason: int) -> None:
        """Count a bad line, or raise the same error as `delimited.read`.

        `reason` is one of those that `split_lines` gives.
        """
        row = line.decode("utf-8").split(FORMAT_SEPARATORS[self._format_name])
        if report_wide_row(self.source, number, row, self._n_header_columns):
            return
        why = "wrong number of columns" if reason == WRONG_COLUMN_COUNT else "an empty name"
        if not self._tally.skip(why, number):
            columns = self._columns or self._header_columns
            triple_of(self._path, number, row, self._format_name, columns)  # raises the error

    def _drop_undecodable(
        self, data: np.ndarray, position: BlockPosition
    ) -> tuple[int, UnicodeDecodeError] | None:
        """Overwrite lines that are not UTF-8 with spaces, and count them as bad.

        Returns
        -------
        None, or the number and the error of the first such line if bad lines may not be left out.
        """
        try:
            str(data.data, "utf-8")
            return None
        except UnicodeDecodeError:
            start = 0
        for number, line in enumerate(data.tobytes().split(b"\n"), position.line + 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                if not self._tally.skip("not UTF-8", number):
                    return number, error
                data[start : start + len(line)] = ord(" ")
            start += len(line) + 1
        return None

    def _hide_lines(self, data: np.ndarray, count: int) -> None:
        """Overwrite the first `count` lines of the block, such as a header, with spaces."""
        start = 0
        for _ in range(count):
            end = _line_end(data, start)
            data[start:end] = ord(" ")
            start = end + 1

    def _read_quoted(self, chunks: Iterator[bytes], position: BlockPosition) -> Iterator[Block]:
        """Yield the blocks of rows that the csv module reads.

        It reads them from chunks of whole lines.
        """
        end = position  # after the lines that the csv module has asked for

        def texts() -> Iterator[str]:
            nonlocal end
            for line in chain.from_iterable(map(LINE_PATTERN.findall, chunks)):
                end = BlockPosition(end.offset + len(line), end.line + 1, True)
                try:
                    text = line.decode("utf-8").rstrip("\r\n")
                except UnicodeDecodeError as error:
                    if not self._tally.skip("not UTF-8", end.line):
                        raise not_utf8_error(self._path.name, end.line, error.start) from None
                    continue
                if text.strip():
                    yield text + "\n"

        parts: list[str] = []
        lines: list[int] = []
        size = 0
        separator = FORMAT_SEPARATORS[self._format_name]
        rows = csv.reader(texts(), strict=True, delimiter=separator)
        while True:
            try:
                row = next(rows, None)
                if row is None:
                    break
                is_triple = end.line > self._last_opening_line and not report_wide_row(
                    self.source, end.line, row, self._n_header_columns
                )
                if is_triple:
                    columns = self._columns or self._header_columns
                    row_triple = triple_of(self._path, end.line, row, self._format_name, columns)
                    for triple in triples_of_row(self.source, end.line, row_triple):
                        parts += triple
                        size += sum(map(len, triple))
                        lines.append(end.line)
            except csv.Error as error:
                if not self._tally.skip("bad quotes", end.line):
                    raise bad_quotes_error(self._path, end.line, error, self._format_name) from None
            except BadInput:
                if not self._tally.skip("wrong columns or an empty name", end.line):
                    raise
            if size >= self.size:
                yield pack_block(parts, lines, end)
                parts, size, lines = [], 0, []
        yield pack_block(parts, lines, end)


def pack_block(parts: list[str], lines: list[int], after: BlockPosition) -> Block:
    """Build a block from texts: head, relation and tail of each triple in a row.

    `lines` are the line numbers of the triples, and `after` is the position of the next block.

    Raises
    ------
    BadInput
        If a text cannot be written as UTF-8.
    """
    data, lengths = encode_parts(parts)
    return Block(data, np.cumsum(lengths) - lengths, lengths, np.array(lines, np.int64), after)


def encode_parts(parts: list[str]) -> tuple[np.ndarray, np.ndarray]:
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
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    # NumPy refuses an empty buffer, hence the space.
    return np.frombuffer(b"".join(encoded) or b" ", np.uint8), lengths


def whole_lines(source: UnpackedBytes, size: int) -> Iterator[bytes]:
    """Yield the rest of a file in chunks of whole lines.

    Each chunk has about `size` bytes.

    Raises
    ------
    BadInput
        If a line is longer than `MAX_LINE_BYTES`.
    """
    carry = b""  # beginning of a line whose end is not read yet
    while True:
        data = source.read(size)
        cut = data.rfind(b"\n") + 1  # 0 without a line end, and at the end of the file
        if data and not cut:
            carry += data
            if len(carry) > MAX_LINE_BYTES:
                raise BadInput(
                    f"{source.name}: a line of more than {size_text(MAX_LINE_BYTES)} is too long."
                )
            continue
        text, carry = carry + data[:cut], data[cut:]
        if text:
            yield text
        if not data:
            return


def _decoded_lines(source: UnpackedBytes) -> Iterator[tuple[int, str]]:
    """Yield the lines that are UTF-8 and not blank, with their numbers."""
    for line in source.lines():
        try:
            text = line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            continue
        if text.strip():
            yield source.line, text


def _line_end(data: np.ndarray, start: int) -> int:
    newlines = np.flatnonzero(data[start:] == ord("\n"))
    return start + int(newlines[0]) if len(newlines) else len(data)
