"""Files of weights: their location, readability, and the records of training."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
from functools import lru_cache
from pathlib import Path

from core.io.home import ROOT, models_folder

# Record of the training of a folder's weights, with measurements.
TRAINING_FILE = "training.json"
SHIPPED_WEIGHTS_FOLDER = ROOT / "data" / "models"  # weights that ship


def weights_folder(folder: str) -> Path:
    """Return the path of a file or folder of weights, which need not exist.

    An absolute path stays the same; other paths are inside the models folder.
    """
    return models_folder() / Path(folder).expanduser()


def unreadable_file(path: Path) -> Path | None:
    """Return the first file of weights that cannot be read: the path itself, or a file in it.

    None if all can be read, or if nothing exists there.
    """
    if not os.path.lexists(path) and not _is_hidden(path):
        return None
    if not os.access(path, os.R_OK | (os.X_OK if os.path.isdir(path) else 0)):
        return path
    if not os.path.isdir(path):
        return None
    files = sorted(entry.path for entry in os.scandir(path) if entry.is_file())
    return next((Path(file) for file in files if not os.access(file, os.R_OK)), None)


def _is_hidden(path: Path) -> bool:
    """Return whether a parent folder of a path may not be entered."""
    nearest_parent = next((one for one in path.parents if os.path.isdir(one)), None)
    return nearest_parent is not None and not os.access(nearest_parent, os.X_OK)


def packaged_folder(package: str, folder: str) -> Path | None:
    """Return a folder of weights in an installed package.

    The package is not imported.

    Parameters
    ----------
    package : name of the package.
    folder : the folder inside it.

    Returns
    -------
    None if the package is not installed or has no such folder with a model.
    """
    spec = importlib.util.find_spec(package)
    folders = []
    if spec:
        folders = [Path(path) / folder for path in (spec.submodule_search_locations or ())]
    return next((path for path in folders if (path / "config.json").is_file()), None)


def is_in_hub_cache(name: str) -> bool:
    """Return whether weights from the model hub are in its cache on this computer."""
    cache = Path(
        os.environ.get("HF_HUB_CACHE")
        or Path(os.environ.get("HF_HOME") or Path.home() / ".cache/huggingface") / "hub"
    )
    return any((cache / f"models--{name.replace('/', '--')}").glob("snapshots/*/config.json"))


def weights_stamp(folder: str) -> str:
    """Return a text that changes with the weights in a folder.

    For weights trained here it changes with nothing else.
    """
    weights_path = weights_folder(folder)
    try:
        file = weights_path / TRAINING_FILE
        stat = file.stat()
        return _digest(file, stat.st_mtime_ns, stat.st_size, stat.st_ino)
    except OSError:
        return repr(
            sorted(
                (f.name, f.stat().st_size, f.stat().st_mtime_ns)
                for f in weights_path.glob("*.safetensors")
            )
        )


@lru_cache(maxsize=64)
def _digest(file: Path, *state: int) -> str:
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def weights_digest(folder: Path) -> str:
    """Return a digest of everything that the vectors of an encoder depend on. Raises OSError.

    This covers weights, tokenizer and settings in its folder.
    """
    files = [folder / name for name in ("model.safetensors", "tokenizer.json", "config.json")]
    states = ((file, file.stat()) for file in files)
    return " ".join(
        _digest(file, stat.st_mtime_ns, stat.st_size, stat.st_ino) for file, stat in states
    )


def training_figures(folder: Path) -> str:
    """Return the measurements of weights trained from shipped questions, as a sentence.

    The text is empty if there are none.
    """
    try:
        report = json.loads((folder / TRAINING_FILE).read_text("utf-8"))["report"]
        parts = (
            f"{row['corpus']} {row['reranker-finetuned']:.3f}, "
            f"late interaction {row['late-interaction']:.3f} ({row['questions']} asked)"
            for row in report
        )
        return f"nDCG@10 on unseen questions: {'; '.join(parts)}"
    except (OSError, ValueError, KeyError, TypeError):
        return ""
