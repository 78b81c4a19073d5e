"""Tables and JSON rows: a document for each row."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sized
from itertools import chain, islice
from pathlib import PurePosixPath
from sys import getsizeof
from typing import Any

from core.corpus.document import Document, sound
from core.corpus.readers.options import Columns
from core.corpus.readers.packed import MAX_FILE_BYTES, bare
from core.corpus.readers.recoded import as_utf8
from core.corpus.readers.text import stem
from core.errors import BadInput, nearest, shorten
from core.io.files import LONGEST_LINE, Source, Tell, opened, size_text
from core.io.json_rows import numbered_rows

KNOWN = {
    "text": ("text", "content", "contents", "body", "passage", "document", "article", "context", "abstract", "message", "description"),
    "title": ("title", "name", "heading", "headline", "subject"),
    "id": ("id", "_id", "doc_id", "docid", "document_id", "key"),
}
LISTS = ("data", "documents", "rows", "corpus")
DELIMITERS = ",;\t|"
LOOKED_AT = 100  # JSON rows whose fields are offered as columns
MOST_COLUMNS = 10_000
MOST_MEMORY = 1 << 30  # bytes that the documents of one file may take
EACH = 400  # bytes of a document beside its text
Rows = Iterable[tuple[str, Mapping[str, Any]]]


def columns_of(text: str) -> dict[str, str]:
    """Columns as a person names them: `text=Body,title=Subject,id=No`. Raises BadInput for what is none."""
    found = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        role, equals, name = (piece.strip() for piece in part.partition("="))
        if not equals or not name or role not in KNOWN:
            raise BadInput(f"Name columns as text=Body,title=Subject,id=No, not “{shorten(part)}”.{nearest(role, KNOWN)}")
        found[role] = name
    return found


def table(source: Source, columns: Columns, tell: Tell | None = None) -> list[Document]:
    """The rows of a CSV or TSV file in UTF-8 with a header, read as they go; `tell` hears the share read. Raises BadInput where it has no
    column of texts, or none that holds any, and where the documents take more than `MOST_MEMORY`."""
    name, rows = bare(source.name), _csv_rows(source, tell)
    try:
        header = rows.fieldnames or ()
        _check_number(name, header)
        return _documents(name, header, ((str(number), row) for number, row in enumerate(rows, 1)), columns)
    except csv.Error as error:
        raise BadInput(f"{name}, line {rows.line_num}: this table cannot be read ({error}).") from None


def json_lines(source: Source, columns: Columns, tell: Tell | None = None) -> list[Document]:
    """The rows of a JSON file in UTF-8: one object a line, an array of objects, or an object that holds one; read as they go, once for the
    names of their fields and once for what they hold. Raises BadInput as `table` does, and naming the line for what is not JSON."""
    names: dict[str, None] = {}
    half = lambda before: (lambda share: tell(before + share / 2)) if tell else None
    for _, _, row in _json_rows(source, half(0)):
        names.update(dict.fromkeys(row))
        _check_number(bare(source.name), names)
    rows = ((str(number), row) for number, _, row in _json_rows(source, half(0.5)))
    return _documents(bare(source.name), names, rows, columns)


def header(source: Source) -> list[str]:
    """The columns of a table, or the fields of the first JSON rows, as they may be named. Raises BadInput for what is none.

    >>> from core.corpus.readers.packed import Held
    >>> from core.corpus.readers.table import header
    >>> header(Held("mails.csv", b"Re,Message"))
    ['Re', 'Message']
    """
    source = as_utf8(source)
    if PurePosixPath(bare(source.name).lower()).suffix in (".csv", ".tsv"):
        return [sound(key) for key in _csv_rows(source, None).fieldnames or () if key]
    first = islice(_json_rows(source, None), LOOKED_AT)
    return list(dict.fromkeys(sound(key) for _, _, row in first for key in row if key))


def guessed(names: Iterable[str]) -> dict[str, str]:
    """Which column holds the text, the title and the id by the names that such columns have, as far as there is one."""
    plain = {key.strip().casefold(): key for key in reversed(list(names))}
    return {role: next(plain[key] for key in known if key in plain) for role, known in KNOWN.items() if any(key in plain for key in known)}


def _csv_rows(source: Source, tell: Tell | None) -> csv.DictReader:
    csv.field_size_limit(LONGEST_LINE)
    lines = _lines(source, tell)
    first = next(lines, "")
    delimiter = "\t" if bare(source.name).lower().endswith(".tsv") else max(DELIMITERS, key=first.count)
    return csv.DictReader(chain([first], lines), delimiter=delimiter, skipinitialspace=True)


def _lines(source: Source, tell: Tell | None) -> Iterator[str]:
    """The lines of a table with their ends, from the first that is not blank."""
    begun = False
    with opened(source, tell, MAX_FILE_BYTES) as stream:
        for data in stream.lines():
            line = data.decode("utf-8" if stream.line > 1 else "utf-8-sig").replace("\r\n", "\n")
            begun = begun or line != "\n"
            if begun:
                yield line


def _json_rows(source: Source, tell: Tell | None) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
    return numbered_rows(source, tell, MAX_FILE_BYTES, LISTS, single=True)


def _check_number(name: str, columns: Sized) -> None:
    if len(columns) > MOST_COLUMNS:
        raise BadInput(f"{name} has more than {MOST_COLUMNS:,} columns; that is more than can be read here.")


def _documents(name: str, header: Iterable[str], rows: Rows, columns: Columns) -> list[Document]:
    """A document for each row with a text. Its id is the file's name with the row's own id, else its number."""
    roles = _roles(name, [key for key in header if key], columns)
    found: dict[str, Document] = {}
    taken = 0  # bytes of memory
    for number, row in rows:
        text = _cell(row, roles["text"])
        if not text.strip():
            continue
        id = f"{name}:{_cell(row, roles.get('id', '')) or number}"
        id = id if id not in found else f"{id}:{number}"
        found[id] = Document(id, text, _cell(row, roles.get("title", "")) or stem(name), name)
        taken += EACH + getsizeof(text) + getsizeof(found[id].title)
        if taken > MOST_MEMORY:
            raise BadInput(
                f"{name}, row {number}: the documents up to here take more than {size_text(MOST_MEMORY)} of memory; split the file: "
                f"{len(found):,} of its rows fit."
            )
    if not found:
        raise BadInput(f"{name} has no row with a text in its column “{roles['text']}”.")
    return list(found.values())


def _roles(name: str, header: list[str], columns: Columns) -> dict[str, str]:
    """Which column holds what: as it is named (an empty name: none does), else by the names that such columns have."""
    roles = {role: key for role, key in guessed(header).items() if role not in columns}
    shown = [sound(key) for key in header]
    plain = {key.strip().casefold(): key for key in reversed(header)}
    for role, wanted in columns.items():
        if wanted and wanted.strip().casefold() not in plain:
            raise BadInput(f"{name} has no column “{shorten(wanted)}”.{nearest(wanted, shown)}")
        roles |= {role: plain[wanted.strip().casefold()]} if wanted else {}
    if "text" not in roles and len(header) == 1:
        roles["text"] = header[0]
    if not header:
        raise BadInput(f"{name} holds no rows with named columns.")
    if "text" not in roles:
        raise BadInput(
            f"{name} has the columns {shorten(', '.join(shown), 200)}; name the one that holds the text, as in text={shown[-1]}."
        )
    return roles


def _cell(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if isinstance(value, list):
        value = " ".join(str(part).strip() for part in value)
    return sound(value if isinstance(value, str) else "" if value is None else str(value)).strip()
