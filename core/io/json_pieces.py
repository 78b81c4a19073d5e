"""JSON text read piece by piece: of it only what is being decoded lies in memory."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from core.errors import BadInput, shorten
from core.io.files import LONGEST_LINE, Unpacked, not_utf8, size_text

PIECE = 1 << 20  # bytes read at once
LONGEST_VALUE = LONGEST_LINE  # characters of one value; the objects that it becomes take up to twenty times as much
NEAR_END = 16  # characters before the end of what is at hand where a fault may come of the cut
DECODER = json.JSONDecoder()
BETWEEN = re.compile(r"[\s,]*")


class Pieces:
    """A place in a JSON text that moves on value by value, and the line that it is on."""

    def __init__(self, source: Unpacked):
        self.source, self.decode = source, codecs.getincrementaldecoder("utf-8-sig")().decode
        self.text, self.at = "", 0  # what is at hand, and how much of it is done
        self.line_at, self.column = 1, 0  # where the text begins, columns from 0
        self.here, self.counted = 1, 0  # the line at `counted`, a place in the text
        self.before = 0  # characters of the file before the text
        self.whole = False  # the file's end is at hand

    def next(self) -> str:
        """The next character that is no blank and no comma, which is not passed; empty at the end of the text."""
        while True:
            blank = BETWEEN.match(self.text, self.at)
            assert blank is not None  # it matches the empty text too
            self.at = blank.end()
            if self.at < len(self.text) or self.whole:
                return self.text[self.at : self.at + 1]
            self._more()

    def opens_objects(self) -> bool:
        """Whether an array begins here whose first item is an object. Nothing is passed."""
        while self.next() == "[":
            blank = BETWEEN.match(self.text, self.at + 1)
            assert blank is not None  # it matches the empty text too
            if blank.end() < len(self.text) or self.whole:
                return self.text[blank.end() : blank.end() + 1] == "{"
            if len(self.text) - self.at > LONGEST_VALUE:
                break
            self._more()
        return False

    def take(self, mark: str) -> None:
        """Passes over a mark. Raises BadInput where something else comes next."""
        if self.next() != mark:
            raise self._fault(json.JSONDecodeError(f"Expecting '{mark}'", self.text, self.at))
        self.at += 1

    def items(self) -> Iterator[str]:
        """Passes over an array whose items are taken, by `value`, by who is given the line of each: `line 3`."""
        self.take("[")
        while self.next() != "]":
            yield f"line {self.line()}"
        self.at += 1

    def keys(self) -> Iterator[str]:
        """The keys of the object that begins here; the value of each is taken by who is given it."""
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
        """The value that begins here. A number is not sure to have ended with the text at hand. Raises BadInput for what is not JSON,
        and for more than `LONGEST_VALUE`."""
        self.next()
        while True:
            try:
                value, end = DECODER.raw_decode(self.text, self.at)
            except RecursionError as error:
                raise self._fault(error) from None
            except ValueError as error:
                if self.whole or self._is_certain(error):
                    raise self._fault(error) from None
                end = len(self.text)
            else:
                if (end < len(self.text) or self.whole) and end - self.at <= LONGEST_VALUE:
                    self.at = end
                    return value
            if end - self.at > LONGEST_VALUE:
                raise BadInput(
                    f"{self.source.name}, line {self.line()}: what begins here is longer than {size_text(LONGEST_VALUE)}."
                )
            self._more()

    def passed(self) -> None:
        """Passes over the value that begins here, whatever the length of an array."""
        if self.next() == "[":
            for _ in self.items():
                self.value()
        else:
            self.value()

    def line(self) -> int:
        """The line that we are on."""
        self.here += self.text.count("\n", self.counted, self.at)
        self.counted = self.at
        return self.here

    def count(self) -> int:
        """The characters of the file before the place that we are at."""
        return self.before + self.at

    def _is_certain(self, error: ValueError) -> bool:
        """Whether more text could not mend a fault."""
        if not isinstance(error, json.JSONDecodeError):
            return True
        return error.pos < len(self.text) - NEAR_END and not error.msg.startswith("Unterminated")

    def _more(self) -> None:
        """Lets go of what is done, and reads as much again as is left, as far as that may be one value, at least `PIECE`."""
        ended = self.text.count("\n", 0, self.at)
        self.column = (
            self.at - self.text.rfind("\n", 0, self.at) - 1 if ended else self.column + self.at
        )
        self.line_at += ended
        self.before += self.at
        self.text, self.at, self.here, self.counted = self.text[self.at :], 0, self.line_at, 0
        data = self.source.read(max(PIECE, min(len(self.text), LONGEST_VALUE - len(self.text))))
        self.whole = not data
        try:
            self.text += self.decode(data, self.whole)
        except UnicodeDecodeError as error:
            before = self.text.encode("utf-8", "surrogatepass") + error.object[: error.start]
            byte = len(before) - before.rfind(b"\n") - 1 + (0 if b"\n" in before else self.column)
            raise not_utf8(self.source.name, self.line_at + before.count(b"\n"), byte) from None

    def _fault(self, error: Exception) -> BadInput:
        """What is wrong with the value that begins here, said of the whole file's lines and columns."""
        begins = self.line()
        if isinstance(error, json.JSONDecodeError):
            error.colno += self.column if error.lineno == 1 else 0
            error.lineno += self.line_at - 1
        return not_json(self.source.name, begins, error)


def not_json(name: str, line: int, error: Exception) -> BadInput:
    """What is wrong with a JSON text that begins on `line`, with the line and column of the fault where it is known."""
    if isinstance(error, RecursionError):
        return BadInput(f"{name}, line {line}: this JSON is nested too deep to be read.")
    if not isinstance(error, json.JSONDecodeError):
        return BadInput(f"{name}, line {line}: this JSON cannot be read: {shorten(error)}.")
    line = error.lineno if error.lineno > line else line
    return BadInput(f"{name}, line {line}: not JSON ({error.msg} at column {error.colno}).")
