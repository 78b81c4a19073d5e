"""Decoding of large JSON files value by value.

Only the current value is in memory.
The readers of rows (`core.io.json_rows`) and of SPARQL results use it.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from core.errors import BadInput, shorten
from core.io.files import MAX_LINE_BYTES, UnpackedBytes, not_utf8_error, size_text

JSON_PIECE_BYTES = 1 << 20  # bytes read at a time
# Characters of one value. Its Python objects take up to twenty times as many bytes.
MAX_JSON_VALUE_CHARACTERS = MAX_LINE_BYTES
# A fault that is closer to the end of the text in memory may vanish once more text is read.
NEAR_END_CHARACTERS = 16
VALUE_DECODER = json.JSONDecoder()
# Commas are skipped like blanks, so that values are found without following the grammar.
JSON_SEPARATOR = re.compile(r"[\s,]*")


class JsonPieces:
    """Position in a JSON text, from which values are read one after another.

    The caller follows the structure of the text: it enters arrays by `items` and objects by `keys`,
    and takes or skips each value by `value` or `skip_value`. Methods raise BadInput, which names
    the line, for text that is not JSON.
    """

    def __init__(self, source: UnpackedBytes):
        self.source = source
        self.decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self.text = ""  # the part of the text in memory
        self.position = 0  # of the next value in this part
        self.first_line = 1  # line of the file at which the part begins, from 1
        self.first_column = 0  # column of the file at which the part begins, from 0
        # Line breaks are counted up to `counted_position`, which is in line `counted_line`.
        self.counted_line = 1
        self.counted_position = 0
        self.n_dropped = 0  # characters of the file before the part
        self.is_at_file_end = False  # True once the text reaches the end of the file

    def peek(self) -> str:
        """Return the next character that is no blank and no comma.

        The position moves to it. The character is not consumed. The result is empty at the end of
        the text.
        """
        while True:
            blank = JSON_SEPARATOR.match(self.text, self.position)
            assert blank is not None  # it matches the empty text too
            self.position = blank.end()
            if self.position < len(self.text) or self.is_at_file_end:
                return self.text[self.position : self.position + 1]
            self._read_more()

    def is_array_of_objects(self) -> bool:
        """Return whether the next value is an array whose first item is an object."""
        while self.peek() == "[":
            blank = JSON_SEPARATOR.match(self.text, self.position + 1)
            assert blank is not None  # it matches the empty text too
            if blank.end() < len(self.text) or self.is_at_file_end:
                return self.text[blank.end() : blank.end() + 1] == "{"
            if len(self.text) - self.position > MAX_JSON_VALUE_CHARACTERS:
                break
            self._read_more()
        return False

    def consume(self, mark: str) -> None:
        """Consume a character such as “[”. Raises BadInput if another comes next."""
        if self.peek() != mark:
            raise self._located_error(
                json.JSONDecodeError(f"Expecting '{mark}'", self.text, self.position)
            )
        self.position += 1

    def items(self) -> Iterator[str]:
        """Enter an array and yield the place of each item: `line 3`.

        The caller takes or skips each item before the next one is asked for.
        """
        self.consume("[")
        while self.peek() != "]":
            yield f"line {self.current_line()}"
        self.position += 1

    def keys(self) -> Iterator[str]:
        """Enter the next value, an object, and yield its keys.

        The caller takes or skips the value of each key before the next key is asked for.
        """
        self.consume("{")
        while self.peek() != "}":
            key = self.value()
            if not isinstance(key, str):
                raise BadInput(
                    f"{self.source.name}, line {self.current_line()}: not JSON (a key should be a text)."
                )
            self.consume(":")
            self.peek()
            yield key
        self.position += 1

    def value(self) -> Any:
        """Return the next value and consume it.

        A number at the end of the text in memory may continue in the file, so more is read first.
        Raises BadInput for text that is not JSON, and for more than `MAX_JSON_VALUE_CHARACTERS`
        characters.
        """
        self.peek()
        while True:
            try:
                value, end = VALUE_DECODER.raw_decode(self.text, self.position)
            except RecursionError as error:
                raise self._located_error(error) from None
            except ValueError as error:
                if self.is_at_file_end or self._is_certain(error):
                    raise self._located_error(error) from None
                end = len(self.text)
            else:
                is_complete = end < len(self.text) or self.is_at_file_end
                if is_complete and end - self.position <= MAX_JSON_VALUE_CHARACTERS:
                    self.position = end
                    return value
            if end - self.position > MAX_JSON_VALUE_CHARACTERS:
                raise BadInput(
                    f"{self.source.name}, line {self.current_line()}: what begins here is longer "
                    f"than {size_text(MAX_JSON_VALUE_CHARACTERS)}."
                )
            self._read_more()

    def skip_value(self) -> None:
        """Skip the next value. An array may be of any length, as its items are skipped singly."""
        if self.peek() == "[":
            for _ in self.items():
                self.value()
        else:
            self.value()

    def current_line(self) -> int:
        """Return the line of the current position, from 1."""
        self.counted_line += self.text.count("\n", self.counted_position, self.position)
        self.counted_position = self.position
        return self.counted_line

    def file_position(self) -> int:
        """Return the number of the file's characters before the current position."""
        return self.n_dropped + self.position

    def _is_certain(self, error: ValueError) -> bool:
        """Return whether a fault would remain if more text were read."""
        if not isinstance(error, json.JSONDecodeError):
            return True
        return error.pos < len(self.text) - NEAR_END_CHARACTERS and not error.msg.startswith(
            "Unterminated"
        )

    def _read_more(self) -> None:
        """Drop the consumed text and read more.

        At least `JSON_PIECE_BYTES` bytes are read, and as many as the text in memory has, up to the
        length of one value. Thus a long value is parsed anew only a few times.
        """
        line_count = self.text.count("\n", 0, self.position)
        if line_count:
            self.first_column = self.position - self.text.rfind("\n", 0, self.position) - 1
        else:
            self.first_column += self.position
        self.first_line += line_count
        self.n_dropped += self.position
        self.text = self.text[self.position :]
        self.position = 0
        self.counted_line, self.counted_position = self.first_line, 0
        size = min(len(self.text), MAX_JSON_VALUE_CHARACTERS - len(self.text))
        data = self.source.read(max(JSON_PIECE_BYTES, size))
        self.is_at_file_end = not data
        try:
            self.text += self.decode(data, self.is_at_file_end)
        except UnicodeDecodeError as error:
            prefix = self.text.encode("utf-8", "surrogatepass") + error.object[: error.start]
            byte = len(prefix) - prefix.rfind(b"\n") - 1
            if b"\n" not in prefix:
                byte += self.first_column
            raise not_utf8_error(
                self.source.name, self.first_line + prefix.count(b"\n"), byte
            ) from None

    def _located_error(self, error: Exception) -> BadInput:
        """Return the error for the next value, located in the whole file."""
        first_line = self.current_line()
        if isinstance(error, json.JSONDecodeError):
            error.colno += self.first_column if error.lineno == 1 else 0
            error.lineno += self.first_line - 1
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
