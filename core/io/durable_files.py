"""Files that are written to disk whole or not at all."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

WINDOWS = os.name == "nt"
MOVE_PATIENCE_SECONDS = 2.0  # time of tries to replace a file that another program has open
MOVE_RETRY_SECONDS = 0.05  # between two tries


def sync(path: Path) -> None:
    """Make the system write a file, or a folder's entries, to disk. Raises OSError.

    On Windows folders cannot be opened; their entries are written by the system.
    """
    if WINDOWS and path.is_dir():
        return
    handle = os.open(path, os.O_RDWR if WINDOWS else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def move_into_place(path: Path, target: Path) -> None:
    """Move a file or folder to `target` in one step, on the same disk. Raises OSError.

    A file at `target` is replaced; there must be no folder. Windows refuses to replace while
    another program has either of them open. Virus scanners open files for a moment, so on Windows
    the move is tried for `MOVE_PATIENCE_SECONDS`.
    """
    deadline = time.monotonic() + MOVE_PATIENCE_SECONDS
    while True:
        try:
            os.replace(path, target)
            return
        except PermissionError:
            if not WINDOWS or time.monotonic() > deadline:
                raise
            time.sleep(MOVE_RETRY_SECONDS)


def temporary_prefix(file: Path) -> str:
    """Return the prefix of temporary files next to `file`."""
    return f".{file.name}-"


def write_whole(file: Path, write: Callable[[Path], object], durable: bool = True) -> None:
    """Write a file under a temporary name, and move it into place.

    Raises OSError, and what `write` raises; `file` is then unchanged.

    Parameters
    ----------
    file : the file to write or replace.
    write : writes the content to the path that it receives.
    durable : True to wait until the content is on the disk. Otherwise the file survives a kill of
        the process, but may be lost in a power cut.

    >>> import pathlib, tempfile
    >>> from core.io.durable_files import write_whole
    >>> file = pathlib.Path(tempfile.mkdtemp(), "notes.txt")
    >>> write_whole(file, lambda temporary: temporary.write_text("whole"))
    >>> [path.name for path in file.parent.iterdir()], file.read_text()
    (['notes.txt'], 'whole')
    """
    temporary = file.with_name(f"{temporary_prefix(file)}{os.getpid()}-{threading.get_ident()}")
    try:
        write(temporary)
        if durable:
            sync(temporary)
        move_into_place(temporary, file)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
