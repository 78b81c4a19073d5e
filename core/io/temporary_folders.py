"""Folders for files on their way into the person's folder, such as uploads."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

from core.errors import StoreError
from core.io.home import home_folder, save_fault

UPLOAD_PREFIX = ".upload-"
ABANDONED_SECONDS = 24 * 3600.0  # age from which a folder is taken for that of a killed process


def temporary_folder(now: float | None = None) -> Path:
    """Return a new folder in the person's own, for the caller to remove.

    Folders that killed processes left there more than a day ago are removed. Raises StoreError if
    the person's folder cannot be written.

    Parameters
    ----------
    now : the time in seconds since 1970; None for the clock's.

    >>> from core.io.temporary_folders import temporary_folder
    >>> list(temporary_folder().iterdir())
    []
    """
    now = time.time() if now is None else now
    for old in home_folder().glob(f"{UPLOAD_PREFIX}*"):
        if now - old.lstat().st_mtime > ABANDONED_SECONDS and not old.is_symlink():
            shutil.rmtree(old, ignore_errors=True)
    try:
        return Path(tempfile.mkdtemp(dir=home_folder(), prefix=UPLOAD_PREFIX))
    except OSError as error:
        raise StoreError(
            save_fault() or f"Nothing can be saved in {home_folder()}: {error.strerror or error}."
        ) from None
