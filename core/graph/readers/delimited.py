"""Triples read from delimited text: tab-separated, comma-separated or `|`-separated."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path as FilePath

from core.errors import BadInput, shorten
from core.graph.readers.attributes import OF_EDGES, ONLY_TRIPLES
from core.graph.readers.source import Triple, TripleSource
from core.io.files import LONGEST_LINE, size_text

Columns = tuple[int, int, int]  # of head, relation and tail, from 1
Row = tuple[int, list[str]]  # line number and columns
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
WEIGHTED = re.compile(
    r"'weight': ([0-9.eE+-]{1,30})"
)  # in the data of an edge, as networkx writes it
NEO4J = re.compile(
    r"([^:]{0,200}):([A-Za-z_]{1,20})(?:\[\])?(?:\(([^()]{0,200})\))?"
)  # name:TYPE(space), as neo4j-admin's headers have it
IMPORTED = ("id", "start_id", "end_id", "type", "label")  # types of columns that are no values
VALUES = (
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

SEPARATORS = {"tab": "\t", "bar": "|", "comma": ",", "semicolon": ";", "tab-quoted": "\t"}
WORDS = {
    "tab": "a tab",
    "bar": "“|”",
    "comma": "a comma",
    "semicolon": "a semicolon",
    "tab-quoted": "a tab",
}
QUOTED = (
    "comma",
    "semicolon",
    "tab-quoted",
)  # in which names may stand in double quotes, as the csv module writes them
GUESSED = (
    "tab",
    "bar",
    "comma",
    "semicolon",
)  # that first lines are looked at for, the first of equals
HEADS = (
    *("head", "subject", "source", "from", "start", "entity1", "entity_1", "e1", "node1", "src"),
    *(":start_id", "start_id", "head_entity", "~from"),
)
TAILS = (
    *("tail", "object", "target", "to", "end", "entity2", "entity_2", "e2", "node2", "dst", "tgt"),
    *(":end_id", "end_id", "tail_entity", "~to"),
)
RELATIONS = (
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
PARTS = ("head", "relation", "tail")
SNIFFED = 20
EDGES = "edges"  # the format of links without relations
LINKED = "connected_to"  # their relation


@dataclass(frozen=True)
class Opening:
    """What the first lines of a file say: how it is separated, which columns hold head, relation and tail, where they say or were chosen,
    whether the first line is a header, of so many columns, and which of them, by place from 0, speak of the edge, each with its key."""

    form: str
    columns: Columns | None
    header: int = 0
    beside: Mapping[int, str] = field(default_factory=dict)


def read(source: TripleSource) -> Iterator[Triple]:
    """The triples of a delimited file. Its format is tab, bar, comma, semicolon or tab-quoted; `auto` goes by the first lines.

    Only the last three know quotes; in the others a name passes unchanged, spaces included. Blank lines are skipped. A first line that
    names its columns, one of `HEADS`, one of `RELATIONS` and one of `TAILS`, is no triple, and its names say where they are, so that such
    a file may hold more columns; the tally says which were taken. Raises BadInput, naming file and line, for a missing or empty file, a
    wrong number of columns, an empty name, bytes that are not UTF-8, and what looks like links without relations.
    """
    path = source.path
    check_columns(source.columns)
    texts = source.lines()
    first = list(islice(texts, SNIFFED))
    opening = look(source, first)
    rows = (_quoted_rows if opening.form in QUOTED else _plain_rows)(
        source, chain(first, texts), opening.form
    )
    found, doubled = False, 0
    for number, row in islice(rows, 1, None) if opening.header else rows:
        found = True
        if opening.header and not source.columns and len(row) > opening.header:
            quoted = (
                " Names in double quotes may hold tabs: read the file as tab-quoted."
                if any('"' in name for name in row)
                else ""
            )
            source.bad(
                "more columns than the header",
                number,
                f"found {len(row)} columns, where the header has {opening.header}.{quoted}",
            )
            continue
        doubled += opening.form == "tab" and any(
            len(name) > 1 and name[0] == name[-1] == '"' for name in row
        )
        try:
            triple = triple_of(path, number, row, opening.form, opening.columns)
        except BadInput as error:
            source.bad("wrong columns or an empty name", number, error)
            continue
        if opening.beside:
            source.attributes.edge(
                {key: row[at] for at, key in opening.beside.items() if at < len(row)}
            )
        yield triple
    if doubled:
        source.tally.note(
            f"{doubled:,} lines hold names in double quotes, which were taken as part of them. If they are those of CSV, read the file as "
            "tab-quoted."
        )
    if not found:
        raise BadInput(
            f"{path.name} holds no triples; each line should hold head, relation and tail."
        )


def read_edges(source: TripleSource) -> Iterator[Triple]:
    """The links of an edge list without relations, each called `connected_to`: two columns, separated by a tab, a comma, a semicolon or
    blanks; a third one that is a number is the link's weight, and further ones are not read, which the tally says. Lines that begin with #
    are comments. Raises BadInput for a line of one column."""
    texts = source.lines()
    first = list(islice(texts, SNIFFED))
    rows = [text for _, text in first if not text.startswith("#")]
    separator = next(
        (mark for mark in ("\t", ",", ";") if rows and all(mark in text for text in rows)), None
    )
    wider = False
    source.tally.note(f"Links without relations: each is called {LINKED}.")
    for at, (number, text) in enumerate(chain(first, texts)):
        if text.startswith("#"):
            continue
        row = _row(text, separator)
        names = [name.strip().casefold() for name in row]
        if not at and len(names) > 1 and names[0] in HEADS and names[1] in TAILS:
            continue
        if len(row) < 2 or not row[0].strip() or not row[1].strip():
            source.bad(
                "no two ends", number, f"expected the two ends of a link, found “{shorten(text)}”."
            )
            continue
        weight = _weight(row)
        if weight:
            source.attributes.edge({"weight": weight})
        elif len(row) > 2 and not wider:
            wider = True
            source.tally.note("Columns after the second that are no weights are not read.")
        yield row[0].strip(), LINKED, row[1].strip()


def _weight(row: list[str]) -> str:
    """The weight in a row of an edge list: the third column where it is a number, or that of networkx's data; empty where it has none."""
    if len(row) == 3 and NUMBER.fullmatch(row[2].strip()):
        return row[2]
    found = WEIGHTED.search(" ".join(row[2:])[:1000])
    return found[1] if found else ""


