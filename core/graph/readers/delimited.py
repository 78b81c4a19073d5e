"""Reader of triples in delimited text: head, relation and tail in the columns of each row."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path as FilePath

from core.errors import BadInput, shorten
from core.graph.readers.delimited_layout import DelimitedLayout, detect_layout, sample_lines
from core.graph.readers.delimited_rows import (
    FORMAT_SEPARATORS,
    SEPARATOR_WORDS,
    NumberedRow,
    split_into_rows,
)
from core.graph.readers.header_columns import (
    FIRST_COLUMNS,
    TRIPLE_PARTS,
    ColumnNumbers,
    check_columns,
)
from core.graph.readers.list_cells import cell_names, name_combinations
from core.graph.readers.source import Triple, TripleSource

QUOTED_NAMES_NOTE = (
    "{lines:,} lines hold names in double quotes, which were taken as part of them. If they are "
    "those of CSV, read the file as tab-quoted."
)


def read(source: TripleSource) -> Iterator[Triple]:
    """Yield the triples of a delimited file.

    The format of the source is tab, bar, comma, semicolon or tab-quoted; with “auto” it is detected
    from the first lines. Names may be in quotes in the last three only. In the others a name is
    taken unchanged, including spaces. Blank lines are skipped, and so is a first line in which
    Excel names the separator.

    A header row is not read as a triple. If its names are in `END_COLUMN_PAIRS` and
    `RELATION_COLUMN_NAMES`, they give the columns of head, relation and tail, and the file may have
    more columns. Other headers are detected by `core.graph.readers.header`, unless the source says
    if there is one. The tally notes these decisions.

    Raises
    ------
    BadInput
        For a missing or empty file, and for links without relations. Also for a wrong number of
        columns, an empty name, and bytes that are not UTF-8, unless the source leaves out bad
        lines. The message names file and line.
    """
    check_columns(source.columns)
    texts = source.lines()
    sample = sample_lines(texts)
    layout = detect_layout(source, sample)
    lines = (line for line in chain(sample, texts) if line[0] > layout.last_opening_line)
    has_rows = False
    n_quoted_lines = 0
    for number, row in split_into_rows(source, lines, layout.format_name):
        has_rows = True
        if report_wide_row(source, number, row, layout.n_header_columns):
            continue
        if layout.format_name == "tab" and any(map(_is_quoted, row)):
            n_quoted_lines += 1
        yield from _read_row(source, (number, row), layout)
    if n_quoted_lines:
        source.tally.note(QUOTED_NAMES_NOTE.format(lines=n_quoted_lines))
    if not has_rows:
        raise BadInput(
            f"{source.name} holds no triples; each line should hold head, relation and tail."
        )


def report_wide_row(source: TripleSource, number: int, row: list[str], n_named: int) -> bool:
    """Report a row that has more columns than the header names.

    The result is True if the row is too wide. `n_named` is the number of columns of the header, or
    0 if there is none. No row is too wide if the person has chosen the columns.
    """
    if source.columns or not 0 < n_named < len(row):
        return False
    hint = ""
    if any('"' in name for name in row):
        hint = " Names in double quotes may hold tabs: read the file as tab-quoted."
    source.report_bad_line(
        "more columns than the header",
        number,
        f"found {len(row)} columns, where the header has {n_named}.{hint}",
    )
    return True


def _is_quoted(name: str) -> bool:
    """Return whether a name is in double quotes."""
    return len(name) > 1 and name[0] == name[-1] == '"'


def _read_row(
    source: TripleSource, numbered_row: NumberedRow, layout: DelimitedLayout
) -> Iterator[Triple]:
    """Yield the triples of a row.

    The attributes of a triple are passed to the source before it is yielded.
    """
    number, row = numbered_row
    try:
        triple = triple_of(source.path, number, row, layout.format_name, layout.columns)
    except BadInput as error:
        source.report_bad_line("wrong columns or an empty name", number, error)
        return
    for row_triple in triples_of_row(source, number, triple):
        if layout.attribute_columns:
            source.attributes.set_next_edge(
                {key: row[i] for i, key in layout.attribute_columns.items() if i < len(row)}
            )
        yield row_triple


def triples_of_row(source: TripleSource, number: int, triple: Triple) -> Iterator[Triple]:
    """Iterate over the triples of a row.

    There are several if its cells hold lists written as text. `triple` holds the cells of head,
    relation and tail, and `number` is the number of the line.
    """
    if not any("[" in name for name in triple):
        return iter((triple,))
    cells = [cell_names(name) for name in triple]
    if not all(cells):
        source.report_bad_line("wrong columns or an empty name", number, "a list in it is empty.")
        return iter(())
    return name_combinations(source, cells)


def triple_of(
    path: FilePath, number: int, row: list[str], format_name: str, columns: ColumnNumbers | None
) -> Triple:
    """Return the triple of a row.

    Parameters
    ----------
    path : the file, for the message of an error.
    number : number of the line, for the message of an error.
    row : the cells of the line.
    format_name : format of the file, for the message of an error.
    columns : columns of head, relation and tail, from 1. None means that the row has just these
        three.

    Raises
    ------
    BadInput
        If the row has the wrong number of columns or an empty name.
    """
    has_right_width = len(row) == 3 if columns is None else len(row) >= max(columns)
    if not has_right_width:
        raise _wrong_width_error(path, number, row, format_name, columns)
    head_column, relation_column, tail_column = columns or FIRST_COLUMNS
    triple = (row[head_column - 1], row[relation_column - 1], row[tail_column - 1])
    for name, part in zip(triple, TRIPLE_PARTS):
        if not name.strip():
            raise BadInput(
                f"{path.name}, line {number}: the {part} is empty; expected head, relation and "
                "tail."
            )
    return triple


def _wrong_width_error(
    path: FilePath, number: int, row: list[str], format_name: str, columns: ColumnNumbers | None
) -> BadInput:
    """Return the error for a row with the wrong number of columns."""
    plural = "" if len(row) == 1 else "s"
    expected = "expected 3 (head, relation, tail)"
    hint = ""
    if columns:
        expected = f"expected at least {max(columns)}"
    elif len(row) > 3:
        hint = " Choose the columns that hold them."
    line_text = shorten(FORMAT_SEPARATORS[format_name].join(row))
    return BadInput(
        f"{path.name}, line {number}: found {len(row)} column{plural}, {expected} separated by "
        f"{SEPARATOR_WORDS[format_name]}: “{line_text}”.{hint}"
    )
