"""Triples read from delimited text: tab-separated, comma-separated or `|`-separated."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path as FilePath

from core.errors import BadInput, shorten
from core.graph.readers.source import Triple, TripleSource
from core.io.files import LONGEST_LINE, size_text

Columns = tuple[int, int, int]  # of head, relation and tail, from 1
Row = tuple[int, list[str]]  # line number and columns

SEPARATORS = {"tab": "\t", "bar": "|", "comma": ","}
WORDS = {"tab": "a tab", "bar": "“|”", "comma": "a comma"}
HEADERS = (
    ("head", "relation", "tail"),
    ("subject", "predicate", "object"),
    ("subject", "relation", "object"),
    ("source", "relation", "target"),
)
PARTS = ("head", "relation", "tail")
SNIFFED = 20


def read(source: TripleSource) -> Iterator[Triple]:
    """The triples of a delimited file. Its format is tab, bar or comma; `auto` goes by the first lines.

    Only comma-separated files know quotes; in the others a name passes unchanged, spaces included. Blank lines are skipped.
    A first line that names its columns head, relation and tail (or another of `HEADERS`) is no triple, and its names say
    where they stand, so that such a file may hold more columns. Raises BadInput, naming file and line, for a missing or
    empty file, a wrong number of columns, an empty name, or bytes that are not UTF-8.
    """
    path, columns = source.path, source.columns
    if columns and (len(set(columns)) != 3 or min(columns) < 1):
        raise BadInput("Columns are three different numbers from 1, for head, relation and tail: 1,2,3.")
    texts = source.lines()
    first = list(islice(texts, SNIFFED))
    form = form_of(path, first, columns) if source.format == "auto" else source.format
    if not first:
        raise BadInput(f"{path.name} is empty; expected lines of head, relation and tail.")
    rows = (_comma_rows if form == "comma" else _plain_rows)(path, chain(first, texts), form)
    opening = next(rows)
    head = header_of(opening[1])
    found = False
    for number, row in rows if head else chain([opening], rows):
        found = True
        yield triple_of(path, number, row, form, columns or head)
    if not found:
        raise BadInput(f"{path.name} holds no triples; each line should hold head, relation and tail.")


def header_of(row: list[str]) -> Columns | None:
    """Where a header line says that head, relation and tail stand, or None where the line is none."""
    columns = [column.strip().lower() for column in row]
    for names in HEADERS:
        if all(columns.count(name) == 1 for name in names):
            return tuple(columns.index(name) + 1 for name in names)  # type: ignore[return-value]
    return None


def triple_of(path: FilePath, number: int, row: list[str], form: str, columns: Columns | None) -> Triple:
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
            raise BadInput(f"{path.name}, line {number}: the {what} is empty; expected head, relation and tail.")
    return triple  # type: ignore[return-value]


def form_of(path: FilePath, first: list[tuple[int, str]], columns: Columns | None) -> str:
    """How the first lines are separated: tab, bar or comma. Raises BadInput where no line could be a triple in any of them."""
    least = max(columns) if columns else 3
    fits = {form: sum(_width(text, form, least, columns is None) for _, text in first) for form in SEPARATORS}
    best = max(fits, key=lambda form: fits[form])  # the first of equals: tab, then bar, then comma
    if not fits[best] and first:
        wider = max(SEPARATORS, key=lambda form: _columns(first[0][1], form))
        if columns or _columns(first[0][1], wider) > 3:
            return wider  # read so, the line is refused with its columns counted, or its header understood
        number, text = first[0]
        raise BadInput(
            f"{path.name}, line {number}: expected head, relation and tail separated by tabs, “|” or commas, found “{shorten(text)}”."
        )
    return best


def _width(text: str, form: str, least: int, exactly: bool) -> bool:
    found = _columns(text, form)
    return found == least if exactly else found >= least


def _columns(text: str, form: str) -> int:
    if form != "comma":
        return text.count(SEPARATORS[form]) + 1
    try:
        return len(next(csv.reader([text])))
    except csv.Error:
        return 0


def _plain_rows(path: FilePath, texts: Iterator[tuple[int, str]], form: str) -> Iterator[Row]:
    separator = SEPARATORS[form]
    for number, text in texts:
        yield number, text.split(separator)


def _comma_rows(path: FilePath, texts: Iterator[tuple[int, str]], form: str) -> Iterator[Row]:
    """Rows of a comma-separated file; a quoted name may run over several lines, the number is then its last line's."""
    at = size = 0

    def numbered() -> Iterator[str]:
        nonlocal at, size
        for number, text in texts:
            at, size = number, size + len(text)
            if size > LONGEST_LINE:
                raise BadInput(f"{path.name}, line {number}: a row of more than {size_text(LONGEST_LINE)} is too long.")
            yield text + "\n"

    reader = csv.reader(numbered(), strict=True)
    while True:
        size = 0
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise not_comma(path, at, error) from None
        yield at, row


def not_comma(path: FilePath, line: int, error: csv.Error) -> BadInput:
    """What is wrong with a line that is not comma-separated text."""
    return BadInput(
        f"{path.name}, line {line}: not comma-separated text ({error}); expected head, relation, "
        "tail, with names that hold commas in double quotes."
    )
