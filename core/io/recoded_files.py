"""Text files of any encoding, read as a stream of UTF-8.

The readers of questions, graphs and documents expect UTF-8. They open their files by `as_utf8`, or
by `decode_if_certain` if they report invalid lines themselves.
"""

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
    encoding_error,
    ignore_note,
    known_encoding,
    marked_encoding,
    may_be_other_encoding,
    no_text_error,
)
from core.io.files import DiskFile, FileSource, UnpackedBytes, name_without_packing, open_unpacked
from core.watch import NO_WATCH, Watch

UTF8_CHECK_PIECE_BYTES = 1 << 20  # bytes read at a time when a file is checked to be UTF-8
MAX_UTF8_CHECK_BYTES = 1 << 27  # a larger file is checked to be UTF-8 only at its beginning


def as_utf8(
    source: FileSource,
    watch: Watch = NO_WATCH,
    note: Note = ignore_note,
    encoding_name: str = "",
    max_bytes: int | None = None,
    max_checked_bytes: int | None = None,
) -> FileSource:
    """Return a text file as UTF-8 with line feeds and without a mark.

    A file that is so already is returned itself. A mark is a byte order mark.

    Parameters
    ----------
    source : the file, plain or packed.
    watch : receives the fraction that was checked.
    note : receives a sentence on the encoding that was found.
    encoding_name : the encoding of a file that is not UTF-8; empty to detect it.
    max_bytes : bytes that the file may unpack to; None for any number.
    max_checked_bytes : bytes that are checked to be UTF-8; None for all.

    Raises
    ------
    BadInput
        As `core.io.encoding.detect_encoding` does, and for a file that is blank or binary.
    """
    name = name_without_packing(source.name)
    with open_unpacked(source, watch, max_bytes) as stream:
        head = stream.read(DETECTION_SIZE_BYTES)
        check_first_bytes(name, head)
        encoding = Encoding(marked_encoding(head))
        if not encoding.name:
            encoding = Encoding(UTF8)
            piece = head
            if not may_be_other_encoding(head):
                piece = _non_utf8_piece(name, head, stream, max_checked_bytes)
            if piece:
                encoding = detect_encoding(name, detection_bytes(piece), encoding_name, note)
        elif encoding.name != MARKED_UTF8:
            note(f"{name} was read as {encoding.name}, which its byte order mark says.")
    beginning = check_text(
        name, codecs.getincrementaldecoder(encoding.name)("replace").decode(head)
    )
    if not beginning.strip() and len(head) < DETECTION_SIZE_BYTES:
        raise BadInput(f"{name} is empty.")
    has_only_carriage_returns = "\r" in beginning and "\n" not in beginning  # of old Macs
    if encoding == Encoding(UTF8) and not has_only_carriage_returns:
        return source
    return RecodedFile(name, source, encoding, max_bytes)


def decode_if_certain(
    path: Path,
    note: Note = ignore_note,
    encoding_name: str = "",
    max_bytes: int | None = None,
    strict: bool = False,
) -> FileSource:
    """Return a text file as UTF-8 if its encoding is certain, else unchanged.

    The reader of an unchanged file can then name the line with the invalid byte. `strict` also
    leaves damaged UTF-8 unchanged. The other parameters are those of `as_utf8`. Raises BadInput for
    an unknown encoding.
    """
    file, encoding = DiskFile(path), known_encoding(encoding_name)
    notes: list[str] = []
    try:
        text_file = as_utf8(file, NO_WATCH, notes.append, encoding, max_bytes, MAX_UTF8_CHECK_BYTES)
    except BadInput:
        return file
    if strict and isinstance(text_file, RecodedFile) and text_file.encoding.errors != "strict":
        return file
    for sentence in notes:
        note(sentence)
    return text_file


@dataclass(frozen=True)
class RecodedFile:
    """A text file of another encoding or with old line ends, as UTF-8."""

    name: str
    source: FileSource
    encoding: Encoding
    max_bytes: int | None = None  # bytes that it may unpack to

    @property
    def size(self) -> int:
        return self.source.size

    def open(self) -> BinaryIO:
        return cast(BinaryIO, io.BufferedReader(_RecodedBytes(self)))


class _RecodedBytes(io.RawIOBase):
    """The bytes of a recoded file. Reading raises BadInput if they do not fit its encoding."""

    def __init__(self, file: RecodedFile):
        self._file = file
        self._closing = ExitStack()
        self._stream = self._closing.enter_context(
            open_unpacked(file.source, max_bytes=file.max_bytes)
        )
        self._decode = io.IncrementalNewlineDecoder(
            codecs.getincrementaldecoder(file.encoding.name)(file.encoding.errors), translate=True
        ).decode
        self._ready, self._position = b"", 0

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        """Return how many bytes were read from the unpacked file, for progress."""
        return self._position

    def readinto(self, buffer) -> int:
        while not self._ready:
            data = self._stream.read(DETECTION_SIZE_BYTES)
            try:
                self._ready = self._decode(data, not data).encode("utf-8", "replace")
            except UnicodeDecodeError as error:
                raise encoding_error(
                    self._file.name, self._file.encoding.name, self._position + error.start
                ) from None
            self._position += len(data)
            if not data:
                break
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def close(self) -> None:
        self._closing.close()
        super().close()


def _non_utf8_piece(name: str, head: bytes, stream: UnpackedBytes, limit: int | None) -> bytes:
    """Return the first piece that is not UTF-8. Empty if all pieces are.

    The piece begins with the line that has the first invalid byte. Only the first
    `limit` bytes are checked. `head` is the beginning, which is already read from
    `stream`. Raises BadInput for zero bytes.
    """
    decode = codecs.getincrementaldecoder(UTF8)().decode
    previous, data = b"", head
    position = 0
    while (data or previous) and (limit is None or position < limit):
        position += len(data)
        if b"\0" in data:
            raise no_text_error(name)
        try:
            decode(data, not data)
        except UnicodeDecodeError:
            return previous[previous.rfind(b"\n") + 1 :] + data  # from the beginning of its line
        previous = data
        data = stream.read(UTF8_CHECK_PIECE_BYTES) if data else b""
    return b""
