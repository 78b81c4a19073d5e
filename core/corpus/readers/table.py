"""Readers of tables and JSON rows, with a document for each row.

Tables are in CSV, Parquet or Arrow. Each row has a text and, if there are columns for them, a title
and an id. The columns are named by a person or guessed by their names.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path, PurePosixPath
from sys import getsizeof
from typing import Any

from core.corpus.document import Document, utf8_text
from core.corpus.readers.delimited_table import HEADER_NO, HEADER_YES, DelimitedTable
from core.corpus.readers.file_sources import MAX_FILE_BYTES
from core.corpus.readers.nested_fields import (
    field_names,
    is_inverted_index,
    only_list,
    row_as_sentence,
    values_at,
    words_in_order,
)
from core.corpus.readers.options import Columns, Note, count_with_noun, verb_of_number
from core.corpus.readers.text import file_stem
from core.errors import BadInput, shorten, suggest_name
from core.io.encoding import ignore_note
from core.io.files import FileSource, name_without_packing, open_unpacked, size_text
from core.io.json_pieces import JsonPieces
from core.io.json_rows import numbered_rows
from core.io.recoded_files import as_utf8
from core.runtime.row_files import file_rows
from core.watch import NO_WATCH, Watch

# usual names of the columns of each role, the most certain first
KNOWN_FIELD_NAMES = {
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
# the same for the last names of nested fields, where “name” or “id” are too often other things
NESTED_FIELD_NAMES = {
    "text": KNOWN_FIELD_NAMES["text"],
    "title": ("title", "headline", "subject"),
    "id": ("$oid",),
}
HEADER_OPTION, HEADER_ANSWERS = "header", {"yes": HEADER_YES, "no": HEADER_NO, "": ""}
# keys of the list of rows in a JSON file that is one object
ROW_LIST_NAMES = ("data", "documents", "rows", "corpus")
ROW_KEY_FIELD = "its key"  # the field with the row's key, if a file holds an object of rows
MAX_EXAMPLE_LETTERS = 80  # letters of a row that a sentence shows
EXAMPLE_ROWS = 100  # first rows by which columns are found and chosen
MAX_TABLE_COLUMNS = 10_000
MAX_DOCUMENT_BYTES = 1 << 30  # memory for the documents of one file
DOCUMENT_OVERHEAD_BYTES = 400  # memory for a document without its texts
NumberedRow = tuple[str, Mapping[str, Any]]  # number or key of a row, and its fields


def parse_column_roles(text: str) -> dict[str, str]:
    """Parse columns by role as a person types them: “text=Body,title=Subject,id=No”.

    In a table without a header, columns are numbers from 1: “text=2,header=no”. Raises BadInput for
    any other form.
    """
    known_roles = [*KNOWN_FIELD_NAMES, HEADER_OPTION]
    roles = {}
    for assignment in filter(None, (part.strip() for part in text.split(","))):
        role, _, name = (piece.strip() for piece in assignment.partition("="))
        is_answer = role != HEADER_OPTION or name in HEADER_ANSWERS
        if not name or role not in known_roles or not is_answer:
            example = "text=Body,title=Subject,id=No and header=no"
            raise BadInput(
                f"Name columns as {example}, not “{shorten(assignment)}”."
                f"{suggest_name(role, known_roles)}"
            )
        roles[role] = name
    return roles


def read_delimited_table(
    source: FileSource, columns: Columns, watch: Watch = NO_WATCH, note: Note = ignore_note
) -> list[Document]:
    """Read the rows of a CSV or TSV file in UTF-8 as a stream.

    Parameters
    ----------
    source : the file.
    columns : columns by role, as a person names them, and whether there is a header.
    watch : receives the share read; may raise RunCancelled.
    note : receives a sentence on how it was read.

    Returns
    -------
    One document for each row with a text.

    Raises
    ------
    BadInput : no row holds a text, a named column is missing, or the documents take more than
        `MAX_DOCUMENT_BYTES`.
    """
    try:
        table = DelimitedTable(source, watch, HEADER_ANSWERS[columns.get(HEADER_OPTION, "")])
    except csv.Error as error:
        raise BadInput(
            f"{name_without_packing(source.name)}, line 1: this table cannot be read ({error})."
        ) from None
    names = list(table.names)
    _check_column_count(table.name, names)
    if table.has_header:
        roles = ColumnRoles(table.name, names, columns, by_number=True)
    else:
        roles = ColumnRoles(table.name, names, _choose_numbered(source, names) | dict(columns))
        chosen = [
            f"{role} {roles.column_of_role[role]}"
            for role in KNOWN_FIELD_NAMES
            if roles.column_of_role.get(role)
        ]
        note(
            f"{table.name} has no header by its first row; of its "
            f"{count_with_noun(len(names), 'column')} these are read: {', '.join(chosen)}."
        )
    if not roles.column_of_role.get("text"):
        table.names = _distinct_names(names)
        note(f"{table.name}: its first row is taken for the names of the columns.")
    documents = documents_of(table.name, roles, table.rows(), note)
    if table.n_long_rows:
        has = "has" if table.n_long_rows == 1 else "have"
        note(
            f"{table.name}: {count_with_noun(table.n_long_rows, 'row')} {has} more cells than there are "
            "columns; these cells are left out."
        )
    return documents


def _distinct_names(names: list[str]) -> list[str]:
    """Return distinct column names: a repeated or blank one gets its number."""
    distinct_names: list[str] = []
    for number, name in enumerate(names, 1):
        name = " ".join(name.split())
        if not name or name in distinct_names:
            name = f"{name} {number}".strip()
        distinct_names.append(name)
    return distinct_names


def _choose_numbered(source: FileSource, names: list[str]) -> dict[str, str]:
    """Choose the columns for text and id of a table without a header.

    The text is the column with the most letters. The id is the first column, if its values are
    distinct and have no blanks.
    """
    rows = [row for _, row in islice(DelimitedTable(source, header=HEADER_NO).rows(), EXAMPLE_ROWS)]
    letters = {name: sum(len(row.get(name, "")) for row in rows) for name in names}
    roles = {"text": max(names, key=lambda name: letters[name])}
    ids = [row.get(names[0], "").strip() for row in rows]
    are_ids = all(id and " " not in id for id in ids) and len(set(ids)) == len(ids)
    if are_ids and roles["text"] != names[0]:
        roles["id"] = names[0]
    return roles


def read_json_rows(
    source: FileSource, columns: Columns, watch: Watch = NO_WATCH, note: Note = ignore_note
) -> list[Document]:
    """Read the rows of a JSON file in UTF-8 as a stream.

    The file holds one object a line, an array of objects, an object with such an array, or rows by
    their keys. It is read twice: for the names of the fields, and for their values.

    Parameters
    ----------
    source : the file.
    columns : fields by role, as a person names them.
    watch : receives the share read; may raise RunCancelled.
    note : receives a sentence on how it was read.

    Returns
    -------
    One document for each row with a text.

    Raises
    ------
    BadInput : as `read_delimited_table` raises, and for text that is not JSON; the message names
        the line.
    """
    name, fields = name_without_packing(source.name), _FieldTexts()
    for _, row in _json_rows(source, watch.part(0.0, 0.5), note):
        fields.add(row)
        _check_column_count(name, fields.names)
    rows = _json_rows(source, watch.part(0.5, 1.0))
    return documents_of(name, ColumnRoles(name, fields.names, columns, fields=fields), rows, note)


class _FieldTexts:
    """The fields of rows, and how much text each holds in the first ones."""

    def __init__(self) -> None:
        self._letters: dict[str, int] = {}
        self._inverted_fields: set[str] = set()
        self._n_rows = 0

    @property
    def names(self) -> list[str]:
        """The names of all fields so far."""
        return list(self._letters)

    def add(self, row: Mapping[str, Any]) -> None:
        """Add the fields of a row."""
        names = list(field_names(row))
        self._letters |= {name: 0 for name in names if name not in self._letters}
        self._n_rows += 1
        if self._n_rows > EXAMPLE_ROWS:
            return
        for name in names:
            values = values_at(row, name)
            self._letters[name] += sum(len(str(value)) for value in values if value)
            if values and is_inverted_index(values[0]):
                self._inverted_fields.add(name)

    def most_text(self, names: Iterable[str]) -> str:
        """Return the field with the most letters; empty if there is none."""
        return max(names, key=lambda name: self._letters.get(name, 0), default="")

    def inverted_index(self) -> str:
        """Return the field that holds texts as words with positions; empty if none does."""
        return self.most_text(name for name in self._letters if name in self._inverted_fields)


def read_columnar(
    name: str, path: Path, columns: Columns, watch: Watch = NO_WATCH, note: Note = ignore_note
) -> list[Document]:
    """Read the rows of a Parquet or Arrow file on disk.

    Parameters
    ----------
    name : name of the file, for documents and messages.
    path : the file.
    columns : columns by role, as a person names them.
    watch : receives the share read; may raise RunCancelled.
    note : receives a sentence on how it was read.

    Returns
    -------
    One document for each row with a text.

    Raises
    ------
    BadInput : as `read_delimited_table` raises, and for a damaged file.
    """
    fields = _FieldTexts()
    for _, row in islice(file_rows(path, NO_WATCH, MAX_FILE_BYTES), EXAMPLE_ROWS):
        fields.add(row)
        _check_column_count(name, fields.names)
    all_rows = enumerate(file_rows(path, watch, MAX_FILE_BYTES), 1)
    rows = ((str(number), row) for number, (_, row) in all_rows)
    return documents_of(name, ColumnRoles(name, fields.names, columns, fields=fields), rows, note)


def column_names(source: FileSource, has_header: str = "") -> list[str]:
    """Return the columns of a table, or the fields of the first JSON rows.

    Parameters
    ----------
    source : a table or a file of JSON rows.
    has_header : “yes” if the first row of a table has names, else “no”; empty to decide by its
        content.

    Returns
    -------
    Names that a person may choose.

    Raises
    ------
    BadInput : the file is of another kind.

    Examples
    --------
    >>> from core.corpus.readers.file_sources import MemoryFile
    >>> from core.corpus.readers.table import column_names
    >>> column_names(MemoryFile("mails.csv", b"Re,Message")), column_names(MemoryFile("a.json", b'{"data": {"text": "x"}}'))
    (['Re', 'Message'], ['data.text'])
    """
    source = as_utf8(source, max_bytes=MAX_FILE_BYTES)
    if _suffix(source) in (".csv", ".tsv"):
        return [utf8_text(key) for key in DelimitedTable(source, header=has_header).names if key]
    names: dict[str, None] = {}
    for _, row in islice(_json_rows(source), EXAMPLE_ROWS):
        keys = (key for key in field_names(row) if key and key != ROW_KEY_FIELD)
        names.update(dict.fromkeys(map(utf8_text, keys)))
    return list(names)


def _suffix(source: FileSource) -> str:
    """Return the suffix of a file's name, without that of a packed file."""
    return PurePosixPath(name_without_packing(source.name).lower()).suffix


