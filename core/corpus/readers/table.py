"""Readers of tables and JSON rows: a document for each row."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path, PurePosixPath
from sys import getsizeof
from typing import Any

from core.corpus.document import Document, sound
from core.corpus.readers.delimited import NO, YES, Delimited
from core.corpus.readers.nested import (
    is_inverted_index,
    names_in,
    only_list,
    row_as_sentence,
    values_at,
    words_in_order,
)
from core.corpus.readers.options import Columns, Note, counted
from core.corpus.readers.packed import MAX_FILE_BYTES
from core.corpus.readers.text import stem
from core.errors import BadInput, nearest, shorten
from core.io.encoding import ignored
from core.io.files import Source, bare, opened, size_text
from core.io.json_pieces import Pieces
from core.io.json_rows import numbered_rows
from core.io.recoded import as_utf8
from core.runtime.row_files import file_rows
from core.watch import NO_WATCH, Watch

KNOWN = {
    "text": (
        "text",
        "content",
        "contents",
        "body",
        "passage",
        "document",
        "article",
        "context",
        "abstract",
        "message",
        "description",
    ),
    "title": ("title", "name", "heading", "headline", "subject"),
    "id": ("id", "_id", "doc_id", "docid", "document_id", "key"),
}
# names of nested fields
WITHIN = {"text": KNOWN["text"], "title": ("title", "headline", "subject"), "id": ("$oid",)}
HEADER, HAS_HEADER = "header", {"yes": YES, "no": NO, "": ""}
LISTS = ("data", "documents", "rows", "corpus")
KEY = "its key"  # the field with the row's key, if a file holds an object of rows
MAX_EXAMPLE_LETTERS = 80  # of a row shown in a sentence
LOOKED_AT = 100  # JSON rows whose fields are offered as columns
MOST_COLUMNS = 10_000
MOST_MEMORY = 1 << 30  # bytes that the documents of one file may take
EACH = 400  # bytes of a document besides its text
Row = tuple[str, Mapping[str, Any]]  # its number, or another name of its place, and its fields


def columns_of(text: str) -> dict[str, str]:
    """Parse columns as a person names them: `text=Body,title=Subject,id=No`.

    Without a header they are numbers: `text=2,header=no`. Raises BadInput for any other form.
    """
    found = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        role, equals, name = (piece.strip() for piece in part.partition("="))
        if (
            not equals
            or not name
            or role not in (*KNOWN, HEADER)
            or (role == HEADER and name not in HAS_HEADER)
        ):
            known = "text=Body,title=Subject,id=No and header=no"
            raise BadInput(
                f"Name columns as {known}, not “{shorten(part)}”.{nearest(role, [*KNOWN, HEADER])}"
            )
        found[role] = name
    return found


def table(
    source: Source, columns: Columns, watch: Watch = NO_WATCH, note: Note = ignored
) -> list[Document]:
    """Read the rows of a CSV or TSV file in UTF-8 as a stream.

    `watch` receives the share read. Raises BadInput if no row holds a text, or the documents take
    more than `MOST_MEMORY`.
    """
    try:
        read = Delimited(source, watch, HAS_HEADER[columns.get(HEADER, "")])
    except csv.Error as error:
        raise BadInput(
            f"{bare(source.name)}, line 1: this table cannot be read ({error})."
        ) from None
    names = list(read.names)
    _check_number(read.name, names)
    if read.has_header:
        roles = Roles(read.name, names, columns, by_number=True)
    else:
        roles = Roles(read.name, names, _of_numbers(source, names) | dict(columns))
        which = ", ".join(f"{role} {number}" for role in KNOWN if (number := roles.of.get(role)))
        note(
            f"{read.name} has no header by its first row; of its "
            f"{counted(len(names), 'column')} these are read: {which}."
        )
    if not roles.of.get("text"):
        read.names = _distinct(names)
        note(f"{read.name}: its first row is taken for the names of the columns.")
    documents = documents_of(read.name, roles, read.rows(), note)
    if read.longer:
        has = "has" if read.longer == 1 else "have"
        note(
            f"{read.name}: {counted(read.longer, 'row')} {has} more cells than there are "
            "columns; these cells are left out."
        )
    return documents


def _distinct(names: list[str]) -> list[str]:
    """Return distinct column names: a repeated or blank one gets its number."""
    found: list[str] = []
    for number, name in enumerate(names, 1):
        name = " ".join(name.split())
        found.append(f"{name} {number}".strip() if not name or name in found else name)
    return found


def _of_numbers(source: Source, names: list[str]) -> dict[str, str]:
    """Choose the columns for text and id of a table without a header.

    The text is the column with the most letters. The id is the first column, if its values are
    distinct and have no blanks.
    """
    rows = [row for _, row in islice(Delimited(source, header=NO).rows(), LOOKED_AT)]
    letters = {name: sum(len(row.get(name, "")) for row in rows) for name in names}
    found = {"text": max(names, key=lambda name: letters[name])}
    ids = [row.get(names[0], "").strip() for row in rows]
    if (
        found["text"] != names[0]
        and all(ids)
        and len(set(ids)) == len(ids)
        and not any(" " in id for id in ids)
    ):
        found["id"] = names[0]
    return found


def json_lines(
    source: Source, columns: Columns, watch: Watch = NO_WATCH, note: Note = ignored
) -> list[Document]:
    """Read the rows of a JSON file in UTF-8 as a stream.

    The file holds one object a line, an array of objects, an object with such an array, or rows by
    their keys. It is read twice: for the names of the fields, and for their values. Raises BadInput
    as `table` does, and naming the line for text that is not JSON.
    """
    name, fields = bare(source.name), _Fields()
    for _, row in _json_rows(source, watch.part(0.0, 0.5), note):
        fields.add(row)
        _check_number(name, fields.names)
    rows = _json_rows(source, watch.part(0.5, 1.0))
    return documents_of(name, Roles(name, fields.names, columns, fields=fields), rows, note)


class _Fields:
    """The fields of some rows, and the amount of text that each holds in the first rows."""

    def __init__(self) -> None:
        self._letters: dict[str, int] = {}
        self._inverted: set[str] = set()
        self._rows = 0

    @property
    def names(self) -> list[str]:
        return list(self._letters)

    def add(self, row: Mapping[str, Any]) -> None:
        names = list(names_in(row))
        self._letters |= {name: 0 for name in names if name not in self._letters}
        self._rows += 1
        if self._rows > LOOKED_AT:
            return
        for name in names:
            values = values_at(row, name)
            self._letters[name] += sum(len(str(value)) for value in values if value)
            if values and is_inverted_index(values[0]):
                self._inverted.add(name)

    def most_text(self, names: Iterable[str]) -> str:
        """Return the field with the most letters; empty if there is none."""
        return max(names, key=lambda name: self._letters.get(name, 0), default="")

    def inverted_index(self) -> str:
        """Return the field that holds texts as words with positions; empty if none does."""
        return self.most_text(name for name in self._letters if name in self._inverted)


def columnar(
    name: str, path: Path, columns: Columns, watch: Watch = NO_WATCH, note: Note = ignored
) -> list[Document]:
    """Read the rows of a Parquet or Arrow file on disk, as those of JSON.

    Raises BadInput as `json_lines` does, and for a damaged file.
    """
    fields = _Fields()
    for _, row in islice(file_rows(path, NO_WATCH, MAX_FILE_BYTES), LOOKED_AT):
        fields.add(row)
        _check_number(name, fields.names)
    rows = (
        (str(number), row)
        for number, (_, row) in enumerate(file_rows(path, watch, MAX_FILE_BYTES), 1)
    )
    return documents_of(name, Roles(name, fields.names, columns, fields=fields), rows, note)


def header(source: Source, has_header: str = "") -> list[str]:
    """Return the columns of a table, or the fields of the first JSON rows.

    A person may name them as columns. Raises BadInput for any other file.

    >>> from core.corpus.readers.packed import Held
    >>> from core.corpus.readers.table import header
    >>> header(Held("mails.csv", b"Re,Message")), header(Held("a.json", b'{"data": {"text": "x"}}'))
    (['Re', 'Message'], ['data.text'])
    """
    source = as_utf8(source, most=MAX_FILE_BYTES)
    if PurePosixPath(bare(source.name).lower()).suffix in (".csv", ".tsv"):
        return [sound(key) for key in Delimited(source, header=has_header).names if key]
    first = islice(_json_rows(source), LOOKED_AT)
    return list(
        dict.fromkeys(sound(key) for _, row in first for key in names_in(row) if key and key != KEY)
    )


def has_header(source: Source) -> bool:
    """Return whether the first row of a CSV or TSV file names its columns.

    `Delimited` decides this. Raises BadInput if the file is no text.

    >>> from core.corpus.readers.packed import Held
    >>> from core.corpus.readers.table import has_header
    >>> has_header(Held("a.csv", b"id,text")), has_header(Held("a.csv", b"1,Ann kept the book."))
    (True, False)
    """
    return Delimited(as_utf8(source, most=MAX_FILE_BYTES)).has_header


def guessed(names: Iterable[str]) -> dict[str, str]:
    """Return the columns that hold text, title and id, guessed by their usual names."""
    plain = {key.strip().casefold(): key for key in reversed(list(names))}
    return {
        role: next(plain[key] for key in known if key in plain)
        for role, known in KNOWN.items()
        if any(key in plain for key in known)
    }


def _within(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the nested fields that may hold text, title and id, by their last names."""
    last: dict[str, list[str]] = {}
    for name in names:
        last.setdefault(name.rpartition(".")[2].strip().casefold(), []).append(name)
    return {
        role: next((last[key] for key in known if key in last), [])
        for role, known in WITHIN.items()
    }


