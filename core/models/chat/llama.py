"""A language model in this process: a GGUF file that llama.cpp runs, through xllamacpp."""

from __future__ import annotations

import importlib.util
import json
import secrets
from pathlib import Path
from typing import Any

from core.errors import (
    BadInput,
    ModelFailed,
    ModelUnavailable,
    library_message,
    shorten,
    with_command,
)
from core.models.base import Messages
from core.models.chat.client import ChatRequest, LocalChat
from core.models.chat.grammar import choice_grammar
from core.models.chat.reply_collector import ReplyCollector
from core.models.threads import thread_count
from core.models.weights import unreadable_file
from core.runtime.meter import ProgressEstimate
from core.watch import NO_WATCH, Watch

PROMPT_BATCH_TOKENS = 128  # prompt tokens between two checks for cancellation


def open_engine(
    path: Path,
    name: str,
    request_context_tokens: int,
    batch_tokens: int,
    *,
    key: str = "",
    embedding: bool = False,
    max_requests: int = 1,
    cache_prompt: bool = False,
) -> Any:
    """Load a GGUF file into a new engine.

    The engine also listens on a loopback port.

    Parameters
    ----------
    path : the file.
    name : the model's name, for messages.
    request_context_tokens : context size of each concurrent request.
    batch_tokens : prompt tokens in a batch.
    key : key that the port requires; a random one if empty.
    embedding : if true, the engine serves mean-pooled vectors only; else chat.
    max_requests : largest number of concurrent requests.
    cache_prompt : if true, the beginning that a prompt shares with an earlier one is computed once.

    Returns
    -------
    A server of xllamacpp.

    Raises
    ------
    ModelUnavailable : the library or the file is missing.
    ModelFailed : the file cannot be loaded.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        raise ModelUnavailable(library_message(name, "xllamacpp"))
    if file := unreadable_file(path):
        raise ModelUnavailable(f"{name} cannot be loaded: {file} cannot be read by this user.")
    if not path.exists():
        raise ModelUnavailable(
            with_command(
                f"{name} is not here ({path}). Fetch it on the Models page.", "make models"
            )
        )
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = request_context_tokens * max_requests
    params.n_parallel = max_requests
    params.n_batch = params.n_ubatch = batch_tokens
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads = thread_count()
        cpu.poll = 0  # waiting threads must not spin: on shared cores that slows everything down
    params.cache_prompt = cache_prompt
    params.cache_ram_mib = params.verbosity = 0
    params.warmup = params.fit_params = params.ui = params.endpoint_slots = False
    params.cors_origins = ""
    params.hostnames = ["127.0.0.1"]
    params.port = 0  # any free port
    params.n_threads_http = 4
    params.api_keys = [key or secrets.token_urlsafe(24)]
    if embedding:
        params.embedding = True
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    try:
        return xllamacpp.Server(params)
    except (RuntimeError, ValueError) as error:
        raise ModelFailed(
            f"{name} could not be loaded from {path}: {shorten(str(error), 200)}"
        ) from error


class LlamaChat(LocalChat):
    """A chat model from a GGUF file.

    It does not reuse computations of earlier prompts, so the same request always gets the same
    reply. The engine is also an OpenAI-compatible server on a loopback port (`url`), for programs
    that have its `key`.

    Parameters
    ----------
    path : the GGUF file.
    name : name of the model.
    context : size of the context window in tokens.

    Raises
    ------
    BadInput : by `reply`, if the prompt does not fit the context.
    """

    # True if the beginning that a prompt shares with an earlier one is computed once. The engine
    # and each request get this value.
    has_prompt_cache = False

    def __init__(self, path: Path, name: str, context: int = 4096):
        super().__init__(name, context)
        self.path = Path(path)
        self.key = secrets.token_urlsafe(24)

    @property
    def url(self) -> str:
        """Base address of the OpenAI-compatible server, ending in /v1. Loads the model."""
        return f"{self.load().listening_address}/v1"

    def count_tokens(self, messages: Messages) -> int:
        """Return the exact number of tokens of the messages in the model's chat template.

        Loads the model.
        """
        prompt = self._post("/apply-template", {"messages": [dict(m) for m in messages]})["prompt"]
        options = {"content": prompt, "add_special": True, "parse_special": True}
        return len(self._post("/tokenize", options)["tokens"])

    def _write_reply(
        self, request: ChatRequest, collector: ReplyCollector, watch: Watch = NO_WATCH
    ) -> None:
        body = {**request.body(), "return_progress": True, "cache_prompt": self.has_prompt_cache}
        grammar = choice_grammar(request.schema)
        if grammar is not None:
            body["grammar"] = grammar
        elif request.schema is not None:
            body["response_format"] = request.response_format()
        callback = _ChunkCallback(collector, watch)
        try:
            answer = self.load().handle_chat_completions(body, callback)
        except RuntimeError as error:
            raise ModelFailed(f"{self.name} failed: {shorten(str(error), 200)}") from error
        if callback.callback_error is not None:
            raise callback.callback_error
        failure = callback.error or (answer.get("error") if isinstance(answer, dict) else None)
        if failure:
            self._raise_error(failure)
        usage = callback.usage
        collector.tokens_in = usage.get("prompt_tokens") or callback.prompt_progress.get("total", 0)
        collector.tokens_out = usage.get("completion_tokens") or len(collector.pieces)

    def _raise_error(self, error: dict[str, Any]) -> None:
        """Raise the engine's error, an object with its type and message."""
        if error.get("type") == "exceed_context_size_error":
            raise BadInput(
                f"The prompt has {error.get('n_prompt_tokens')} tokens, but {self.name} reads at "
                f"most {self.context}: show it fewer paths."
            )
        raise ModelFailed(f"{self.name} failed: {shorten(str(error.get('message', error)), 200)}")

    def _start(self) -> Any:
        options: dict[str, Any] = {"key": self.key, "cache_prompt": self.has_prompt_cache}
        return open_engine(self.path, self.name, self.context, PROMPT_BATCH_TOKENS, **options)

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the answer of the engine's port. Raises ModelFailed."""
        import urllib.request  # imported late, since it loads ssl and more

        request = urllib.request.Request(
            self.load().listening_address + path,
            json.dumps(body).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"},
        )
        # Without a proxy, as the port is on this computer.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=30) as answer:
                return json.load(answer)
        except OSError as error:
            raise ModelFailed(f"{self.name} could not count tokens: {error}.") from error


