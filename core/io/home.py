"""Where a person's own files lie: graphs built here, models fetched, instances saved."""

from __future__ import annotations

import importlib.util
import os
import shutil
from contextlib import suppress
from pathlib import Path

from core.errors import StoreError

VARIABLE = "HOPSCOPE_HOME"
SHARED = 0o022  # that the group or others may write
LEAST_ROOM = 1 << 18  # bytes that a disk needs to have left
ROOT = Path(__file__).resolve().parents[2]  # the project's own folder, with data/ and assets/


def home() -> Path:
    """Return the person's folder: HOPSCOPE_HOME, else `.hopscope` in their home directory.

    It is made when first asked for, with rights for the person alone.

    Raises
    ------
    StoreError
        If no home directory is known, or the folder cannot be made or read.
    """
    try:
        folder = Path(os.environ.get(VARIABLE) or Path.home() / ".hopscope").expanduser()
    except RuntimeError:  # HOME is not set, and the user has no entry with one
        raise StoreError(
            f"No home directory is known here; name a folder for Hopscope's files in {VARIABLE}."
        ) from None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"The folder {folder} cannot be made: {error.strerror or error}. Name another one in {VARIABLE}."
        ) from None
    return _readable(folder)


def _readable(folder: Path) -> Path:
    """Return the folder. Raises StoreError if it is there and belongs to somebody who lets nobody in."""
    if folder.exists() and not os.access(folder, os.R_OK | os.X_OK):
        raise StoreError(
            f"The folder {folder} belongs to another user and cannot be read. "
            f"Give it to this user, or name another folder in {VARIABLE}."
        )
    return folder


def keep_private() -> None:
    """Keep what this process writes from here on for the person alone.

    A folder that others may write keeps its rights, as it is shared on purpose; what is written
    in it is for the person alone all the same. On Windows the rights of the profile hold.
    """
    os.umask(0o077)
    with suppress(OSError, StoreError):  # a folder of somebody else, or one that cannot be written
        folder = home()
        mode = folder.stat().st_mode
        if not mode & SHARED:
            folder.chmod(mode & 0o700)  # one that the person may not write stays so


def cannot_save(folder: Path | None = None) -> str:
    """Why nothing can be saved in a folder, that of the person where none is given, in a sentence; empty where something can."""
    folder = folder or home()
    if not os.access(folder, os.W_OK):
        return f"Nothing can be saved: {folder} cannot be written. What is there can be read."
    if shutil.disk_usage(folder).free < LEAST_ROOM:
        return f"Nothing can be saved: the disk that holds {folder} is full. What is there can be read."
    return ""


def graphs_folder() -> Path:
    """Built graph stores, one folder each. Raises StoreError if it cannot be read."""
    return _readable(home() / "graphs")


def models_folder() -> Path:
    """Fetched model files: HOPSCOPE_MODELS, else `models` in the person's folder."""
    return Path(os.environ.get("HOPSCOPE_MODELS") or home() / "models")


def weights_of(package: str) -> Path | None:
    """The folder of weights of a package: `model` in the installed one, found without importing it, else what was fetched of it into the
    models folder; None where neither is."""
    found = importlib.util.find_spec(package.replace("-", "_"))
    places = []
    if found:
        places = [Path(place) / "model" for place in (found.submodule_search_locations or ())]
    return next(
        (
            place
            for place in [*places, models_folder() / package]
            if os.path.isfile(place / "config.json")  # also where the folder is closed to us
        ),
        None,
    )
