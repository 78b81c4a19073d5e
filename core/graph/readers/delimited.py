"""Reader of triples in delimited text, separated by tabs, commas, semicolons or `|`."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path as FilePath

from core.errors import BadInput, shorten
from core.graph.readers.attributes import EDGE_COLUMN_KEYS, ONLY_TRIPLES_READ
from core.graph.readers.header import WITH_HEADER, WITHOUT_HEADER, HeaderVerdict, header_verdict
from core.graph.readers.list_cells import cell_names, name_combinations
from core.graph.readers.source import Triple, TripleSource
from core.io.files import EXCEL_SEPARATOR, MAX_LINE_BYTES, size_text

ColumnNumbers = tuple[int, int, int]  # of head, relation and tail, counted from 1
NumberedRow = tuple[int, list[str]]  # line number and cells
NUMBER_TEXT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
# Weight in the data of an edge, as networkx writes it.
NETWORKX_WEIGHT = re.compile(r"'weight': ([0-9.eE+-]{1,30})")
# name:TYPE(space), as in the headers of neo4j-admin.
NEO4J_COLUMN = re.compile(r"([^:]{0,200}):([A-Za-z_]{1,20})(?:\[\])?(?:\(([^()]{0,200})\))?")
# Types of neo4j-admin's columns that hold ids, relations or labels instead of values.
NEO4J_SPECIAL_TYPES = ("id", "start_id", "end_id", "type", "label")
NEO4J_VALUE_TYPES = (
    "string",
    "int",
    "integer",
    "long",
    "float",
    "double",
    "boolean",
    "byte",
    "short",
    "char",
    "date",
    "datetime",
    "localdatetime",
)

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
# Formats that are tried on the first lines; of those that fit equally well, the first is taken.
GUESSED_FORMATS = ("tab", "bar", "comma", "semicolon")
END_COLUMN_PAIRS = (
    *(("head", "tail"), ("subject", "object"), ("source", "target"), ("from", "to")),
    *(("start", "end"), ("entity1", "entity2"), ("entity_1", "entity_2"), ("e1", "e2")),
    *(("node1", "node2"), ("src", "dst"), ("src", "tgt"), (":start_id", ":end_id")),
    *(("start_id", "end_id"), ("head_entity", "tail_entity"), ("~from", "~to")),
)
"""Pairs of names of the columns of both ends, unambiguous ones first."""
HEAD_COLUMN_NAMES = tuple(dict.fromkeys(head for head, _ in END_COLUMN_PAIRS))
TAIL_COLUMN_NAMES = tuple(tail for _, tail in END_COLUMN_PAIRS)
RELATION_COLUMN_NAMES = (
    *(
        "relation",
        "predicate",
        "rel",
        "relationship",
        "relation_type",
        "edge_label",
        "edge label",
        ":type",
        "interaction",
        "label",
        "verb",
    ),
    *("property", "type", "~label", "description", "keywords"),
)
TRIPLE_PARTS = ("head", "relation", "tail")
# Number of lines from which the separator is detected.
SNIFFED_LINES = 20
# Number of lines with which the first row is compared, to find out if it is a header.
COMPARED_LINES = 1000
# Largest number of characters in these lines.
MAX_COMPARED_CHARACTERS = 1 << 20
EDGE_LIST_FORMAT = "edges"  # format of links without relations
DEFAULT_RELATION = "connected_to"  # relation of links without one


@dataclass(frozen=True)
class DelimitedLayout:
    """Layout of a delimited file, detected from its first lines.

    `form` is the name of the separator's format. `columns` are those of head, relation and tail, if
    they were found or chosen. `n_header_columns` is the number of columns of the header row, 0
    without one. Lines up to number `n_opening_lines` hold no triples. `attribute_columns` maps
    positions of columns, from 0, to the keys of the edge attributes in them.
    """

    form: str
    columns: ColumnNumbers | None
    n_header_columns: int = 0
    n_opening_lines: int = 0
    attribute_columns: Mapping[int, str] = field(default_factory=dict)


def read(source: TripleSource) -> Iterator[Triple]:
    """Yield the triples of a delimited file.

    The format of the source is tab, bar, comma, semicolon or tab-quoted; with `auto` it is detected
    from the first lines. Only the last three know quotes. In the others a name is taken unchanged,
    including spaces. Blank lines are skipped, and so is a first line in which Excel names the
    separator.

    A first row that names its columns is no triple. If the names are in `END_COLUMN_PAIRS` and
    `RELATION_COLUMN_NAMES`, they give the columns of head, relation and tail, and the file may have
    more columns. Other headers are detected by `core.graph.readers.header`, unless the source says
    if there is one. The tally is told of the decisions.

    Raises
    ------
    BadInput
        With file and line, for a missing or empty file, a wrong number of columns, an empty name,
        bytes that are not UTF-8, and links without relations.
    """
    check_columns(source.columns)
    texts = source.lines()
    first = first_lines(texts)
    layout = detect_layout(source, first)
    lines = (line for line in chain(first, texts) if line[0] > layout.n_opening_lines)
    has_rows = False
    n_quoted_lines = 0
    for number, row in _split_rows(source, lines, layout.form):
        has_rows = True
        if layout.n_header_columns and not source.columns and len(row) > layout.n_header_columns:
            _report_wide_row(source, number, row, layout.n_header_columns)
            continue
        if layout.form == "tab" and any(map(_is_quoted, row)):
            n_quoted_lines += 1
        try:
            triple = triple_of(source.path, number, row, layout.form, layout.columns)
        except BadInput as error:
            source.report_bad_line("wrong columns or an empty name", number, error)
            continue
        for row_triple in triples_of_row(source, number, triple):
            _pass_attributes(source, row, layout)
            yield row_triple
    if n_quoted_lines:
        source.tally.note(
            f"{n_quoted_lines:,} lines hold names in double quotes, which were taken as part of them. If "
            "they are those of CSV, read the file as tab-quoted."
        )
    if not has_rows:
        raise BadInput(
            f"{source.name} holds no triples; each line should hold head, relation and tail."
        )


def _report_wide_row(source: TripleSource, number: int, row: list[str], n_named: int) -> None:
    """Report a row that has more columns than the header names."""
    hint = ""
    if any('"' in name for name in row):
        hint = " Names in double quotes may hold tabs: read the file as tab-quoted."
    source.report_bad_line(
        "more columns than the header",
        number,
        f"found {len(row)} columns, where the header has {n_named}.{hint}",
    )


def _is_quoted(name: str) -> bool:
    """Return whether a name is in double quotes."""
    return len(name) > 1 and name[0] == name[-1] == '"'


def _pass_attributes(source: TripleSource, row: list[str], layout: DelimitedLayout) -> None:
    """Pass the edge attributes in a row to the source."""
    if layout.attribute_columns:
        source.attributes.take_edge(
            {key: row[i] for i, key in layout.attribute_columns.items() if i < len(row)}
        )


def triples_of_row(source: TripleSource, number: int, triple: Triple) -> Iterator[Triple]:
    """Return the triples of a row, several if its cells hold lists written as text."""
    if not any("[" in name for name in triple):
        return iter((triple,))
    cells = [cell_names(name) for name in triple]
    if not all(cells):
        source.report_bad_line("wrong columns or an empty name", number, "a list in it is empty.")
        return iter(())
    return name_combinations(source, cells)


def read_edges(source: TripleSource) -> Iterator[Triple]:
    """Yield the links of an edge list without relations, with the relation `connected_to`.

    The two columns are separated by a tab, a comma, a semicolon or spaces. A third column that is a
    number is the weight. Further columns are not read, which the tally is told. Lines that begin
    with # are comments. Raises BadInput for a line of one column.
    """
    texts = source.lines()
    first = first_lines(texts)
    separator, before = _edges_layout(source, first)
    has_more_columns = False
    source.tally.note(f"Links without relations: each is called {DEFAULT_RELATION}.")
    for number, text in chain(first, texts):
        if number <= before or text.startswith("#"):
            continue
        row = _split_line(text, separator)
        if len(row) < 2 or not row[0].strip() or not row[1].strip():
            source.report_bad_line(
                "no two ends", number, f"expected the two ends of a link, found “{shorten(text)}”."
            )
            continue
        weight = _weight(row)
        if not weight and len(row) > 2 and not has_more_columns:
            has_more_columns = True
            source.tally.note("Columns after the second that are no weights are not read.")
        link = (row[0].strip(), DEFAULT_RELATION, row[1].strip())
        for triple in triples_of_row(source, number, link):
            if weight:
                source.attributes.take_edge({"weight": weight})
            yield triple


def _edges_layout(source: TripleSource, first: list[tuple[int, str]]) -> tuple[str | None, int]:
    """Return the separator of an edge list, and the number of the last line before its links.

    The separator is None if spaces separate the columns.
    """
    _, before = _named_separator(source, first)
    lines = [line for line in first if line[0] > before and not line[1].startswith("#")]
    separator = _common_separator([text for _, text in lines[:SNIFFED_LINES]])
    if _edges_header(source, [_split_line(text, separator) for _, text in lines]):
        before = lines[0][0]
    return separator, before


def _common_separator(texts: list[str]) -> str | None:
    """Return the first of tab, comma and semicolon that every text holds, or None."""
    if not texts:
        return None
    for mark in ("\t", ",", ";"):
        if all(mark in text for text in texts):
            return mark
    return None


def _edges_header(source: TripleSource, rows: list[list[str]]) -> bool:
    """Return whether the first row of an edge list names its columns.

    The setting of the source decides first, then known names, then `header_verdict`. The tally is
    told of a header.
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


