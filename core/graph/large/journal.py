"""Journal of a long build, with which the same command continues after a kill."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from core.io.durable_files import write_whole

JOURNAL_FILE, SPILL_FOLDER, STORE_FOLDER = "journal.json", "spill", "store"


class Journal:
    """The state of a build in a folder.

    It consists of the finished parts of each phase and facts about them. `identity` identifies the
    build (state of the source and settings of its reader). The state of another build in the folder
    is removed. Parts count as finished only when they are recorded here, which happens after their
    files are written.
    """

    def __init__(self, folder: FilePath, identity: dict[str, Any]):
        self.folder, self._path, identity = (
            folder,
            folder / JOURNAL_FILE,
            json.loads(json.dumps(identity)),
        )
        state = self._saved_state(identity)
        if state is None:
            shutil.rmtree(folder, ignore_errors=True)
            (folder / SPILL_FOLDER).mkdir(parents=True)
            (folder / STORE_FOLDER).mkdir()
            state = {"identity": identity, "done": {}, "facts": {}}
        self._state: dict[str, Any] = state

    @property
    def identity(self) -> dict[str, Any]:
        """Identity of the build."""
        return self._state["identity"]

    def _saved_state(self, identity: dict) -> dict | None:
        try:
            state = json.loads(self._path.read_text("utf-8"))
            ready = (self.folder / SPILL_FOLDER).is_dir() and (self.folder / STORE_FOLDER).is_dir()
            return state if state["identity"] == identity and ready else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def done(self, phase: str) -> int:
        """Number of finished parts of a phase."""
        return self._state["done"].get(phase, 0)

    def fact(self, key: str, default: Any = None) -> Any:
        """Return the fact recorded under a key."""
        return self._state["facts"].get(key, default)

    def mark(self, phase: str, done: int, **facts: Any) -> None:
        """Record in one step that a phase has `done` finished parts, and facts."""
        self._state["done"][phase] = done
        self._state["facts"] |= facts
        write_whole(
            self._path, lambda temporary: temporary.write_text(json.dumps(self._state), "utf-8")
        )

    def spill(self, name: str) -> FilePath:
        """Return the path of a file that the finished store does not need."""
        return self.folder / SPILL_FOLDER / name

    def store(self, name: str) -> FilePath:
        """Return the path of a file of the store."""
        return self.folder / STORE_FOLDER / name


def write_array(path: FilePath, values: np.ndarray) -> None:
    """Write the bytes of an array durably."""
    with open(path, "wb") as stream:
        stream.write(np.ascontiguousarray(values).data.cast("B") if len(values) else b"")
        stream.flush()
        os.fsync(stream.fileno())


def read_array(path: FilePath, dtype, start: int = 0, count: int = -1) -> np.ndarray:
    """Read `count` values from position `start` on of an array written by `write_array`.

    If `count` is negative, all values are read.
    """
    if count == 0:
        return np.empty(0, dtype)
    return np.fromfile(path, dtype, count, offset=start * np.dtype(dtype).itemsize)


class GrowingArray:
    """An array file to which values are appended.

    It is first cut back to `length` values. `header_bytes` bytes are reserved for a header.
    """

    def __init__(self, path: FilePath, dtype, length: int, header_bytes: int = 0):
        self.dtype, self.length, self._header_bytes = np.dtype(dtype), length, header_bytes
        self._stream = open(path, "r+b" if path.exists() else "w+b")
        size = header_bytes + length * self.dtype.itemsize
        self._stream.truncate(size)
        self._stream.seek(size)

    def add(self, values: np.ndarray) -> None:
        """Append values."""
        values = np.ascontiguousarray(values, self.dtype)
        if len(values):
            self._stream.write(values.data.cast("B"))
        self.length += len(values)

    def sync(self) -> None:
        """Make the appended values durable."""
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def close(self) -> None:
        """Write the reserved header of a `.npy` file, if any, and close the file."""
        if self._header_bytes:
            self._stream.seek(0)
            header = {
                "descr": np.lib.format.dtype_to_descr(self.dtype),
                "fortran_order": False,
                "shape": (self.length,),
            }
            np.lib.format.write_array_header_1_0(self._stream, header)
            if self._stream.tell() != self._header_bytes:
                raise ValueError("the header of an array does not fit its place")
        self.sync()
        self._stream.close()


# Bytes of the header that numpy writes for a one-dimensional array.
NPY_HEADER_BYTES = 128
