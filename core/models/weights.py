"""Where weights lie, and what is noted beside those that were trained here."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
from functools import lru_cache
from pathlib import Path

from core.io.home import ROOT, models_folder

TRAINING = "training.json"  # how a folder of weights was trained, and what was measured of it
SHIPPED = ROOT / "data" / "models"  # weights that ship


def weights_folder(folder: str) -> Path:
    """Where a file or folder of weights lies, or would lie: an absolute name as it is, else inside the models folder."""
    return models_folder() / Path(folder).expanduser()


def unreadable(place: Path) -> Path | None:
    """The first file of weights that may not be read: the place itself, or one in it; None where all may, or none is there."""
    if not os.path.lexists(place) and not _hidden(place):
        return None
    if not os.access(place, os.R_OK | (os.X_OK if os.path.isdir(place) else 0)):
        return place
    if not os.path.isdir(place):
        return None
    files = sorted(entry.path for entry in os.scandir(place) if entry.is_file())
    return next((Path(file) for file in files if not os.access(file, os.R_OK)), None)


def _hidden(place: Path) -> bool:
    """Whether a folder above a place may not be looked into."""
    above = next((one for one in place.parents if os.path.isdir(one)), None)
    return above is not None and not os.access(above, os.X_OK)


def inside(package: str, folder: str) -> Path | None:
    """A folder of weights in an installed package, found without importing it; None where it is not there."""
    found = importlib.util.find_spec(package)
    places = []
    if found:
        places = [Path(place) / folder for place in (found.submodule_search_locations or ())]
    return next((place for place in places if (place / "config.json").is_file()), None)


def in_cache(name: str) -> bool:
    """Whether weights of that name on the model hub are in the hub's cache on this computer."""
    cache = Path(
        os.environ.get("HF_HUB_CACHE")
        or Path(os.environ.get("HF_HOME") or Path.home() / ".cache/huggingface") / "hub"
    )
    return any((cache / f"models--{name.replace('/', '--')}").glob("snapshots/*/config.json"))


def stamp(folder: str) -> str:
    """A text that changes with the weights in a folder (of those trained here, only with them)."""
    place = weights_folder(folder)
    try:
        file = place / TRAINING
        stat = file.stat()
        return _digest(file, stat.st_mtime_ns, stat.st_size, stat.st_ino)
    except OSError:
        return repr(
            sorted(
                (f.name, f.stat().st_size, f.stat().st_mtime_ns)
                for f in place.glob("*.safetensors")
            )
        )


@lru_cache(maxsize=64)
def _digest(file: Path, *state: int) -> str:
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digest(folder: Path) -> str:
    """A digest of all that the vectors of an encoder's folder depend on: weights, tokenizer and settings. Raises OSError."""
    files = [folder / name for name in ("model.safetensors", "tokenizer.json", "config.json")]
    states = ((file, file.stat()) for file in files)
    return " ".join(
        _digest(file, stat.st_mtime_ns, stat.st_size, stat.st_ino) for file, stat in states
    )


def figures(folder: Path) -> str:
    """What was measured of weights that were trained from shipped questions, in a sentence; empty where nothing was."""
    try:
        report = json.loads((folder / TRAINING).read_text("utf-8"))["report"]
        parts = (
            f"{row['corpus']} {row['reranker-finetuned']:.3f}, late interaction {row['late-interaction']:.3f} ({row['questions']} asked)"
            for row in report
        )
        return f"nDCG@10 on unseen questions: {'; '.join(parts)}"
    except (OSError, ValueError, KeyError, TypeError):
        return ""
