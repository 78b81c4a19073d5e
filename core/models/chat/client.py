"""Base classes of chat clients, with cached replies, time measurement and cancellation.

`ChatClient` is for any model, and `LocalChat` for an engine in this process. Subclasses only send a
request and pass the reply to a `ReplyCollector`.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from core.errors import ModelFailed
from core.models.base import ChatReply, Messages
from core.models.chat.cancellable_work import run_cancellable, run_in_slot
from core.models.chat.reply_cache import ReplyCache
from core.models.chat.reply_collector import ReplyCollector
from core.models.chat.saved_replies import SavedReplies, reply_key
from core.models.chat.token_estimates import estimate_tokens, min_token_count
from core.runtime.account import charge
from core.runtime.meter import count_time, record_reply
from core.runtime.slots import Slots
from core.runtime.turn import pass_turn_at_once
from core.types import Usage
from core.watch import NO_WATCH, Watch

# Token budget for reasoning of models whose row in models.toml gives none.
DEFAULT_REASONING_TOKENS = 4096
TEMPLATE_MARGIN_TOKENS = 8  # reserve for the chat template, whose tokens are not counted exactly
T = TypeVar("T")


@dataclass(frozen=True)
class ChatRequest:
    """A request to a model, with everything that its reply depends on.

    Parameters
    ----------
    messages : the prompt, as dicts with role and content.
    schema : JSON schema that the text must satisfy; None for free text.
    max_tokens : token limit of the reply, without the reasoning.
    seed : seed of the sampling.
    temperature : sampling temperature; 0 for greedy decoding.
    reasoning_tokens : token budget for reasoning, in addition to `max_tokens`; 0 for none.
    """

    messages: tuple[dict[str, str], ...]
    schema: dict[str, Any] | None
    max_tokens: int
    seed: int
    temperature: float
    reasoning_tokens: int = 0

    @property
    def token_limit(self) -> int:
        """Token limit of reasoning and reply together."""
        return self.max_tokens + self.reasoning_tokens

    def key(self, weights: str = "") -> str:
        """Return the cache key of the reply; `weights` identifies the model's weights."""
        return reply_key(
            weights, self.messages, self.schema, self.max_tokens, self.seed, self.temperature
        )

    def body(self) -> dict[str, Any]:
        """Return the body of a streamed OpenAI request, without the schema.

        The caller adds the schema, for an OpenAI server as `response_format`.
        """
        return {
            "messages": list(self.messages),
            "max_tokens": self.token_limit,
            "seed": self.seed,
            "temperature": self.temperature,
            "stream": True,
            "stream_options": {"include_usage": True},
        }

    def response_format(self) -> dict[str, Any]:
        """Return the `response_format` of an OpenAI request, which enforces the schema."""
        return {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": self.schema},
        }


