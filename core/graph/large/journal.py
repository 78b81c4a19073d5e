"""Journal of a long build, and the array files that a build writes.

The journal records what is finished, so that the same command continues after a kill.
"""

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
    """State of a build, saved in a file of its folder.

    The state consists of the number of finished parts of each phase, and of facts: values by key
    that later phases need. `identity` identifies the build by the state of its source and the
    settings of its reader. If the folder has another build, that one is removed. A part is recorded
    as finished after its files are written.
    """

    def __init__(self, folder: FilePath, identity: dict[str, Any]):
        self.folder = folder
        self._path = folder / JOURNAL_FILE
        identity = json.loads(json.dumps(identity))  # tuples become lists, as in a saved state
        state = self._read_state(identity)
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

    def _read_state(self, identity: dict) -> dict | None:
        """Return the saved state of this build.

        The result is None if the state is damaged or that of another build.
        """
        try:
            state = json.loads(self._path.read_text("utf-8"))
            is_same_build = state["identity"] == identity
        except (OSError, ValueError, KeyError, TypeError):
            return None
        has_folders = all((self.folder / name).is_dir() for name in (SPILL_FOLDER, STORE_FOLDER))
        return state if is_same_build and has_folders else None

    def n_finished(self, phase: str) -> int:
        """Return the number of finished parts of a phase."""
        return self._state["done"].get(phase, 0)

    def get_fact(self, key: str, default: Any = None) -> Any:
        """Return the fact recorded under a key, or `default`."""
        return self._state["facts"].get(key, default)

    def record_progress(self, phase: str, done: int, **facts: Any) -> None:
        """Record that `done` parts of a phase are finished, together with facts.

        Both are written in one step, so a kill cannot separate them.
        """
        self._state["done"][phase] = done
        self._state["facts"] |= facts
        write_whole(
            self._path, lambda temporary: temporary.write_text(json.dumps(self._state), "utf-8")
        )

    def spill_file(self, name: str) -> FilePath:
        """Return the path of a file that the finished store does not need."""
        return self.folder / SPILL_FOLDER / name

    def store_file(self, name: str) -> FilePath:
        """Return the path of a file of the store."""
        return self.folder / STORE_FOLDER / name


def write_array(path: FilePath, values: np.ndarray) -> None:
    """Write the bytes of an array, without a header.

    The function waits until they are on the disk.
    """
    with open(path, "wb") as stream:
        stream.write(np.ascontiguousarray(values).data.cast("B") if len(values) else b"")
        stream.flush()
        os.fsync(stream.fileno())


def read_array(path: FilePath, dtype, start: int = 0, count: int = -1) -> np.ndarray:
    """Read `count` values, starting at value `start`, of a file written by `write_array`.

    If `count` is negative, all values from `start` on are read.
    """
    if count == 0:
        return np.empty(0, dtype)
    return np.fromfile(path, dtype, count, offset=start * np.dtype(dtype).itemsize)


class GrowingArray:
    """A file of an array to which values are appended.

    The file is first truncated to `length` values, because further ones were written by an
    interrupted step. `header_bytes` bytes are reserved for the header of a `.npy` file; with 0, the
    file has no header.
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
        """Wait until the appended values are on the disk."""
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


# Size in bytes of the header that numpy writes for a one-dimensional array.
NPY_HEADER_BYTES = 128
