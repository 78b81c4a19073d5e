"""Files of model weights: their location, readability, digests, and records of training."""

from __future__ import annotations

import json
import os
from pathlib import Path

from core.io.carried_weights import file_sha256
from core.io.home import models_folder

TRAINING_FILE = "training.json"  # record of the training of a folder's weights, with measurements


def weights_folder(folder: str) -> Path:
    """Return the path of a file or folder of weights, which need not exist.

    A relative path is resolved in the models folder.
    """
    return models_folder() / Path(folder).expanduser()


def unreadable_file(path: Path) -> Path | None:
    """Return the first unreadable file of some weights.

    It is the path itself, or the first file in it that cannot be read. The result is None if
    everything can be read, or if nothing exists there.
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
    """Return whether a path lies in a folder that the user may not enter.

    It is then unknown whether something exists there.
    """
    nearest_folder = next(filter(os.path.isdir, path.parents), None)
    return nearest_folder is not None and not os.access(nearest_folder, os.X_OK)


def is_in_hub_cache(name: str) -> bool:
    """Return whether weights from the model hub are in its cache on this computer."""
    cache = Path(
        os.environ.get("HF_HUB_CACHE")
        or Path(os.environ.get("HF_HOME") or Path.home() / ".cache/huggingface") / "hub"
    )
    return any((cache / f"models--{name.replace('/', '--')}").glob("snapshots/*/config.json"))


def weights_stamp(folder: str) -> str:
    """Return a text that changes with the weights in a folder.

    For weights with a record of training it is a digest of the record, which stays the same in a
    copy. For other weights it contains the sizes and modification times of the files.
    """
    weights_path = weights_folder(folder)
    try:
        return file_sha256(weights_path / TRAINING_FILE)
    except OSError:
        states = []
        for file in weights_path.glob("*.safetensors"):
            states.append((file.name, file.stat().st_size, file.stat().st_mtime_ns))
        return repr(sorted(states))


def weights_digest(folder: Path) -> str:
    """Return a digest of an encoder's weights, tokenizer and settings. Raises OSError."""
    files = ("model.safetensors", "tokenizer.json", "config.json")
    return " ".join(file_sha256(folder / file) for file in files)


def training_figures(folder: Path) -> str:
    """Return the measurements in a reranker's training record as a sentence; empty without any."""
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