def _weight(row: list[str]) -> str:
    """Return the weight in a row of an edge list, or an empty text.

    It is the third column if that is a number, or the weight in networkx's data.
    """
    if len(row) == 3 and NUMBER_TEXT.fullmatch(row[2].strip()):
        return row[2]
    match = NETWORKX_WEIGHT.search(" ".join(row[2:])[:1000])
    return match[1] if match else ""


def _split_line(text: str, separator: str | None) -> list[str]:
    """Split a line into cells by a separator or by spaces.

    The result is empty if quotes are not closed.
    """
    if separator is None:
        return text.split()
    try:
        return next(csv.reader([text], delimiter=separator), [])
    except csv.Error:
        return []


def check_columns(columns: ColumnNumbers | None) -> None:
    """Raise BadInput unless the columns are three different numbers from 1."""
    if columns and (len(set(columns)) != 3 or min(columns) < 1):
        raise BadInput(
            "Columns are three different numbers from 1, for head, relation and tail: 1,2,3."
        )


def first_lines(texts: Iterator[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the lines from which the layout is detected, limited in number and size."""
    lines, size = list[tuple[int, str]](), 0
    for number, text in islice(texts, COMPARED_LINES):
        lines.append((number, text))
        size += len(text)
        if size > MAX_COMPARED_CHARACTERS:
            break
    return lines


def detect_layout(source: TripleSource, first: list[tuple[int, str]]) -> DelimitedLayout:
    """Detect the layout of a file from its first lines.

    The tally is told of a header.

    Raises
    ------
    BadInput
        If the lines cannot be triples.
    """
    path, columns = source.path, source.columns
    named_form, before = _named_separator(source, first)
    first = [line for line in first if line[0] > before]
    if not first:
        raise BadInput(f"{path.name} is empty; expected lines of head, relation and tail.")
    form = source.format
    if form == "auto":
        form = named_form or detect_format(path, first[:SNIFFED_LINES], columns)
    rows = [_cells(text, form) for _, text in first]
    known_columns = _known_header_columns(source, rows)
    if known_columns is None and not _is_header(source, rows):
        return DelimitedLayout(form, columns, n_opening_lines=before)
    part_columns = columns or known_columns or (1, 2, 3)
    attribute_positions = _report_header(source, rows[0], part_columns)
    if known_columns is None and not source.header:
        source.tally.note(
            "It is taken for one as no other row is like it. To read it as a triple, choose what the "
            "first row holds."
        )
    return DelimitedLayout(form, part_columns, len(rows[0]), first[0][0], attribute_positions)


def _known_header_columns(source: TripleSource, rows: list[list[str]]) -> ColumnNumbers | None:
    """Return the columns that known names in the first row give, or None.

    Raises
    ------
    BadInput
        If the rows are links without relations.
    """
    may_have_header = source.header != WITHOUT_HEADER
    columns = header_of(rows[0], rows[1:]) if may_have_header else None
    if columns is None and source.columns is None:
        _refuse_edges(source.path, rows[:SNIFFED_LINES], may_have_header)
    return columns


def _named_separator(source: TripleSource, first: list[tuple[int, str]]) -> tuple[str, int]:
    """Return the format that a first line by Excel names, and the line's number.

    They are empty and 0 if there is no such line.
    """
    if not first or source.format not in ("auto", *FORMAT_SEPARATORS):
        return "", 0
    match = EXCEL_SEPARATOR.match(first[0][1])
    if match is None:
        return "", 0
    forms = {FORMAT_SEPARATORS[form]: form for form in ("bar", *QUOTED_FORMATS)}
    return forms.get(match[1], ""), first[0][0]


def _is_header(source: TripleSource, rows: list[list[str]]) -> bool:
    """Return whether a first row without known names of all columns is a header.

    The setting of the source decides first, then the names of both ends in the chosen columns, then
    `header_verdict`. If the row may be a header, the tally warns.
    """
    if source.header:
        return source.header == WITH_HEADER
    if source.columns and _names_ends(rows[0], source.columns):
        return True
    columns = source.columns or (1, 2, 3)
    cells = [[row[column - 1] for column in columns] for row in rows if len(row) >= max(columns)]
    if len(rows[0]) < max(columns) or not all(map(str.strip, cells[0])):
        return False
    decision = header_verdict(cells[0], cells[1:])
    if decision is HeaderVerdict.UNSURE:
        source.tally.warn(
            f"The first row, “{shorten(', '.join(cells[0]), 80)}”, was read as a triple. If it "
            "names the columns, choose what the first row holds."
        )
    return decision is HeaderVerdict.HEADER


def _report_header(
    source: TripleSource, names: list[str], columns: ColumnNumbers
) -> dict[int, str]:
    """Report the columns that a header names, and return the `attribute_columns`."""
    source.spaces = tuple(
        space_of(names[i - 1]) if i <= len(names) else "" for i in (columns[0], columns[2])
    )  # type: ignore[assignment]
    attribute_positions = attribute_columns(source, names, columns)
    words = [
        f"{part} from “{shorten(names[column - 1].strip(), 40)}”"
        for part, column in zip(TRIPLE_PARTS, columns)
        if column <= len(names)
    ]
    ignored_names = [
        shorten(name.strip(), 40)
        for i, name in enumerate(names)
        if i + 1 not in columns and i not in attribute_positions and name.strip()
    ]
    source.attributes.ignored = ignored_names
    usual_names = (TRIPLE_PARTS, ("subject", "predicate", "object"))
    if ignored_names or tuple(name.strip().casefold() for name in names) not in usual_names:
        ignored_text = ""
        if ignored_names:
            ellipsis = " …" * (len(ignored_names) > 12)
            ignored_text = f"; not read: {', '.join(ignored_names[:12])}{ellipsis}"
        source.tally.note(f"The first line is a header: {', '.join(words)}{ignored_text}.")
    return attribute_positions


def header_of(row: Sequence[str], rows: Sequence[Sequence[str]] = ()) -> ColumnNumbers | None:
    """Return the columns of head, relation and tail that a header names, or None.

    If several names of ends occur, those that form a pair are taken. If there are two ends and a
    third column without a known name, that column is the relation, provided that the other `rows`
    hold words in it and not numbers.

    >>> from core.graph.readers.delimited import header_of
    >>> header_of(["id", "Source", "Target", "Type", "Label"])
    (2, 5, 3)
    >>> header_of([":START_ID", ":END_ID", ":TYPE"]), header_of(["Ann", "is", "to"])
    ((1, 3, 2), None)
    >>> header_of(["subject", "predicate", "object", "source"])
    (1, 2, 3)
    >>> header_of(["source", "kind", "target"], [["a", "knows", "b"]])
    (1, 2, 3)
    """
    columns = [bare_key(column) for column in row]
    end_columns = _end_columns(columns)
    if end_columns is None:
        return None
    relation = next((name for name in RELATION_COLUMN_NAMES if columns.count(name) == 1), None)
    if relation is not None:
        return end_columns[0], columns.index(relation) + 1, end_columns[1]
    others = {1, 2, 3} - set(end_columns)
    if len(columns) != 3 or len(others) != 1:
        return None
    relation_column = others.pop()
    values = [other[relation_column - 1].strip() for other in rows if len(other) == 3]
    if not values or not all(value[:1].isalpha() for value in values):
        return None
    return end_columns[0], relation_column, end_columns[1]


def _end_columns(columns: Sequence[str]) -> tuple[int, int] | None:
    """Return the columns of both ends, from 1, or None.

    They are those of the first known pair of names, else the only head and the only tail.
    """
    heads, tails = (
        [name for name in names if columns.count(name) == 1]
        for names in (HEAD_COLUMN_NAMES, TAIL_COLUMN_NAMES)
    )
    pairs = [(head, tail) for head, tail in END_COLUMN_PAIRS if head in heads and tail in tails]
    if not pairs and len(heads) == len(tails) == 1:
        pairs = [(heads[0], tails[0])]
    if not pairs:
        return None
    head, tail = pairs[0]
    return columns.index(head) + 1, columns.index(tail) + 1


def bare_key(cell: str) -> str:
    """Return the name of a column in lower case without its type, or Neo4j's `:id` and the like.

    >>> from core.graph.readers.delimited import bare_key
    >>> bare_key(" Weight:float "), bare_key("personId:ID(Person)")
    ('weight', ':id')
    >>> bare_key(":START_ID"), bare_key("rdf:type")
    (':start_id', 'rdf:type')
    """
    name = cell.strip().casefold()
    match = NEO4J_COLUMN.fullmatch(name)
    if match is None:
        return name
    # A name before “:type” is a prefix, as in rdf:type.
    if match[2] in NEO4J_SPECIAL_TYPES and (match[2] not in ("type", "label") or not match[1]):
        return f":{match[2]}"
    column = match[1].strip()
    return column if column and match[2] in NEO4J_VALUE_TYPES else name


def attribute_columns(
    source: TripleSource, names: Sequence[str], columns: ColumnNumbers
) -> dict[int, str]:
    """Map the positions of columns with edge attributes, from 0, to their keys.

    Columns taken for head, relation and tail are left out. The result is empty if attributes are
    not wanted.
    """
    attribute_keys = {name for names in EDGE_COLUMN_KEYS.values() for name in names}
    attribute_positions = {
        index: key
        for index, key in enumerate(map(bare_key, names))
        if key in attribute_keys and index + 1 not in columns
    }
    if not source.attributes.wanted:
        if attribute_positions and source.attributes.large:
            keys = ", ".join(f"“{key}”" for key in attribute_positions.values())
            source.tally.note(f"Not taken: {keys}. {ONLY_TRIPLES_READ}")
        return {}
    source.attributes.expected = bool(attribute_positions)
    return attribute_positions


def space_of(cell: str) -> str:
    """Return the id space in a column's name, such as `Person` in `:START_ID(Person)`, or “”."""
    match = NEO4J_COLUMN.fullmatch(cell.strip())
    return (match[3] or "").strip() if match else ""


def rows_of(source: TripleSource) -> Iterator[NumberedRow]:
    """Yield the rows of a delimited file with any columns, and their line numbers.

    If the source names no separator, it is the one that gives the first line the most columns.
    """
    texts = source.lines()
    first = list(islice(texts, 1))
    if first and EXCEL_SEPARATOR.match(first[0][1]):
        first = list(islice(texts, 1))
    if first:
        form = source.format
        if form not in FORMAT_SEPARATORS:
            form = max(GUESSED_FORMATS, key=lambda form: _count_columns(first[0][1], form))
        yield from _split_rows(source, chain(first, texts), form)


def _names_ends(row: list[str], columns: ColumnNumbers) -> bool:
    """Return whether the chosen cells of a row are names of columns."""
    cells = [row[column - 1].strip().casefold() for column in columns if column <= len(row)]
    return len(cells) == 3 and cells[0] in HEAD_COLUMN_NAMES and cells[2] in TAIL_COLUMN_NAMES


def _refuse_edges(path: FilePath, rows: list[list[str]], has_names: bool) -> None:
    """Raise BadInput if the rows are links without relations.

    They are if a header of two or three columns names only ends, or if the third column holds
    numbers and the second holds ends that begin other rows.
    """
    cells = [list(map(str.strip, row)) for row in rows]
    has_end_names = has_names and _names_only_ends(cells[0])
    is_weighted = _has_weight_column(cells)
    if not has_end_names and not (is_weighted and _links_rows(cells)):
        return
    raise BadInput(
        f"{path.name} looks like a list of links without relations"
        f"{', the third column being a weight' if is_weighted else ''}. "
        f"Read it as an edge list (format {EDGE_LIST_FORMAT}), or choose the columns of head, relation "
        "and tail."
    )


def _names_only_ends(row: list[str]) -> bool:
    """Return whether a row of two or three cells names the columns of both ends."""
    return len(row) in (2, 3) and _end_columns([name.casefold() for name in row]) is not None


def _has_weight_column(rows: list[list[str]]) -> bool:
    """Return whether several rows all have three cells, of which the last is a number."""
    return len(rows) > 1 and all(len(row) == 3 and NUMBER_TEXT.fullmatch(row[2]) for row in rows)


def _links_rows(rows: list[list[str]]) -> bool:
    """Return whether a second cell begins a row, unless all second cells are numbers."""
    heads = {row[0] for row in rows}
    return any(row[1] in heads for row in rows) and not all(
        NUMBER_TEXT.fullmatch(row[1]) for row in rows
    )


def _cells(text: str, form: str) -> list[str]:
    separator = FORMAT_SEPARATORS[form]
    return _split_line(text, separator) if form in QUOTED_FORMATS else text.split(separator)


def triple_of(
    path: FilePath, number: int, row: list[str], form: str, columns: ColumnNumbers | None
) -> Triple:
    """Return the triple of a row.

    Raises
    ------
    BadInput
        If the row has the wrong number of columns or an empty name.
    """
    width = max(columns) if columns else 3
    if len(row) < width or (columns is None and len(row) != 3):
        expected = f"expected at least {width}" if columns else "expected 3 (head, relation, tail)"
        raise BadInput(
            f"{path.name}, line {number}: found {len(row)} column{'s' * (len(row) != 1)}, "
            f"{expected} separated by {SEPARATOR_WORDS[form]}: “{shorten(FORMAT_SEPARATORS[form].join(row))}”."
            + (" Choose the columns that hold them." if len(row) > 3 and not columns else "")
        )
    triple = tuple(row[column - 1] for column in columns or (1, 2, 3))
    for name, what in zip(triple, TRIPLE_PARTS):
        if not name.strip():
            raise BadInput(
                f"{path.name}, line {number}: the {what} is empty; expected head, relation and "
                "tail."
            )
    return triple  # type: ignore[return-value]


def detect_format(
    path: FilePath, first: list[tuple[int, str]], columns: ColumnNumbers | None
) -> str:
    """Detect the separator of the first lines: tab, bar, comma or semicolon.

    Raises
    ------
    BadInput
        If no line could be a triple with any of them.
    """
    width = max(columns) if columns else 3
    fits = {
        form: sum(_fits_width(text, form, width, columns is None) for _, text in first)
        for form in GUESSED_FORMATS
    }
    best = max(fits, key=lambda form: fits[form])  # of equally good ones the first
    if not fits[best] and first:
        widest = max(GUESSED_FORMATS, key=lambda form: _count_columns(first[0][1], form))
        if columns or _count_columns(first[0][1], widest) > 3:
            # With this separator, the header is understood, or the error counts the columns.
            return widest
        number, text = first[0]
        raise BadInput(
            f"{path.name}, line {number}: expected head, relation and tail separated by tabs, “|”, "
            f"commas or semicolons, found “{shorten(text)}”."
        )
    return best


def _fits_width(text: str, form: str, width: int, exactly: bool) -> bool:
    n_columns = _count_columns(text, form)
    return n_columns == width if exactly else n_columns >= width


def _count_columns(text: str, form: str) -> int:
    return len(_cells(text, form))


def _split_rows(
    source: TripleSource, texts: Iterator[tuple[int, str]], form: str
) -> Iterator[NumberedRow]:
    """Return the rows of lines in a format."""
    split = _quoted_rows if form in QUOTED_FORMATS else _plain_rows
    return split(source, texts, form)


def _plain_rows(
    source: TripleSource, texts: Iterator[tuple[int, str]], form: str
) -> Iterator[NumberedRow]:
    separator = FORMAT_SEPARATORS[form]
    for number, text in texts:
        yield number, text.split(separator)


def _quoted_rows(
    source: TripleSource, texts: Iterator[tuple[int, str]], form: str
) -> Iterator[NumberedRow]:
    """Yield the rows of a file whose names may be in double quotes.

    A quoted name may extend over several lines; the number is then that of the last one.
    """
    at = size = 0

    def numbered() -> Iterator[str]:
        nonlocal at, size
        for number, text in texts:
            at, size = number, size + len(text)
            if size > MAX_LINE_BYTES:
                raise BadInput(
                    f"{source.name}, line {number}: a row of more than {size_text(MAX_LINE_BYTES)} "
                    "is too long."
                )
            yield text + "\n"

    reader = csv.reader(numbered(), strict=True, delimiter=FORMAT_SEPARATORS[form])
    while True:
        size = 0
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            source.report_bad_line("bad quotes", at, bad_quotes_error(source.path, at, error, form))
            continue
        yield at, row


def bad_quotes_error(path: FilePath, line: int, error: csv.Error, form: str) -> BadInput:
    """Return the error for a badly quoted line."""
    title = {"comma": "comma-separated text", "semicolon": "text separated by semicolons"}.get(
        form, "tab-separated text with quoted names"
    )
    mark = {"comma": "commas", "semicolon": "semicolons"}.get(form, "tabs")
    return BadInput(
        f"{path.name}, line {line}: not {title} ({error}); expected head, relation, tail, with "
        f"names that hold {mark} in double quotes."
    )
