"""Text files as people give them, plain or packed: read line by line or as JSON rows, and never more than is allowed."""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Any, BinaryIO

from core.errors import BadInput, shorten

PACKED = (".gz", ".zst")
LONGEST_LINE = 1 << 26  # bytes
LOOK_EVERY, REPORT_EVERY = 1 << 14, 1 << 18  # bytes unpacked between two looks at their number, and two words of progress
HOLDS_ROWS = ("Questions", "questions", "data")  # keys under which a JSON file may hold its list of rows
NOT_JSON = re.compile(r"[\s,]*")
Tell = Callable[[float], None]


class Unpacked:
    """The bytes of a file after unpacking. Reading raises BadInput once more than `most` bytes have come out."""

    def __init__(self, name: str, raw: BinaryIO, size: int, packed: str, tell: Tell | None, most: int | None):
        self.name, self.line = name, 0
        self._raw, self._size, self._tell, self._most = raw, size, tell, most
        self._stream = _unpacking(raw, packed)
        self._count = self._told = 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most `size` of them where that is not negative."""
        if size < 0 and self._most is not None:
            size = self._most - self._count + 1
        data = self._stream.read(size)
        self._look(len(data))
        return data

    def skip(self, count: int) -> None:
        """Passes over the next bytes."""
        if self._stream is self._raw:
            self._raw.seek(count, 1)
            return
        while count > 0 and (passed := len(self._stream.read(min(count, LONGEST_LINE)))):
            count -= passed

    def lines(self) -> Iterator[bytes]:
        """The remaining lines with their ends; `line` is the number of the newest, from 1."""
        readline, longest, looked_at = self._stream.readline, LONGEST_LINE, 0
        while data := readline(longest):
            self.line += 1
            if len(data) == longest:
                raise BadInput(f"{self.name}, line {self.line}: a line of more than {told_size(longest)} is too long.")
            looked_at += len(data)
            if looked_at >= LOOK_EVERY:
                self._look(looked_at)
                looked_at = 0
            yield data
        self._look(looked_at)

    def _look(self, size: int) -> None:
        """Count `size` more bytes: tell how far we are, and stop where it is too much."""
        self._count += size
        if self._most is not None and self._count > self._most:
            raise BadInput(f"{self.name} holds more than {told_size(self._most)} of text; that is more than can be read here.")
        if self._tell and self._count - self._told >= REPORT_EVERY:
            self._told = self._count
            self._tell(min(1.0, self._raw.tell() / max(1, self._size)))


@contextmanager
def opened(path: str | FilePath, tell: Tell | None = None, most: int | None = None) -> Iterator[Unpacked]:
    """A file's bytes, unpacked where its name ends in `.gz` or `.zst`. `tell` hears the share read, `most` bounds the bytes that come out.

    Raises BadInput where the file is missing, unreadable, damaged or larger than `most`.
    """
    path = FilePath(path)
    packed, source = path.suffix.lower() if path.suffix.lower() in PACKED else "", None
    try:
        with open(path, "rb") as raw:
            source = Unpacked(path.name, raw, path.stat().st_size, packed, tell, most)
            yield source
    except FileNotFoundError:
        raise BadInput(f"There is no file {path}.") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        after = f", after line {source.line}" if source and source.line else ""
        kind = "Zstandard" if packed == ".zst" else "gzip"
        raise BadInput(f"{path.name}{after}: the {kind} file is damaged or cut short ({error}).") from None
    except OSError as error:
        raise BadInput(f"{path.name} cannot be read: {error.strerror or error}.") from None


def _unpacking(raw: BinaryIO, packed: str) -> BinaryIO:
    """The stream of a file's bytes, unpacked. Damage shows as EOFError."""
    if packed == ".gz":
        return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value]  # all of a BinaryIO is there, which typeshed does not say
    if packed == ".zst":
        return io.BufferedReader(_Zstandard(raw), LOOK_EVERY * 8)
    return raw


class _Zstandard(io.RawIOBase):
    """The unpacked bytes of a file of Zstandard frames. Raises EOFError where it is damaged or ends within a frame."""

    def __init__(self, raw: BinaryIO):
        import zstandard

        self._raw, self._make = raw, zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj
        self._fault, self._ready = zstandard.ZstdError, b""
        self._frame: zstandard.ZstdDecompressionObj | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        """Fills the buffer as far as one piece of the file goes; 0 at its end."""
        while not self._ready:
            packed = (self._frame.unused_data if self._frame and self._frame.eof else b"") or self._raw.read(LOOK_EVERY * 8)
            if not packed:
                if self._frame and not self._frame.eof:
                    raise EOFError("it ends within a frame")
                return 0
            try:
                frame = self._frame
                if frame is None or frame.eof:
                    frame = self._frame = self._make()
                self._ready = frame.decompress(packed)
            except self._fault as error:
                raise EOFError(str(error)) from None
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size


def lines(path: str | FilePath, tell: Tell | None = None, most: int | None = None) -> Iterator[tuple[int, str]]:
    """The lines that are not blank with their numbers from 1, line ends removed. Raises BadInput as `opened` does, and for
    bytes that are not UTF-8."""
    with opened(path, tell, most) as source:
        for data in source.lines():
            try:
                text = data.decode("utf-8-sig" if source.line == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise BadInput(
                    f"{source.name}, line {source.line}: byte {error.start + 1} is not UTF-8 text; expected a text file saved as UTF-8."
                ) from None
            if text.strip():
                yield source.line, text


def json_rows(path: str | FilePath, tell: Tell | None = None, most: int | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a JSON file, each with where it stands: one object a line, one array of objects, or an object that
    holds such an array under one of `HOLDS_ROWS`.

    Raises BadInput as `lines` does, and naming the line for what is not JSON or no object.
    """
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
    if whole.lstrip().startswith("["):
        yield from _elements(name, whole)
    else:
        rows = _held(_object(name, "line 1", _parsed(name, 1, whole)))
        if not rows:
            raise BadInput(f"{name} holds one JSON object without a list of rows; expected one object a line, or an array of objects.")
        for number, row in enumerate(rows, 1):
            yield f"item {number}", _object(name, f"item {number}", row)


def told_size(size: float) -> str:
    """A number of bytes in words: 64 MB, 2 GB."""
    return f"{size / (1 << 30):,.0f} GB" if size >= 1 << 30 else f"{max(1, round(size / (1 << 20))):,} MB"


def _elements(name: str, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of one JSON array, each with the line it begins on."""
    decoder, at, line, counted = json.JSONDecoder(), text.index("[") + 1, 1, 0
    while True:
        blank = NOT_JSON.match(text, at)
        assert blank is not None  # it matches the empty text too
        at = blank.end()
        line, counted = line + text.count("\n", counted, at), at
        if text[at : at + 1] == "]":
            if text[at + 1 :].strip():
                raise BadInput(f"{name}, line {line}: more text follows after the array has ended.")
            return
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise _not_json(name, line, error) from None
        yield f"line {line}", _object(name, f"line {line}", value)


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
