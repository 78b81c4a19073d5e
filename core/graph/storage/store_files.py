"""Writing of graph stores.

A lock allows one writer at a time. All files are made durable before the store is installed.
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

# Folder with the state of a build in steps, which the next build continues.
UNFINISHED_FOLDER = "unfinished"
SOURCE_FILE = "source.json"


@contextmanager
def lock_store(folder: FilePath, wait: bool, watch: Watch = NO_WATCH) -> Iterator[None]:
    """Hold the lock file next to `folder`.

    If another process holds it, wait and check `watch` meanwhile, or raise StoreError without
    `wait`. If the code inside fails, the lock file is removed.
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
            # It is removed while the lock is held, so that no lock of another process is removed.
            with suppress(PermissionError):  # on Windows it stays
                file.unlink(missing_ok=True)
            raise


def write_store(
    temporary: FilePath,
    arrays: Mapping[str, np.ndarray],
    blob: np.ndarray,
    source_state: dict | None,
    columns: Columns = columns.NO_TABLES,
) -> None:
    """Write the data files of a store into a new folder, durably."""
    temporary.mkdir()
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
    """Write the degrees of the nodes, computed from the offsets in the folder."""
    with open(temporary / DEGREES_FILE, "wb") as stream:
        np.save(stream, degree_bytes(*np.load(temporary / OFFSETS_FILE, mmap_mode="r").T))
        _make_durable(stream)


def write_source_state(temporary: FilePath, source_state: dict | None) -> None:
    """Write the state of the source file, if any, into a data folder, and make it durable."""
    if source_state:
        with open(temporary / SOURCE_FILE, "w", encoding="utf-8") as stream:
            json.dump(source_state, stream)
            _make_durable(stream)
    sync(temporary)


def install_store(folder: FilePath, temporary: FilePath, meta: dict) -> None:
    """Move the data files of a store into `folder`.

    Then `graph.json` is replaced in one step by a description that names them.

    Raises
    ------
    OSError
        If the disk cannot be written.
    """
    folders.install_files(folder, temporary, GRAPH_META_FILE, meta)


def clean_store(folder: FilePath) -> None:
    """Remove the files of killed builds and of replaced stores; the lock must be held."""
    folders.clean_folder(folder, GRAPH_META_FILE)


def _make_durable(stream) -> None:
    stream.flush()
    os.fsync(stream.fileno())


def release_map(values: np.ndarray) -> None:
    """Write the changes of a memory map to disk, and free its memory."""
    memory_map: mmap.mmap | None = getattr(values, "_mmap", None)
    if isinstance(values, np.memmap) and memory_map is not None:
        if values.mode != "r":
            values.flush()
        advise(memory_map, "MADV_DONTNEED")
