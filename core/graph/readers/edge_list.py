"""Reader of edge lists: one link per line, with an optional weight and no relation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from core.errors import shorten
from core.graph.readers.delimited import triples_of_row
from core.graph.readers.delimited_layout import SNIFFED_LINES, find_excel_line, sample_lines
from core.graph.readers.delimited_rows import NUMBER_TEXT, NumberedLine, split_quoted_line
from core.graph.readers.header import WITH_HEADER, WITHOUT_HEADER, HeaderVerdict, header_verdict
from core.graph.readers.header_columns import HEAD_COLUMN_NAMES, TAIL_COLUMN_NAMES
from core.graph.readers.source import Triple, TripleSource

DEFAULT_RELATION = "connected_to"  # relation of links without one
# Weight in the data of an edge, as networkx writes it.
NETWORKX_WEIGHT = re.compile(r"'weight': ([0-9.eE+-]{1,30})")
MAX_SEARCHED_CHARACTERS = 1000  # characters of an edge's data that are searched for the weight


def read(source: TripleSource) -> Iterator[Triple]:
    """Yield the links of an edge list without relations, with the relation `DEFAULT_RELATION`.

    The columns are separated by a tab, a comma, a semicolon or spaces. The first two are the ends
    of the link. If there are exactly three and the third is a number, the third is the weight. A
    weight in the data that networkx writes after the ends is also read. The tally notes that other
    columns are not read. Lines that begin with # are comments.

    Raises
    ------
    BadInput
        For a line without two ends, unless the source leaves out bad lines.
    """
    texts = source.lines()
    sample = sample_lines(texts)
    separator, last_opening_line = _detect_edge_layout(source, sample)
    has_more_columns = False
    source.tally.note(f"Links without relations: each is called {DEFAULT_RELATION}.")
    for number, text in chain(sample, texts):
        if number <= last_opening_line or text.startswith("#"):
            continue
        row = _split_cells(text, separator)
        if len(row) < 2 or not row[0].strip() or not row[1].strip():
            source.report_bad_line(
                "no two ends", number, f"expected the two ends of a link, found “{shorten(text)}”."
            )
            continue
        weight = _find_weight(row)
        if not weight and len(row) > 2 and not has_more_columns:
            has_more_columns = True
            source.tally.note("Columns after the second that are no weights are not read.")
        link = (row[0].strip(), DEFAULT_RELATION, row[1].strip())
        for triple in triples_of_row(source, number, link):
            if weight:
                source.attributes.set_next_edge({"weight": weight})
            yield triple


def _detect_edge_layout(source: TripleSource, sample: list[NumberedLine]) -> tuple[str | None, int]:
    """Return the separator of an edge list, and where its links begin.

    The second result is the number of the last line before the links. The separator is None if
    spaces separate the columns.
    """
    _, last_opening_line = find_excel_line(source, sample)
    lines = [
        (number, text)
        for number, text in sample
        if number > last_opening_line and not text.startswith("#")
    ]
    separator = _common_separator([text for _, text in lines[:SNIFFED_LINES]])
    if _has_header(source, [_split_cells(text, separator) for _, text in lines]):
        last_opening_line = lines[0][0]
    return separator, last_opening_line


def _common_separator(texts: list[str]) -> str | None:
    """Return the first of tab, comma and semicolon that every text holds, or None."""
    if not texts:
        return None
    for mark in ("\t", ",", ";"):
        if all(mark in text for text in texts):
            return mark
    return None


def _split_cells(text: str, separator: str | None) -> list[str]:
    """Split a line into cells by a separator.

    If it is None, spaces separate the cells.
    """
    return text.split() if separator is None else split_quoted_line(text, separator)


def _has_header(source: TripleSource, rows: list[list[str]]) -> bool:
    """Return whether the first row of an edge list names its columns.

    The setting of the source decides first, then known names, then `header_verdict`. A header is
    noted in the tally.
    """
    cells = [[cell.strip() for cell in row[:2]] for row in rows if len(row) > 1]
    if not cells or len(rows[0]) < 2 or source.header == WITHOUT_HEADER:
        return False
    head, tail = (cell.casefold() for cell in cells[0])
    is_header = source.header == WITH_HEADER
    is_header = is_header or (head in HEAD_COLUMN_NAMES and tail in TAIL_COLUMN_NAMES)
    if is_header or header_verdict(cells[0], cells[1:]) is HeaderVerdict.HEADER:
        source.tally.note(f"The first line is a header: {', '.join(cells[0])}.")
        return True
    return False


def _find_weight(row: list[str]) -> str:
    """Return the weight in a row of an edge list, or an empty text.

    The weight is the third of exactly three columns if that is a number, else the one in networkx's
    data, such as `{'weight': 2.5}`.
    """
    if len(row) == 3 and NUMBER_TEXT.fullmatch(row[2].strip()):
        return row[2]
    match = NETWORKX_WEIGHT.search(" ".join(row[2:])[:MAX_SEARCHED_CHARACTERS])
    return match[1] if match else ""
