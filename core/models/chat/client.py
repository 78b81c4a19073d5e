"""What chat clients share: replies remembered, stopped where they repeat themselves, timed, and waited for with patience."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from core.errors import ModelFailed
from core.models.base import Messages, Reply
from core.models.chat.kept import KeptReplies, reply_key
from core.models.chat.remembered import Replies
from core.models.chat.repeats import Repeats
from core.models.chat.replies import estimate_tokens
from core.models.chat.turns import Turn, in_turn, patiently
from core.runtime.meter import spent

LONGEST_TOKEN, BESIDE = 64, 4096  # characters of a token, and of what a reply may hold beside `max_tokens` of them
Check = Callable[[], None]
T = TypeVar("T")


@dataclass(frozen=True)
class ChatRequest:
    """What a model is asked: everything that its reply depends on."""

    messages: tuple[dict[str, str], ...]
    schema: dict[str, Any] | None
    max_tokens: int
    seed: int
    temperature: float

    def key(self, weights: str = "") -> str:
        """What tells its reply, by a model of these weights, from any other."""
        return reply_key(weights, self.messages, self.schema, self.max_tokens, self.seed, self.temperature)

    def body(self) -> dict[str, Any]:
        """The request of the OpenAI protocol, streamed and with usage; the schema is left to `response_format`."""
        return {
            "messages": list(self.messages),
            "max_tokens": self.max_tokens,
            "seed": self.seed,
            "temperature": self.temperature,
            "stream": True,
            "stream_options": {"include_usage": True},
        }

    def response_format(self) -> dict[str, Any]:
        """The part of a request of the OpenAI protocol that holds a reply to the schema."""
        return {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": self.schema}}


class Writing:
    """A reply while it is written: what came so far, and what the client learns of tokens and of how it ended.

    Replies under a schema have an end of their own and are not guarded against repetition.
    """

    def __init__(self, request: ChatRequest, on_text: Callable[[str], None] | None):
        self._on_text, self._repeats = on_text, Repeats() if request.schema is None else None
        self._tokens, self._left = request.max_tokens, request.max_tokens * LONGEST_TOKEN + BESIDE
        self.pieces: list[str] = []
        self.finish: str | None = None
        self.tokens_in = self.tokens_out = 0

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def add(self, piece: str) -> bool:
        """Pass a piece on. Whether the reply repeats itself by now, so that it is to be stopped.

        Raises ModelFailed for half a letter, and for more text than the tokens that were asked for can be.
        """
        self._left -= len(piece)
        if self._left < 0:
            raise ModelFailed(f"The model sent more text than {self._tokens:,} tokens can be, and was cut off.")
        try:
            piece.encode("utf-8")
        except UnicodeEncodeError:
            raise ModelFailed("The model sent half a letter (a lone surrogate), which is no text.") from None
        self.pieces.append(piece)
        if self._on_text:
            self._on_text(piece)
        return self._repeats is not None and self._repeats.add(piece)

    def ended(self, seconds: float) -> Reply:
        """The reply, with what repeats in it once."""
        if self._repeats is not None and self._repeats.end():
            assert self._repeats.found is not None  # since it repeats itself
            kept, words = self._repeats.kept, self._repeats.found[1]
            return Reply(kept, self.tokens_in, self.tokens_out, "repeat", words=words, seconds=seconds)
        finish = "length" if self.finish == "length" else "stop"
        return Reply(self.text, self.tokens_in, self.tokens_out, finish, seconds=seconds)


class ChatClient(ABC):
    """A `Chat` that says in `_write` how one reply comes about; all else is here."""

    streams = True  # whether replies come piece by piece

    def __init__(self, name: str, context: int):
        self.name, self.context, self._replies, self._weights = name, context, Replies(), ""

    def keep_in(self, kept: KeptReplies, weights: str) -> None:
        """Have replies outlive this process, under the weights that they are of."""
        self._replies, self._weights = Replies(kept=kept), weights

    def reply(
        self,
        messages: Messages,
        *,
        schema: dict[str, Any] | None = None,
        max_tokens: int = 256,
        seed: int = 0,
        temperature: float = 0.0,
        on_text: Callable[[str], None] | None = None,
        check: Check | None = None,
    ) -> Reply:
        """The model's reply, remembered for who asks the same again, who waits for nobody; see `core.models.base.Chat`."""
        request = ChatRequest(tuple(dict(message) for message in messages), schema, max_tokens, seed, temperature)
        key = request.key(self._weights)
        if check:
            check()

        def work() -> Reply:
            found = self._replies.find(key, on_text)
            return self._replies.keep(key, self._written(request, on_text, check)) if found is None else found

        return self._replies.find(key, on_text) or self._waited_for(work, check)

    def count_tokens(self, messages: Messages) -> int:
        """Tokens of the messages, as an estimate."""
        return estimate_tokens(messages)

    def forget(self) -> None:
        """Drop the replies that are remembered in memory."""
        self._replies.forget()

    def _written(self, request: ChatRequest, on_text: Callable[[str], None] | None, check: Check | None) -> Reply:
        self._ready()
        writing, start = Writing(request, on_text if self.streams else None), time.perf_counter()
        with spent("model"):
            self._write(request, writing, check)
        reply = writing.ended(time.perf_counter() - start)
        if on_text and reply.text and not self.streams:
            on_text(reply.text)
        return reply

    def _waited_for(self, work: Callable[[], T], check: Check | None) -> T:
        """What `work` returns; `check` may raise before and during it."""
        if check:
            check()
        return patiently(work, check)

    def _ready(self) -> None:
        """Make ready what is not part of a reply's time, where there is anything. Raises ModelUnavailable, ModelFailed."""
        return

    @abstractmethod
    def _write(self, request: ChatRequest, writing: Writing, check: Check | None) -> None:
        """Give `writing` the reply, and what is known of tokens and end. Raises ModelFailed, and what `check` raises."""


class LocalChat(ChatClient):
    """A chat client over an engine in this process, made in `_start`: loaded when first used, one request at a time."""

    def __init__(self, name: str, context: int):
        super().__init__(name, context)
        self._engine: Any = None
        self._loading, self._running = threading.Lock(), Turn()

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
        """Free the memory once the request that runs now has ended; the next use loads anew."""
        with self._running, self._loading:
            self._engine = None

    def _ready(self) -> None:
        self.load()

    def _waited_for(self, work: Callable[[], T], check: Check | None) -> T:
        return in_turn(self._running, work, check)

    @abstractmethod
    def _start(self) -> Any:
        """A new engine."""
