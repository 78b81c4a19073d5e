"""JSON files as rows: one object a line, one array of objects, or an object that holds such an array."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

from core.errors import BadInput, shorten
from core.io.files import LONGEST_LINE, Tell, lines, opened
from core.io.json_pieces import Pieces, not_json

HOLDS_ROWS = ("Questions", "questions", "data")  # keys under which a JSON file may hold its list of rows
OPENING = 1 << 16  # bytes that are read at once in search of the first that is not blank
Row = tuple[str, dict[str, Any]]


def json_rows(path: str | FilePath, tell: Tell | None = None, most: int | None = None) -> Iterator[Row]:
    """The objects of a JSON file, each with where it stands: one object a line, one array of objects, or an object that
    holds such an array under one of `HOLDS_ROWS`, the first in the file. An object behind which another follows is a row, whatever it
    holds.

    All are read as they go: one row at a time lies in memory, none longer than a line may be. Raises BadInput as `core.io.files.lines`
    does, and naming the line for what is not JSON, no object, or longer.
    """
    first = beginning(path, 1, most)
    if first == "[":
        yield from _array(path, tell, most)
    elif first == "{" and _holds_rows(path, most):
        yield from _held(path, tell, most)
    else:
        name = FilePath(path).name
        for number, text in lines(path, tell, most):
            yield f"line {number}", _object(name, f"line {number}", _parsed(name, number, text))


def beginning(path: str | FilePath, size: int, most: int | None = None) -> str:
    """The first `size` bytes of a file that are not blank, as text; fewer where it holds no more."""
    found = b""
    with opened(path, most=most) as source:
        while len(found) < size and (data := source.read(OPENING)):
            found += b"".join(data.removeprefix(codecs.BOM_UTF8).split())
    return found[:size].decode("utf-8", "replace")


def _array(path: str | FilePath, tell: Tell | None, most: int | None) -> Iterator[Row]:
    """The objects of an array that is the whole file, each with the line that it begins on."""
    with opened(path, tell, most) as source:
        pieces = Pieces(source)
        for where in pieces.items():
            yield where, _object(source.name, where, pieces.value())
        _at_end(pieces, f"line {pieces.line()}", "the array")


def _held(path: str | FilePath, tell: Tell | None, most: int | None) -> Iterator[Row]:
    """The objects of the first array of rows that the file's one object holds, each with its number."""
    with opened(path, tell, most) as source:
        pieces, number = Pieces(source), 0
        for key in pieces.keys():
            if number or key not in HOLDS_ROWS or not pieces.opens_objects():
                pieces.passed()
                continue
            for _ in pieces.items():
                number += 1
                yield f"item {number}", _object(source.name, f"item {number}", pieces.value())
        _at_end(pieces, f"line {pieces.line()}", "the object")
        if not number:
            raise _without_rows(source.name)


def _holds_rows(path: str | FilePath, most: int | None) -> bool:
    """Whether the object that a file begins with holds an array of rows and is all of the file, rather than the first of one object a line.
    Raises BadInput where it does not and takes several lines, so that the file is none of one object a line either."""
    with opened(path, most=most) as source:
        pieces, held = Pieces(source), False
        pieces.next()
        begins = pieces.line()
        for key in pieces.keys():
            held = held or (key in HOLDS_ROWS and pieces.opens_objects())
            if pieces.next() != "[":
                pieces.value()
                continue
            for _ in pieces.items():
                if held and (pieces.line() > begins or pieces.count() > LONGEST_LINE):
                    return True  # it is longer than a line that is a row
                pieces.value()
        if held:
            return pieces.line() > begins or not pieces.next()
        if pieces.line() > begins:
            raise _without_rows(source.name)
    return False


def _at_end(pieces: Pieces, where: str, what: str) -> None:
    if pieces.next():
        raise BadInput(f"{pieces.source.name}, {where}: more text follows after {what} has ended.")


def _without_rows(name: str) -> BadInput:
    return BadInput(f"{name} holds one JSON object without a list of rows; expected one object a line, or an array of objects.")


def _object(name: str, where: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadInput(f"{name}, {where}: expected a JSON object, found “{shorten(json.dumps(value), 40)}”.")
    return value


def _parsed(name: str, line: int, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise not_json(name, line, error) from None