def _json_rows(source: Source, watch: Watch = NO_WATCH, note: Note = ignored) -> Iterator[Row]:
    """Yield the rows of a JSON file.

    Rows of an object by their keys have these as `KEY`. If a `.json` file is one object with a
    single list of objects at any depth, the rows are those of the list.
    """
    if PurePosixPath(bare(source.name).lower()).suffix == ".json" and _is_keyed(source):
        note(f"{bare(source.name)} is one object; each of its keys is a row.")
        with opened(source, watch, MAX_FILE_BYTES) as stream:
            pieces = Pieces(stream)
            for key in pieces.keys():
                if isinstance(row := pieces.value(), dict):
                    yield key, {KEY: key, **row}
        return
    rows = numbered_rows(source, watch, MAX_FILE_BYTES, LISTS, single=True)
    first = list(islice(rows, 2))
    alone = (
        len(first) == 1
        and PurePosixPath(bare(source.name).lower()).suffix == ".json"
        and "text" not in guessed(first[0][2])
    )
    where, inner = only_list(first[0][2]) if alone else ("", [])
    if inner:
        note(f"{bare(source.name)} is one object; its rows are those of the list “{where}”.")
        yield from ((str(number), row) for number, row in enumerate(inner, 1))
        return
    yield from ((str(number), row) for number, _, row in first)
    yield from ((str(number), row) for number, _, row in rows)


