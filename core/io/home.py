"""Where a person's own files lie: graphs built here, models fetched, instances saved."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # the project's own folder, with data/ and assets/


def home() -> Path:
    """The person's folder: HOPSCOPE_HOME, else `.hopscope` in their home directory. Made when first asked for."""
    folder = Path(os.environ.get("HOPSCOPE_HOME") or Path.home() / ".hopscope")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def keep_private() -> None:
    """From here on what this process writes is for the person alone: their folder 0700, files 0600. For who starts the app or a command."""
    os.umask(0o077)
    with suppress(PermissionError):  # a folder of somebody else, handed over on purpose
        home().chmod(0o700)


def graphs_folder() -> Path:
    """Built graph stores, one folder each."""
    return home() / "graphs"


def models_folder() -> Path:
    """Fetched model files: HOPSCOPE_MODELS, else `models` in the person's folder."""
    return Path(os.environ.get("HOPSCOPE_MODELS") or home() / "models")
