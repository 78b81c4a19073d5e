"""Layout of a delimited file, detected from its first lines: separator, header and columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path as FilePath

from core.errors import BadInput, shorten
from core.graph.readers.delimited_rows import (
    EDGE_LIST_FORMAT,
    FORMAT_SEPARATORS,
    GUESSED_FORMATS,
    NUMBER_TEXT,
    QUOTED_FORMATS,
    NumberedLine,
    count_cells,
    split_line,
    widest_format,
)
from core.graph.readers.header import WITH_HEADER, WITHOUT_HEADER, HeaderVerdict, header_verdict
from core.graph.readers.header_columns import (
    FIRST_COLUMNS,
    TRIPLE_PARTS,
    ColumnNumbers,
    find_attribute_columns,
    find_triple_columns,
    id_space,
    names_chosen_ends,
    names_only_ends,
)
from core.graph.readers.source import TripleSource
from core.io.files import EXCEL_SEPARATOR

# Number of lines from which the separator is detected.
SNIFFED_LINES = 20
# Number of lines that are compared with the first row, to find out if it is a header.
COMPARED_LINES = 1000
# Largest number of characters in these lines.
MAX_COMPARED_CHARACTERS = 1 << 20
MAX_NOTED_COLUMNS = 12  # unused columns of a header that a note names


@dataclass(frozen=True)
class DelimitedLayout:
    """Layout of a delimited file, detected from its first lines.

    Parameters
    ----------
    format_name : name of the format, which determines the separator and the use of quotes.
    columns : columns of head, relation and tail, from 1. None if rows have just these three.
    n_header_columns : number of columns of the header row, or 0 if there is no header.
    last_opening_line : number of the last line before the triples, such as a header, or 0.
    attribute_columns : position of a column of edge attributes, from 0 -> key of the attribute.
    """

    format_name: str
    columns: ColumnNumbers | None
    n_header_columns: int = 0
    last_opening_line: int = 0
    attribute_columns: Mapping[int, str] = field(default_factory=dict)


def sample_lines(lines: Iterator[NumberedLine]) -> list[NumberedLine]:
    """Take the first lines from an iterator, at most `COMPARED_LINES` of them.

    They end early after `MAX_COMPARED_CHARACTERS`. The layout is detected from these lines.
    """
    sample: list[NumberedLine] = []
    characters = 0
    for number, text in islice(lines, COMPARED_LINES):
        sample.append((number, text))
        characters += len(text)
        if characters > MAX_COMPARED_CHARACTERS:
            break
    return sample


def detect_layout(source: TripleSource, sample: list[NumberedLine]) -> DelimitedLayout:
    """Detect the layout of a file from its first lines.

    1. A first line in which Excel names the separator is skipped.
    2. The format is the one that the source names, else the one with Excel's separator, else the
       one that most lines fit.
    3. If the first row has known names of columns, it is a header and gives the columns.
    4. Else the source says if the first row is a header, or the row is compared with the others.

    The tally gets a note on a header, or a warning if it is not certain. For a header, this also
    sets `source.spaces`, `source.attributes.ignored_keys` and
    `source.attributes.header_has_attributes`.

    Parameters
    ----------
    source : the file and its settings.
    sample : its first lines that are not blank, from `sample_lines`.

    Raises
    ------
    BadInput
        If the lines cannot be triples.
    """
    path = source.path
    excel_format, last_opening_line = find_excel_line(source, sample)
    lines = [line for line in sample if line[0] > last_opening_line]
    if not lines:
        raise BadInput(f"{path.name} is empty; expected lines of head, relation and tail.")
    format_name = source.format
    if format_name == "auto":
        format_name = excel_format or _detect_format(path, lines[:SNIFFED_LINES], source.columns)
    rows = [split_line(text, format_name) for _, text in lines]
    known_columns = _columns_from_known_names(source, rows)
    if known_columns is None and not _looks_like_header(source, rows):
        return DelimitedLayout(format_name, source.columns, last_opening_line=last_opening_line)
    columns = source.columns or known_columns or FIRST_COLUMNS
    attribute_columns = _apply_header(source, rows[0], columns)
    if known_columns is None and not source.header:
        source.tally.note(
            "It is taken for one as no other row is like it. To read it as a triple, choose what the "
            "first row holds."
        )
    return DelimitedLayout(
        format_name,
        columns,
        n_header_columns=len(rows[0]),
        last_opening_line=lines[0][0],
        attribute_columns=attribute_columns,
    )


def find_excel_line(source: TripleSource, sample: list[NumberedLine]) -> tuple[str, int]:
    """Find a first line in which Excel names the separator, such as “sep=;”.

    Returns
    -------
    The format of that separator, empty if no format has it, and the number of the line. The number
    is 0 if there is no such line.
    """
    if not sample or source.format not in ("auto", *FORMAT_SEPARATORS):
        return "", 0
    number, text = sample[0]
    match = EXCEL_SEPARATOR.match(text)
    if match is None:
        return "", 0
    formats = {FORMAT_SEPARATORS[name]: name for name in ("bar", *QUOTED_FORMATS)}
    return formats.get(match[1], ""), number


def _detect_format(path: FilePath, lines: list[NumberedLine], columns: ColumnNumbers | None) -> str:
    """Detect the separator of the first lines: tab, bar, comma or semicolon.

    Raises
    ------
    BadInput
        If no line could be a triple with any of them.
    """
    fitting_lines = {
        format_name: sum(_fits_triple(text, format_name, columns) for _, text in lines)
        for format_name in GUESSED_FORMATS
    }
    # Of equally good formats, `max` returns the first.
    best_format = max(fitting_lines, key=lambda format_name: fitting_lines[format_name])
    if fitting_lines[best_format]:
        return best_format
    number, text = lines[0]
    widest = widest_format(text)
    if columns or count_cells(text, widest) > 3:
        # The reader then understands the header, or reports the number of columns.
        return widest
    raise BadInput(
        f"{path.name}, line {number}: expected head, relation and tail separated by tabs, “|”, "
        f"commas or semicolons, found “{shorten(text)}”."
    )


def _fits_triple(text: str, format_name: str, columns: ColumnNumbers | None) -> bool:
    """Return whether a line has the number of cells of a triple.

    If columns were chosen, it must have all of these instead.
    """
    n_cells = count_cells(text, format_name)
    return n_cells == 3 if columns is None else n_cells >= max(columns)


def _columns_from_known_names(source: TripleSource, rows: list[list[str]]) -> ColumnNumbers | None:
    """Return the columns that known names in the first row give, or None.

    Raises
    ------
    BadInput
        If the rows are links without relations.
    """
    may_have_header = source.header != WITHOUT_HEADER
    columns = find_triple_columns(rows[0], rows[1:]) if may_have_header else None
    if columns is None and source.columns is None:
        _refuse_edge_list(source.path, rows[:SNIFFED_LINES], may_have_header)
    return columns


def _refuse_edge_list(path: FilePath, rows: list[list[str]], may_have_header: bool) -> None:
    """Raise BadInput if the rows are links without relations.

    Rows are such links in two cases: a header of two or three columns names only ends, or the third
    column holds numbers and the second holds ends that begin other rows.
    """
    rows = [list(map(str.strip, row)) for row in rows]
    has_weights = _has_weight_column(rows)
    is_edge_list = has_weights and _second_cells_begin_rows(rows)
    if may_have_header and names_only_ends(rows[0]):
        is_edge_list = True
    if not is_edge_list:
        return
    weight_text = ", the third column being a weight" if has_weights else ""
    raise BadInput(
        f"{path.name} looks like a list of links without relations{weight_text}. "
        f"Read it as an edge list (format {EDGE_LIST_FORMAT}), or choose the columns of head, "
        "relation and tail."
    )


def _has_weight_column(rows: list[list[str]]) -> bool:
    """Return whether several rows have three cells, the last a number.

    All rows must have this form.
    """
    return len(rows) > 1 and all(len(row) == 3 and NUMBER_TEXT.fullmatch(row[2]) for row in rows)


def _second_cells_begin_rows(rows: list[list[str]]) -> bool:
    """Return whether a second cell begins a row, unless all second cells are numbers."""
    heads = {row[0] for row in rows}
    return any(row[1] in heads for row in rows) and not all(
        NUMBER_TEXT.fullmatch(row[1]) for row in rows
    )


def _looks_like_header(source: TripleSource, rows: list[list[str]]) -> bool:
    """Return whether a first row is a header.

    Not all its columns have known names. The setting of the source decides first, then the names of
    both ends in the chosen columns, then `header_verdict`. The tally warns if the verdict is
    unsure.
    """
    if source.header:
        return source.header == WITH_HEADER
    if source.columns and names_chosen_ends(rows[0], source.columns):
        return True
    columns = source.columns or FIRST_COLUMNS
    cells = [[row[column - 1] for column in columns] for row in rows if len(row) >= max(columns)]
    if len(rows[0]) < max(columns) or not all(map(str.strip, cells[0])):
        return False
    verdict = header_verdict(cells[0], cells[1:])
    if verdict is HeaderVerdict.UNSURE:
        source.tally.warn(
            f"The first row, “{shorten(', '.join(cells[0]), 80)}”, was read as a triple. If it "
            "names the columns, choose what the first row holds."
        )
    return verdict is HeaderVerdict.HEADER


def _apply_header(source: TripleSource, names: list[str], columns: ColumnNumbers) -> dict[int, str]:
    """Record what a header says in the source, and return the columns of attributes.

    This sets the id spaces of the source and the names that its attributes ignore, and notes the
    header in the tally.
    """
    head_column, _, tail_column = columns
    source.spaces = (_id_space_at(names, head_column), _id_space_at(names, tail_column))
    attribute_columns = find_attribute_columns(source, names, columns)
    source.attributes.ignored_keys = [
        shorten(name.strip(), 40)
        for i, name in enumerate(names)
        if i + 1 not in columns and i not in attribute_columns and name.strip()
    ]
    _note_header(source, names, columns)
    return attribute_columns


def _id_space_at(names: list[str], column: int) -> str:
    """Return the id space in the name of a column.

    The column may be missing in the header.
    """
    return id_space(names[column - 1]) if column <= len(names) else ""


def _note_header(source: TripleSource, names: list[str], columns: ColumnNumbers) -> None:
    """Note which columns of a header are used.

    There is no note if all are used under their usual names.
    """
    ignored_names = source.attributes.ignored_keys
    plain_names = tuple(name.strip().casefold() for name in names)
    if not ignored_names and plain_names in (TRIPLE_PARTS, ("subject", "predicate", "object")):
        return
    used_text = ", ".join(
        f"{part} from “{shorten(names[column - 1].strip(), 40)}”"
        for part, column in zip(TRIPLE_PARTS, columns)
        if column <= len(names)
    )
    ignored_text = ""
    if ignored_names:
        ellipsis = " …" if len(ignored_names) > MAX_NOTED_COLUMNS else ""
        ignored_text = f"; not read: {', '.join(ignored_names[:MAX_NOTED_COLUMNS])}{ellipsis}"
    source.tally.note(f"The first line is a header: {used_text}{ignored_text}.")
