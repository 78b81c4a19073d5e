"""Text files of rows as UTF-8, read as they go."""

from __future__ import annotations

import codecs
import io
from contextlib import ExitStack
from dataclasses import dataclass
from typing import BinaryIO, cast

from core.corpus.readers.encoding import (
    LOOKED_AT,
    UTF8,
    Encoding,
    check_first_bytes,
    checked,
    found_encoding,
    in_other_bits,
    marked,
    no_text,
    not_so_encoded,
    telling,
)
from core.corpus.readers.options import Note, ignored
from core.corpus.readers.packed import MAX_FILE_BYTES, bare
from core.errors import BadInput
from core.io.files import Source, Tell, Unpacked, opened

PIECE = 1 << 20  # bytes read at once


def as_utf8(
    source: Source, tell: Tell | None = None, note: Note = ignored, named: str = ""
) -> Source:
    """A file of rows as UTF-8 with the line ends of today, read as it goes, its encoding found or `named` as
    `core.corpus.readers.encoding.found_encoding` has it. Raises BadInput as that does, and where the file is blank or no text."""
    name = bare(source.name)
    with opened(source, tell, MAX_FILE_BYTES) as stream:
        head = stream.read(LOOKED_AT)
        check_first_bytes(name, head)
        encoding = Encoding(marked(head))
        if not encoding.name:
            other = head if in_other_bits(head) else _beyond_utf8(name, head, stream)
            encoding = (
                found_encoding(name, telling(other), named, note) if other else Encoding(UTF8)
            )
    beginning = checked(name, codecs.getincrementaldecoder(encoding.name)("replace").decode(head))
    if not beginning.strip() and len(head) < LOOKED_AT:
        raise BadInput(f"{name} is empty.")
    if encoding in (Encoding(UTF8), Encoding("utf-8-sig")) and not (
        "\r" in beginning and "\n" not in beginning
    ):
        return source
    return Recoded(name, source, encoding)


@dataclass(frozen=True)
class Recoded:
    """A text file of another encoding or of older line ends, as UTF-8."""

    name: str
    source: Source
    encoding: Encoding

    @property
    def size(self) -> int:
        return self.source.size

    def open(self) -> BinaryIO:
        return cast(BinaryIO, io.BufferedReader(_RecodedBytes(self)))


class _RecodedBytes(io.RawIOBase):
    """The bytes of a recoded file. Reading raises BadInput where they are not of its encoding."""

    def __init__(self, of: Recoded):
        self._of, self._closing = of, ExitStack()
        self._stream = self._closing.enter_context(opened(of.source, most=MAX_FILE_BYTES))
        self._decode = io.IncrementalNewlineDecoder(
            codecs.getincrementaldecoder(of.encoding.name)(of.encoding.errors), translate=True
        ).decode
        self._ready, self._passed = b"", 0

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        """How many bytes of the file have been read."""
        return self._passed

    def readinto(self, buffer) -> int:
        while not self._ready:
            data = self._stream.read(LOOKED_AT)
            try:
                self._ready = self._decode(data, not data).encode("utf-8", "replace")
            except UnicodeDecodeError as error:
                raise not_so_encoded(
                    self._of.name, self._of.encoding.name, self._passed + error.start
                ) from None
            self._passed += len(data)
            if not data:
                break
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def close(self) -> None:
        self._closing.close()
        super().close()


def _beyond_utf8(name: str, head: bytes, stream: Unpacked) -> bytes:
    """The first piece of a text that is not UTF-8, of which the beginning was read; empty where all is. Raises BadInput where it holds
    what no text does."""
    decode, before, data = codecs.getincrementaldecoder(UTF8)().decode, b"", head
    while data or before:
        if b"\0" in data:
            raise no_text(name)
        try:
            decode(data, not data)
        except UnicodeDecodeError:
            return before[before.rfind(b"\n") + 1 :] + data  # from the beginning of its line
        before, data = data, stream.read(PIECE) if data else b""
    return b""
