"""Where a person's own files lie: graphs built here, models fetched, instances saved."""

from __future__ import annotations

import importlib.util
import os
import shutil
from contextlib import suppress
from pathlib import Path

from core.errors import StoreError

LEAST_ROOM = 1 << 18  # bytes that a disk needs to have left
ROOT = Path(__file__).resolve().parents[2]  # the project's own folder, with data/ and assets/


def home() -> Path:
    """The person's folder: HOPSCOPE_HOME, else `.hopscope` in their home directory. Made when first asked for. Raises StoreError where
    that cannot be done."""
    folder = Path(os.environ.get("HOPSCOPE_HOME") or Path.home() / ".hopscope")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"The folder {folder} cannot be made: {error.strerror or error}. Name another one in HOPSCOPE_HOME."
        ) from None
    return folder


def keep_private() -> None:
    """From here on what this process writes is for the person alone: others may do nothing in their folder, nor with files. For who starts
    the app or a command. On Windows the rights of their profile's folder hold, which come down to all in it."""
    os.umask(0o077)
    with suppress(
        OSError, StoreError
    ):  # a folder of somebody else, handed over on purpose, or one that cannot be written
        folder = home()
        folder.chmod(folder.stat().st_mode & 0o700)  # one that the person may not write stays so


def cannot_save(folder: Path | None = None) -> str:
    """Why nothing can be saved in a folder, that of the person where none is given, in a sentence; empty where something can."""
    folder = folder or home()
    if not os.access(folder, os.W_OK):
        return f"Nothing can be saved: {folder} cannot be written. What is there can be read."
    if shutil.disk_usage(folder).free < LEAST_ROOM:
        return f"Nothing can be saved: the disk that holds {folder} is full. What is there can be read."
    return ""


def graphs_folder() -> Path:
    """Built graph stores, one folder each."""
    return home() / "graphs"


def models_folder() -> Path:
    """Fetched model files: HOPSCOPE_MODELS, else `models` in the person's folder."""
    return Path(os.environ.get("HOPSCOPE_MODELS") or home() / "models")


def weights_of(package: str) -> Path | None:
    """The folder of weights of a package: `model` in the installed one, found without importing it, else what was fetched of it into the
    models folder; None where neither is."""
    found = importlib.util.find_spec(package.replace("-", "_"))
    places = (
        [Path(place) / "model" for place in (found.submodule_search_locations or ())]
        if found
        else []
    )
    return next(
        (
            place
            for place in [*places, models_folder() / package]
            if os.path.isfile(place / "config.json")  # also where the folder is closed to us
        ),
        None,
    )
