"""Tables and JSON rows: a document for each row."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from core.corpus.document import Document, sound
from core.corpus.readers.text import stem, text_of
from core.errors import BadInput, nearest, shorten

KNOWN = {
    "text": ("text", "content", "contents", "body", "passage", "document", "article", "context", "abstract", "message", "description"),
    "title": ("title", "name", "heading", "headline", "subject"),
    "id": ("id", "_id", "doc_id", "docid", "document_id", "key"),
}
LISTS = ("data", "documents", "rows", "corpus")
DELIMITERS = ",;\t|"
LOOKED_AT = 100  # JSON rows whose fields are offered as columns
LONGEST = 1 << 28  # characters of one cell
Rows = Iterable[tuple[str, Mapping[str, Any]]]
Columns = Mapping[str, str]


def columns_of(text: str) -> dict[str, str]:
    """Columns as a person names them: `text=Body,title=Subject,id=No`. Raises BadInput for what is none."""
    found = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        role, equals, name = (piece.strip() for piece in part.partition("="))
        if not equals or not name or role not in KNOWN:
            raise BadInput(f"Name columns as text=Body,title=Subject,id=No, not “{shorten(part)}”.{nearest(role, KNOWN)}")
        found[role] = name
    return found


def table(name: str, data: bytes, columns: Columns) -> list[Document]:
    """The rows of a CSV or TSV file with a header. Raises BadInput where it has no column of texts, or none that holds any."""
    rows = _csv_rows(name, data)
    try:
        return _documents(name, rows.fieldnames or (), ((str(number), row) for number, row in enumerate(rows, 1)), columns)
    except csv.Error as error:
        raise BadInput(f"{name}, line {rows.line_num}: this table cannot be read ({error}).") from None


def json_lines(name: str, data: bytes, columns: Columns) -> list[Document]:
    """The rows of a JSON file: one object a line, an array of objects, or an object that holds one. Raises BadInput as `table` does, and
    naming the line for what is not JSON."""
    rows = list(_json_rows(name, text_of(name, data)))
    return _documents(name, dict.fromkeys(key for _, row in rows for key in row), rows, columns)


def header(name: str, data: bytes) -> list[str]:
    """The columns of a table, or the fields of the first JSON rows, as they may be named. Raises BadInput for what is none.

    >>> from core.corpus.readers.table import header
    >>> header("mails.csv", b"Re,Message")
    ['Re', 'Message']
    """
    if name.lower().endswith((".csv", ".tsv")):
        return [sound(key) for key in _csv_rows(name, data).fieldnames or () if key]
    first = islice(_json_rows(name, text_of(name, data)), LOOKED_AT)
    return list(dict.fromkeys(sound(key) for _, row in first for key in row if key))


def guessed(names: Iterable[str]) -> dict[str, str]:
    """Which column holds the text, the title and the id by the names that such columns have, as far as there is one."""
    plain = {key.strip().casefold(): key for key in reversed(list(names))}
    return {role: next(plain[key] for key in known if key in plain) for role, known in KNOWN.items() if any(key in plain for key in known)}


def _csv_rows(name: str, data: bytes) -> csv.DictReader:
    csv.field_size_limit(LONGEST)
    text = text_of(name, data).lstrip("\n")
    first = text.partition("\n")[0]
    delimiter = "\t" if name.lower().endswith(".tsv") else max(DELIMITERS, key=first.count)
    return csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)


def _json_rows(name: str, text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict):
        whole = next((whole[key] for key in LISTS if isinstance(whole.get(key), list)), [whole])
    numbered = enumerate(whole, 1) if isinstance(whole, list) else _parsed(name, text)
    for number, row in numbered:
        if not isinstance(row, dict):
            raise BadInput(f"{name}, row {number}: expected a JSON object, found “{shorten(json.dumps(row), 40)}”.")
        yield str(number), row


def _parsed(name: str, text: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise BadInput(f"{name}, line {number}: not JSON ({shorten(error)}).") from None


def _documents(name: str, header: Iterable[str], rows: Rows, columns: Columns) -> list[Document]:
    """A document for each row with a text. Its id is the file's name with the row's own id, else its number."""
    roles = _roles(name, [key for key in header if key], columns)
    found: dict[str, Document] = {}
    for number, row in rows:
        text = _cell(row, roles["text"])
        if not text.strip():
            continue
        id = f"{name}:{_cell(row, roles.get('id', '')) or number}"
        id = id if id not in found else f"{id}:{number}"
        found[id] = Document(id, text, _cell(row, roles.get("title", "")) or stem(name), name)
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