def _row(text: str, separator: str | None) -> list[str]:
    """The cells of a line, by a separator or by blanks; none where its quotes do not end."""
    if separator is None:
        return text.split()
    try:
        return next(csv.reader([text], delimiter=separator), [])
    except csv.Error:
        return []


def check_columns(columns: Columns | None) -> None:
    """Raises BadInput for columns that are not three different ones."""
    if columns and (len(set(columns)) != 3 or min(columns) < 1):
        raise BadInput(
            "Columns are three different numbers from 1, for head, relation and tail: 1,2,3."
        )


def look(source: TripleSource, first: list[tuple[int, str]]) -> Opening:
    """What the first lines say; the tally is told of a header. Raises BadInput where they can be no triples."""
    path, columns = source.path, source.columns
    if not first:
        raise BadInput(f"{path.name} is empty; expected lines of head, relation and tail.")
    form = form_of(path, first, columns) if source.format == "auto" else source.format
    rows = [_cells(text, form) for _, text in first]
    header = header_of(rows[0])
    if columns is None and header is None:
        _refuse_edges(path, rows)
    if columns and header is None and _names_ends(rows[0], columns):
        header = columns
    if header is None:
        return Opening(form, columns)
    taken = columns or header
    source.spaces = tuple(
        space_of(rows[0][at - 1]) if at <= len(rows[0]) else "" for at in (taken[0], taken[2])
    )  # type: ignore[assignment]
    beside = beside_of(source, rows[0], taken)
    words = [
        f"{part} from “{shorten(rows[0][column - 1].strip(), 40)}”"
        for part, column in zip(PARTS, taken)
        if column <= len(rows[0])
    ]
    others = [
        shorten(name.strip(), 40)
        for at, name in enumerate(rows[0])
        if at + 1 not in taken and at not in beside and name.strip()
    ]
    source.attributes.ignored = others
    if others or tuple(name.strip().casefold() for name in rows[0]) not in (
        (*PARTS,),
        ("subject", "predicate", "object"),
    ):
        ignored = (
            f"; not read: {', '.join(others[:12])}{' …' * (len(others) > 12)}" if others else ""
        )
        source.tally.note(f"The first line is a header: {', '.join(words)}{ignored}.")
    return Opening(form, taken, len(rows[0]), beside)


