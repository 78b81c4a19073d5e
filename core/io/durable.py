"""Files that are on the disk, whole or not at all."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path


def sync(path: Path) -> None:
    """Have the system put a file, or the names in a folder, on the disk. Raises OSError."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def begun(file: Path) -> str:
    """How the names begin of files that a killed process left beside `file`."""
    return f".{file.name}-"


def write_whole(file: Path, write: Callable[[Path], object]) -> None:
    """Have `write` write a new file beside `file`, make it durable, and put it in the place of `file` in one step. Raises OSError, and what
    `write` raises; `file` is then as it was.

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
        sync(temporary)
        os.replace(temporary, file)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
