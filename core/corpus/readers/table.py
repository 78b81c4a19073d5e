"""Tables and JSON rows: a document for each row."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
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
    csv.field_size_limit(LONGEST)
    text = text_of(name, data).lstrip("\n")
    first = text.partition("\n")[0]
    delimiter = "\t" if name.lower().endswith(".tsv") else max(DELIMITERS, key=first.count)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    try:
        return _documents(name, rows.fieldnames or (), ((str(number), row) for number, row in enumerate(rows, 1)), columns)
    except csv.Error as error:
        raise BadInput(f"{name}, line {rows.line_num}: this table cannot be read ({error}).") from None


def json_lines(name: str, data: bytes, columns: Columns) -> list[Document]:
    """The rows of a JSON file: one object a line, an array of objects, or an object that holds one. Raises BadInput as `table` does, and
    naming the line for what is not JSON."""
    rows = list(_json_rows(name, text_of(name, data)))
    return _documents(name, dict.fromkeys(key for _, row in rows for key in row), rows, columns)


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
    """Which column holds what: as it is named, else by the names that such columns have."""
    roles: dict[str, str] = {}
    shown = [sound(key) for key in header]
    plain = {key.strip().casefold(): key for key in reversed(header)}
    for role, names in KNOWN.items():
        if role in columns:
            if columns[role].casefold() not in plain:
                raise BadInput(f"{name} has no column “{shorten(columns[role])}”.{nearest(columns[role], shown)}")
            roles[role] = plain[columns[role].casefold()]
        elif any(key in plain for key in names):
            roles[role] = next(plain[key] for key in names if key in plain)
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