def _is_keyed(source: Source) -> bool:
    """Return whether a JSON file is one object of rows by their keys.

    This is assumed if its first two values are objects with a common field.
    """
    values: list[Any] = []
    with opened(source, NO_WATCH, MAX_FILE_BYTES) as stream:
        pieces = Pieces(stream)
        if pieces.next() != "{":
            return False
        for _ in pieces.keys():
            if pieces.next() != "{":
                return False
            values.append(pieces.value())
            if len(values) == 2:
                return bool(set(values[0]) & set(values[1]))
    return False


def _check_number(name: str, columns: list[str]) -> None:
    if len(columns) > MOST_COLUMNS:
        raise BadInput(
            f"{name} has more than {MOST_COLUMNS:,} columns; that is more than can be read here."
        )


def documents_of(
    name: str, roles: Roles, rows: Iterable[Row], note: Note = ignored
) -> list[Document]:
    """Return a document for each row with a text.

    Its id is the file's name with the row's own id, else its number.
    """
    found: dict[str, Document] = {}
    taken = without = 0  # bytes of memory, and rows without a text
    for number, row in rows:
        text = roles.cell(number, row, "text")
        if not text.strip():
            without += 1
            continue
        id = f"{name}:{roles.cell(number, row, 'id') or row.get(KEY) or number}"
        id = id if id not in found else f"{id}:{number}"
        found[id] = Document(id, text, roles.cell(number, row, "title") or stem(name), name)
        taken += EACH + getsizeof(text) + getsizeof(found[id].title)
        if taken > MOST_MEMORY:
            raise BadInput(
                f"{name}, row {number}: the documents up to here take more than "
                f"{size_text(MOST_MEMORY)} of memory; split the file: "
                f"{len(found):,} of its rows fit."
            )
    column = roles.of.get("text", "")
    if not found:
        where = f" in its column “{column}”" if column else ""
        raise BadInput(f"{name} has no row with a text{where}.")
    if not column:
        first = shorten(next(iter(found.values())).text, MAX_EXAMPLE_LETTERS)
        note(f"{name}: no column is called a text, so each row is a sentence, as “{first}”.")
    if roles.guess:
        note(f"{name}: {roles.guess}.")
    if without:
        are = "is" if without == 1 else "are"
        where = f" in the column “{shorten(column, 40)}”" if column else ""
        note(f"{name}: {counted(without, 'row')} without a text{where} {are} left out.")
    return list(found.values())


