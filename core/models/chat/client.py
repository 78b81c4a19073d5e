"""Base classes of chat clients.

They remember replies, stop replies that repeat themselves, measure time, and let a waiting request
be cancelled.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from core.errors import ModelFailed
from core.models.base import ChatReply, Messages
from core.models.chat.cancellable_work import run_cancellable, run_in_slot
from core.models.chat.reply_cache import ReplyCache
from core.models.chat.reply_collector import ReplyCollector
from core.models.chat.saved_replies import SavedReplies, reply_key
from core.models.chat.token_estimates import estimate_tokens, fewest_tokens
from core.runtime.account import charge
from core.runtime.meter import count_time, record_reply
from core.runtime.slots import Slots
from core.runtime.turn import pass_turn_at_once
from core.types import Usage
from core.watch import NO_WATCH, Watch

# Token budget for reasoning, in addition to that of the reply, for models that reason and whose
# row in models.toml gives no number.
DEFAULT_THOUGHT_TOKENS = 4096
TEMPLATE_MARGIN_TOKENS = 8  # margin in tokens for the chat template, which is not counted exactly
T = TypeVar("T")


@dataclass(frozen=True)
class ChatRequest:
    """A request to a model, with everything that its reply depends on.

    For a model that reasons, `thoughts` tokens are added to `max_tokens`.
    """

    messages: tuple[dict[str, str], ...]
    schema: dict[str, Any] | None
    max_tokens: int
    seed: int
    temperature: float
    thoughts: int = 0

    @property
    def room(self) -> int:
        """Token limit of reasoning and reply together."""
        return self.max_tokens + self.thoughts

    def key(self, weights: str = "") -> str:
        """Return the key of its reply by a model with these weights."""
        return reply_key(
            weights, self.messages, self.schema, self.max_tokens, self.seed, self.temperature
        )

    def body(self) -> dict[str, Any]:
        """Return the streamed request of the OpenAI protocol, with usage but without the schema.

        The schema is added from `response_format`.
        """
        return {
            "messages": list(self.messages),
            "max_tokens": self.room,
            "seed": self.seed,
            "temperature": self.temperature,
            "stream": True,
            "stream_options": {"include_usage": True},
        }

    def response_format(self) -> dict[str, Any]:
        """Return the part of an OpenAI request that constrains the reply to the schema."""
        return {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": self.schema},
        }


class ChatClient(ABC):
    """A chat model; subclasses implement `_write` for a single reply."""

    streams = True  # true if replies arrive in pieces
    thinks = False  # true if it was seen to reason before it replies
    # True if its last reply began inside its reasoning, without an opening tag.
    begun = False
    gathers: type[ReplyCollector] = ReplyCollector  # collects a reply while it is written
    # True if the same request always gets the same reply. Asking again is then of no use for a
    # reply that was cut off.
    steady = False

    def __init__(self, name: str, context: int, thoughts: int = 0):
        """Set the name, the context window and the token budget for reasoning.

        Without a budget, reasoning is detected in the replies of the model.

        Parameters
        ----------
        name : name of the model.
        context : size of the context window in tokens.
        thoughts : token budget for the reasoning of a model that is known to reason; 0 for others.
        """
        self.name, self.context, self._replies, self._weights = name, context, ReplyCache(), ""
        self.thinks, self.thoughts = bool(thoughts), thoughts or DEFAULT_THOUGHT_TOKENS

    def keep_in(self, store: SavedReplies, weights: str) -> None:
        """Save replies on disk, under the weights that they come from.

        Parameters
        ----------
        store : the store on disk.
        weights : text that identifies the weights; other weights get other replies.
        """
        self._replies, self._weights = ReplyCache(on_disk=store), weights

    def reply(
        self,
        messages: Messages,
        *,
        schema: dict[str, Any] | None = None,
        max_tokens: int = 256,
        seed: int = 0,
        temperature: float = 0.0,
        on_text: Callable[[str], None] | None = None,
        watch: Watch = NO_WATCH,
    ) -> ChatReply:
        """Return the model's reply; see `core.models.base.Chat`.

        A remembered reply to the same request is returned at once, without waiting for other
        requests.

        Parameters
        ----------
        messages : the prompt, as dicts with role and content.
        schema : JSON schema that the text must satisfy; None for free text.
        max_tokens : token limit of the reply, without the reasoning.
        seed : seed of the sampling.
        temperature : sampling temperature; 0 takes the likeliest token.
        on_text : called with new pieces of the text as they arrive.
        watch : checked before the request and while it waits and runs; may raise RunCancelled.

        Returns
        -------
        The reply, with its cost and how it ended.

        Raises
        ------
        ModelFailed, ModelUnavailable : the model does not reply, or is not installed.
        """
        request = ChatRequest(
            tuple(dict(message) for message in messages), schema, max_tokens, seed, temperature
        )
        key = request.key(self._weights)
        lookup_arguments = (on_text, schema, self.steady, fewest_tokens(messages))
        watch.check()

        def work() -> ChatReply:
            cached_reply = self._replies.find(key, *lookup_arguments)
            if cached_reply is None:
                return self._replies.keep(
                    key, self._request_reply(request, on_text, watch), self.steady
                )
            return cached_reply

        reply = self._replies.find(key, *lookup_arguments) or self._run_waiting(work, watch)
        record_reply(reply.thought, reply.usable or (reply.cut and self.steady))
        return reply

    def count_tokens(self, messages: Messages) -> int:
        """Estimate the number of tokens of the messages.

        Parameters
        ----------
        messages : the prompt, as dicts with role and content.

        Returns
        -------
        An estimate from the length of the texts.
        """
        return estimate_tokens(messages)

    def forget(self) -> None:
        """Drop the replies remembered in memory."""
        self._replies.forget()

    def _request_reply(
        self, request: ChatRequest, on_text: Callable[[str], None] | None, watch: Watch = NO_WATCH
    ) -> ChatReply:
        """Return the reply, asking again with room for reasoning if the reasoning took too much.

        Later requests include that room from the start.
        """
        if self.thinks:
            return self._request_once(self._with_thoughts(request), on_text, watch)
        reply = self._request_once(request, on_text, watch)
        self.thinks = bool(reply.thought)
        if not reply.thought or reply.finish not in ("thinking", "length"):
            return reply
        wider = self._with_thoughts(request)
        if not wider.thoughts:
            return reply
        try:
            second_reply = self._request_once(wider, None if reply.text else on_text, watch)
        except ModelFailed:  # for example if the server's context is smaller than assumed
            self.thinks = False
            return reply
        return replace(second_reply, seconds=second_reply.seconds + reply.seconds)

    def _with_thoughts(self, request: ChatRequest) -> ChatRequest:
        """Add the budget for reasoning to a request, as far as the context has room."""
        free_tokens = (
            self.context
            - self.count_tokens(request.messages)
            - request.max_tokens
            - TEMPLATE_MARGIN_TOKENS
        )
        return replace(request, thoughts=max(0, min(self.thoughts, free_tokens)))

    def _request_once(
        self, request: ChatRequest, on_text: Callable[[str], None] | None, watch: Watch = NO_WATCH
    ) -> ChatReply:
        self._ready()
        max_answer_tokens = request.max_tokens if request.thoughts else None
        on_stream = on_text if self.streams else None
        writing = self.gathers(
            request.room, max_answer_tokens, request.schema, on_stream, self.begun
        )
        start = time.perf_counter()
        with count_time("model"):
            self._write(request, writing, watch)
        reply = replace(
            writing.ended(time.perf_counter() - start - writing.waited), waited=writing.waited
        )
        charge(self.name, Usage(1, reply.tokens_in, reply.tokens_out))
        self.begun = self.begun if writing.begun is None else writing.begun
        if on_text and reply.text and not self.streams:
            on_text(reply.text)
        return reply

    def _run_waiting(self, work: Callable[[], T], watch: Watch = NO_WATCH) -> T:
        """Return the result of `work`, letting other work run meanwhile.

        `watch` may raise before and during it.
        """
        watch.check()
        with pass_turn_at_once():
            return run_cancellable(work, watch)

    def _ready(self) -> None:
        """Prepare what does not count as time of a reply. Raises ModelUnavailable, ModelFailed."""
        return

    @property
    def at_once(self) -> int:
        """Number of pieces of work that may ask the model at a time."""
        return 1

    @abstractmethod
    def _write(
        self, request: ChatRequest, writing: ReplyCollector, watch: Watch = NO_WATCH
    ) -> None:
        """Pass the reply to `writing`, with its tokens and how it ended.

        Raises ModelFailed, and what `watch` raises.
        """


class LocalChat(ChatClient):
    """A chat client over an engine in this process.

    The engine is made by `_start` at the first use, and answers one request at a time.
    """

    steady = True

    def __init__(self, name: str, context: int):
        super().__init__(name, context)
        self._engine: Any = None
        self._loading, self._running = threading.Lock(), Slots()

    @property
    def loaded(self) -> bool:
        return self._engine is not None

    def load(self) -> Any:
        """Return the engine, loading it if necessary. Raises ModelUnavailable, ModelFailed."""
        engine = self._engine
        if engine is None:
            with count_time("preparation", f"Loading {self.name}"), self._loading:
                engine = self._engine = self._engine or self._start()
        return engine

    def close(self) -> None:
        """Free the memory after the running requests have ended; the next use loads again."""
        with self._running.emptied(), self._loading:
            self._engine = None

    def _ready(self) -> None:
        self.load()

    def _run_waiting(self, work: Callable[[], T], watch: Watch = NO_WATCH) -> T:
        return run_in_slot(self._running, work, watch)

    @abstractmethod
    def _start(self) -> Any:
        """Make a new engine."""
