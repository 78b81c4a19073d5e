"""Text files of rows as UTF-8, read as they go."""

from __future__ import annotations

import codecs
import io
from contextlib import ExitStack
from dataclasses import dataclass
from typing import BinaryIO, cast

from core.corpus.readers.encoding import (
    BOMS,
    LOOKED_AT,
    check_first_bytes,
    checked,
    guess_sentence,
    guessed_encoding,
    no_text,
    not_so_encoded,
)
from core.corpus.readers.packed import MAX_FILE_BYTES, bare
from core.errors import BadInput
from core.io.files import Source, Tell, Unpacked, opened

PIECE = 1 << 20  # bytes read at once


def as_utf8(source: Source, tell: Tell | None = None) -> tuple[Source, str]:
    """A file of rows as UTF-8 with the line ends of today, read as it goes, and a sentence where its encoding was guessed. Raises BadInput
    where it is blank or no text."""
    name, note = bare(source.name), ""
    with opened(source, tell, MAX_FILE_BYTES) as stream:
        head = stream.read(LOOKED_AT)
        check_first_bytes(name, head)
        encoding = next((encoding for mark, encoding in BOMS if head.startswith(mark)), "")
        if not encoding and not _is_utf8(name, head, stream):
            encoding = guessed_encoding(name, head)
            note = guess_sentence(name, encoding)
    beginning = checked(name, codecs.getincrementaldecoder(encoding or "utf-8")("replace").decode(head))
    if not beginning.strip() and len(head) < LOOKED_AT:
        raise BadInput(f"{name} is empty.")
    if encoding in ("", "utf-8-sig") and not ("\r" in beginning and "\n" not in beginning):
        return source, note
    return Recoded(name, source, encoding or "utf-8"), note


@dataclass(frozen=True)
class Recoded:
    """A text file of another encoding or of older line ends, as UTF-8."""

    name: str
    source: Source
    encoding: str

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
        self._decode = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(of.encoding)(), translate=True).decode
        self._ready, self._passed = b"", 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        while not self._ready:
            data = self._stream.read(LOOKED_AT)
            try:
                self._ready = self._decode(data, not data).encode("utf-8", "replace")
            except UnicodeDecodeError as error:
                raise not_so_encoded(self._of.name, self._of.encoding, self._passed + error.start) from None
            self._passed += len(data)
            if not data:
                break
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def close(self) -> None:
        self._closing.close()
        super().close()


def _is_utf8(name: str, head: bytes, stream: Unpacked) -> bool:
    """Whether a text is UTF-8, of which the beginning was read. Raises BadInput where it holds what no text does."""
    decode, data = codecs.getincrementaldecoder("utf-8")().decode, head
    try:
        while data:
            if b"\0" in data:
                raise no_text(name)
            decode(data)
            data = stream.read(PIECE)
        decode(b"", True)
    except UnicodeDecodeError:
        return False
    return True