class Roles:
    """The columns of a table that hold text, title and id, and their values in each row.

    `of` gives the column of each role. The columns are those that a person names (an empty name:
    none), else those with usual names. Without a text column, the text of a row is a sentence of
    all its fields. `guess` describes what was taken from nested fields.

    Parameters
    ----------
    name : of the file.
    header : the names of all columns.
    columns : those that a person names, by role.
    by_number : columns may be named by their number from 1.
    fields : the amount of text in each field, if some are nested.

    Raises
    ------
    BadInput
        If a named column is missing, or no column has a name.
    """

    def __init__(
        self,
        name: str,
        header: list[str],
        columns: Columns,
        by_number: bool = False,
        fields: _Fields | None = None,
    ):
        self.name, self.guess = name, ""
        named = [key for key in header if key and key != KEY]
        if not named:
            raise BadInput(f"{name} holds no rows with named columns.")
        self.of = {role: key for role, key in guessed(named).items() if role not in columns}
        plain = {key.strip().casefold(): key for key in reversed(named)}
        for role, wanted in columns.items():
            if wanted and role != HEADER:
                numbered = ""
                if by_number and wanted.isdecimal() and 0 < int(wanted) <= len(header):
                    numbered = header[int(wanted) - 1]
                self.of[role] = (
                    plain.get(wanted.strip().casefold()) or numbered or self._refuse(wanted, named)
                )
        if "text" not in self.of and len(named) == 1 and KEY not in header:
            self.of["text"] = named[0]
        if "text" not in self.of and "text" not in columns:
            self._take_within(named, columns, fields)

    def cell(self, number: str, row: Mapping[str, Any], role: str) -> str:
        """Return the value of a row in a role; several values on separate lines.

        Raises BadInput if it is an object.
        """
        key = self.of.get(role, "")
        if role == "text" and not key:
            return sound(row_as_sentence(row, without=KEY))
        values = values_at(row, key) if key else []
        return "\n".join(filter(None, (self._text(number, key, value) for value in values)))

    def _text(self, number: str, key: str, value: Any) -> str:
        if is_inverted_index(value):
            return sound(words_in_order(value))
        if isinstance(value, dict):
            fields = ", ".join(f"{key}.{field}" for field in value)
            raise BadInput(
                f"{self.name}, row {number}: “{shorten(key)}” holds an object; name one of "
                f"its fields: {shorten(fields, 200)}."
            )
        if isinstance(value, list):
            return " ".join(filter(None, (self._text(number, key, one) for one in value)))
        return sound("" if value is None else str(value)).strip()

    def _take_within(self, named: list[str], columns: Columns, fields: _Fields | None) -> None:
        """Choose nested fields as columns if their names or values make it clear."""
        candidates = {
            role: keys for role, keys in _within(named).items() if role not in (*self.of, *columns)
        }
        found = {role: keys[0] for role, keys in candidates.items() if len(keys) == 1}
        more = ""
        if fields is not None and "text" not in found:
            several = candidates.get("text", [])
            found["text"] = fields.inverted_index() or fields.most_text(several)
            if fields.inverted_index():
                more = ", whose words are put in order"
            elif several:
                more = f", which holds the most text of {counted(len(several), 'such field')}"
        if found.get("text"):
            self.of |= found
            read = [f"its {role} is read from {sound(key)}" for role, key in found.items()]
            self.guess = "; ".join(read) + more

    def _refuse(self, wanted: str, named: list[str]) -> str:
        inner = [
            sound(key)
            for key in named
            if key.casefold().startswith(f"{wanted.strip().casefold()}.")
        ]
        if inner:
            fields = shorten(", ".join(inner), 200)
            raise BadInput(
                f"{self.name}: “{shorten(wanted)}” holds objects; name one of its fields: {fields}."
            )
        raise BadInput(
            f"{self.name} has no column “{shorten(wanted)}”.{nearest(wanted, map(sound, named))}"
        )
