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
    DETECTION_SIZE_BYTES,
    MARKED_UTF8,
    UTF8,
    Encoding,
    Note,
    check_first_bytes,
    check_text,
    detect_encoding,
    detection_bytes,
    ignore_note,
    known_encoding,
    marked_encoding,
    may_be_other_encoding,
    no_text,
    not_so_encoded,
)
from core.io.files import DiskFile, FileSource, UnpackedBytes, name_without_packing, open_unpacked
from core.watch import NO_WATCH, Watch

RECODED_PIECE_BYTES = 1 << 20  # bytes read at once
CHECKED_BYTES = 1 << 27  # bytes of a large file that are searched for what is not UTF-8


def as_utf8(
    source: FileSource,
    watch: Watch = NO_WATCH,
    note: Note = ignore_note,
    named: str = "",
    most: int | None = None,
    checks: int | None = None,
) -> FileSource:
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
        As `core.io.encoding.detect_encoding` does, and for a file that is blank or no text.
    """
    name = name_without_packing(source.name)
    with open_unpacked(source, watch, most) as stream:
        head = stream.read(DETECTION_SIZE_BYTES)
        check_first_bytes(name, head)
        encoding = Encoding(marked_encoding(head))
        if not encoding.name:
            other = (
                head if may_be_other_encoding(head) else _beyond_utf8(name, head, stream, checks)
            )
            encoding = (
                detect_encoding(name, detection_bytes(other), named, note)
                if other
                else Encoding(UTF8)
            )
        elif encoding.name != MARKED_UTF8:
            note(f"{name} was read as {encoding.name}, which its byte order mark says.")
    beginning = check_text(
        name, codecs.getincrementaldecoder(encoding.name)("replace").decode(head)
    )
    if not beginning.strip() and len(head) < DETECTION_SIZE_BYTES:
        raise BadInput(f"{name} is empty.")
    if encoding == Encoding(UTF8) and not ("\r" in beginning and "\n" not in beginning):
        return source
    return RecodedFile(name, source, encoding, most)


def readable(
    path: Path,
    note: Note = ignore_note,
    named: str = "",
    most: int | None = None,
    strict: bool = False,
) -> FileSource:
    """Return a text file as UTF-8 if its encoding is certain, else unchanged.

    The reader of an unchanged file can then name the faulty line. `strict` also leaves damaged
    UTF-8 unchanged. The other parameters are those of `as_utf8`. Raises BadInput for an unknown
    encoding.
    """
    file, notes, encoding = DiskFile(path), list[str](), known_encoding(named)
    try:
        recoded = as_utf8(file, NO_WATCH, notes.append, encoding, most, CHECKED_BYTES)
    except BadInput:
        return file
    if strict and isinstance(recoded, RecodedFile) and recoded.encoding.errors != "strict":
        return file
    for sentence in notes:
        note(sentence)
    return recoded


@dataclass(frozen=True)
class RecodedFile:
    """A text file of another encoding or with old line ends, as UTF-8."""

    name: str
    source: FileSource
    encoding: Encoding
    most: int | None = None  # bytes that it may unpack to

    @property
    def size(self) -> int:
        return self.source.size

    def open(self) -> BinaryIO:
        return cast(BinaryIO, io.BufferedReader(_RecodedBytes(self)))


class _RecodedBytes(io.RawIOBase):
    """The bytes of a recoded file. Reading raises BadInput if they do not fit its encoding."""

    def __init__(self, of: RecodedFile):
        self._of, self._closing = of, ExitStack()
        self._stream = self._closing.enter_context(open_unpacked(of.source, most=of.most))
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
            data = self._stream.read(DETECTION_SIZE_BYTES)
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


def _beyond_utf8(name: str, head: bytes, stream: UnpackedBytes, checks: int | None) -> bytes:
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
        before, data = data, stream.read(RECODED_PIECE_BYTES) if data else b""
    return b""
