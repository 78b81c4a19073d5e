"""Files of a graph store on disk: locking, writing, installing and cleaning its folder.

A lock allows one writer at a time. The data files are written to a temporary folder and made
durable (flushed to disk). Only then `graph.json` is replaced, which names them, so that readers see
either the old store or the new one.
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
from core.graph.store import DEGREES_FILE, GRAPH_META_FILE, NAMES_FILE, OFFSETS_FILE, TABLES_FOLDER
from core.io import folders, locks
from core.io.durable_files import sync
from core.watch import NO_WATCH, Watch

# Folder with the state of a stopped build in steps, which the next build continues.
UNFINISHED_FOLDER = "unfinished"
SOURCE_FILE = "source.json"  # state of the file from which the graph was built


@contextmanager
def lock_store(folder: FilePath, wait: bool, watch: Watch = NO_WATCH) -> Iterator[None]:
    """Hold the lock of the store in `folder`, a file next to it.

    If another process holds the lock, wait, and let `watch` cancel meanwhile. If the code inside
    fails, the lock file is removed.

    Raises
    ------
    StoreError
        If another process holds the lock and `wait` is False, or the file cannot be written.
    """
    file = folder.parent / f"{folder.name}.lock"

    def check_wait() -> None:
        if not wait:
            raise StoreError(
                f"The graph in {folder} is being built by another process; try again when it is "
                "done."
            )
        watch.check()

    with ExitStack() as lock_stack:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            lock_stack.enter_context(locks.hold_lock_file(file, Watch(check_wait)))
        except OSError as error:
            raise StoreError(
                f"The graph cannot be stored in {folder}: {error.strerror or error}."
            ) from None
        try:
            yield
        except BaseException:
            # The file is removed while the lock is held, so that it is not another process's lock.
            with suppress(PermissionError):  # on Windows, an open file cannot be removed
                file.unlink(missing_ok=True)
            raise


def write_store(
    temporary: FilePath,
    arrays: Mapping[str, np.ndarray],
    blob: np.ndarray,
    source_state: dict | None,
    columns: Columns = columns.NO_TABLES,
) -> None:
    """Write the data files of a store into the new folder `temporary`, durably.

    Parameters
    ----------
    arrays : the arrays in `STORE_ARRAYS`, by name.
    blob : uint8, the concatenated names of the nodes.
    source_state : state of the source file from `file_stamp`, or None if there is no file.
    columns : tables of the graph.
    """
    temporary.mkdir()
    # The offsets of both directions share a file, as they are read together.
    sides = ("out_indptr", "in_indptr")
    files = {OFFSETS_FILE: np.column_stack([arrays[key] for key in sides])}
    files |= {f"{key}.npy": values for key, values in arrays.items() if key not in sides}
    for file, values in files.items():
        with open(temporary / file, "wb") as stream:
            np.save(stream, values)
            _make_durable(stream)
    with open(temporary / NAMES_FILE, "wb") as stream:
        stream.write(blob.tobytes())
        _make_durable(stream)
    if columns:
        columns.save(temporary / TABLES_FOLDER)
        for table in sorted((temporary / TABLES_FOLDER).iterdir()):
            with open(table, "rb+") as stream:
                _make_durable(stream)
    write_degrees(temporary)
    write_source_state(temporary, source_state)


def write_degrees(temporary: FilePath) -> None:
    """Write the degrees of the nodes into a data folder.

    They are computed from the offsets there.
    """
    with open(temporary / DEGREES_FILE, "wb") as stream:
        np.save(stream, degree_bytes(*np.load(temporary / OFFSETS_FILE, mmap_mode="r").T))
        _make_durable(stream)


def write_source_state(temporary: FilePath, source_state: dict | None) -> None:
    """Write the state of the source file, if any, into a data folder.

    What was written is made durable.
    """
    if source_state:
        with open(temporary / SOURCE_FILE, "w", encoding="utf-8") as stream:
            json.dump(source_state, stream)
            _make_durable(stream)
    sync(temporary)


def install_store(folder: FilePath, temporary: FilePath, meta: dict) -> None:
    """Move the data files of a store from `temporary` into `folder`.

    Then `graph.json` is replaced in one step by `meta`, with the name of the new data folder.

    Raises
    ------
    OSError
        If the disk cannot be written.
    """
    folders.install_files(folder, temporary, GRAPH_META_FILE, meta)


def clean_store(folder: FilePath) -> None:
    """Remove the files of killed builds and of replaced stores. The caller must hold the lock."""
    folders.clean_folder(folder, GRAPH_META_FILE)


def _make_durable(stream) -> None:
    """Flush an open file to disk, so that it survives a power failure."""
    stream.flush()
    os.fsync(stream.fileno())


def release_map(values: np.ndarray) -> None:
    """Write the changes of a memory map to disk, and free its memory.

    For other arrays, nothing happens.
    """
    memory_map: mmap.mmap | None = getattr(values, "_mmap", None)
    if isinstance(values, np.memmap) and memory_map is not None:
        if values.mode != "r":
            values.flush()
        advise(memory_map, "MADV_DONTNEED")