def header_of(row: list[str]) -> Columns | None:
    """Where a header line says that head, relation and tail are, or None where the line is none.

    >>> from core.graph.readers.delimited import header_of
    >>> header_of(["id", "Source", "Target", "Type", "Label"]), header_of([":START_ID", ":END_ID", ":TYPE"]), header_of(["Ann", "is", "to"])
    ((2, 5, 3), (1, 3, 2), None)
    """
    columns = [bare_key(column) for column in row]
    found = [
        [name for name in names if columns.count(name) == 1] for names in (HEADS, RELATIONS, TAILS)
    ]
    if not all(found) or len(found[0]) != 1 or len(found[2]) != 1:
        return None
    return tuple(columns.index(names[0]) + 1 for names in found)  # type: ignore[return-value]


def bare_key(cell: str) -> str:
    """The name of a column in lower case, without the type of its values; `:id` and the like where it says what the column is for Neo4j.

    >>> from core.graph.readers.delimited import bare_key
    >>> bare_key(" Weight:float "), bare_key("personId:ID(Person)"), bare_key(":START_ID"), bare_key("rdf:type")
    ('weight', ':id', ':start_id', 'rdf:type')
    """
    name = cell.strip().casefold()
    found = NEO4J.fullmatch(name)
    if (
        found
        and found[2] in IMPORTED
        and (found[2] != "type" and found[2] != "label" or not found[1])
    ):
        return f":{found[2]}"
    return found[1].strip() if found and found[1].strip() and found[2] in VALUES else name


def beside_of(source: TripleSource, names: Sequence[str], taken: Columns) -> dict[int, str]:
    """The columns, by place from 0, that speak of an edge and are none of those taken for its parts, each with its key; none where they are
    not wanted."""
    known = {name for names in OF_EDGES.values() for name in names}
    found = {
        at: key
        for at, key in enumerate(map(bare_key, names))
        if key in known and at + 1 not in taken
    }
    if not source.attributes.wanted:
        if found and source.attributes.large:
            source.tally.note(
                f"Not taken: {', '.join(f'“{key}”' for key in found.values())}. {ONLY_TRIPLES}"
            )
        return {}
    source.attributes.expected = bool(found)
    return found


def space_of(cell: str) -> str:
    """The space of ids that a column's name gives, `Person` of `:START_ID(Person)`; empty where it gives none."""
    found = NEO4J.fullmatch(cell.strip())
    return (found[3] or "").strip() if found else ""


def rows_of(source: TripleSource) -> Iterator[Row]:
    """The rows of a delimited file of any columns, with their line numbers; separated by what makes the most columns of its first line."""
    texts = source.lines()
    first = list(islice(texts, 1))
    if first:
        form = (
            source.format
            if source.format in SEPARATORS
            else max(GUESSED, key=lambda form: _columns(first[0][1], form))
        )
        yield from (_quoted_rows if form in QUOTED else _plain_rows)(
            source, chain(first, texts), form
        )


def _names_ends(row: list[str], columns: Columns) -> bool:
    """Whether the chosen cells of a line are names of columns."""
    cells = [row[column - 1].strip().casefold() for column in columns if column <= len(row)]
    return len(cells) == 3 and cells[0] in HEADS and cells[2] in TAILS


def _refuse_edges(path: FilePath, rows: list[list[str]]) -> None:
    """Raises BadInput where the rows are links without relations: of two columns named as ends are, or with a number in the third and ends
    in the second that begin other rows."""
    cells = [[cell.strip() for cell in row] for row in rows]
    ends = [name.casefold() for name in cells[0]]
    named = (
        len(set(ends) & set(HEADS)) == 1
        and len(set(ends) & set(TAILS)) == 1
        and len(ends) in (2, 3)
    )
    heads = {row[0] for row in cells if row}
    weighted = len(cells) > 1 and all(len(row) == 3 and NUMBER.fullmatch(row[2]) for row in cells)
    if named or (
        weighted
        and any(row[1] in heads for row in cells)
        and not all(NUMBER.fullmatch(row[1]) for row in cells)
    ):
        raise BadInput(
            f"{path.name} looks like a list of links without relations{', the third column being a weight' if weighted else ''}. "
            f"Read it as an edge list (format {EDGES}), or choose the columns of head, relation and tail."
        )


