"""Files that are on the disk, whole or not at all."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

WINDOWS = os.name == "nt"
# seconds until one who has a file open is taken to keep it, and between two tries
PATIENCE, LOOK = (2.0, 0.05)


def sync(path: Path) -> None:
    """Have the system put a file, or the names in a folder, on the disk. Raises OSError. Windows opens no folders and writes their names
    by itself."""
    if WINDOWS and path.is_dir():
        return
    handle = os.open(path, os.O_RDWR if WINDOWS else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def move(path: Path, target: Path) -> None:
    """Put a file or folder in the place of `target` in one step, where that is a file or absent. Raises OSError.

    Windows refuses that as long as somebody has either open. As a program that looks for viruses does so for a moment, it is tried again
    there for some seconds.
    """
    until = time.monotonic() + PATIENCE
    while True:
        try:
            os.replace(path, target)
            return
        except PermissionError:
            if not WINDOWS or time.monotonic() > until:
                raise
            time.sleep(LOOK)


def begun(file: Path) -> str:
    """How the names begin of files that a killed process left beside `file`."""
    return f".{file.name}-"


def write_whole(file: Path, write: Callable[[Path], object], durable: bool = True) -> None:
    """Have `write` write a new file beside `file`, make it durable, and put it in the place of `file` in one step. Raises OSError, and what
    `write` raises; `file` is then as it was. One that need not be durable outlives every kill, but may be lost in a power cut.

    >>> import pathlib, tempfile
    >>> from core.io.durable import write_whole
    >>> file = pathlib.Path(tempfile.mkdtemp(), "notes.txt")
    >>> write_whole(file, lambda temporary: temporary.write_text("whole"))
    >>> [one.name for one in file.parent.iterdir()], file.read_text()
    (['notes.txt'], 'whole')
    """
    temporary = file.with_name(f"{begun(file)}{os.getpid()}-{threading.get_ident()}")
    try:
        write(temporary)
        if durable:
            sync(temporary)
        move(temporary, file)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