def has_header(source: FileSource) -> bool:
    """Return whether the first row of a CSV or TSV file names its columns.

    `DelimitedTable` decides this. Raises BadInput if the file is no text.

    >>> from core.corpus.readers.file_sources import MemoryFile
    >>> from core.corpus.readers.table import has_header
    >>> has_header(MemoryFile("a.csv", b"id,text")), has_header(MemoryFile("a.csv", b"1,Ann kept the book."))
    (True, False)
    """
    return DelimitedTable(as_utf8(source, max_bytes=MAX_FILE_BYTES)).has_header


def guess_roles(names: Iterable[str]) -> dict[str, str]:
    """Return the columns that hold text, title and id, guessed by their usual names."""
    by_name = {key.strip().casefold(): key for key in reversed(list(names))}
    roles: dict[str, str] = {}
    for role, keys in KNOWN_FIELD_NAMES.items():
        key = next(filter(by_name.__contains__, keys), None)
        if key is not None:
            roles[role] = by_name[key]
    return roles


def _nested_roles(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the nested fields that may hold text, title and id.

    They are found by the last part of their names.
    """
    by_last_name: dict[str, list[str]] = {}
    for name in names:
        by_last_name.setdefault(name.rpartition(".")[2].strip().casefold(), []).append(name)
    return {
        role: next((by_last_name[key] for key in keys if key in by_last_name), [])
        for role, keys in NESTED_FIELD_NAMES.items()
    }


def _json_rows(
    source: FileSource, watch: Watch = NO_WATCH, note: Note = ignore_note
) -> Iterator[NumberedRow]:
    """Yield the rows of a JSON file.

    If the file is an object of rows by their keys, each row gets its key as `ROW_KEY_FIELD`. If a
    `.json` file is one object with a single list of objects at any depth, the rows are those of the
    list.
    """
    name, is_json = name_without_packing(source.name), _suffix(source) == ".json"
    if is_json and _is_keyed(source):
        note(f"{name} is one object; each of its keys is a row.")
        with open_unpacked(source, watch, MAX_FILE_BYTES) as stream:
            pieces = JsonPieces(stream)
            for key in pieces.keys():
                row = pieces.value()
                if isinstance(row, dict):
                    yield key, {ROW_KEY_FIELD: key, **row}
        return
    rows = numbered_rows(source, watch, MAX_FILE_BYTES, ROW_LIST_NAMES, single=True)
    first_rows = list(islice(rows, 2))
    if is_json and len(first_rows) == 1 and "text" not in guess_roles(first_rows[0][2]):
        list_name, list_rows = only_list(first_rows[0][2])
        if list_rows:
            note(f"{name} is one object; its rows are those of the list “{list_name}”.")
            yield from ((str(number), row) for number, row in enumerate(list_rows, 1))
            return
    yield from ((str(number), row) for number, _, row in chain(first_rows, rows))


def _is_keyed(source: FileSource) -> bool:
    """Return whether a JSON file is one object of rows by their keys.

    This is assumed if its first two values are objects with a common field.
    """
    values: list[Any] = []
    with open_unpacked(source, NO_WATCH, MAX_FILE_BYTES) as stream:
        pieces = JsonPieces(stream)
        if pieces.peek() != "{":
            return False
        for _ in pieces.keys():
            if pieces.peek() != "{":
                return False
            values.append(pieces.value())
            if len(values) == 2:
                return bool(set(values[0]) & set(values[1]))
    return False


def _check_column_count(name: str, columns: list[str]) -> None:
    if len(columns) > MAX_TABLE_COLUMNS:
        raise BadInput(
            f"{name} has more than {MAX_TABLE_COLUMNS:,} columns; that is more than can be read here."
        )


def documents_of(
    name: str, roles: ColumnRoles, rows: Iterable[NumberedRow], note: Note = ignore_note
) -> list[Document]:
    """Return a document for each row with a text.

    Its id is the file's name with the row's own id, else with the row's key or number.

    Parameters
    ----------
    name : name of the file.
    roles : the columns of text, title and id.
    rows : number and values of each row.
    note : receives a sentence on rows without a text.

    Returns
    -------
    The documents.

    Raises
    ------
    BadInput : no row has a text, or the documents take more than `MAX_DOCUMENT_BYTES`.
    """
    documents_by_id: dict[str, Document] = {}
    memory_bytes = n_without_text = 0
    for number, row in rows:
        text = roles.cell(number, row, "text")
        if not text.strip():
            n_without_text += 1
            continue
        id = f"{name}:{roles.cell(number, row, 'id') or row.get(ROW_KEY_FIELD) or number}"
        if id in documents_by_id:
            id = f"{id}:{number}"
        title = roles.cell(number, row, "title") or file_stem(name)
        documents_by_id[id] = Document(id, text, title, name)
        memory_bytes += DOCUMENT_OVERHEAD_BYTES + getsizeof(text) + getsizeof(title)
        if memory_bytes > MAX_DOCUMENT_BYTES:
            raise BadInput(
                f"{name}, row {number}: the documents up to here take more than "
                f"{size_text(MAX_DOCUMENT_BYTES)} of memory; split the file: "
                f"{len(documents_by_id):,} of its rows fit."
            )
    column = roles.column_of_role.get("text", "")
    if not documents_by_id:
        where = f" in its column “{column}”" if column else ""
        raise BadInput(f"{name} has no row with a text{where}.")
    if not column:
        example = shorten(next(iter(documents_by_id.values())).text, MAX_EXAMPLE_LETTERS)
        note(f"{name}: no column is called a text, so each row is a sentence, as “{example}”.")
    if roles.guess_phrase:
        note(f"{name}: {roles.guess_phrase}.")
    if n_without_text:
        where = f" in the column “{shorten(column, 40)}”" if column else ""
        note(
            f"{name}: {count_with_noun(n_without_text, 'row')} without a text{where} "
            f"{verb_of_number(n_without_text)} left out."
        )
    return list(documents_by_id.values())


def _column_at(header: list[str], number: str) -> str:
    """Return the column of a number from 1; empty for any other text."""
    if header and number.isdecimal() and 0 < int(number) <= len(header):
        return header[int(number) - 1]
    return ""


def _column_named(columns: list[str], name: str) -> str:
    """Return the first column with a name, ignoring case; empty without one."""
    folded = name.strip().casefold()
    return next((column for column in columns if column.strip().casefold() == folded), "")


class ColumnRoles:
    """The columns of a table that hold text, title and id.

    The class also gives their values in each row. `column_of_role` holds the column of each role,
    if it has one. The columns are those that a person names, else those with usual names. If a
    person names an empty column for a role, it has none. Without a text column, the text of a row
    is a sentence of all its fields. `guess_phrase` describes the choice of nested fields; it is
    empty if there was none.

    Parameters
    ----------
    name : name of the file.
    header : names of all columns.
    columns : the columns that a person names, by role.
    by_number : True if a person may name columns by their number from 1.
    fields : the amount of text in each field, by which nested ones are chosen; None for a table.

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
        fields: _FieldTexts | None = None,
    ):
        self.name, self.guess_phrase = name, ""
        named_columns = [key for key in header if key and key != ROW_KEY_FIELD]
        if not named_columns:
            raise BadInput(f"{name} holds no rows with named columns.")
        guesses = guess_roles(named_columns)
        self.column_of_role = {role: key for role, key in guesses.items() if role not in columns}
        self._choose_named(named_columns, columns, header if by_number else [])
        if "text" in self.column_of_role:
            return
        if len(named_columns) == 1 and ROW_KEY_FIELD not in header:
            self.column_of_role["text"] = named_columns[0]
        elif "text" not in columns:
            self._choose_nested(named_columns, columns, fields)

    def cell(self, number: str, row: Mapping[str, Any], role: str) -> str:
        """Return the value of a row in a role; several values on separate lines.

        Parameters
        ----------
        number : number of the row, for errors.
        row : the values of the row.
        role : text, title or id.

        Returns
        -------
        The value; empty for a role without a column.

        Raises
        ------
        BadInput : the value is an object.
        """
        key = self.column_of_role.get(role, "")
        if role == "text" and not key:
            return utf8_text(row_as_sentence(row, unnamed_field=ROW_KEY_FIELD))
        values = values_at(row, key) if key else []
        return "\n".join(filter(None, (self._text(number, key, value) for value in values)))

    def _text(self, number: str, key: str, value: Any) -> str:
        """Return the text of a value; raises BadInput for an object."""
        if is_inverted_index(value):
            return utf8_text(words_in_order(value))
        if isinstance(value, dict):
            fields = ", ".join(f"{key}.{field}" for field in value)
            raise BadInput(
                f"{self.name}, row {number}: “{shorten(key)}” holds an object; name one of "
                f"its fields: {shorten(fields, 200)}."
            )
        if isinstance(value, list):
            return " ".join(filter(None, (self._text(number, key, item) for item in value)))
        return utf8_text("" if value is None else str(value)).strip()

    def _choose_named(self, names: list[str], columns: Columns, header: list[str]) -> None:
        """Choose the columns that a person names, or numbers among `header`."""
        for role, column in columns.items():
            if not column or role == HEADER_OPTION:
                continue
            by_number = _column_at(header, column)
            by_name = _column_named(names, column)
            self.column_of_role[role] = by_name or by_number or self._refuse(column, names)

    def _choose_nested(
        self, names: list[str], columns: Columns, fields: _FieldTexts | None
    ) -> None:
        """Choose nested fields as columns if their names or values leave no doubt.

        A field of texts as words with positions is the text; else the field with the most text
        among those with a usual name.
        """
        candidates = _nested_roles(names)
        for role in (*self.column_of_role, *columns):
            candidates.pop(role, None)
        roles = {role: keys[0] for role, keys in candidates.items() if len(keys) == 1}
        reason = ""
        if fields is not None and "text" not in roles:
            texts = candidates.get("text", [])
            roles["text"] = fields.inverted_index() or fields.most_text(texts)
            if fields.inverted_index():
                reason = ", whose words are put in order"
            elif texts:
                reason = (
                    f", which holds the most text of {count_with_noun(len(texts), 'such field')}"
                )
        if roles.get("text"):
            self.column_of_role |= roles
            phrases = [f"its {role} is read from {utf8_text(key)}" for role, key in roles.items()]
            self.guess_phrase = "; ".join(phrases) + reason

    def _refuse(self, column: str, names: list[str]) -> str:
        """Raise BadInput for a column that is missing or holds objects."""
        prefix = f"{column.strip().casefold()}."
        inner = [utf8_text(key) for key in names if key.casefold().startswith(prefix)]
        if inner:
            fields = shorten(", ".join(inner), 200)
            raise BadInput(
                f"{self.name}: “{shorten(column)}” holds objects; name one of its fields: {fields}."
            )
        raise BadInput(
            f"{self.name} has no column "
            f"“{shorten(column)}”.{suggest_name(column, map(utf8_text, names))}"
        )
