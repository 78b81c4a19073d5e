"""Reader of CSV and TSV tables, which detects their separator and header."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from core.corpus.readers.file_sources import MAX_FILE_BYTES
from core.errors import BadInput
from core.io.files import (
    EXCEL_SEPARATOR,
    MAX_LINE_BYTES,
    FileSource,
    name_without_packing,
    not_utf8_error,
    open_unpacked,
)
from core.watch import NO_WATCH, Watch

DELIMITERS = ",;\t|"
SEPARATOR_LINES = 20  # lines by which the separator is detected
NUMBER_CELL = re.compile(r"\A\s*[-+]?[\d.,:/-]{1,30}\s*\Z")
# A cell of a first row that ends so and has at least this many words, or other letters than ASCII,
# is a sentence and not the name of a column.
SENTENCE_ENDS = (".", "!", "。", "！", "…", ".”", '."', "।")
MIN_DATA_WORDS = 3
HEADER_YES, HEADER_NO = "yes", "no"


class DelimitedTable:
    """A CSV or TSV table in UTF-8, read as a stream.

    `names` are the names of its columns, or their numbers from 1 if it has no header.

    Parameters
    ----------
    source : the file.
    watch : receives the share read; may raise RunCancelled.
    header : `HEADER_YES` or `HEADER_NO`; if empty, the first row decides. It is no header if it
        holds only sentences and numbers, and at least one sentence.
    """

    def __init__(self, source: FileSource, watch: Watch = NO_WATCH, header: str = ""):
        csv.field_size_limit(MAX_LINE_BYTES)
        self.name = name_without_packing(source.name)
        self.n_long_rows = 0
        lines = _lines(source, watch)
        beginning = list(islice(lines, SEPARATOR_LINES))
        separator_line = EXCEL_SEPARATOR.match(beginning[0]) if beginning else None
        if separator_line:
            delimiter = separator_line[1]
            beginning = beginning[1:]
        elif self.name.lower().endswith(".tsv"):
            delimiter = "\t"
        else:
            delimiter = _delimiter(beginning)
        all_lines = chain(beginning, lines)
        self._rows = csv.reader(all_lines, delimiter=delimiter, skipinitialspace=True)
        first_row = next(self._rows, [])
        self.has_header = header == HEADER_YES or (header != HEADER_NO and not _is_data(first_row))
        self.names: Sequence[str] = first_row
        self._first_rows: list[list[str]] = []
        if not self.has_header:
            self.names = [str(number) for number in range(1, len(first_row) + 1)]
            self._first_rows = [first_row]

    def rows(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield the rows that are not blank, each with its number from 1.

        `n_long_rows` counts rows with more cells than columns. Raises BadInput that names the line.
        """
        try:
            for number, row in enumerate(filter(None, chain(self._first_rows, self._rows)), 1):
                self.n_long_rows += any(cell.strip() for cell in row[len(self.names) :])
                yield str(number), dict(zip(self.names, row))
        except csv.Error as error:
            raise BadInput(
                f"{self.name}, line {self._rows.line_num}: this table cannot be read ({error})."
            ) from None


def _is_data(row: Sequence[str]) -> bool:
    """Return whether a first row is no header: at least one sentence, and else only numbers."""
    cells = [cell.strip() for cell in row if cell.strip()]
    sentences = [
        cell
        for cell in cells
        if cell.endswith(SENTENCE_ENDS)
        and (len(cell.split()) >= MIN_DATA_WORDS or not cell.isascii())
    ]
    return bool(sentences) and all(cell in sentences or NUMBER_CELL.match(cell) for cell in cells)


def _delimiter(lines: Sequence[str]) -> str:
    """Return the separator of a table's cells.

    A separator that gives all first lines the same number of cells is preferred, then the one that
    is most frequent in the first line.
    """

    def score(delimiter: str) -> tuple[bool, int]:
        rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
        try:
            counts = [len(row) for row in rows if row]
        except csv.Error:
            return False, 0
        # The last row may continue after these lines.
        full_counts = counts[:-1] if len(counts) > 1 and len(lines) == SEPARATOR_LINES else counts
        return len(set(full_counts)) == 1 and full_counts[0] > 1, lines[0].count(delimiter)

    return max(DELIMITERS, key=score) if lines else DELIMITERS[0]


def _lines(source: FileSource, watch: Watch = NO_WATCH) -> Iterator[str]:
    """Yield the lines of a table with their ends.

    The first line is the first that is not blank.
    """
    started = False
    with open_unpacked(source, watch, MAX_FILE_BYTES) as stream:
        for data in stream.lines():
            try:
                text = data.decode("utf-8" if stream.line > 1 else "utf-8-sig")
            except UnicodeDecodeError as error:
                raise not_utf8_error(stream.name, stream.line, error.start) from None
            line = text.replace("\r\n", "\n")
            started = started or line != "\n"
            if started:
                yield line
