"""Any OpenAI-compatible server, by its address: vLLM, llama.cpp, Ollama, a hosted service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from core.errors import ModelFailed
from core.models.base import Messages
from core.models.chat.client import ChatClient, ChatRequest, Check
from core.models.chat.pauses import Pauses
from core.models.chat.piece import WHOLE, Piece
from core.models.chat.refusals import Refusals, said_by
from core.models.chat.replies import estimate, estimate_tokens, fewest_tokens
from core.models.chat.server import OpenAIServer
from core.models.chat.whole_prompts import WholePrompts
from core.models.chat.writing import Writing

ENLARGE = (
    "Give it a larger context (Ollama: OLLAMA_CONTEXT_LENGTH or num_ctx; llama.cpp: -c; vLLM: --max-model-len), or say in models.toml how "
    "large it is (context), so that prompts are made to fit."
)


class PromptCut(ModelFailed):
    """A server cut a prompt and did not say so."""


class OpenAIChat(OpenAIServer, ChatClient):
    """A Chat over the server at `url` (ending in /v1), asking for `model`; see `OpenAIServer` for the key.

    Requests run side by side. A request is sent again without what the server refuses of it (`refuses`), which later ones leave out, and
    after a pause where the server is busy or drops the connection before it says anything. One that is cancelled is given up, also
    before the server has said anything. `reply` raises ModelFailed naming the address. Tokens are estimated, as a server does not count
    them beforehand.
    """

    side_by_side = True
    holds_counts = True  # whether the tokens that a server says it read are held against the prompt
    counts = False  # whether its last reply said how many tokens it read

    def __init__(
        self, url: str, model: str, name: str, key_variable: str = "", context: int = 8192, timeout: float = 120.0, key: str | None = None
    ):
        OpenAIServer.__init__(self, url, model, name, key_variable, timeout, key)
        ChatClient.__init__(self, name, context)
        self._whole, self._refusals = WholePrompts(), Refusals()

    @property
    def refuses(self) -> tuple[str, ...]:
        """The parts of requests that the server refused, so that they are left out."""
        return self._refusals.names

    def allowed(self, body: dict[str, Any]) -> dict[str, Any]:
        """A request without what the server refuses."""
        return self._refusals.allowed(body)

    def leave_out(self, *names: str) -> None:
        """Leave parts of requests out from now on, as though the server had refused them; a name that is no part's is passed over."""
        self._refusals.add(names)

    def _write(self, request: ChatRequest, writing: Writing, check: Check | None) -> None:
        body = {"model": self.model, **request.body()}
        if request.schema is not None:
            body["response_format"] = request.response_format()
        pauses, learnt = self.pauses(), set[str]()
        try:
            while not self._sent(self._refusals.allowed(body), writing, check, pauses, learnt):
                continue
        except Exception as error:
            self._refusals.forget(learnt)  # leaving them out did not help
            failure = self.failure(error, writing.text)
            if failure is None:
                raise
            raise failure from error

    def _sent(self, body: dict[str, Any], writing: Writing, check: Check | None, pauses: Pauses, learnt: set[str]) -> bool:
        """Whether the request was answered; False where it is to be sent again: later, or without what the server `learnt` to refuse."""
        import openai

        try:
            self._stream(body, writing, check)
        except (openai.APIStatusError, openai.APIConnectionError) as error:
            if writing.pieces:
                raise
            if self.waited(error, pauses, check):
                return False
            status, said = (
                (error.status_code, said_by(error.body) or error.message) if isinstance(error, openai.APIStatusError) else (0, "")
            )
            refused = self._refusals.learn(status, said, body)
            if not refused:
                raise
            learnt.add(refused)
            return False
        return True

    def _stream(self, body: dict[str, Any], writing: Writing, check: Check | None) -> None:
        """One streamed request; leaving early closes the connection, which stops the server's work."""
        used: tuple[int, int] | None = None
        with self._ready().chat.completions.create(**body) as stream:
            for piece in _pieces(stream):
                if check:
                    check()
                used, writing.finish = piece.used or used, piece.finish or writing.finish
                writing.tool, writing.refusal = writing.tool or piece.tool, writing.refusal + piece.refusal
                stop = bool(piece.thought) and writing.think(piece.thought)
                if (piece.text and writing.add(piece.text)) or stop:
                    writing.finish = writing.finish or "stop"
                    break
            if writing.finish is None and stream.response.extensions.get(WHOLE):
                writing.finish = "stop"
        if writing.finish is None:
            raise ValueError("the connection ended before the reply did")
        messages, self.counts = body["messages"], used is not None and used[0] > 0
        if (
            self.holds_counts
            and used is not None
            and (cut := self._whole.cut(used[0], messages, lambda others: self._reads(others, body, check)))
        ):
            raise PromptCut(f"The server at {self.url} {cut}: it cut the prompt and did not say so. {ENLARGE}")
        about = max(fewest_tokens(messages), estimate_tokens(messages)), estimate("".join(writing.pieces))
        writing.tokens_in, writing.tokens_out = used or about

    def _reads(self, messages: Messages, body: dict[str, Any], check: Check | None) -> int:
        """How many tokens the server says it reads of other messages, asked for a reply of one token; 0 where it does not say."""
        read = 0
        try:
            limit = "max_completion_tokens" if "max_completion_tokens" in body else "max_tokens"
            asked = self._refusals.allowed({**body, "messages": list(messages), limit: 1})
            with self._ready().chat.completions.create(**asked) as stream:
                for piece in _pieces(stream):
                    if check:
                        check()
                    read = piece.used[0] if piece.used else read
        except Exception as error:
            if self.failure(error) is None:
                raise
            return 0
        return read

    def _ready(self) -> Any:
        return self.client()


def _pieces(stream: Any) -> Iterator[Piece]:
    """What a reply says piece by piece, or at once where the server does not stream. Raises ValueError for a web page."""
    kind = stream.response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "text/html":
        raise ValueError("it sent a web page; is the address right? It usually ends in /v1")
    if kind == "application/json":
        yield Piece.whole(json.loads(stream.response.read()))
        return
    for chunk in stream:
        yield Piece.of(chunk)
