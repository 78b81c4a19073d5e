"""The beginning of a file, folder or zip, from which its format is recognised."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from core.corpus.indexes.files import files_at_path
from core.corpus.readers.file_sources import MemoryFile
from core.errors import BadInput
from core.graph.readers.source import bare_suffix
from core.io.encoding import check_first_bytes, decode_text, known_encoding
from core.io.files import EXCEL_SEPARATOR, FileSource, open_unpacked
from core.io.json_pieces import JsonPieces
from core.runtime.row_files import file_rows, is_columnar

HEAD_BYTES = 1 << 18  # read of a file, after unpacking
MAX_HEAD_LINES = 100
MAX_HEAD_ROWS = 3
MAX_HEAD_ITEMS = 3  # of a list of objects in a row
CELL_SEPARATORS = "\t,;|"
Row = Mapping[str, Any]


class FileHead:
    """The beginning of the file, folder or zip at a path.

    Each property is read once, at its first use. Properties raise BadInput if there is nothing at
    the path, or it is damaged.

    Parameters
    ----------
    path : path of the file, folder or zip.
    encoding : the encoding of a text that is not UTF-8; empty to detect it.
    """

    def __init__(self, path: Path, encoding: str = ""):
        self.path = path
        self.name = path.name
        self.encoding = known_encoding(encoding)
        self.suffix = bare_suffix(path)

    @cached_property
    def has_several_files(self) -> bool:
        """True if the path is a folder or a zip."""
        return self.path.is_dir() or (self.suffix == ".zip" and self.path.is_file())

    @cached_property
    def files(self) -> dict[str, FileSource]:
        """The files of a folder or zip by their paths within it. Empty for a single file."""
        return files_at_path(self.path)[0] if self.has_several_files else {}

    @cached_property
    def data(self) -> bytes:
        """The first `HEAD_BYTES` bytes, unpacked; empty for a folder or zip."""
        if self.has_several_files:
            return b""
        with open_unpacked(self.path) as stream:
            return stream.read(HEAD_BYTES)

    @property
    def is_cut(self) -> bool:
        """True if the file may be longer than the head."""
        return len(self.data) >= HEAD_BYTES

    @cached_property
    def text_or_fault(self) -> tuple[str, str]:
        """The head as text and no fault, or an empty text and the fault.

        The fault is a sentence on why the head cannot be read as text.
        """
        # The last line of a cut head is left out, unless it is the only one.
        line_end = self.data.rfind(b"\n") + 1 if self.is_cut else 0
        data = self.data[: line_end or None]
        try:
            check_first_bytes(self.name, data)
            text = decode_text(self.name, data, choice=self.encoding)
        except BadInput as error:
            return "", str(error)
        return text.removeprefix("\ufeff"), ""

    @property
    def text(self) -> str:
        """The head as text. Empty if it cannot be read as text."""
        return self.text_or_fault[0]

    @cached_property
    def lines(self) -> list[str]:
        """The first lines that are not blank, without Excel's line `sep=`."""
        lines = [line for line in self.text.splitlines() if line.strip()][:MAX_HEAD_LINES]
        return lines[1:] if lines and EXCEL_SEPARATOR.match(lines[0]) else lines

    @cached_property
    def rows(self) -> list[Row]:
        """The first objects of JSON, Parquet or Arrow in the head."""
        if self.has_several_files:
            return []
        if is_columnar(self.path):
            return [row for _, row in islice(file_rows(self.path), MAX_HEAD_ROWS)]
        return list(islice(_json_rows(self.text), MAX_HEAD_ROWS)) if self.text[:1] in "{[" else []

    @cached_property
    def separator(self) -> str:
        """The likely separator of the columns, by the first line. Empty if it has none."""
        first_line = self.lines[0] if self.lines and not self.rows else ""
        most_frequent = max(CELL_SEPARATORS, key=first_line.count)
        return most_frequent if most_frequent in first_line else ""

    @cached_property
    def table(self) -> list[list[str]]:
        """The cells of the first lines. Empty without a separator, or if they are no valid CSV."""
        if not self.separator:
            return []
        try:
            return list(csv.reader(self.lines, delimiter=self.separator, skipinitialspace=True))
        except csv.Error:
            return []

    @cached_property
    def header(self) -> list[str]:
        """The column names of a table, or the keys of the first JSON rows."""
        if self.rows:
            return list(dict.fromkeys(str(key) for row in self.rows for key in row))
        return [cell.strip() for cell in self.table[0]] if self.table else []


def _json_rows(text: str) -> Iterator[Row]:
    """Yield the objects of a JSON text, one by one or in a list.

    An object that is cut by the end of the head has only the keys before the cut.
    """
    with open_unpacked(MemoryFile("head.json", text.encode("utf-8", "replace"))) as stream:
        pieces = JsonPieces(stream)
        row: dict[str, Any] = {}
        try:
            if pieces.peek() == "[":
                pieces.consume("[")
            while pieces.peek() == "{":
                row = {}
                _fill_row(row, pieces)
                yield row
                row = {}
        except BadInput:
            if row:
                yield row


def _fill_row(row: dict[str, Any], pieces: JsonPieces) -> None:
    """Fill a row with the values of the next object, in place.

    The row keeps what was read if the text ends within the object. Of a list of objects, the first
    `MAX_HEAD_ITEMS` are kept.
    """
    for key in pieces.keys():
        row[key] = None
        if not pieces.is_array_of_objects():
            row[key] = pieces.value()
            continue
        items = row[key] = list[Any]()
        for _ in pieces.items():
            item = pieces.value()
            if len(items) < MAX_HEAD_ITEMS:
                items.append(item)
