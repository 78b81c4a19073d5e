"""The bytes of files: plain, gzipped, or in a zip, never more than can be read."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

from core.errors import BadInput, shorten
from core.io.files import size_text

MOST, MOST_TOGETHER, MOST_FILES = 1 << 29, 1 << 31, 200_000  # bytes of one file, of all of a zip unpacked, and files in a zip
Bytes = Callable[[], bytes]


def bytes_of(file: Path) -> bytes:
    """The bytes of a file. Raises BadInput where it is missing, too large or cannot be read."""
    try:
        if file.exists() and not file.is_file():
            raise BadInput(f"{file} is no file.")
        if file.stat().st_size > MOST:
            raise _too_large(file.name)
        return file.read_bytes()
    except FileNotFoundError:
        raise BadInput(f"There is no file {file}.") from None
    except OSError as error:
        raise BadInput(f"{file.name} cannot be read: {error.strerror or error}.") from None


def gunzipped(name: str, data: bytes) -> bytes:
    """Gzipped bytes unpacked. Raises BadInput where they are damaged or too many."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            found = stream.read(MOST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(f"{name}: the gzip file is damaged or cut short ({error}).") from None
    if len(found) > MOST:
        raise _too_large(name)
    return found


def zipped(file: Path) -> tuple[dict[str, Bytes], list[str]]:
    """The files of a zip by name, read when asked for and never unpacked onto the disk, and a sentence for each that is left out.

    Raises BadInput where the zip is damaged, or would be too large once unpacked; reading one of its files raises it too.
    """
    try:
        archive = zipfile.ZipFile(file)
    except OSError as error:
        raise BadInput(f"{file.name} cannot be read: {error.strerror or error}.") from None
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise BadInput(f"{file.name} is damaged or no zip ({error}).") from None
    parts = {part.filename.replace("\\", "/"): part for part in archive.infolist() if not part.is_dir()}
    if len(parts) > MOST_FILES or sum(part.file_size for part in parts.values()) > MOST_TOGETHER:
        raise BadInput(f"{file.name} would unpack to more than {size_text(MOST_TOGETHER)} or {MOST_FILES:,} files, so it is not read.")
    outside = [name for name in sorted(parts) if name.startswith("/") or ":" in name.split("/")[0] or ".." in name.split("/")]
    told = [f"{file.name}: {shorten(name)} would lie outside of the zip and is left out." for name in outside]
    return {name: partial(_member, file.name, archive, parts[name]) for name in sorted(set(parts) - set(outside))}, told


def _member(zip: str, archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    """One file of a zip; no more than its header tells comes out of it."""
    if part.file_size > MOST:
        raise _too_large(f"{part.filename} in {zip}")
    try:
        return archive.read(part)
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise BadInput(f"{part.filename} in {zip} cannot be unpacked ({shorten(error)}).") from None


def _too_large(name: str) -> BadInput:
    return BadInput(f"{name} holds more than {size_text(MOST)}; that is more than can be read here.")
