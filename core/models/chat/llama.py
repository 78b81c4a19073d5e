"""A language model inside this process: a GGUF file run by llama.cpp through xllamacpp."""

from __future__ import annotations

import importlib.util
import json
import secrets
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.errors import BadInput, ModelFailed, ModelUnavailable, shorten
from core.models.base import Messages, Reply
from core.models.chat.grammar import choice_grammar
from core.models.chat.repeats import ended, guarded
from core.models.chat.replies import Replies
from core.models.chat.turns import Turn, in_turn
from core.models.threads import threads
from core.runtime.meter import Advance, spent

BATCH = 128  # prompt tokens between two chances to stop


def open_engine(path: Path, name: str, context: int, batch: int, *, key: str = "", embedding: bool = False) -> Any:
    """The engine over the GGUF file at `path`, for chat, or with `embedding` for mean-pooled vectors only.

    It listens on a loopback port that needs `key` (a fresh one where none is given). Raises ModelUnavailable, ModelFailed.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        raise ModelUnavailable(f"{name} needs the llama.cpp engine; get it with: pip install xllamacpp")
    if not path.exists():
        raise ModelUnavailable(f"{name} is not here ({path}); fetch it on the Models page, or with: make models")
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx, params.n_parallel = context, 1
    params.n_batch = params.n_ubatch = batch
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads, cpu.poll = threads(), 0  # waiting threads that spin slow everything down on shared cores
    params.cache_prompt, params.cache_ram_mib = False, 0
    params.verbosity, params.warmup, params.fit_params = 0, False, False
    params.ui, params.endpoint_slots, params.cors_origins = False, False, ""
    params.hostnames, params.port, params.n_threads_http, params.api_keys = ["127.0.0.1"], 0, 4, [key or secrets.token_urlsafe(24)]
    if embedding:
        params.embedding, params.pooling_type = True, xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    try:
        return xllamacpp.Server(params)
    except (RuntimeError, ValueError) as error:
        raise ModelFailed(f"{name} could not be loaded from {path}: {shorten(str(error), 200)}") from error


class LlamaChat:
    """A Chat over the GGUF file at `path`. Loads when first used; one request at a time, others wait for their turn.

    Greedy and without reuse of earlier prompts, so that the same prompt gives the same reply whatever was asked before.
    The engine listens on a loopback port that needs a key (`url`, `key`): an OpenAI-compatible server for whoever has it.
    """

    def __init__(self, path: Path, name: str, context: int = 4096):
        self.path, self.name, self.context = Path(path), name, context
        self.key = secrets.token_urlsafe(24)
        self._server: Any = None
        self._loading, self._running, self._replies = threading.Lock(), Turn(), Replies()

    @property
    def loaded(self) -> bool:
        return self._server is not None

    @property
    def url(self) -> str:
        """The base address of the OpenAI-compatible server, ending in /v1. Loads the model."""
        return f"{self._engine().listening_address}/v1"

    def load(self) -> None:
        """Read the model now. Raises ModelUnavailable, ModelFailed."""
        self._engine()

    def forget(self) -> None:
        """Drop all remembered replies."""
        self._replies.forget()

    def close(self) -> None:
        """Free the memory once the request that runs now has ended; the next use loads anew."""
        with self._running, self._loading:
            self._server = None

    def reply(
        self,
        messages: Messages,
        *,
        schema: dict[str, Any] | None = None,
        max_tokens: int = 256,
        seed: int = 0,
        temperature: float = 0.0,
        on_text: Callable[[str], None] | None = None,
        check: Callable[[], None] | None = None,
    ) -> Reply:
        """The model's reply; see `core.models.base.Chat`. Raises BadInput where the prompt does not fit the context."""
        key = Replies.key(messages, schema, max_tokens, seed, temperature)
        request = {
            "messages": [dict(m) for m in messages],
            "max_tokens": max_tokens,
            "seed": seed,
            "temperature": temperature,
            "stream": True,
            "stream_options": {"include_usage": True},
            "return_progress": True,
            "cache_prompt": False,
        }
        grammar = choice_grammar(schema)
        if grammar is not None:
            request["grammar"] = grammar
        elif schema is not None:
            request["response_format"] = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": schema}}

        def asked() -> Reply:
            found = self._replies.find(key, on_text)
            return self._replies.keep(key, self._stream(request, on_text, check, schema)) if found is None else found

        return in_turn(self._running, asked, check)

    def count_tokens(self, messages: Messages) -> int:
        """Tokens of the messages in the model's own chat template, exactly. Loads the model."""
        prompt = self._post("/apply-template", {"messages": [dict(m) for m in messages]})["prompt"]
        return len(self._post("/tokenize", {"content": prompt, "add_special": True, "parse_special": True})["tokens"])

    def _stream(
        self, request: dict[str, Any], on_text: Callable[[str], None] | None, check: Callable[[], None] | None, schema: Any
    ) -> Reply:
        """Run one request, piece by piece; a truthy value from the callback makes the engine stop it."""
        engine, start = self._engine(), time.perf_counter()
        pieces: list[str] = []
        told: dict[str, Any] = {"finish": "stop", "usage": {}, "error": None, "raised": None, "prompt": {}}
        repeats, heard = guarded(on_text, schema)
        reading: list[Advance] = []

        def piece(chunk: dict[str, Any]) -> bool:
            try:
                if check:
                    check()
                told["error"] = chunk.get("error") or told["error"]
                told["usage"] = chunk.get("usage") or told["usage"]
                told["prompt"] = prompt = chunk.get("prompt_progress") or told["prompt"]
                if "prompt_progress" in chunk:
                    reading[:] = reading or [Advance("Reading the prompt", prompt["total"])]
                    reading[0](prompt["processed"])
                for choice in chunk.get("choices") or ():
                    told["finish"] = choice.get("finish_reason") or told["finish"]
                    text = (choice.get("delta") or {}).get("content")
                    if text:
                        pieces.append(text)
                        if heard(text):
                            return True
            except BaseException as error:  # the engine would swallow it: stop the request, then raise it below
                told["raised"] = error
                return True
            return False

        try:
            with spent("model"):
                answer = engine.handle_chat_completions(request, piece)
        except RuntimeError as error:
            raise ModelFailed(f"{self.name} failed: {shorten(str(error), 200)}") from error
        if told["raised"] is not None:
            raise told["raised"]
        refused = told["error"] or (answer.get("error") if isinstance(answer, dict) else None)
        if refused:
            self._refuse(refused)
        usage = told["usage"]
        return ended(
            repeats,
            "".join(pieces),
            usage.get("prompt_tokens") or told["prompt"].get("total", 0),
            usage.get("completion_tokens") or len(pieces),
            told["finish"],
            time.perf_counter() - start,
        )

    def _refuse(self, error: dict[str, Any]) -> None:
        """Raise what the engine said."""
        if error.get("type") == "exceed_context_size_error":
            raise BadInput(
                f"The prompt has {error.get('n_prompt_tokens')} tokens, but {self.name} reads at most {self.context}: show it fewer paths."
            )
        raise ModelFailed(f"{self.name} failed: {shorten(str(error.get('message', error)), 200)}")

    def _engine(self) -> Any:
        """The engine, loaded when first asked for."""
        if self._server is None:
            with spent("preparation", f"Loading {self.name}"), self._loading:
                if self._server is None:
                    self._server = self._start()
        return self._server

    def _start(self) -> Any:
        return open_engine(self.path, self.name, self.context, BATCH, key=self.key)

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """What the engine's own port answers."""
        request = urllib.request.Request(
            self._engine().listening_address + path,
            json.dumps(body).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"},
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=30) as answer:
                return json.load(answer)
        except OSError as error:
            raise ModelFailed(f"{self.name} could not count tokens: {error}.") from error
