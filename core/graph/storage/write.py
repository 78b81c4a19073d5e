"""Writing of graph stores.

There is one writer at a time. All files are made durable, and the store is put in place in one
step.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path as FilePath

import numpy as np

from core.errors import StoreError
from core.graph import columns
from core.graph.columns import Columns, advise
from core.graph.degrees import degree_bytes
from core.graph.store import BLOB, COLUMNS, DEGREES, META, OFFSETS
from core.io import folders, locks
from core.io.durable import sync
from core.watch import NO_WATCH, Watch

UNFINISHED = "unfinished"  # folder with the state of a long build, which the next one continues
SOURCE = "source.json"


@contextmanager
def locked(folder: FilePath, wait: bool, watch: Watch = NO_WATCH) -> Iterator[None]:
    """Hold the lock file next to `folder`.

    If another process holds it, wait and call `watch` meanwhile, or raise StoreError without
    `wait`. If the work fails, the lock file is removed.
    """
    file = folder.parent / f"{folder.name}.lock"

    def busy() -> None:
        if not wait:
            raise StoreError(
                f"The graph in {folder} is being built by another process; try again when it is "
                "done."
            )
        watch.check()

    with ExitStack() as held:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            held.enter_context(locks.locked(file, Watch(busy)))
        except OSError as error:
            raise StoreError(
                f"The graph cannot be stored in {folder}: {error.strerror or error}."
            ) from None
        try:
            yield
        except BaseException:
            # It is removed while the lock is held, so that no lock of another process is removed.
            with suppress(PermissionError):  # on Windows it stays
                file.unlink(missing_ok=True)
            raise


def write(
    temporary: FilePath,
    arrays: Mapping[str, np.ndarray],
    blob: np.ndarray,
    known: dict | None,
    columns: Columns = columns.NONE,
) -> None:
    """Write the data files of a store into a new folder, durably."""
    temporary.mkdir()
    sides = ("out_indptr", "in_indptr")
    files = {f"{key}.npy": values for key, values in arrays.items() if key not in sides}
    for file, values in {OFFSETS: np.column_stack([arrays[key] for key in sides]), **files}.items():
        with open(temporary / file, "wb") as stream:
            np.save(stream, values)
            _durable(stream)
    with open(temporary / BLOB, "wb") as stream:
        stream.write(blob.tobytes())
        _durable(stream)
    if columns:
        columns.save(temporary / COLUMNS)
        for table in sorted((temporary / COLUMNS).iterdir()):
            with open(table, "rb+") as stream:
                _durable(stream)
    write_degrees(temporary)
    note_source(temporary, known)


def write_degrees(temporary: FilePath) -> None:
    """Write the degrees of the nodes, computed from the offsets in the folder."""
    with open(temporary / DEGREES, "wb") as stream:
        np.save(stream, degree_bytes(*np.load(temporary / OFFSETS, mmap_mode="r").T))
        _durable(stream)


def note_source(temporary: FilePath, known: dict | None) -> None:
    """Write the state of the source file into a data folder.

    The folder is then made durable.
    """
    if known:
        with open(temporary / SOURCE, "w", encoding="utf-8") as stream:
            json.dump(known, stream)
            _durable(stream)
    sync(temporary)


def place(folder: FilePath, temporary: FilePath, meta: dict) -> None:
    """Put the data files of a store in place.

    `graph.json` is switched to them in one step.

    Raises
    ------
    OSError
        If the disk cannot be written.
    """
    folders.place(folder, temporary, META, meta)


def clean(folder: FilePath) -> None:
    """Remove the remains of killed builds and of replaced stores from `folder`.

    The lock must be held.
    """
    folders.clean(folder, META)


def _durable(stream) -> None:
    stream.flush()
    os.fsync(stream.fileno())


def release(values: np.ndarray) -> None:
    """Write the changes of a memory map to disk, and free its memory."""
    mapped: mmap.mmap | None = getattr(values, "_mmap", None)
    if isinstance(values, np.memmap) and mapped is not None:
        if values.mode != "r":
            values.flush()
        advise(mapped, "MADV_DONTNEED")
