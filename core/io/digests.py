"""Checks of files for changes, by noted sizes and SHA-256 digests.

The sizes and digests are saved in a file in the same folder. Whenever a folder is opened, sizes are
compared. The digests of a small folder are compared too; those of a large one are compared in the
background, and damage is reported once it is found. A folder is read once per process, unless one
of its files changes. A folder without notes was written by an earlier version and counts as sound.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from pathlib import Path
from typing import Any

from core.errors import is_access_error
from core.watch import NO_WATCH, Watch

DIGESTS_FILE = "files.json"
MAX_BYTES_CHECKED_NOW = 1 << 27  # bytes of a folder up to which it is read whole when opened
# Nanoseconds within which a file may change again with the same time stamp.
TICK_NANOSECONDS = 100_000_000
SEAL_START = b"\nsha256 of all before: "  # before an appended digest
DIGEST_PIECE_BYTES = 1 << 22  # bytes read at a time
DIGEST_KEY = "sha256"  # key in a JSON file that holds its own digest

Stamps = tuple[tuple[str, int, int, int], ...]
_sound: dict[Path, Stamps] = {}  # by folder or file, its stamps when it was found unchanged


def write_digests(folder: Path) -> None:
    """Write the sizes and digests of a folder's files, and sync them to disk. Raises OSError."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    digests = {
        file.relative_to(folder).as_posix(): [file.stat().st_size, _digest(file)] for file in files
    }
    with open(folder / DIGESTS_FILE, "w", encoding="utf-8") as stream:
        json.dump(digests, stream, indent=1)
        stream.flush()
        os.fsync(stream.fileno())


def check_noted_sizes(folder: Path) -> int:
    """Return the number of bytes in a folder's noted files.

    Raises ValueError if a noted file is missing or has another size, and OSError.
    """
    noted_files = read_digests(folder)
    for name, (size, _) in noted_files.items():
        if not (folder / name).is_file():
            raise ValueError(f"{name} is missing")
        real_size = (folder / name).stat().st_size
        if real_size != size:
            raise ValueError(f"{name} has {real_size:,} bytes, not {size:,}")
    return sum(size for size, _ in noted_files.values())


def check_digests(folder: Path, watch: Watch = NO_WATCH) -> None:
    """Read all noted files and compare their digests.

    Raises ValueError that names the first changed file, OSError, and what `watch` raises.
    """
    stamps, check_time = _stamps(folder), time.time_ns()
    if _sound.get(folder) == stamps:
        return
    for name, (_, digest) in read_digests(folder).items():
        if _digest(folder / name, watch) != digest:
            raise ValueError(f"{name} is not as it was written")
    if all(check_time - changed > TICK_NANOSECONDS for _, _, changed, _ in stamps):
        _sound[folder] = stamps


def open_checked(folder: Path) -> DeferredCheck:
    """Compare sizes, and check digests now if the folder is small, else later.

    Raises ValueError or OSError.
    """
    size = check_noted_sizes(folder)
    if size <= MAX_BYTES_CHECKED_NOW:
        check_digests(folder)
    must_check = size > MAX_BYTES_CHECKED_NOW and _sound.get(folder) != _stamps(folder)
    return DeferredCheck(folder, must_check)


class DeferredCheck:
    """A folder that is read whole in the background once it is used.

    `damage` describes the damage that was found; it is empty as long as none was.
    """

    def __init__(self, folder: Path, must_check: bool):
        self.folder = folder
        self.damage = ""
        self.is_done = not must_check
        self._is_started = not must_check
        self._lock = threading.Lock()

    def start(self) -> None:
        """Read the folder in a thread, unless that was begun before."""
        if self._is_started:
            return
        with self._lock:
            if not self._is_started:
                self._is_started = True
                threading.Thread(
                    target=self._read, name=f"digests of {self.folder.name}", daemon=True
                ).start()

    def _read(self) -> None:
        try:
            check_digests(self.folder)
        except (ValueError, OSError) as error:
            if is_access_error(error):
                # This says nothing about the content, so the next use reads the folder.
                self._is_started = False
                return
            self.damage = str(error)
        self.is_done = True


def read_digests(folder: Path) -> dict[str, tuple[int, str]]:
    """Return the noted sizes and digests by file name; empty if there are none.

    Raises ValueError if the notes cannot be read, and OSError.
    """
    try:
        entries = json.loads((folder / DIGESTS_FILE).read_text("utf-8"))
        return {str(name): (int(size), str(digest)) for name, (size, digest) in entries.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError):
        raise ValueError(f"{DIGESTS_FILE} cannot be read") from None


def append_digest(file: Path) -> None:
    """Append a file's SHA-256 digest, which readers of arrays ignore.

    Raises OSError.
    """
    digest = _digest(file)
    with open(file, "ab") as stream:
        stream.write(SEAL_START + bytes.fromhex(digest))


def check_appended_digest(file: Path) -> None:
    """Raise ValueError if a file was changed, by the digest appended to it.

    A file without a digest was written by an earlier version and is accepted. Raises OSError.
    """
    stat = file.stat()
    stamp = (file.name, stat.st_size, stat.st_mtime_ns, stat.st_ino)
    check_time = time.time_ns()
    if _sound.get(file) == (stamp,):
        return
    digest = hashlib.sha256()
    remaining = stat.st_size - len(SEAL_START) - digest.digest_size
    with open(file, "rb") as stream:
        while remaining > 0 and (piece := stream.read(min(remaining, DIGEST_PIECE_BYTES))):
            digest.update(piece)
            remaining -= len(piece)
        end = stream.read()
    if end.startswith(SEAL_START) and end != SEAL_START + digest.digest():
        raise ValueError(f"{file.name} is not as it was written")
    if check_time - stat.st_mtime_ns > TICK_NANOSECONDS:
        _sound[file] = (stamp,)


def with_digest(content: dict) -> dict:
    """Return the content of a JSON file with its own digest added."""
    return {**content, DIGEST_KEY: _content_digest(content)}


def check_own_digest(content: Any) -> dict:
    """Return the content of a JSON file without its digest.

    Content without a digest was written by an earlier version and is accepted. Raises ValueError if
    the digest does not match, or the content is no object.
    """
    if not isinstance(content, dict):
        raise ValueError("it holds no object")
    rest = {key: value for key, value in content.items() if key != DIGEST_KEY}
    if DIGEST_KEY in content and content[DIGEST_KEY] != _content_digest(rest):
        raise ValueError("it is not as it was written")
    return rest


def _content_digest(content: dict) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _stamps(folder: Path) -> Stamps:
    """Return size, time of change and inode of each noted file."""
    files = read_digests(folder)
    stats = ((name, (folder / name).stat()) for name in (*files, DIGESTS_FILE)) if files else ()
    return tuple((name, stat.st_size, stat.st_mtime_ns, stat.st_ino) for name, stat in stats)


def _digest(file: Path, watch: Watch = NO_WATCH) -> str:
    digest = hashlib.sha256()
    with open(file, "rb", buffering=0) as stream:
        while piece := stream.read(DIGEST_PIECE_BYTES):
            digest.update(piece)
            watch.check()
    return digest.hexdigest()
