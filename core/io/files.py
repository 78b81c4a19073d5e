"""Plain and packed text files, read as bytes or lines within limits of size.

All readers of text formats open their files here. A `.gz`, `.bz2` or `.zst` file is unpacked while
it is read, and never held in memory whole.
"""

from __future__ import annotations

import bz2
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath
from pathlib import PurePosixPath
from typing import BinaryIO, Protocol

from core.errors import BadInput
from core.watch import NO_WATCH, Watch

PACKING_TITLES = {".gz": "gzip", ".bz2": "bzip2", ".zst": "Zstandard"}
PACKED_SUFFIXES = tuple(PACKING_TITLES)
MAX_LINE_BYTES = 1 << 23
BYTES_PER_CHECK = 1 << 14  # unpacked bytes between two checks of the size limit
BYTES_PER_REPORT = 1 << 18  # unpacked bytes between two progress reports
# The first line of a table in which Excel names the separator.
EXCEL_SEPARATOR = re.compile(r"\Asep=([^\s]|\t)\s*\Z", re.IGNORECASE)


class FileSource(Protocol):
    """A file on disk, in memory or in a zip.

    Attributes
    ----------
    name : name of the file for messages.
    size : its stored size in bytes.
    """

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int: ...

    def open(self) -> BinaryIO:
        """Open the stored bytes from the beginning.

        Returns
        -------
        A stream that the caller closes.

        Raises
        ------
        OSError : the file cannot be opened.
        """
        ...


@dataclass(frozen=True)
class DiskFile:
    """A file on the disk."""

    path: FilePath

    @property
    def name(self) -> str:
        return self.path.name

    @cached_property
    def size(self) -> int:
        return self.path.stat().st_size

    def open(self) -> BinaryIO:
        return open(self.path, "rb")


File = str | FilePath | FileSource


