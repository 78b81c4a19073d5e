"""Rows of JSON files.

They are the objects of JSON Lines, of an array, or of an array within an object. The readers of
questions, documents, runs and graphs use this module. Large files are read row by row.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Sequence
from pathlib import Path as FilePath
from typing import Any

from core.errors import BadInput, shorten
from core.io.files import MAX_LINE_BYTES, File, numbered_lines, open_unpacked
from core.io.json_pieces import JsonPieces, not_json_error
from core.watch import NO_WATCH, Watch

# Keys under which a JSON file may hold its list of rows.
ROW_HOLDER_KEYS = ("Questions", "questions", "data", "examples", "goldens", "items")
# Keys that mark an object as a row, whatever lists it holds.
ROW_KEYS = ("question", "query", "text", "article", "graph", "RawQuestion", "utterance")
# Forms of a file that begins with an object.
LINE_ROWS = "one object a line"
HELD_ROWS = "an object that holds rows"
SPREAD_ROWS = "objects over several lines"
START_PIECE_BYTES = 1 << 16  # bytes read at a time to find the first ones that are not blank

Row = tuple[str, dict[str, Any]]  # the place in the file, such as line 3, and the object
NumberedRow = tuple[int, str, dict[str, Any]]  # a row with its number


def json_rows(
    path: File,
    watch: Watch = NO_WATCH,
    max_bytes: int | None = None,
    max_line_bytes: int | None = None,
) -> Iterator[Row]:
    """Yield the objects of a JSON file, each with its place: `line 3`.

    The file holds one object a line, one array of objects, or an object that holds such an array
    under one of `ROW_HOLDER_KEYS`. Of several such arrays, the first is read. An object on one line
    is a row even with such an array, if another object follows or it has a key of `ROW_KEYS`.

    Only one row at a time is in memory.

    Raises
    ------
    BadInput
        As `core.io.files.numbered_lines` does, and for text that is not JSON, a value that is no
        object, and a line of more than `max_line_bytes`. The message names the line.
    """
    rows = numbered_rows(path, watch, max_bytes, max_line_bytes=max_line_bytes)
    return ((where, row) for _, where, row in rows)


def numbered_rows(
    path: File,
    watch: Watch = NO_WATCH,
    max_bytes: int | None = None,
    list_keys: Sequence[str] = ROW_HOLDER_KEYS,
    single: bool = False,
    max_line_bytes: int | None = None,
) -> Iterator[NumberedRow]:
    """Yield the objects of a JSON file as `json_rows` does, each with its number.

    The number is the line if the file has one object a line, else the position in the array, from
    1.

    Parameters
    ----------
    list_keys : keys under which the file's object may hold the rows.
    single : True to accept a file of objects that span several lines and hold no rows; each is then
        a row. Otherwise such a file raises BadInput.
    max_line_bytes : largest number of bytes of a line; None for `core.io.files.MAX_LINE_BYTES`.
    """
    first = read_start(path, 1, max_bytes)
    # A file that begins with neither bracket is read as lines, which raises the fitting error.
    form = _detect_form(path, watch, max_bytes, list_keys) if first == "{" else LINE_ROWS
    if first == "[":
        yield from _array_rows(path, watch, max_bytes)
    elif form == HELD_ROWS:
        yield from _held_rows(path, watch, max_bytes, list_keys)
    elif form == SPREAD_ROWS:
        if not single:
            raise _no_rows_error(path)
        yield from _spread_rows(path, watch, max_bytes)
    else:
        for number, text in numbered_lines(path, watch, max_bytes, max_line_bytes):
            where = f"line {number}"
            yield number, where, _check_object(path, where, _parse(path, number, text))


def read_start(path: File, size: int, max_bytes: int | None = None) -> str:
    """Return the first `size` bytes of a file that are not blank, as text."""
    start = b""
    with open_unpacked(path, max_bytes=max_bytes) as source:
        while len(start) < size:
            data = source.read(START_PIECE_BYTES)
            if not data:
                break
            start += b"".join(data.removeprefix(codecs.BOM_UTF8).split())
    return start[:size].decode("utf-8", "replace")


def _array_rows(path: File, watch: Watch, max_bytes: int | None) -> Iterator[NumberedRow]:
    """Yield the objects of a file that is one array."""
    with open_unpacked(path, watch, max_bytes) as source:
        pieces = JsonPieces(source)
        for number, where in enumerate(pieces.items(), 1):
            yield number, where, _check_object(path, where, pieces.value())
        _check_end(pieces, f"line {pieces.current_line()}", "the array")


def _held_rows(
    path: File, watch: Watch, max_bytes: int | None, list_keys: Sequence[str]
) -> Iterator[NumberedRow]:
    """Yield the objects of the first array of rows in the file's only object."""
    with open_unpacked(path, watch, max_bytes) as source:
        pieces = JsonPieces(source)
        number = 0
        for key in pieces.keys():
            # Only the first array of rows is read, after which `number` is not zero.
            if number or key not in list_keys or not pieces.is_array_of_objects():
                pieces.skip_value()
                continue
            for number, _ in enumerate(pieces.items(), 1):
                yield (
                    number,
                    f"item {number}",
                    _check_object(path, f"item {number}", pieces.value()),
                )
        _check_end(pieces, f"line {pieces.current_line()}", "the object")


def _spread_rows(path: File, watch: Watch, max_bytes: int | None) -> Iterator[NumberedRow]:
    """Yield objects that span several lines, one after another, each with its first line."""
    with open_unpacked(path, watch, max_bytes) as source:
        pieces = JsonPieces(source)
        number = 0
        while pieces.peek():
            number += 1
            where = f"line {pieces.current_line()}"
            yield number, where, _check_object(path, where, pieces.value())


def _detect_form(path: File, watch: Watch, max_bytes: int | None, list_keys: Sequence[str]) -> str:
    """Return the form of a file that begins with an object.

    The object is read. No progress is reported. An array is read only until it is clear that the
    object is too long for a row on one line.
    """
    with open_unpacked(path, watch.part(0.0, 0.0), max_bytes) as source:
        pieces = JsonPieces(source)
        holds_row_list = has_row_key = False
        pieces.peek()
        first_line = pieces.current_line()
        for key in pieces.keys():
            holds_row_list = holds_row_list or (key in list_keys and pieces.is_array_of_objects())
            has_row_key = has_row_key or key in ROW_KEYS
            if pieces.peek() != "[":
                pieces.value()
                continue
            for _ in pieces.items():
                is_long = (
                    pieces.current_line() > first_line or pieces.file_position() > MAX_LINE_BYTES
                )
                if holds_row_list and is_long:
                    return HELD_ROWS
                pieces.value()
        if pieces.current_line() > first_line:
            return HELD_ROWS if holds_row_list else SPREAD_ROWS
        return HELD_ROWS if holds_row_list and not has_row_key and not pieces.peek() else LINE_ROWS


def _check_end(pieces: JsonPieces, where: str, what: str) -> None:
    if pieces.peek():
        raise BadInput(f"{pieces.source.name}, {where}: more text follows after {what} has ended.")


def _no_rows_error(file: File) -> BadInput:
    return BadInput(
        f"{_name(file)} holds one JSON object without a list of rows; expected one object a "
        "line, or an array of objects."
    )


def _check_object(file: File, where: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadInput(
            f"{_name(file)}, {where}: expected a JSON object, found "
            f"“{shorten(json.dumps(value), 40)}”."
        )
    return value


def _parse(file: File, line: int, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise not_json_error(_name(file), line, error) from None


def _name(file: File) -> str:
    return FilePath(file).name if isinstance(file, (str, FilePath)) else file.name
