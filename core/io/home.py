"""Where a person's own files lie: graphs built here, models fetched, instances saved."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # the project's own folder, with data/ and assets/


def home() -> Path:
    """The person's folder: HOPSCOPE_HOME, else `.hopscope` in their home directory. Made when first asked for."""
    folder = Path(os.environ.get("HOPSCOPE_HOME") or Path.home() / ".hopscope")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def graphs_folder() -> Path:
    """Built graph stores, one folder each."""
    return home() / "graphs"


def models_folder() -> Path:
    """Fetched model files: HOPSCOPE_MODELS, else `models` in the person's folder."""
    return Path(os.environ.get("HOPSCOPE_MODELS") or home() / "models")