class UnpackedBytes:
    """The bytes of a file after unpacking.

    Parameters
    ----------
    name : name of the file for messages.
    raw : the stored bytes.
    size : number of stored bytes, for the progress.
    packing : the suffix of a packed file, such as .gz; empty for a plain one.
    watch : receives the progress.
    max_bytes : largest number of unpacked bytes; None for no limit.
    max_line_bytes : largest number of bytes of a line; None for `MAX_LINE_BYTES`.

    Attributes
    ----------
    line : number of the last line that `lines` yielded, from 1; 0 before the first.

    Raises
    ------
    BadInput : while reading, if either limit is exceeded.
    """

    def __init__(
        self,
        name: str,
        raw: BinaryIO,
        size: int,
        packing: str,
        watch: Watch,
        max_bytes: int | None,
        max_line_bytes: int | None = None,
    ):
        self.name = name
        self.line = 0
        self.max_line_bytes = max_line_bytes or MAX_LINE_BYTES
        self._raw, self._size, self._watch, self._max_bytes = raw, size, watch, max_bytes
        self._stream = _unpacked_stream(raw, packing)
        self._count = self._last_report = 0  # unpacked bytes, now and at the last report

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes, or all that remain if `size` is negative."""
        if size < 0:
            return b"".join(iter(lambda: self.read(MAX_LINE_BYTES), b""))
        data = self._stream.read(size)
        self._count_bytes(len(data))
        return data

    def skip(self, count: int) -> None:
        """Skip the next `count` unpacked bytes. They do not count towards `max_bytes`."""
        if self._stream is self._raw and self._raw.seekable():
            self._raw.seek(count, 1)
            return
        while count > 0:
            size = len(self._stream.read(min(count, MAX_LINE_BYTES)))
            if not size:
                return
            count -= size

    def lines(self) -> Iterator[bytes]:
        """Yield the remaining lines with their line ends, and count them in `line`."""
        # Local names are faster to look up for each line.
        readline = self._stream.readline
        max_line_bytes = self.max_line_bytes
        pending_bytes = 0
        while data := readline(max_line_bytes):
            self.line += 1
            if len(data) == max_line_bytes:
                raise BadInput(
                    f"{self.name}, line {self.line}: a line of more than "
                    f"{size_text(max_line_bytes)} is too long."
                )
            pending_bytes += len(data)
            if pending_bytes >= BYTES_PER_CHECK:
                self._count_bytes(pending_bytes)
                pending_bytes = 0
            yield data
        self._count_bytes(pending_bytes)

    def _count_bytes(self, size: int) -> None:
        """Count `size` more unpacked bytes, and report the progress.

        Raises BadInput above the limit.
        """
        self._count += size
        if self._max_bytes is not None and self._count > self._max_bytes:
            raise too_large_error(self.name, self._max_bytes)
        if self._count - self._last_report >= BYTES_PER_REPORT:
            self._last_report = self._count
            self._watch.step(min(1.0, self._raw.tell() / max(1, self._size)))


@contextmanager
def open_unpacked(
    file: str | FilePath | FileSource,
    watch: Watch = NO_WATCH,
    max_bytes: int | None = None,
    max_line_bytes: int | None = None,
) -> Iterator[UnpackedBytes]:
    """Open a file, and unpack it if it is compressed.

    It is compressed if its name ends in `.gz`, `.bz2` or `.zst`.

    Parameters
    ----------
    watch : receives the fraction of the file that was read.
    max_bytes : largest number of unpacked bytes; None for no limit.
    max_line_bytes : largest number of bytes of a line; None for `MAX_LINE_BYTES`.

    Yields
    ------
    The unpacked bytes; the file is closed afterwards.

    Raises
    ------
    BadInput
        If the file is missing, unreadable, damaged or larger than `max_bytes`.
    """
    stored_file = DiskFile(FilePath(file)) if isinstance(file, (str, FilePath)) else file
    suffix = FilePath(stored_file.name).suffix.lower()
    packing = suffix if suffix in PACKED_SUFFIXES else ""
    source = None
    try:
        with stored_file.open() as raw:
            source = UnpackedBytes(
                stored_file.name, raw, stored_file.size, packing, watch, max_bytes, max_line_bytes
            )
            yield source
    except FileNotFoundError as error:
        raise BadInput(f"There is no file {error.filename or stored_file.name}.") from None
    except (EOFError, zlib.error, OSError) as error:
        if isinstance(error, OSError) and (error.errno is not None or not packing):
            raise BadInput(
                f"{stored_file.name} cannot be read: {error.strerror or error}."
            ) from None
        after = f", after line {source.line}" if source and source.line else ""
        raise BadInput(
            f"{stored_file.name}{after}: the {PACKING_TITLES[packing]} file is damaged or cut "
            f"short ({error})."
        ) from None


def _unpacked_stream(raw: BinaryIO, packing: str) -> BinaryIO:
    """Return the stream of a file's unpacked bytes.

    Reading a damaged file raises EOFError, OSError or `zlib.error`.
    """
    if packing == ".gz":
        # A GzipFile has all methods of a BinaryIO, but typeshed does not declare it as one.
        return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value]
    if packing == ".bz2":
        return bz2.BZ2File(raw)  # type: ignore[return-value]  # as above
    if packing == ".zst":
        return io.BufferedReader(_ZstandardStream(raw), BYTES_PER_CHECK * 8)
    return raw


class _ZstandardStream(io.RawIOBase):
    """The unpacked bytes of a file of Zstandard frames.

    Raises EOFError if the file is damaged or ends within a frame.
    """

    def __init__(self, raw: BinaryIO):
        import zstandard

        self._raw = raw
        # The largest window of the format, as files packed with `--ultra --long=31` have.
        self._make_frame = zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj
        self._error_type = zstandard.ZstdError
        self._ready = b""  # unpacked bytes that were not yet read
        self._frame: zstandard.ZstdDecompressionObj | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        """Fill the buffer from at most one piece of the file. Returns 0 at its end."""
        while not self._ready:
            frame = self._frame
            data = frame.unused_data if frame and frame.eof else b""
            data = data or self._raw.read(BYTES_PER_CHECK * 8)
            if not data:
                if frame and not frame.eof:
                    raise EOFError("it ends within a frame")
                return 0
            try:
                if frame is None or frame.eof:
                    frame = self._frame = self._make_frame()
                self._ready = frame.decompress(data)
            except self._error_type as error:
                raise EOFError(str(error)) from None
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size


def numbered_lines(
    path: str | FilePath | FileSource,
    watch: Watch = NO_WATCH,
    max_bytes: int | None = None,
    max_line_bytes: int | None = None,
) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers from 1.

    Parameters
    ----------
    path : a file on disk, or another source of bytes.
    watch : receives the progress.
    max_bytes : largest number of unpacked bytes; None for no limit.
    max_line_bytes : largest number of bytes of a line; None for `MAX_LINE_BYTES`.

    Yields
    ------
    The number of a line, and its text without the line end.

    Raises
    ------
    BadInput : as `open_unpacked` raises, and for bytes that are not UTF-8.
    """
    with open_unpacked(path, watch, max_bytes, max_line_bytes) as source:
        for data in source.lines():
            try:
                text = data.decode("utf-8-sig" if source.line == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise not_utf8_error(source.name, source.line, error.start) from None
            if text.strip():
                yield source.line, text


def too_large_error(name: str, limit: int) -> BadInput:
    """Return the error for a file that unpacks to more than `limit` bytes."""
    return BadInput(
        f"{name} holds more than {size_text(limit)} of text; that is more than can be read here."
    )


def not_utf8_error(name: str, line: int, byte: int) -> BadInput:
    """Return the error for a byte that is not UTF-8.

    Parameters
    ----------
    name : name of the file.
    line : number of the line, from 1.
    byte : position of the byte in its line, from 0.

    Returns
    -------
    The error, which the caller raises.
    """
    return BadInput(
        f"{name}, line {line}: byte {byte + 1} is not UTF-8 text; save the file as UTF-8, or "
        "name its encoding."
    )


def name_without_packing(name: str) -> str:
    """Return the name of a file without the suffix of its packing."""
    suffix = PurePosixPath(name).suffix
    return name.removesuffix(suffix) if suffix.lower() in PACKING_TITLES else name


def size_text(size: float) -> str:
    """Return a number of bytes in words: 64 MB, 2 GB."""
    if size >= 1 << 30:
        return f"{size / (1 << 30):,.0f} GB"
    return f"{max(1, round(size / (1 << 20))):,} MB"
