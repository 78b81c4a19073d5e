"""Rows of JSON files.

A file holds one object a line, one array of objects, or an object with such an array.
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
START_PIECE_BYTES = 1 << 16  # bytes read at a time to find the first that is not blank

Row = tuple[str, dict[str, Any]]  # the place in the file, such as line 3, and the object
Numbered = tuple[int, str, dict[str, Any]]  # a row with its number


def json_rows(
    path: File, watch: Watch = NO_WATCH, max_bytes: int | None = None, longest: int | None = None
) -> Iterator[Row]:
    """Yield the objects of a JSON file, each with its place in the file.

    The file holds one object a line, one array of objects, or an object that holds such an array
    under one of `ROW_HOLDER_KEYS`; the first in the file is taken. An object on one line is a row,
    whatever it holds, if another follows or it has a key of `ROW_KEYS`.

    Rows are read one at a time, so only one lies in memory. Raises BadInput as
    `core.io.files.numbered_lines` does. It also names the line of text that is not JSON, of a value
    that is no object, and of a row that is longer than a line may be, `longest` bytes.
    """
    return (
        (where, row) for _, where, row in numbered_rows(path, watch, max_bytes, longest=longest)
    )


def numbered_rows(
    path: File,
    watch: Watch = NO_WATCH,
    max_bytes: int | None = None,
    holds: Sequence[str] = ROW_HOLDER_KEYS,
    single: bool = False,
    longest: int | None = None,
) -> Iterator[Numbered]:
    """Yield the objects of a JSON file as `json_rows` does, each with its number.

    The number is the line if the file has one object a line, else the position in the array, from
    1.

    Parameters
    ----------
    holds : keys under which the file's object may hold the rows.
    single : accept objects over several lines as rows.
    longest : bytes that a line may have.
    """
    first = read_start(path, 1, max_bytes)
    form = _detect_form(path, watch, max_bytes, holds) if first == "{" else LINE_ROWS
    if first == "[":
        yield from _array_rows(path, watch, max_bytes)
    elif form == HELD_ROWS:
        yield from _held_rows(path, watch, max_bytes, holds)
    elif form == SPREAD_ROWS:
        if not single:
            raise _no_rows_error(path)
        yield from _spread_rows(path, watch, max_bytes)
    else:
        for number, text in numbered_lines(path, watch, max_bytes, longest):
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


def _array_rows(path: File, watch: Watch, max_bytes: int | None) -> Iterator[Numbered]:
    """Yield the objects of a file that is one array."""
    with open_unpacked(path, watch, max_bytes) as source:
        pieces = JsonPieces(source)
        for number, where in enumerate(pieces.items(), 1):
            yield number, where, _check_object(path, where, pieces.value())
        _check_end(pieces, f"line {pieces.current_line()}", "the array")


def _held_rows(
    path: File, watch: Watch, max_bytes: int | None, holds: Sequence[str]
) -> Iterator[Numbered]:
    """Yield the objects of the first array of rows in the file's only object."""
    with open_unpacked(path, watch, max_bytes) as source:
        pieces = JsonPieces(source)
        number = 0
        for key in pieces.keys():
            if number or key not in holds or not pieces.is_array_of_objects():
                pieces.skip_value()
                continue
            for number, _ in enumerate(pieces.items(), 1):
                yield (
                    number,
                    f"item {number}",
                    _check_object(path, f"item {number}", pieces.value()),
                )
        _check_end(pieces, f"line {pieces.current_line()}", "the object")


def _spread_rows(path: File, watch: Watch, max_bytes: int | None) -> Iterator[Numbered]:
    """Yield objects that span several lines, one after another, each with its first line."""
    with open_unpacked(path, watch, max_bytes) as source:
        pieces = JsonPieces(source)
        number = 0
        while pieces.peek():
            number += 1
            where = f"line {pieces.current_line()}"
            yield number, where, _check_object(path, where, pieces.value())


LINE_ROWS = "one object a line"
HELD_ROWS = "an object that holds rows"
SPREAD_ROWS = "an object over several lines"


def _detect_form(path: File, watch: Watch, max_bytes: int | None, holds: Sequence[str]) -> str:
    """Return the form of a file that begins with an object.

    No progress is reported.
    """
    with open_unpacked(path, watch.part(0.0, 0.0), max_bytes) as source:
        pieces = JsonPieces(source)
        holds_row_list = has_row_key = False
        pieces.peek()
        first_line = pieces.current_line()
        for key in pieces.keys():
            holds_row_list = holds_row_list or (key in holds and pieces.is_array_of_objects())
            has_row_key = has_row_key or key in ROW_KEYS
            if pieces.peek() != "[":
                pieces.value()
                continue
            for _ in pieces.items():
                is_long = (
                    pieces.current_line() > first_line or pieces.file_position() > MAX_LINE_BYTES
                )
                if holds_row_list and is_long:
                    return HELD_ROWS  # it is longer than a row on one line may be
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