class ChatClient(ABC):
    """A chat model; subclasses implement `_write_reply`."""

    streams = True  # true if replies arrive in pieces
    is_reasoning_model = False  # true once a reply contained reasoning
    # True if the last reply began inside its reasoning, without an opening mark. The next one is
    # expected to do the same.
    starts_in_reasoning = False
    collector_class: type[ReplyCollector] = ReplyCollector  # class that collects a reply's pieces
    # True if the same request always gets the same reply. A reply that ends at its token limit is
    # then saved too, since a second request would end in the same way.
    is_deterministic = False

    def __init__(self, name: str, context: int, reasoning_tokens: int = 0):
        """Set the name, the context window and the token budget for reasoning.

        Without a budget, reasoning is detected in the model's replies.

        Parameters
        ----------
        name : name of the model.
        context : size of the context window in tokens.
        reasoning_tokens : token budget for reasoning, if the model is known to reason; else 0.
        """
        self.name = name
        self.context = context
        self.is_reasoning_model = bool(reasoning_tokens)
        self.reasoning_tokens = reasoning_tokens or DEFAULT_REASONING_TOKENS
        self._replies = ReplyCache()
        self._weights = ""  # identifies the weights in keys of saved replies

    def save_replies_to(self, store: SavedReplies, weights: str) -> None:
        """Save replies on disk, keyed by the model's weights.

        Parameters
        ----------
        store : the store on disk.
        weights : text that identifies the weights; other weights get other replies.
        """
        self._replies = ReplyCache(store=store)
        self._weights = weights

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
        """Return the model's reply, or a cached one to the same request.

        A cached reply is returned without waiting for other requests.

        Parameters
        ----------
        messages : the prompt, as dicts with role and content.
        schema : JSON schema that the text must satisfy; None for free text.
        max_tokens : token limit of the reply, without the reasoning.
        seed : seed of the sampling.
        temperature : sampling temperature; 0 for greedy decoding.
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
        find_cached = partial(
            self._replies.find,
            key,
            on_text=on_text,
            schema=schema,
            allow_cut=self.is_deterministic,
            min_tokens=min_token_count(messages),
        )
        watch.check()

        def find_or_request() -> ChatReply:
            # The same request may have been answered while this one wait_seconds for its turn.
            cached_reply = find_cached()
            if cached_reply is not None:
                return cached_reply
            return self._replies.save(
                key, self._request_reply(request, on_text, watch), self.is_deterministic
            )

        reply = find_cached() or self._run_cancellable(find_or_request, watch)
        # A reply that is not final is requested again the next time.
        is_final = reply.is_usable or (reply.is_cut and self.is_deterministic)
        record_reply(reply.thought, is_final)
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
        """Return the reply, if necessary from a second request.

        The second request has a token budget for reasoning. It follows if reasoning used up the
        tokens of the first. Later requests have the budget from the start.
        """
        if self.is_reasoning_model:
            return self._request_once(self._with_reasoning_budget(request), on_text, watch)
        reply = self._request_once(request, on_text, watch)
        self.is_reasoning_model = bool(reply.thought)
        if not reply.thought or reply.finish not in ("thinking", "length"):
            return reply
        reasoning_request = self._with_reasoning_budget(request)
        if not reasoning_request.reasoning_tokens:
            return reply
        try:
            # Text of the first reply was shown already, so that of the second is not.
            second_reply = self._request_once(
                reasoning_request, None if reply.text else on_text, watch
            )
        except ModelFailed:  # for example if the server's context is smaller than assumed
            self.is_reasoning_model = False
            return reply
        # Tokens are those of the second reply alone; `charge` has counted both requests.
        return replace(second_reply, seconds=second_reply.seconds + reply.seconds)

    def _with_reasoning_budget(self, request: ChatRequest) -> ChatRequest:
        """Add the budget for reasoning to a request.

        The free tokens of the context limit it.
        """
        free_tokens = (
            self.context
            - self.count_tokens(request.messages)
            - request.max_tokens
            - TEMPLATE_MARGIN_TOKENS
        )
        return replace(request, reasoning_tokens=max(0, min(self.reasoning_tokens, free_tokens)))

    def _request_once(
        self, request: ChatRequest, on_text: Callable[[str], None] | None, watch: Watch = NO_WATCH
    ) -> ChatReply:
        """Send one request, and return its reply with its duration."""
        self._prepare()
        # With a budget for reasoning, the answer needs a limit of its own.
        max_answer_tokens = request.max_tokens if request.reasoning_tokens else None
        on_stream = on_text if self.streams else None
        collector = self.collector_class(
            request.token_limit,
            max_answer_tokens,
            request.schema,
            on_stream,
            self.starts_in_reasoning,
        )
        start = time.perf_counter()
        with count_time("model"):
            self._write_reply(request, collector, watch)
        reply_seconds = time.perf_counter() - start - collector.wait_seconds
        reply = replace(collector.make_reply(reply_seconds), wait_seconds=collector.wait_seconds)
        charge(self.name, Usage(1, reply.tokens_in, reply.tokens_out))
        if collector.starts_in_reasoning is not None:
            self.starts_in_reasoning = collector.starts_in_reasoning
        if on_text and reply.text and not self.streams:
            on_text(reply.text)
        return reply

    def _run_cancellable(self, work: Callable[[], T], watch: Watch = NO_WATCH) -> T:
        """Return the result of `work`, and let other jobs of this process run meanwhile.

        Raises what `watch` raises, before or during the work.
        """
        watch.check()
        with pass_turn_at_once():
            return run_cancellable(work, watch)

    def _prepare(self) -> None:
        """Make the model ready before its reply is timed.

        Raises ModelUnavailable, ModelFailed.
        """
        return

    @property
    def max_concurrent(self) -> int:
        """Largest number of concurrent requests."""
        return 1

    @abstractmethod
    def _write_reply(
        self, request: ChatRequest, collector: ReplyCollector, watch: Watch = NO_WATCH
    ) -> None:
        """Request a reply, and pass its pieces, token counts and finish reason to `collector`.

        Raises ModelFailed, and what `watch` raises.
        """


class LocalChat(ChatClient):
    """A chat client of an engine in this process.

    The engine is loaded at the first use, and answers one request at a time. Subclasses implement
    `_start`.
    """

    is_deterministic = True

    def __init__(self, name: str, context: int):
        super().__init__(name, context)
        self._engine: Any = None
        self._load_lock = threading.Lock()
        self._slots = Slots()

    @property
    def loaded(self) -> bool:
        return self._engine is not None

    def load(self) -> Any:
        """Return the engine, loading it if necessary. Raises ModelUnavailable, ModelFailed."""
        engine = self._engine
        if engine is None:
            with count_time("preparation", f"Loading {self.name}"), self._load_lock:
                engine = self._engine = self._engine or self._start()
        return engine

    def close(self) -> None:
        """Free the engine after the running requests have ended.

        The next use loads it again.
        """
        with self._slots.hold_all(), self._load_lock:
            self._engine = None

    def _prepare(self) -> None:
        self.load()

    def _run_cancellable(self, work: Callable[[], T], watch: Watch = NO_WATCH) -> T:
        return run_in_slot(self._slots, work, watch)

    @abstractmethod
    def _start(self) -> Any:
        """Load the model into a new engine. Raises ModelUnavailable, ModelFailed."""
