"""Rows of delimited text: separators and quotes of the formats, and lines split into cells.

Readers of triples, of edge lists and of node tables share these functions.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path as FilePath

from core.errors import BadInput
from core.graph.readers.source import TripleSource
from core.io.files import EXCEL_SEPARATOR, MAX_LINE_BYTES, size_text

NumberedLine = tuple[int, str]  # line number, from 1, and text
NumberedRow = tuple[int, list[str]]  # line number and cells
NUMBER_TEXT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)

FORMAT_SEPARATORS = {"tab": "\t", "bar": "|", "comma": ",", "semicolon": ";", "tab-quoted": "\t"}
SEPARATOR_WORDS = {
    "tab": "a tab",
    "bar": "“|”",
    "comma": "a comma",
    "semicolon": "a semicolon",
    "tab-quoted": "a tab",
}
# Formats in which names may be in double quotes, as the csv module writes them.
QUOTED_FORMATS = ("comma", "semicolon", "tab-quoted")
# Formats that are tried on the first lines. If several fit equally well, the first one is chosen.
GUESSED_FORMATS = ("tab", "bar", "comma", "semicolon")
EDGE_LIST_FORMAT = "edges"  # format of links without relations, see `core.graph.readers.edge_list`


def split_line(text: str, format_name: str) -> list[str]:
    """Split a line into the cells of a format."""
    separator = FORMAT_SEPARATORS[format_name]
    if format_name in QUOTED_FORMATS:
        return split_quoted_line(text, separator)
    return text.split(separator)


def split_quoted_line(text: str, separator: str) -> list[str]:
    """Split a line whose cells may be in double quotes.

    A quote may be open at the end of the line, since its cell may continue on the next one. The
    result is empty if the csv module rejects the line, such as one with a carriage return in a
    cell.
    """
    try:
        return next(csv.reader([text], delimiter=separator), [])
    except csv.Error:
        return []


def count_cells(text: str, format_name: str) -> int:
    """Return the number of cells of a line in a format."""
    return len(split_line(text, format_name))


def widest_format(text: str) -> str:
    """Return the guessed format that splits a line into the most cells."""
    return max(GUESSED_FORMATS, key=lambda format_name: count_cells(text, format_name))


def read_rows(source: TripleSource) -> Iterator[NumberedRow]:
    """Yield the rows of a delimited file with any number of columns.

    The separator is that of the source's format. If the format has none, the separator that splits
    the first line into the most cells is used. A first line in which Excel names the separator is
    skipped.
    """
    texts = source.lines()
    first = list(islice(texts, 1))
    if first and EXCEL_SEPARATOR.match(first[0][1]):
        first = list(islice(texts, 1))
    if not first:
        return
    format_name = source.format
    if format_name not in FORMAT_SEPARATORS:
        format_name = widest_format(first[0][1])
    yield from split_into_rows(source, chain(first, texts), format_name)


def split_into_rows(
    source: TripleSource, lines: Iterator[NumberedLine], format_name: str
) -> Iterator[NumberedRow]:
    """Iterate over the rows of lines in a format, with their line numbers.

    Raises
    ------
    BadInput
        For bad quotes, unless the source leaves out bad lines, and for a row that is too long.
    """
    if format_name in QUOTED_FORMATS:
        return _split_quoted_rows(source, lines, format_name)
    separator = FORMAT_SEPARATORS[format_name]
    return ((number, text.split(separator)) for number, text in lines)


def _split_quoted_rows(
    source: TripleSource, lines: Iterator[NumberedLine], format_name: str
) -> Iterator[NumberedRow]:
    """Yield the rows of lines whose cells may be in double quotes.

    A quoted cell may extend over several lines; the number is then that of the last one.
    """
    line_number = 0
    row_characters = 0

    def count_lines() -> Iterator[str]:
        """Yield lines to the csv module.

        The line number and the size of the row are tracked.
        """
        nonlocal line_number, row_characters
        for number, text in lines:
            line_number = number
            row_characters += len(text)
            # The limit is in bytes. A character has at least one byte, so no shorter row is
            # rejected.
            if row_characters > MAX_LINE_BYTES:
                raise BadInput(
                    f"{source.name}, line {number}: a row of more than {size_text(MAX_LINE_BYTES)} "
                    "is too long."
                )
            yield text + "\n"

    rows = csv.reader(count_lines(), strict=True, delimiter=FORMAT_SEPARATORS[format_name])
    while True:
        row_characters = 0
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            fault = bad_quotes_error(source.path, line_number, error, format_name)
            source.report_bad_line("bad quotes", line_number, fault)
            continue
        yield line_number, row


def bad_quotes_error(path: FilePath, line: int, error: csv.Error, format_name: str) -> BadInput:
    """Return the error for a badly quoted line."""
    titles = {"comma": "comma-separated text", "semicolon": "text separated by semicolons"}
    marks = {"comma": "commas", "semicolon": "semicolons"}
    title = titles.get(format_name, "tab-separated text with quoted names")
    mark = marks.get(format_name, "tabs")
    return BadInput(
        f"{path.name}, line {line}: not {title} ({error}); expected head, relation, tail, with "
        f"names that hold {mark} in double quotes."
    )