def _cells(text: str, form: str) -> list[str]:
    return _row(text, SEPARATORS[form]) if form in QUOTED else text.split(SEPARATORS[form])


def triple_of(
    path: FilePath, number: int, row: list[str], form: str, columns: Columns | None
) -> Triple:
    """The triple of a row. Raises BadInput where it has the wrong number of columns or an empty name."""
    least = max(columns) if columns else 3
    if len(row) < least or (columns is None and len(row) != 3):
        expected = f"expected at least {least}" if columns else "expected 3 (head, relation, tail)"
        raise BadInput(
            f"{path.name}, line {number}: found {len(row)} column{'s' * (len(row) != 1)}, {expected} "
            f"separated by {WORDS[form]}: “{shorten(SEPARATORS[form].join(row))}”."
            + (" Choose the columns that hold them." if len(row) > 3 and not columns else "")
        )
    triple = tuple(row[column - 1] for column in columns or (1, 2, 3))
    for name, what in zip(triple, PARTS):
        if not name.strip():
            raise BadInput(
                f"{path.name}, line {number}: the {what} is empty; expected head, relation and tail."
            )
    return triple  # type: ignore[return-value]


def form_of(path: FilePath, first: list[tuple[int, str]], columns: Columns | None) -> str:
    """How the first lines are separated: tab, bar, comma or semicolon. Raises BadInput where no line could be a triple in any of them."""
    least = max(columns) if columns else 3
    fits = {
        form: sum(_width(text, form, least, columns is None) for _, text in first)
        for form in GUESSED
    }
    best = max(fits, key=lambda form: fits[form])  # the first of equals
    if not fits[best] and first:
        wider = max(GUESSED, key=lambda form: _columns(first[0][1], form))
        if columns or _columns(first[0][1], wider) > 3:
            return wider  # read so, the line is refused with its columns counted, or its header understood
        number, text = first[0]
        raise BadInput(
            f"{path.name}, line {number}: expected head, relation and tail separated by tabs, “|”, commas or semicolons, found "
            f"“{shorten(text)}”."
        )
    return best


def _width(text: str, form: str, least: int, exactly: bool) -> bool:
    found = _columns(text, form)
    return found == least if exactly else found >= least


def _columns(text: str, form: str) -> int:
    return len(_cells(text, form))


def _plain_rows(source: TripleSource, texts: Iterator[tuple[int, str]], form: str) -> Iterator[Row]:
    separator = SEPARATORS[form]
    for number, text in texts:
        yield number, text.split(separator)


def _quoted_rows(
    source: TripleSource, texts: Iterator[tuple[int, str]], form: str
) -> Iterator[Row]:
    """Rows of a file that knows quotes; a quoted name may run over several lines, the number is then its last line's."""
    at = size = 0

    def numbered() -> Iterator[str]:
        nonlocal at, size
        for number, text in texts:
            at, size = number, size + len(text)
            if size > LONGEST_LINE:
                raise BadInput(
                    f"{source.name}, line {number}: a row of more than {size_text(LONGEST_LINE)} is too long."
                )
            yield text + "\n"

    reader = csv.reader(numbered(), strict=True, delimiter=SEPARATORS[form])
    while True:
        size = 0
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            source.bad("bad quotes", at, not_quoted(source.path, at, error, form))
            continue
        yield at, row


def not_quoted(path: FilePath, line: int, error: csv.Error, form: str) -> BadInput:
    """What is wrong with a line of a form that knows quotes."""
    called = {"comma": "comma-separated text", "semicolon": "text separated by semicolons"}.get(
        form, "tab-separated text with quoted names"
    )
    mark = {"comma": "commas", "semicolon": "semicolons"}.get(form, "tabs")
    return BadInput(
        f"{path.name}, line {line}: not {called} ({error}); expected head, relation, tail, with names that hold {mark} in double quotes."
    )
