"""Folders for files on their way into the person's folder, such as uploads."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

from core.errors import StoreError
from core.io.home import home_folder, save_fault

UPLOAD_PREFIX = ".upload-"
OLD_FOLDER_SECONDS = 24 * 3600.0  # seconds after which a folder is no longer in use


def temporary_folder(now: float | None = None) -> Path:
    """Return a new folder in the person's own, for the caller to remove.

    Folders that killed processes left there a day ago are removed. Raises StoreError if the
    person's folder cannot be written.

    >>> from core.io.temporary_folders import temporary_folder
    >>> list(temporary_folder().iterdir())
    []
    """
    now = time.time() if now is None else now
    for old in home_folder().glob(f"{UPLOAD_PREFIX}*"):
        if now - old.lstat().st_mtime > OLD_FOLDER_SECONDS and not old.is_symlink():
            shutil.rmtree(old, ignore_errors=True)
    try:
        return Path(tempfile.mkdtemp(dir=home_folder(), prefix=UPLOAD_PREFIX))
    except OSError as error:
        raise StoreError(
            save_fault() or f"Nothing can be saved in {home_folder()}: {error.strerror or error}."
        ) from None
