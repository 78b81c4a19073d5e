"""Values made of files, made anew once one of the files is another: what a catalogue lists is read once, and a change is seen at once."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Generic, TypeVar

from cachetools import LRUCache

from core.io.digests import TICK

T = TypeVar("T")
Stamp = tuple[tuple[str, int, int, int], ...]
"""Of each file its path, its number on the disk, its bytes, and its time of change in ns; a file that is absent is left out."""


def stamp(files: Iterable[str | Path]) -> Stamp:
    """The stamp of some files."""
    return tuple(found for file in files if (found := _stat(os.fspath(file))) is not None)


def tree(folder: str | Path) -> Stamp:
    """The stamp of all files in a folder and below; empty where there is no such folder."""
    found: list[tuple[str, int, int, int]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda one: one.name):
                if entry.is_dir(follow_symlinks=False):
                    found += tree(entry.path)
                elif (file := _stat(entry.path)) is not None:
                    found.append(file)
    except (OSError, ValueError):
        return tuple(found)
    return tuple(found)


def described(folder: Path, name: str) -> list[tuple[Path, Stamp]]:
    """The files of a name in the folders of a folder, in the order of these, each with its stamp."""
    try:
        with os.scandir(folder) as entries:
            beside = sorted(entry.name for entry in entries)
    except OSError:
        return []
    files = (os.path.join(folder, one, name) for one in beside)
    return [(Path(file), (found,)) for file in files if (found := _stat(file)) is not None]


def _stat(file: str) -> tuple[str, int, int, int] | None:
    try:
        stat = os.stat(file)
    except (OSError, ValueError):  # a path that no file can have counts as absent
        return None
    return file, stat.st_ino, stat.st_size, stat.st_mtime_ns


class Remembered(Generic[T]):
    """At most `size` values by key, each with the stamp of what it was made of. Safe between threads."""

    def __init__(self, size: int = 256):
        self._known: LRUCache[Hashable, tuple[Stamp, T]] = LRUCache(size)
        self._lock = threading.Lock()

    def of(self, key: Hashable, made_of: Stamp, make: Callable[[], T]) -> T:
        """The value of a key, made where it is not known or was made of other files. `made_of` is taken before it is made, so that a change
        meanwhile is seen at the next look; a file that changed just now may change again and have the same time, and is not trusted.
        Raises what `make` raises, which is not remembered."""
        with self._lock:
            known = self._known.get(key)
        if known is not None and known[0] == made_of:
            return known[1]
        now = time.time_ns()
        value = make()
        if all(abs(now - changed) > TICK for *_, changed in made_of):
            with self._lock:
                self._known[key] = (made_of, value)
        return value
