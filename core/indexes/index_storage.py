"""Storage of a graph's indexes: folders, atomic writes and locks.

An index is a file or folder INDEXES_FOLDER/DIGEST/INDEX, where DIGEST begins that of the graph.
"""

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
from core.io.durable_files import move_into_place, write_whole
from core.io.home import home_folder, save_fault
from core.io.locks import is_locked
from core.watch import NO_WATCH, Watch

DIGEST_DIGITS = 16  # digits of the graph's digest in the name of its folder
INDEXES_FOLDER = "indexes"  # in the folder of a graph's store
SEALED_SUFFIXES = (".npy", ".npz", ".faiss")  # of files that end with a digest of their content
_process_folder_lock = threading.Lock()
# Lock of a folder that is filled step by step; its file is building.lock.
BUILD_LOCK_NAME = "building"


def index_folder(graph: KnowledgeGraph) -> Path:
    """Return the folder for indexes of this graph's present content.

    It is in the folder of the graph's store, or in the user's folder (`home_folder`) if the graph
    has no writable store. If such a folder cannot be created, its path is returned all the same. An
    edited or fetched graph has a temporary folder.

    Raises
    ------
    OSError : the temporary folder cannot be created.
    StoreError : the user's folder cannot be used.
    """
    # Indexes of an edited graph, or of one fetched from a server, are removed with this process.
    if graph.edited_from is not None or graph.fetched is not None:
        return _temporary_folder(graph.digest[:DIGEST_DIGITS])
    if graph.folder is not None and os.access(graph.folder, os.W_OK):
        parent = graph.folder / INDEXES_FOLDER
    else:
        parent = home_folder() / INDEXES_FOLDER
    folder = parent / graph.digest[:DIGEST_DIGITS]
    with suppress(OSError):  # reported by the code that writes there
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def _temporary_folder(name: str) -> Path:
    # Without the lock, two threads could each make a folder. The one that `cache` drops is removed.
    with _process_folder_lock:
        folder = Path(_process_folder().name) / name
    folder.mkdir(exist_ok=True)
    return folder


@cache
def _process_folder() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="hopscope-")


def sorted_entries(folder: Path) -> list[Path]:
    """Return the sorted entries of a folder; empty if it does not exist."""
    return sorted(folder.iterdir()) if folder.is_dir() else []


def move_indexes(temporary: Path, folder: Path) -> None:
    """Move a graph's indexes into the folder of its store.

    They replace those of the same name.

    Parameters
    ----------
    temporary : folder in which the graph was built.
    folder : folder of the store.

    Raises
    ------
    StoreError : a file cannot be moved.
    """
    try:
        for index in sorted((temporary / INDEXES_FOLDER).glob("*/*")):
            target = folder / INDEXES_FOLDER / index.parent.name / index.name
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.is_dir():
                shutil.rmtree(target)
            move_into_place(index, target)
    except OSError as error:
        raise StoreError(
            f"What is prepared for a graph cannot be moved to {folder}: {error.strerror or error}."
        ) from None


def write_atomically(
    file: Path, write: Callable[[IO[bytes]], object], durable: bool = True
) -> None:
    """Write a file atomically (see `write_whole`).

    It is written to a temporary file, which then replaces it in one step. A file of arrays is
    sealed with its digest.

    Parameters
    ----------
    file : the file, which is replaced.
    write : called with the stream of a temporary file.
    durable : waits until the file is on the disk.

    Raises
    ------
    StoreError : the file cannot be written.
    """

    def write_sealed(temporary: Path) -> None:
        with open(temporary, "wb") as stream:
            write(stream)
        if file.suffix in SEALED_SUFFIXES:
            digests.append_digest(temporary)

    try:
        write_whole(file, write_sealed, durable)
    except OSError as error:
        raise StoreError(f"{file} cannot be written: {error.strerror or error}.") from None


def write_if_possible(file: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file as `write_atomically` does, unless this installation cannot save at all.

    It is for results that are usable without being saved.

    Parameters
    ----------
    file : the file, which is replaced.
    write : called with the stream of a temporary file.

    Raises
    ------
    StoreError : saving fails for another reason.
    """
    try:
        write_atomically(file, write)
    except StoreError:
        if not save_fault():
            raise


def is_being_built(folder: Path) -> bool:
    """Return whether a process is building the index in a folder."""
    return is_locked(folder / f"{BUILD_LOCK_NAME}.lock")


def waiting_watch(watch: Watch = NO_WATCH) -> Watch:
    """Return a watch for waiting until another process has built the same.

    Each check reports this wait to `watch`, and raises if `watch` does.
    """

    def report_and_check() -> None:
        watch.report("Another process is building this; waiting for it")
        watch.check()

    return Watch(report_and_check)


@contextmanager
def hold_free_lock(lock: threading.Lock, what: str) -> Iterator[None]:
    """Hold a lock in a `with` block, or raise if another thread holds it.

    Parameters
    ----------
    lock : a lock of this process.
    what : beginning of the message: the title of an index, in the plural.

    Raises
    ------
    StoreError : another thread holds the lock.
    """
    if not lock.acquire(blocking=False):
        raise StoreError(f"{what} are being made or read just now; try again when that is done.")
    try:
        yield
    finally:
        lock.release()
