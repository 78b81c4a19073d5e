"""Folders of the person's own files: built graphs, fetched models, saved methods."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from core.errors import StoreError

HOME_VARIABLE = "HOPSCOPE_HOME"
SHARED_WRITE_BITS = 0o022  # permission bits by which the group or others may write
MIN_FREE_BYTES = 1 << 18  # bytes that must be free on the disk before anything is saved
ROOT = Path(__file__).resolve().parents[2]  # the project's own folder, with data/ and assets/


def home_folder() -> Path:
    """Return the person's folder: HOPSCOPE_HOME, else `.hopscope` in their home directory.

    It is created at the first call, with permissions for the person alone.

    Raises
    ------
    StoreError
        If no home directory is known, or the folder cannot be made or read.
    """
    try:
        folder = Path(os.environ.get(HOME_VARIABLE) or Path.home() / ".hopscope").expanduser()
    except RuntimeError:  # HOME is not set, and the user has no entry with one
        raise StoreError(
            "No home directory is known here; name a folder for Hopscope's files in "
            f"{HOME_VARIABLE}."
        ) from None
    try:
        if not folder.is_dir():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"The folder {folder} cannot be made: {error.strerror or error}. Name another "
            f"one in {HOME_VARIABLE}."
        ) from None
    return _check_readable(folder)


def _check_readable(folder: Path) -> Path:
    """Return the folder unchanged.

    Raises StoreError if it exists, but belongs to another user and cannot be read.
    """
    if folder.exists() and not os.access(folder, os.R_OK | os.X_OK):
        raise StoreError(
            f"The folder {folder} belongs to another user and cannot be read. "
            f"Give it to this user, or name another folder in {HOME_VARIABLE}."
        )
    return folder


def keep_private() -> None:
    """Make files that this process writes from now on accessible to the person alone.

    A folder that others may write keeps its permissions, as it is shared on purpose. Files written
    in it are private all the same. On Windows the permissions of the profile apply.
    """
    os.umask(0o077)
    with suppress(OSError, StoreError):  # another user's folder, or one that cannot be written
        folder = home_folder()
        mode = folder.stat().st_mode
        if not mode & SHARED_WRITE_BITS:
            folder.chmod(mode & 0o700)  # a folder that the person cannot write stays so


def save_fault(folder: Path | None = None) -> str:
    """Return why nothing can be saved in a folder. Empty if saving works.

    The folder is the person's own if none is given.
    """
    folder = folder or home_folder()
    if not os.access(folder, os.W_OK):
        return f"Nothing can be saved: {folder} cannot be written. What is there can be read."
    if shutil.disk_usage(folder).free < MIN_FREE_BYTES:
        return (
            f"Nothing can be saved: the disk that holds {folder} is full. What is there can be "
            "read."
        )
    return ""


def graphs_folder() -> Path:
    """Return the folder of built graphs, one subfolder each. Raises StoreError if unreadable."""
    return _check_readable(home_folder() / "graphs")


def models_folder() -> Path:
    """Return the folder of fetched models: HOPSCOPE_MODELS, else the person's `models`."""
    return Path(os.environ.get("HOPSCOPE_MODELS") or home_folder() / "models")
