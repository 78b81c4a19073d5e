"""JSON files as rows: one object a line, one array of objects, or an object that holds such an array."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

from core.errors import BadInput, shorten
from core.io.files import Tell, Unpacked, lines, not_utf8, opened

HOLDS_ROWS = ("Questions", "questions", "data")  # keys under which a JSON file may hold its list of rows
PIECE = 1 << 20  # bytes of an array read at once
DECODER = json.JSONDecoder()
BETWEEN = re.compile(r"[\s,]*")
Row = tuple[str, dict[str, Any]]


def json_rows(path: str | FilePath, tell: Tell | None = None, most: int | None = None) -> Iterator[Row]:
    """The objects of a JSON file, each with where it stands: one object a line, one array of objects, or an object that
    holds such an array under one of `HOLDS_ROWS`.

    Lines and arrays are read as they go; an object that holds rows lies in memory whole. Raises BadInput as
    `core.io.files.lines` does, and naming the line for what is not JSON or no object.
    """
    if _begins_array(path):
        with opened(path, tell, most) as source:
            yield from _Array(source).rows()
        return
    name, texts = FilePath(path).name, lines(path, tell, most)
    head = next(texts, None)
    if head is None:
        return
    first = _try_json(head[1])
    if isinstance(first, dict) and not _held(first):
        yield f"line {head[0]}", first
        for number, text in texts:
            yield f"line {number}", _object(name, f"line {number}", _parsed(name, number, text))
        return
    gaps = {number: text for number, text in (head, *texts)}  # blank lines come back, so that line numbers stay true
    whole = "\n".join(gaps.get(number, "") for number in range(1, max(gaps) + 1))
    rows = _held(_object(name, "line 1", _parsed(name, 1, whole)))
    if not rows:
        raise BadInput(f"{name} holds one JSON object without a list of rows; expected one object a line, or an array of objects.")
    for number, row in enumerate(rows, 1):
        yield f"item {number}", _object(name, f"item {number}", row)


class _Array:
    """An array in a file, decoded object by object; of its text only what is being decoded lies in memory."""

    def __init__(self, source: Unpacked):
        self.source, self.decode = source, codecs.getincrementaldecoder("utf-8-sig")().decode
        self.text, self.at = "", 0  # what is at hand, and how much of it is done
        self.line, self.column = 1, 0  # where the text begins, columns from 0
        self.here, self.counted = 1, 0  # the line at `counted`, a place in the text
        self.whole = False  # the file's end is at hand

    def rows(self) -> Iterator[Row]:
        """The objects, each with the line it begins on."""
        self._pass()
        self.at += 1  # the bracket
        while True:
            self._pass()
            where = f"line {self._line()}"
            if self.text[self.at : self.at + 1] == "]":
                break
            yield where, _object(self.source.name, where, self._value())
        self.at += 1
        self._pass()
        if self.at < len(self.text):
            raise BadInput(f"{self.source.name}, {where}: more text follows after the array has ended.")

    def _pass(self) -> None:
        """Passes over blanks and commas."""
        while True:
            blank = BETWEEN.match(self.text, self.at)
            assert blank is not None  # it matches the empty text too
            self.at = blank.end()
            if self.at < len(self.text) or self.whole:
                return
            self._more()

    def _value(self) -> Any:
        """The value that begins here. A number is not sure to have ended with the text at hand."""
        while True:
            try:
                value, end = DECODER.raw_decode(self.text, self.at)
            except RecursionError as error:
                raise self._fault(error) from None
            except ValueError as error:
                if self.whole:
                    raise self._fault(error) from None
            else:
                if end < len(self.text) or self.whole:
                    self.at = end
                    return value
            self._more()

    def _line(self) -> int:
        """The line that we are on."""
        self.here += self.text.count("\n", self.counted, self.at)
        self.counted = self.at
        return self.here

    def _more(self) -> None:
        """Lets go of what is done, and reads as much again as is left, at least `PIECE`."""
        ended = self.text.count("\n", 0, self.at)
        self.line, self.column = self.line + ended, self.at - self.text.rfind("\n", 0, self.at) - 1 if ended else self.column + self.at
        self.text, self.at, self.here, self.counted = self.text[self.at :], 0, self.line, 0
        data = self.source.read(max(PIECE, len(self.text)))
        self.whole = not data
        try:
            self.text += self.decode(data, self.whole)
        except UnicodeDecodeError as error:
            before = self.text.encode() + error.object[: error.start]
            byte = len(before) - before.rfind(b"\n") - 1 + (0 if b"\n" in before else self.column)
            raise not_utf8(self.source.name, self.line + before.count(b"\n"), byte) from None

    def _fault(self, error: Exception) -> BadInput:
        """What is wrong with the value that begins here, said of the whole file's lines and columns."""
        begins = self._line()
        if isinstance(error, json.JSONDecodeError):
            error.colno += self.column if error.lineno == 1 else 0
            error.lineno += self.line - 1
        return _not_json(self.source.name, begins, error)


def _begins_array(path: str | FilePath) -> bool:
    """Whether the first character of a file that is not blank opens an array."""
    with opened(path) as source:
        first = source.read(3).removeprefix(codecs.BOM_UTF8)
        while data := first.strip() or source.read(1):
            if data.strip():
                return data.strip()[:1] == b"["
            first = b""
    return False


def _held(value: dict[str, Any]) -> list | None:
    return next((value[key] for key in HOLDS_ROWS if isinstance(value.get(key), list)), None)


def _object(name: str, where: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadInput(f"{name}, {where}: expected a JSON object, found “{shorten(json.dumps(value), 40)}”.")
    return value


def _try_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _parsed(name: str, line: int, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _not_json(name, line, error) from None


def _not_json(name: str, line: int, error: Exception) -> BadInput:
    """What is wrong with a JSON text that begins on `line`, with the line and column of the fault where it is known."""
    if not isinstance(error, json.JSONDecodeError):
        return BadInput(f"{name}, line {line}: this JSON cannot be read: {shorten(error)}.")
    line = error.lineno if error.lineno > line else line
    return BadInput(f"{name}, line {line}: not JSON ({error.msg} at column {error.colno}).")
