"""Whether the files of a folder are those that were written: their sizes and sha256, noted in a file beside them.

Sizes are compared whenever a folder is opened. What is read whole at once is small; a large folder is read in the background, and what is
found there is said from then on. A folder is read once a process, unless one of its files changes. One without notes, written by an earlier
version, counts as sound.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from pathlib import Path
from typing import Any

from core.errors import is_refusal
from core.watch import NO_WATCH, Watch

FILE = "files.json"
WHOLE_BYTES = 1 << 27  # bytes of a folder that is read whole when it is opened
TICK = 100_000_000  # nanoseconds within which a file may change again and have the same time
SEAL = b"\nsha256 of all before: "
PIECE = 1 << 22  # bytes read at a time
MARK = "sha256"  # in a JSON file that says of itself whether it is sound

Stamps = tuple[tuple[str, int, int, int], ...]
_sound: dict[Path, Stamps] = {}


def note(folder: Path) -> None:
    """Write down what a folder holds, and make it durable. Raises OSError."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    known = {
        file.relative_to(folder).as_posix(): [file.stat().st_size, _digest(file)] for file in files
    }
    with open(folder / FILE, "w", encoding="utf-8") as stream:
        json.dump(known, stream, indent=1)
        stream.flush()
        os.fsync(stream.fileno())


def check_sizes(folder: Path) -> int:
    """How many bytes a folder has; raises ValueError where a noted file is not there or has another size, OSError."""
    known = noted(folder)
    for name, (size, _) in known.items():
        if not (folder / name).is_file():
            raise ValueError(f"{name} is missing")
        if (there := (folder / name).stat().st_size) != size:
            raise ValueError(f"{name} has {there:,} bytes, not {size:,}")
    return sum(size for size, _ in known.values())


def check(folder: Path, watch: Watch = NO_WATCH) -> None:
    """Reads all that was noted; raises ValueError naming the first file that is not as it was written, OSError, and what `watch` raises."""
    before, now = _stamps(folder), time.time_ns()
    if _sound.get(folder) == before:
        return
    for name, (_, digest) in noted(folder).items():
        if _digest(folder / name, watch) != digest:
            raise ValueError(f"{name} is not as it was written")
    if all(now - changed > TICK for _, _, changed, _ in before):
        _sound[folder] = before


def opened(folder: Path) -> Later:
    """A folder that is opened: sizes are compared, and the whole read where it is small; else later. Raises ValueError, OSError."""
    size = check_sizes(folder)
    if size <= WHOLE_BYTES:
        check(folder)
    return Later(folder, size > WHOLE_BYTES and _sound.get(folder) != _stamps(folder))


class Later:
    """A folder that is read whole in the background once it is used: `damage` says what was found, and is empty as long as nothing was."""

    def __init__(self, folder: Path, waits: bool):
        self.folder, self.damage, self.done = folder, "", not waits
        self._begun, self._lock = not waits, threading.Lock()

    def begin(self) -> None:
        """Read the folder in a thread, unless that was begun before."""
        if self._begun:
            return
        with self._lock:
            if not self._begun:
                self._begun = True
                threading.Thread(
                    target=self._read, name=f"digests of {self.folder.name}", daemon=True
                ).start()

    def _read(self) -> None:
        try:
            check(self.folder)
        except (ValueError, OSError) as error:
            if is_refusal(error):
                self._begun = False  # it says nothing of the folder, which is read at its next use
                return
            self.damage = str(error)
        self.done = True


def noted(folder: Path) -> dict[str, tuple[int, str]]:
    """Sizes and digests as they were noted; none where nothing was. Raises ValueError where that cannot be read, OSError."""
    try:
        known = json.loads((folder / FILE).read_text("utf-8"))
        return {str(name): (int(size), str(digest)) for name, (size, digest) in known.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError):
        raise ValueError(f"{FILE} cannot be read") from None


def seal(file: Path) -> None:
    """Write a file's sha256 behind its end, where no reader of arrays looks. Raises OSError."""
    digest = _digest(file)
    with open(file, "ab") as stream:
        stream.write(SEAL + bytes.fromhex(digest))


def check_sealed(file: Path) -> None:
    """Raises ValueError where a sealed file is not as it was written, OSError; one without a seal, of an earlier version, is taken."""
    stat = file.stat()
    stamp, now = (file.name, stat.st_size, stat.st_mtime_ns, stat.st_ino), time.time_ns()
    if _sound.get(file) == (stamp,):
        return
    digest, left = hashlib.sha256(), stat.st_size - len(SEAL) - 32
    with open(file, "rb") as stream:
        while left > 0 and (piece := stream.read(min(left, PIECE))):
            digest.update(piece)
            left -= len(piece)
        end = stream.read()
    if end.startswith(SEAL) and end != SEAL + digest.digest():
        raise ValueError(f"{file.name} is not as it was written")
    if now - stat.st_mtime_ns > TICK:
        _sound[file] = (stamp,)


def marked(content: dict) -> dict:
    """What goes into a JSON file, with its own digest."""
    return {**content, MARK: _content(content)}


def check_marked(content: Any) -> dict:
    """What a JSON file holds without its digest. Raises ValueError where the digest is another, or where it is no object; what has none, as
    of an earlier version, is taken."""
    if not isinstance(content, dict):
        raise ValueError("it holds no object")
    rest = {key: value for key, value in content.items() if key != MARK}
    if MARK in content and content[MARK] != _content(rest):
        raise ValueError("it is not as it was written")
    return rest


def _content(content: dict) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _stamps(folder: Path) -> Stamps:
    """Size, time and number of each noted file, by which a change is seen."""
    known = noted(folder)
    stats = ((name, (folder / name).stat()) for name in (*known, FILE)) if known else ()
    return tuple((name, stat.st_size, stat.st_mtime_ns, stat.st_ino) for name, stat in stats)


def _digest(file: Path, watch: Watch = NO_WATCH) -> str:
    digest = hashlib.sha256()
    with open(file, "rb", buffering=0) as stream:
        while piece := stream.read(PIECE):
            digest.update(piece)
            watch.check()
    return digest.hexdigest()
