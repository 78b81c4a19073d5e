"""How a store reaches the disk: one writer at a time, everything durable, and put in place in one step."""

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

UNFINISHED = "unfinished"  # the state of a long build, taken up again by the next one
SOURCE = "source.json"


@contextmanager
def locked(folder: FilePath, wait: bool, watch: Watch = NO_WATCH) -> Iterator[None]:
    """Holds the lock file beside `folder`; work that fails leaves none. Where another process holds it: waits, calling `watch`, or,
    without `wait`, raises StoreError."""
    file = folder.parent / f"{folder.name}.lock"

    def busy() -> None:
        if not wait:
            raise StoreError(
                f"The graph in {folder} is being built by another process; try again when it is done."
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
            with suppress(PermissionError):  # on Windows it stays
                file.unlink(missing_ok=True)  # while it is held, so that nobody else loses theirs
            raise


def write(
    temporary: FilePath,
    arrays: Mapping[str, np.ndarray],
    blob: np.ndarray,
    known: dict | None,
    columns: Columns = columns.NONE,
) -> None:
    """Writes the data files of a store into a new folder, each made durable."""
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
    """Writes the degrees of the nodes beside the arrays that they are made from."""
    with open(temporary / DEGREES, "wb") as stream:
        np.save(stream, degree_bytes(*np.load(temporary / OFFSETS, mmap_mode="r").T))
        _durable(stream)


def note_source(temporary: FilePath, known: dict | None) -> None:
    """Writes down which state of which file the data in a folder were made of, and makes the folder durable."""
    if known:
        with open(temporary / SOURCE, "w", encoding="utf-8") as stream:
            json.dump(known, stream)
            _durable(stream)
    sync(temporary)


def place(folder: FilePath, temporary: FilePath, meta: dict) -> None:
    """Puts the data files of a store in place, then swings `graph.json` over to them in one step. Raises OSError."""
    folders.place(folder, temporary, META, meta)


def clean(folder: FilePath) -> None:
    """Removes what killed builds and replaced stores left in `folder`. Call with the lock held."""
    folders.clean(folder, META)


def _durable(stream) -> None:
    stream.flush()
    os.fsync(stream.fileno())


def release(values: np.ndarray) -> None:
    """Writes what a memory map changed, and lets go of the memory that it takes."""
    mapped: mmap.mmap | None = getattr(values, "_mmap", None)
    if isinstance(values, np.memmap) and mapped is not None:
        if values.mode != "r":
            values.flush()
        advise(mapped, "MADV_DONTNEED")
