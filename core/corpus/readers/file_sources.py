"""Sources of files to read: the disk, a zip or memory, within size limits.

All are `core.io.files.FileSource`: they have a name, a size in bytes, and `open`.
"""

from __future__ import annotations

import io
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from core.errors import BadInput, shorten
from core.io.files import DiskFile, FileSource, name_without_packing, open_unpacked, size_text
from core.io.temporary_folders import temporary_folder

MAX_FILE_BYTES = 1 << 29
MAX_ZIP_BYTES = 1 << 31  # of all files in a zip, unpacked
MAX_ZIP_FILES = 200_000
# errors of Python's zipfile on a damaged, encrypted or unknown member
MEMBER_ERRORS = (
    OSError,
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    RuntimeError,
    NotImplementedError,
)


@dataclass(frozen=True)
class MemoryFile:
    """A file whose bytes are in memory."""

    name: str
    data: bytes

    @property
    def size(self) -> int:
        return len(self.data)

    def open(self) -> BinaryIO:
        return io.BytesIO(self.data)


@dataclass(frozen=True)
class FolderFile:
    """A file with its path within the imported folder as name."""

    name: str
    file: FileSource

    @property
    def size(self) -> int:
        return self.file.size

    def open(self) -> BinaryIO:
        return self.file.open()


@dataclass(frozen=True)
class ZipMember:
    """A file in a zip, unpacked in memory while it is read.

    `zip` is the name of the zip. Reading raises BadInput if the file cannot be unpacked.
    """

    name: str
    zip: str
    archive: zipfile.ZipFile
    part: zipfile.ZipInfo

    @property
    def size(self) -> int:
        return max(1, self.part.file_size)

    def open(self) -> BinaryIO:
        return cast(BinaryIO, io.BufferedReader(_MemberBytes(self)))


class _MemberBytes(io.RawIOBase):
    """The bytes of a file in a zip.

    There are no more than the zip's directory states.
    """

    def __init__(self, member: ZipMember):
        self._member = member
        try:
            self._raw = cast(zipfile.ZipExtFile, member.archive.open(member.part))
        except MEMBER_ERRORS as error:
            raise self._unpack_error(error) from None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        try:
            return self._raw.readinto(buffer) or 0
        except MEMBER_ERRORS as error:
            raise self._unpack_error(error) from None

    def _unpack_error(self, error: Exception) -> BadInput:
        return BadInput(
            f"{self._member.name} in {self._member.zip} cannot be unpacked ({shorten(error)})."
        )


def disk_file(path: Path) -> DiskFile:
    """Return the file of a path. Raises BadInput if there is none."""
    if not path.exists():
        raise BadInput(f"There is no file {path}.")
    if not path.is_file():
        raise BadInput(f"{path} is no file.")
    return DiskFile(path)


@contextmanager
def path_on_disk(source: FileSource) -> Iterator[Path]:
    """Yield a path of a file, for readers that take only paths.

    A file that is not on disk or is packed has a temporary copy while the block runs. Raises
    BadInput if it is too large.
    """
    if isinstance(source, DiskFile) and name_without_packing(source.name) == source.name:
        yield source.path
        return
    folder = temporary_folder()
    try:
        path = folder / PurePosixPath(name_without_packing(source.name)).name
        path.write_bytes(read_bytes(source))
        yield path
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def read_bytes(source: FileSource, max_bytes: int = MAX_FILE_BYTES) -> bytes:
    """Return all bytes of a file, unpacked.

    Parameters
    ----------
    source : the file.
    max_bytes : largest number of unpacked bytes.

    Returns
    -------
    The bytes.

    Raises
    ------
    BadInput : there are too many, or they are damaged or cannot be read.
    """
    with open_unpacked(source, max_bytes=max_bytes) as stream:
        return stream.read()


def zip_members(file: Path) -> tuple[dict[str, FileSource], list[str]]:
    """Return the files of a zip by name, and sentences on omitted files.

    A file is left out if its path leads out of the zip. Raises BadInput if the zip is damaged or
    too large once unpacked.
    """
    try:
        archive = zipfile.ZipFile(file)
    except OSError as error:
        raise BadInput(f"{file.name} cannot be read: {error.strerror or error}.") from None
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise BadInput(f"{file.name} is damaged or no zip ({error}).") from None
    parts = {
        part.filename.replace("\\", "/"): part for part in archive.infolist() if not part.is_dir()
    }
    n_bytes = sum(part.file_size for part in parts.values())
    if len(parts) > MAX_ZIP_FILES or n_bytes > MAX_ZIP_BYTES:
        raise BadInput(
            f"{file.name} would unpack to more than {size_text(MAX_ZIP_BYTES)} or "
            f"{MAX_ZIP_FILES:,} files, so it is not read."
        )
    outside = [
        name
        for name in sorted(parts)
        if name.startswith("/") or ":" in name.split("/")[0] or ".." in name.split("/")
    ]
    notes = [
        f"{file.name}: {shorten(name)} would lie outside of the zip and is left out."
        for name in outside
    ]
    members: dict[str, FileSource] = {}
    for name in sorted(set(parts) - set(outside)):
        members[name] = ZipMember(name, file.name, archive, parts[name])
    return members, notes
