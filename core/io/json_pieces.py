"""JSON text decoded piece by piece, with only the current value in memory."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from core.errors import BadInput, shorten
from core.io.files import MAX_LINE_BYTES, UnpackedBytes, not_utf8_error, size_text

JSON_PIECE_BYTES = 1 << 20  # bytes read at a time
# Characters of one value; its objects take up to twenty times as much memory.
MAX_JSON_VALUE_CHARACTERS = MAX_LINE_BYTES
# Characters before the end of the text in memory in which a fault may come from its cut.
NEAR_END_CHARACTERS = 16
VALUE_DECODER = json.JSONDecoder()
JSON_SEPARATOR = re.compile(r"[\s,]*")


class JsonPieces:
    """Reader of a JSON text, value by value, with the current line."""

    def __init__(self, source: UnpackedBytes):
        self.source = source
        self.decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self.text, self.at = "", 0  # the text in memory, and the position in it
        # Line and column (from 0) of the file at which the text begins.
        self.line_at, self.column = 1, 0
        self.here, self.counted = 1, 0  # the line at the position `counted` of the text
        self.before = 0  # characters of the file before the text
        self.whole = False  # True once the text reaches the end of the file

    def next(self) -> str:
        """Return the next character that is no blank and no comma, without consuming it.

        Returns an empty string at the end of the text.
        """
        while True:
            blank = JSON_SEPARATOR.match(self.text, self.at)
            assert blank is not None  # it matches the empty text too
            self.at = blank.end()
            if self.at < len(self.text) or self.whole:
                return self.text[self.at : self.at + 1]
            self._read_more()

    def opens_objects(self) -> bool:
        """Return whether the next value is an array of objects, by its first item."""
        while self.next() == "[":
            blank = JSON_SEPARATOR.match(self.text, self.at + 1)
            assert blank is not None  # it matches the empty text too
            if blank.end() < len(self.text) or self.whole:
                return self.text[blank.end() : blank.end() + 1] == "{"
            if len(self.text) - self.at > MAX_JSON_VALUE_CHARACTERS:
                break
            self._read_more()
        return False

    def take(self, mark: str) -> None:
        """Consume a mark. Raises BadInput if something else comes next."""
        if self.next() != mark:
            raise self._located_error(
                json.JSONDecodeError(f"Expecting '{mark}'", self.text, self.at)
            )
        self.at += 1

    def items(self) -> Iterator[str]:
        """Iterate over an array and yield the line of each item: `line 3`.

        The caller takes each item by `value`.
        """
        self.take("[")
        while self.next() != "]":
            yield f"line {self.line()}"
        self.at += 1

    def keys(self) -> Iterator[str]:
        """Yield the keys of the next object. The caller takes the value of each."""
        self.take("{")
        while self.next() != "}":
            key = self.value()
            if not isinstance(key, str):
                raise BadInput(
                    f"{self.source.name}, line {self.line()}: not JSON (a key should be a text)."
                )
            self.take(":")
            self.next()
            yield key
        self.at += 1

    def value(self) -> Any:
        """Return the next value and consume it.

        A number at the end of the text in memory may continue in the file, so more is read first.
        Raises BadInput for text that is not JSON, and for more than `MAX_JSON_VALUE_CHARACTERS`
        characters.
        """
        self.next()
        while True:
            try:
                value, end = VALUE_DECODER.raw_decode(self.text, self.at)
            except RecursionError as error:
                raise self._located_error(error) from None
            except ValueError as error:
                if self.whole or self._is_certain(error):
                    raise self._located_error(error) from None
                end = len(self.text)
            else:
                is_complete = end < len(self.text) or self.whole
                if is_complete and end - self.at <= MAX_JSON_VALUE_CHARACTERS:
                    self.at = end
                    return value
            if end - self.at > MAX_JSON_VALUE_CHARACTERS:
                raise BadInput(
                    f"{self.source.name}, line {self.line()}: what begins here is longer "
                    f"than {size_text(MAX_JSON_VALUE_CHARACTERS)}."
                )
            self._read_more()

    def passed(self) -> None:
        """Skip the next value. An array may have any length."""
        if self.next() == "[":
            for _ in self.items():
                self.value()
        else:
            self.value()

    def line(self) -> int:
        """Return the current line."""
        self.here += self.text.count("\n", self.counted, self.at)
        self.counted = self.at
        return self.here

    def count(self) -> int:
        """Return the number of the file's characters before the current position."""
        return self.before + self.at

    def _is_certain(self, error: ValueError) -> bool:
        """Return whether a fault remains, whatever text follows."""
        if not isinstance(error, json.JSONDecodeError):
            return True
        return error.pos < len(self.text) - NEAR_END_CHARACTERS and not error.msg.startswith(
            "Unterminated"
        )

    def _read_more(self) -> None:
        """Drop the consumed text and read more.

        The text in memory is doubled up to the length of one value. At least `JSON_PIECE_BYTES`
        bytes are read.
        """
        line_count = self.text.count("\n", 0, self.at)
        if line_count:
            self.column = self.at - self.text.rfind("\n", 0, self.at) - 1
        else:
            self.column += self.at
        self.line_at += line_count
        self.before += self.at
        self.text = self.text[self.at :]
        self.at = 0
        self.here, self.counted = self.line_at, 0
        size = min(len(self.text), MAX_JSON_VALUE_CHARACTERS - len(self.text))
        data = self.source.read(max(JSON_PIECE_BYTES, size))
        self.whole = not data
        try:
            self.text += self.decode(data, self.whole)
        except UnicodeDecodeError as error:
            prefix = self.text.encode("utf-8", "surrogatepass") + error.object[: error.start]
            byte = len(prefix) - prefix.rfind(b"\n") - 1
            if b"\n" not in prefix:
                byte += self.column
            raise not_utf8_error(
                self.source.name, self.line_at + prefix.count(b"\n"), byte
            ) from None

    def _located_error(self, error: Exception) -> BadInput:
        """Return the error for the next value, located in the whole file."""
        first_line = self.line()
        if isinstance(error, json.JSONDecodeError):
            error.colno += self.column if error.lineno == 1 else 0
            error.lineno += self.line_at - 1
        return not_json_error(self.source.name, first_line, error)


def not_json_error(name: str, line: int, error: Exception) -> BadInput:
    """Return the error for a JSON text that begins on `line`.

    It names the line and column of the fault if they are known.
    """
    if isinstance(error, RecursionError):
        return BadInput(f"{name}, line {line}: this JSON is nested too deep to be read.")
    if not isinstance(error, json.JSONDecodeError):
        return BadInput(f"{name}, line {line}: this JSON cannot be read: {shorten(error)}.")
    line = error.lineno if error.lineno > line else line
    return BadInput(f"{name}, line {line}: not JSON ({error.msg} at column {error.colno}).")
