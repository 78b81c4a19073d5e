"""What of a long build is done, kept beside its files so that the same command goes on from there after a kill."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from core.io.durable import write_whole

JOURNAL, SPILL, STORE = "journal.json", "spill", "store"


class Journal:
    """The state of a build in a folder: finished parts of each phase, and facts about them.

    `identity` tells one build from another (the source's state and how it is read); where another one's state lies in the
    folder it is removed. Parts count as finished only once written down here, after their files.
    """

    def __init__(self, folder: FilePath, identity: dict[str, Any]):
        self.folder, self._path, identity = (
            folder,
            folder / JOURNAL,
            json.loads(json.dumps(identity)),
        )
        known = self._known(identity)
        if known is None:
            shutil.rmtree(folder, ignore_errors=True)
            (folder / SPILL).mkdir(parents=True)
            (folder / STORE).mkdir()
            known = {"identity": identity, "done": {}, "facts": {}}
        self._state: dict[str, Any] = known

    @property
    def identity(self) -> dict[str, Any]:
        """What tells this build from another."""
        return self._state["identity"]

    def _known(self, identity: dict) -> dict | None:
        try:
            state = json.loads(self._path.read_text("utf-8"))
            there = (self.folder / SPILL).is_dir() and (self.folder / STORE).is_dir()
            return state if state["identity"] == identity and there else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def done(self, phase: str) -> int:
        """How many parts of a phase are finished."""
        return self._state["done"].get(phase, 0)

    def fact(self, key: str, default: Any = None) -> Any:
        """What was written down under a key."""
        return self._state["facts"].get(key, default)

    def mark(self, phase: str, done: int, **facts: Any) -> None:
        """Writes down, in one step, that a phase has this many parts `done`, and facts."""
        self._state["done"][phase] = done
        self._state["facts"] |= facts
        write_whole(
            self._path, lambda temporary: temporary.write_text(json.dumps(self._state), "utf-8")
        )

    def spill(self, name: str) -> FilePath:
        """Where a file that the finished store does not need lies."""
        return self.folder / SPILL / name

    def store(self, name: str) -> FilePath:
        """Where a file of the store lies."""
        return self.folder / STORE / name


def put(path: FilePath, values: np.ndarray) -> None:
    """Writes the bytes of an array, durable."""
    with open(path, "wb") as stream:
        stream.write(np.ascontiguousarray(values).data.cast("B") if len(values) else b"")
        stream.flush()
        os.fsync(stream.fileno())


def get(path: FilePath, dtype, start: int = 0, count: int = -1) -> np.ndarray:
    """`count` values from place `start` on (all where negative) of an array written by `put`."""
    if count == 0:
        return np.empty(0, dtype)
    return np.fromfile(path, dtype, count, offset=start * np.dtype(dtype).itemsize)


class Growing:
    """An array file that grows at its end, cut back to `length` values first. `head` bytes are kept free for a header."""

    def __init__(self, path: FilePath, dtype, length: int, head: int = 0):
        self.dtype, self.length, self._head = np.dtype(dtype), length, head
        self._stream = open(path, "r+b" if path.exists() else "w+b")
        size = head + length * self.dtype.itemsize
        self._stream.truncate(size)
        self._stream.seek(size)

    def add(self, values: np.ndarray) -> None:
        """Values at the end."""
        values = np.ascontiguousarray(values, self.dtype)
        if len(values):
            self._stream.write(values.data.cast("B"))
        self.length += len(values)

    def sync(self) -> None:
        """Makes what was added durable."""
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def close(self) -> None:
        """Writes the header of a `.npy` file where its place was kept free, and closes."""
        if self._head:
            self._stream.seek(0)
            header = {
                "descr": np.lib.format.dtype_to_descr(self.dtype),
                "fortran_order": False,
                "shape": (self.length,),
            }
            np.lib.format.write_array_header_1_0(self._stream, header)
            if self._stream.tell() != self._head:
                raise ValueError("the header of an array does not fit its place")
        self.sync()
        self._stream.close()


HEADER = 128  # bytes of the header that numpy writes for an array of one dimension
