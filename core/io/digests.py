"""Detection of damaged files, by recorded sizes and SHA-256 digests.

`write_digests` records the sizes and digests of a folder's files in the file `files.json` of the
folder. `open_checked` compares the sizes whenever the folder is opened. It also compares the
digests of a small folder. Those of a large folder are compared in the background by a
`DeferredCheck`. Each folder is read once per process, unless one of its files changes. A folder
without `files.json` was written by an earlier version and counts as undamaged.

A single file of an array has its digest appended. A single JSON file has it under a key.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from pathlib import Path, PurePosixPath
from typing import Any

from core.errors import is_access_error
from core.watch import NO_WATCH, Watch

DIGESTS_FILE = "files.json"
MAX_BYTES_CHECKED_ON_OPENING = 1 << 27  # a larger folder is read in the background
# Nanoseconds within which a file may change again without a new time stamp.
TICK_NANOSECONDS = 100_000_000
DIGEST_MARK = b"\nsha256 of all before: "  # stands before an appended digest
DIGEST_PIECE_BYTES = 1 << 22  # bytes read at a time
DIGEST_KEY = "sha256"  # key in a JSON file that holds its own digest

Stamps = tuple[tuple[str, int, int, int], ...]  # name, size, time of change in ns and inode
# Folders and files that were found undamaged, with their stamps at that time.
_undamaged_stamps: dict[Path, Stamps] = {}


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


def check_recorded_sizes(folder: Path) -> int:
    """Check the recorded sizes of a folder's files, and return their sum in bytes.

    Raises ValueError if a recorded file is missing or has another size, and OSError.
    """
    recorded_files = read_digests(folder)
    for name, (size, _) in recorded_files.items():
        if not (folder / name).is_file():
            raise ValueError(f"{name} is missing")
        real_size = (folder / name).stat().st_size
        if real_size != size:
            raise ValueError(f"{name} has {real_size:,} bytes, not {size:,}")
    return sum(size for size, _ in recorded_files.values())


def check_digests(folder: Path, watch: Watch = NO_WATCH) -> None:
    """Read all recorded files and compare their digests.

    Raises ValueError that names the first changed file, OSError, and what `watch` raises.
    """
    stamps = _stamps(folder)
    check_time = time.time_ns()
    if _undamaged_stamps.get(folder) == stamps:
        return
    for name, (_, digest) in read_digests(folder).items():
        if _digest(folder / name, watch) != digest:
            raise ValueError(f"{name} is not as it was written")
    # A file that was written just now may change again without a new stamp.
    if all(check_time - changed > TICK_NANOSECONDS for _, _, changed, _ in stamps):
        _undamaged_stamps[folder] = stamps


def open_checked(folder: Path) -> DeferredCheck:
    """Compare the sizes of a folder's files, and the digests of a small folder.

    The returned check reads a large folder once its `start` is called. Raises ValueError if a file
    is damaged, and OSError.
    """
    is_large = check_recorded_sizes(folder) > MAX_BYTES_CHECKED_ON_OPENING
    if not is_large:
        check_digests(folder)
    must_check = is_large and _undamaged_stamps.get(folder) != _stamps(folder)
    return DeferredCheck(folder, must_check)


class DeferredCheck:
    """Comparison of a folder's digests in the background, once the folder is used.

    Attributes
    ----------
    folder : the folder.
    damage : a sentence on the damage; empty as long as none was found.
    is_done : True once the folder was read, or if it need not be read.
    """

    def __init__(self, folder: Path, must_check: bool):
        self.folder = folder
        self.damage = ""
        self.is_done = not must_check
        self._is_started = not must_check
        self._lock = threading.Lock()

    def start(self) -> None:
        """Read the folder in a thread, unless it was started before."""
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
                # A file that cannot be opened may be undamaged, so the next `start` reads again.
                self._is_started = False
                return
            self.damage = str(error)
        self.is_done = True


def read_digests(folder: Path) -> dict[str, tuple[int, str]]:
    """Return the recorded sizes in bytes and digests by file name.

    The result is empty without `files.json`. Raises ValueError if that file is damaged or names
    files outside of the folder, and OSError.
    """
    try:
        entries = json.loads((folder / DIGESTS_FILE).read_text("utf-8"))
        digests = {str(name): (int(size), str(digest)) for name, (size, digest) in entries.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise ValueError(f"{DIGESTS_FILE} cannot be read") from None
    for name in digests:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            raise ValueError(f"{DIGESTS_FILE} names a file outside of the folder")
    return digests


def append_digest(file: Path) -> None:
    """Append the SHA-256 digest of a file to it. Readers of arrays ignore what follows them.

    Raises OSError.
    """
    digest = _digest(file)
    with open(file, "ab") as stream:
        stream.write(DIGEST_MARK + bytes.fromhex(digest))


def check_appended_digest(file: Path) -> None:
    """Raise ValueError if a file was changed, by the digest appended to it.

    A file without a digest was written by an earlier version and is accepted. Raises OSError.
    """
    stat = file.stat()
    stamp = (file.name, stat.st_size, stat.st_mtime_ns, stat.st_ino)
    check_time = time.time_ns()
    if _undamaged_stamps.get(file) == (stamp,):
        return
    digest = hashlib.sha256()
    remaining = stat.st_size - len(DIGEST_MARK) - digest.digest_size
    with open(file, "rb") as stream:
        while remaining > 0 and (piece := stream.read(min(remaining, DIGEST_PIECE_BYTES))):
            digest.update(piece)
            remaining -= len(piece)
        end = stream.read()
    if end.startswith(DIGEST_MARK) and end != DIGEST_MARK + digest.digest():
        raise ValueError(f"{file.name} is not as it was written")
    if check_time - stat.st_mtime_ns > TICK_NANOSECONDS:
        _undamaged_stamps[file] = (stamp,)


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
    """Return the stamps of the recorded files and of `files.json`. Empty without that file."""
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
