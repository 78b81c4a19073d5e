"""Cache of values made from files, until one of the files changes.

A catalogue reads each of its files once this way, and sees a change at the next use. A change is
found by the stamps of the files: their inodes, sizes and times of change.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Generic, TypeVar

from cachetools import LRUCache

from core.io.digests import TICK_NANOSECONDS

ValueT = TypeVar("ValueT")
Stamp = tuple[tuple[str, int, int, int], ...]
"""Path, inode, size in bytes and time of change in ns of each file. Absent files are left out."""


def stamp_files(files: Iterable[str | Path]) -> Stamp:
    """Return the stamp of some files."""
    stamps = (_stat(os.fspath(file)) for file in files)
    return tuple(stamp for stamp in stamps if stamp is not None)


def stamp_tree(folder: str | Path) -> Stamp:
    """Return the stamp of all files in a folder and below."""
    stamps: list[tuple[str, int, int, int]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.is_dir(follow_symlinks=False):
                    stamps += stamp_tree(entry.path)
                else:
                    stamps += stamp_files([entry.path])
    except (OSError, ValueError):
        pass  # the files found so far remain
    return tuple(stamps)


def stamp_subfolder_files(folder: Path, name: str) -> list[tuple[Path, Stamp]]:
    """Return the file `name` of each subfolder that has one, with its stamp.

    The files are in the order of the subfolders' names.
    """
    try:
        with os.scandir(folder) as entries:
            folders = sorted(entry.name for entry in entries)
    except OSError:
        return []
    files = [os.path.join(folder, subfolder, name) for subfolder in folders]
    return [(Path(file), stamp) for file in files if (stamp := stamp_files([file]))]


def _stat(file: str) -> tuple[str, int, int, int] | None:
    try:
        stat = os.stat(file)
    except (OSError, ValueError):  # a path that no file can have counts as absent
        return None
    return file, stat.st_ino, stat.st_size, stat.st_mtime_ns


class StampedCache(Generic[ValueT]):
    """Cache of values by key, each with the stamp of its files.

    At most `size` values are cached. The least recently used value is dropped first. Threads may
    share the cache.
    """

    def __init__(self, size: int = 256):
        self._entries: LRUCache[Hashable, tuple[Stamp, ValueT]] = LRUCache(size)
        self._lock = threading.Lock()

    def get_or_make(self, key: Hashable, stamp: Stamp, make: Callable[[], ValueT]) -> ValueT:
        """Return the value of a key, made again if its files changed.

        The value of a file that changed within the last `TICK_NANOSECONDS` is not cached, as the
        file may change again with the same time. Raises what `make` raises; errors are not cached.

        Parameters
        ----------
        key : key of the value.
        stamp : stamp of the files, taken before `make` reads them, so that a change meanwhile is
            seen at the next call.
        make : makes the value from the files.
        """
        with self._lock:
            entry = self._entries.get(key)
        if entry is not None and entry[0] == stamp:
            return entry[1]
        now = time.time_ns()
        value = make()
        if all(abs(now - mtime) > TICK_NANOSECONDS for *_, mtime in stamp):
            with self._lock:
                self._entries[key] = (stamp, value)
        return value