class _ChunkCallback:
    """Callback of the engine for each chunk; a true result makes the engine stop.

    An error of the callback itself is recorded in `callback_error`, as the engine would discard it.
    """

    def __init__(self, collector: ReplyCollector, watch: Watch = NO_WATCH):
        self._collector = collector
        self._watch = watch
        self._prompt_estimate: ProgressEstimate | None = None
        self.usage: dict[str, Any] = {}
        self.prompt_progress: dict[str, Any] = {}  # in tokens
        self.error: dict[str, Any] | None = None  # reported by the engine
        self.callback_error: BaseException | None = None  # raised by this callback

    def __call__(self, chunk: dict[str, Any]) -> bool:
        try:
            return self._read_chunk(chunk)
        except BaseException as error:
            self.callback_error = error
            return True

    def _read_chunk(self, chunk: dict[str, Any]) -> bool:
        """Process a chunk; return whether the reply is to be stopped."""
        self._watch.check()
        self.error = chunk.get("error") or self.error
        self.usage = chunk.get("usage") or self.usage
        if "prompt_progress" in chunk:
            progress = self.prompt_progress = chunk["prompt_progress"] or self.prompt_progress
            if self._prompt_estimate is None:
                self._prompt_estimate = ProgressEstimate("Reading the prompt", progress["total"])
            self._prompt_estimate(progress["processed"])
        for choice in chunk.get("choices") or ():
            self._collector.finish = choice.get("finish_reason") or self._collector.finish
            delta = choice.get("delta") or {}
            text = delta.get("content")
            thought = delta.get("reasoning_content") or ""
            stop = bool(thought) and self._collector.add_thought(thought)
            if (text and self._collector.add(text)) or stop:
                return True
        return False
