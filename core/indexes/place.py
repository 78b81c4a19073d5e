"""Where what is prepared for a graph is kept, how a file gets there whole or not at all, and who may make it."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO

from core.errors import StoreError
from core.graph.protocol import KnowledgeGraph
from core.io import digests
from core.io.durable import move, write_whole
from core.io.home import cannot_save, home
from core.io.locks import is_locked
from core.watch import NO_WATCH, Watch

NAMED = 16  # letters of the digest in a folder's name
INDEXES = "indexes"  # beside a graph's store
SEALED = (".npy", ".npz", ".faiss")
AT_WORK = "building"  # beside its lock file, in a folder that is made bit by bit


def index_folder(graph: KnowledgeGraph) -> Path:
    """The folder for indexes of this graph's content: beside its store, else in the person's folder; absent where it cannot be made."""
    # of an edited or a fetched one nothing outlives this process
    if graph.edited_from is not None or graph.fetched is not None:
        return _temporary(graph.digest[:NAMED])
    if graph.folder is not None and os.access(graph.folder, os.W_OK):
        beside = graph.folder / INDEXES
    else:
        beside = home() / INDEXES
    folder = beside / graph.digest[:NAMED]
    with suppress(OSError):  # said by who writes there
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def _temporary(name: str) -> Path:
    folder = Path(_process_folder().name) / name
    folder.mkdir(exist_ok=True)
    return folder


@cache
def _process_folder() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="hopscope-")


def entries(folder: Path) -> list[Path]:
    """What lies in a folder, by name; nothing where it is absent."""
    return sorted(folder.iterdir()) if folder.is_dir() else []


def take_indexes(temporary: Path, folder: Path) -> None:
    """Move what is prepared for a graph in `temporary` beside the store in `folder`, in the place of what is there of its name. Raises
    StoreError."""
    try:
        for one in sorted((temporary / INDEXES).glob("*/*")):
            there = folder / INDEXES / one.parent.name / one.name
            there.parent.mkdir(parents=True, exist_ok=True)
            if there.is_dir():
                shutil.rmtree(there)
            move(one, there)
    except OSError as error:
        raise StoreError(
            f"What is prepared for a graph cannot be moved to {folder}: {error.strerror or error}."
        ) from None


def keep(file: Path, write: Callable[[IO[bytes]], object], durable: bool = True) -> None:
    """Write a file beside its place, arrays with their digest, make it durable (see `write_whole`), and put it there in one step. Raises
    StoreError."""

    def whole(temporary: Path) -> None:
        with open(temporary, "wb") as stream:
            write(stream)
        if file.suffix in SEALED:
            digests.seal(temporary)

    try:
        write_whole(file, whole, durable)
    except OSError as error:
        raise StoreError(f"{file} cannot be written: {error.strerror or error}.") from None


def keep_if_possible(file: Path, write: Callable[[IO[bytes]], object]) -> None:
    """As `keep`, for what is at hand whether it is kept or not: where nothing can be saved it is not. Raises StoreError for another
    reason."""
    try:
        keep(file, write)
    except StoreError:
        if not cannot_save():
            raise


def being_made(folder: Path) -> bool:
    """Whether some process is making what lies in a folder."""
    return is_locked(folder / f"{AT_WORK}.lock")


def busy_elsewhere(watch: Watch = NO_WATCH) -> Watch:
    """A watch for as long as another process makes the same, which says so at every look."""

    def look() -> None:
        watch.report("Another process is building this; waiting for it")
        watch.check()

    return Watch(look)


@contextmanager
def free(lock: threading.Lock, what: str) -> Iterator[None]:
    """The lock, if nobody holds it. Raises StoreError where somebody does."""
    if not lock.acquire(blocking=False):
        raise StoreError(f"{what} are being made or read just now; try again when that is done.")
    try:
        yield
    finally:
        lock.release()
