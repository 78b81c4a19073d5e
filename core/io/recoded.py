"""Text files of any encoding, read as a stream of UTF-8."""

from __future__ import annotations

import codecs
import io
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from core.errors import BadInput
from core.io.encoding import (
    LOOKED_AT,
    MARKED_UTF8,
    UTF8,
    Encoding,
    Note,
    check_first_bytes,
    checked,
    found_encoding,
    ignored,
    in_other_bits,
    known_encoding,
    marked,
    no_text,
    not_so_encoded,
    telling,
)
from core.io.files import OnDisk, Source, Unpacked, bare, opened
from core.watch import NO_WATCH, Watch

PIECE = 1 << 20  # bytes read at once
CHECKED_BYTES = 1 << 27  # bytes of a large file that are searched for what is not UTF-8


def as_utf8(
    source: Source,
    watch: Watch = NO_WATCH,
    note: Note = ignored,
    named: str = "",
    most: int | None = None,
    checks: int | None = None,
) -> Source:
    """Return a text file as UTF-8 with line feeds as line ends and no byte order mark.

    Parameters
    ----------
    source : the file, plain or packed.
    watch : receives the share that was checked.
    note : receives a sentence on the encoding that was found.
    named : the encoding of a file that is not UTF-8, if a person names it.
    most : bytes that the file may unpack to.
    checks : bytes that are searched for what is not UTF-8; None for all.

    Raises
    ------
    BadInput
        As `core.io.encoding.found_encoding` does, and for a file that is blank or no text.
    """
    name = bare(source.name)
    with opened(source, watch, most) as stream:
        head = stream.read(LOOKED_AT)
        check_first_bytes(name, head)
        encoding = Encoding(marked(head))
        if not encoding.name:
            other = head if in_other_bits(head) else _beyond_utf8(name, head, stream, checks)
            encoding = (
                found_encoding(name, telling(other), named, note) if other else Encoding(UTF8)
            )
        elif encoding.name != MARKED_UTF8:
            note(f"{name} was read as {encoding.name}, which its byte order mark says.")
    beginning = checked(name, codecs.getincrementaldecoder(encoding.name)("replace").decode(head))
    if not beginning.strip() and len(head) < LOOKED_AT:
        raise BadInput(f"{name} is empty.")
    if encoding == Encoding(UTF8) and not ("\r" in beginning and "\n" not in beginning):
        return source
    return Recoded(name, source, encoding, most)


def readable(
    path: Path, note: Note = ignored, named: str = "", most: int | None = None, strict: bool = False
) -> Source:
    """Return a text file as UTF-8 if its encoding is certain, else unchanged.

    The reader of an unchanged file can then name the faulty line. `strict` also leaves damaged
    UTF-8 unchanged. The other parameters are those of `as_utf8`. Raises BadInput for an unknown
    encoding.
    """
    file, notes, encoding = OnDisk(path), list[str](), known_encoding(named)
    try:
        found = as_utf8(file, NO_WATCH, notes.append, encoding, most, CHECKED_BYTES)
    except BadInput:
        return file
    if strict and isinstance(found, Recoded) and found.encoding.errors != "strict":
        return file
    for sentence in notes:
        note(sentence)
    return found


@dataclass(frozen=True)
class Recoded:
    """A text file of another encoding or with old line ends, as UTF-8."""

    name: str
    source: Source
    encoding: Encoding
    most: int | None = None  # bytes that it may unpack to

    @property
    def size(self) -> int:
        return self.source.size

    def open(self) -> BinaryIO:
        return cast(BinaryIO, io.BufferedReader(_RecodedBytes(self)))


class _RecodedBytes(io.RawIOBase):
    """The bytes of a recoded file. Reading raises BadInput if they do not fit its encoding."""

    def __init__(self, of: Recoded):
        self._of, self._closing = of, ExitStack()
        self._stream = self._closing.enter_context(opened(of.source, most=of.most))
        self._decode = io.IncrementalNewlineDecoder(
            codecs.getincrementaldecoder(of.encoding.name)(of.encoding.errors), translate=True
        ).decode
        self._ready, self._passed = b"", 0

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        """Return how many bytes of the file have been read."""
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


def _beyond_utf8(name: str, head: bytes, stream: Unpacked, checks: int | None) -> bytes:
    """Return the first piece of a text that is not UTF-8; empty if there is none.

    Only the first `checks` bytes are searched. `head` is the beginning, which is already read.
    Raises BadInput for zeros.
    """
    decode, before, data = codecs.getincrementaldecoder(UTF8)().decode, b"", head
    looked_at = 0
    while (data or before) and (checks is None or looked_at < checks):
        looked_at += len(data)
        if b"\0" in data:
            raise no_text(name)
        try:
            decode(data, not data)
        except UnicodeDecodeError:
            return before[before.rfind(b"\n") + 1 :] + data  # from the beginning of its line
        before, data = data, stream.read(PIECE) if data else b""
    return b""
