"""What chat clients share: replies remembered, stopped where they repeat themselves, timed, and waited for with patience."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from core.errors import ModelFailed
from core.models.base import Messages, Reply
from core.models.chat.remembered import Replies
from core.models.chat.replies import estimate_tokens, fewest_tokens
from core.models.chat.saved_replies import SavedReplies, reply_key
from core.models.chat.turns import in_turn, patiently
from core.models.chat.writing import Writing
from core.runtime.account import charge
from core.runtime.meter import replied, spent
from core.runtime.places import Places
from core.runtime.turn import away
from core.types import Usage
from core.watch import NO_WATCH, Watch

THOUGHTS = 4096  # tokens that a model which thinks may use for it, beside those of the reply, where its row does not say how many
SPARE = 8  # tokens that a chat template may need more than was counted
T = TypeVar("T")


@dataclass(frozen=True)
class ChatRequest:
    """What a model is asked: everything that its reply depends on. Of a model that thinks, `thoughts` tokens come beside `max_tokens`."""

    messages: tuple[dict[str, str], ...]
    schema: dict[str, Any] | None
    max_tokens: int
    seed: int
    temperature: float
    thoughts: int = 0

    @property
    def room(self) -> int:
        """Tokens of thought and reply together."""
        return self.max_tokens + self.thoughts

    def key(self, weights: str = "") -> str:
        """What tells its reply, by a model of these weights, from any other."""
        return reply_key(
            weights, self.messages, self.schema, self.max_tokens, self.seed, self.temperature
        )

    def body(self) -> dict[str, Any]:
        """The request of the OpenAI protocol, streamed and with usage; the schema is left to `response_format`."""
        return {
            "messages": list(self.messages),
            "max_tokens": self.room,
            "seed": self.seed,
            "temperature": self.temperature,
            "stream": True,
            "stream_options": {"include_usage": True},
        }

    def response_format(self) -> dict[str, Any]:
        """The part of a request of the OpenAI protocol that holds a reply to the schema."""
        return {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": self.schema},
        }


class ChatClient(ABC):
    """A `Chat` that says in `_write` how one reply comes about; all else is here."""

    streams = True  # whether replies come piece by piece
    thinks = False  # whether it was seen to think before it replies
    begun = False  # whether its last reply began inside a thought, with no tag that opens it
    gathers: type[Writing] = Writing  # what gathers a reply while it is written
    steady = False  # whether it always gives the same reply to the same question, so that one which was cut would be cut again

    def __init__(self, name: str, context: int, thoughts: int = 0):
        """`thoughts` is the budget of a model that is known to think; of others it is seen whether they do."""
        self.name, self.context, self._replies, self._weights = name, context, Replies(), ""
        self.thinks, self.thoughts = bool(thoughts), thoughts or THOUGHTS

    def keep_in(self, saved: SavedReplies, weights: str) -> None:
        """Have replies outlive this process, under the weights that they are of."""
        self._replies, self._weights = Replies(on_disk=saved), weights

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
    ) -> Reply:
        """The model's reply, remembered for who asks the same again, who waits for nobody; see `core.models.base.Chat`."""
        request = ChatRequest(
            tuple(dict(message) for message in messages), schema, max_tokens, seed, temperature
        )
        key, how = (
            request.key(self._weights),
            (on_text, schema, self.steady, fewest_tokens(messages)),
        )
        watch.check()

        def work() -> Reply:
            found = self._replies.find(key, *how)
            if found is None:
                return self._replies.keep(key, self._written(request, on_text, watch), self.steady)
            return found

        reply = self._replies.find(key, *how) or self._waited_for(work, watch)
        replied(reply.thought, reply.usable or (reply.cut and self.steady))
        return reply

    def count_tokens(self, messages: Messages) -> int:
        """Tokens of the messages, as an estimate."""
        return estimate_tokens(messages)

    def forget(self) -> None:
        """Drop the replies that are remembered in memory."""
        self._replies.forget()

    def _written(
        self, request: ChatRequest, on_text: Callable[[str], None] | None, watch: Watch = NO_WATCH
    ) -> Reply:
        """The reply, with room for thoughts from the first reply on whose thought left too little for the rest."""
        if self.thinks:
            return self._once(self._with_thoughts(request), on_text, watch)
        reply = self._once(request, on_text, watch)
        self.thinks = bool(reply.thought)
        if not reply.thought or reply.finish not in ("thinking", "length"):
            return reply
        wider = self._with_thoughts(request)
        if not wider.thoughts:
            return reply
        try:
            again = self._once(wider, None if reply.text else on_text, watch)
        except ModelFailed:  # as where the server's context is smaller than is known here
            self.thinks = False
            return reply
        return replace(again, seconds=again.seconds + reply.seconds)

    def _with_thoughts(self, request: ChatRequest) -> ChatRequest:
        """The request with the budget for thoughts, as far as the context has room for it."""
        left = self.context - self.count_tokens(request.messages) - request.max_tokens - SPARE
        return replace(request, thoughts=max(0, min(self.thoughts, left)))

    def _once(
        self, request: ChatRequest, on_text: Callable[[str], None] | None, watch: Watch = NO_WATCH
    ) -> Reply:
        self._ready()
        most, streamed = (
            request.max_tokens if request.thoughts else None,
            on_text if self.streams else None,
        )
        writing, start = (
            self.gathers(request.room, most, request.schema, streamed, self.begun),
            time.perf_counter(),
        )
        with spent("model"):
            self._write(request, writing, watch)
        reply = replace(
            writing.ended(time.perf_counter() - start - writing.waited), waited=writing.waited
        )
        charge(self.name, Usage(1, reply.tokens_in, reply.tokens_out))
        self.begun = self.begun if writing.begun is None else writing.begun
        if on_text and reply.text and not self.streams:
            on_text(reply.text)
        return reply

    def _waited_for(self, work: Callable[[], T], watch: Watch = NO_WATCH) -> T:
        """What `work` returns; `watch` may raise before and during it. Other work goes on meanwhile, as the model is elsewhere."""
        watch.check()
        with away():
            return patiently(work, watch)

    def _ready(self) -> None:
        """Make ready what is not part of a reply's time, where there is anything. Raises ModelUnavailable, ModelFailed."""
        return

    @property
    def at_once(self) -> int:
        """How many pieces of work may ask it at a time: more than one where it is worth it."""
        return 1

    @abstractmethod
    def _write(self, request: ChatRequest, writing: Writing, watch: Watch = NO_WATCH) -> None:
        """Give `writing` the reply, and what is known of tokens and end. Raises ModelFailed, and what `watch` raises."""


class LocalChat(ChatClient):
    """A chat client over an engine in this process, made in `_start`: loaded when first used, one request at a time."""

    steady = True

    def __init__(self, name: str, context: int):
        super().__init__(name, context)
        self._engine: Any = None
        self._loading, self._running = threading.Lock(), Places()

    @property
    def loaded(self) -> bool:
        return self._engine is not None

    def load(self) -> Any:
        """The engine, read now if it was not. Raises ModelUnavailable, ModelFailed."""
        engine = self._engine
        if engine is None:
            with spent("preparation", f"Loading {self.name}"), self._loading:
                engine = self._engine = self._engine or self._start()
        return engine

    def close(self) -> None:
        """Free the memory once the requests that run now have ended; the next use loads anew."""
        with self._running.emptied(), self._loading:
            self._engine = None

    def _ready(self) -> None:
        self.load()

    def _waited_for(self, work: Callable[[], T], watch: Watch = NO_WATCH) -> T:
        return in_turn(self._running, work, watch)

    @abstractmethod
    def _start(self) -> Any:
        """A new engine."""
