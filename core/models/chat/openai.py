"""A chat model behind any OpenAI-compatible server: vLLM, llama.cpp, Ollama, a hosted service."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from core.errors import ModelFailed
from core.models.base import Messages
from core.models.chat.client import ChatClient, ChatRequest
from core.models.chat.pauses import RetryPauses
from core.models.chat.refusals import Refusals, SavedRefusals, error_message_of
from core.models.chat.reply_collector import ReplyCollector
from core.models.chat.server import OpenAIServer, PassingError
from core.models.chat.stream_piece import StreamPiece
from core.models.chat.token_estimates import estimate_text_tokens, estimate_tokens, fewest_tokens
from core.models.chat.whole_prompts import WholePrompts
from core.models.chat.window import Window
from core.runtime.account import charge
from core.runtime.meter import add_note
from core.types import Usage
from core.watch import NO_WATCH, Watch

ENLARGE = (
    "Give it a larger context (Ollama: OLLAMA_CONTEXT_LENGTH or num_ctx; llama.cpp: -c; vLLM: "
    "--max-model-len), or say in models.toml how "
    "large it is (context), so that prompts are made to fit."
)


class PromptCut(ModelFailed):
    """Error of a server that cut a prompt without reporting it."""


@dataclass
class _SendState:
    """State of a request that may be sent several times."""

    pauses: RetryPauses
    learnt: set[str] = field(default_factory=set)  # parts that the server was found to refuse
    again: bool = False  # true if it was sent before
    answers: int = 0  # replies of the server so far, when it last refused this request
    overdue: bool = False  # true if a reply was late while other requests were waiting too
    answered: bool = False


class OpenAIChat(OpenAIServer, ChatClient):
    """A chat model behind a server of the OpenAI protocol.

    Requests run concurrently, as many as its `window` allows. A request that the server rejects for
    some of its parts is sent again without them, and later requests omit them too (`refuses`). A
    request is also sent again after a pause if the server is busy or drops the connection before
    replying. A cancelled request is given up at once. `reply` raises ModelFailed naming the
    address. Tokens are estimated, as a server does not count them in advance.

    Parameters
    ----------
    url : address of the server, ending in /v1.
    model : the model's name at the server.
    name : the model's name here.
    key_variable : environment variable of the API key; see `OpenAIServer`.
    context : context size in tokens.
    timeout : seconds without content after which a request fails.
    key : the API key itself.
    at_once : concurrent requests; 0 for as many as make replies arrive faster.
    thoughts : token budget for reasoning, for a model that is known to reason.
    """

    side_by_side = True
    # True if the token counts of the server are compared with the prompts, to detect cut prompts.
    holds_counts = True
    counts = False  # true if its last reply reported the tokens of the prompt

    def __init__(
        self,
        url: str,
        model: str,
        name: str,
        key_variable: str = "",
        context: int = 8192,
        timeout: float = 120.0,
        key: str | None = None,
        at_once: int = 0,
        thoughts: int = 0,
    ):
        OpenAIServer.__init__(self, url, model, name, key_variable, timeout, key)
        ChatClient.__init__(self, name, context, thoughts)
        self._whole_prompts, self._refusals, self.window = (
            WholePrompts(),
            Refusals(),
            Window(at_once, timeout),
        )

    @property
    def refuses(self) -> tuple[str, ...]:
        """Names of the request parts that the server refused and that are now left out."""
        return self._refusals.names

    def allowed(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return a request without the parts that the server refuses."""
        return self._refusals.allowed(body)

    def leave_out(self, *names: str) -> None:
        """Leave out parts of requests from now on, as if the server had refused them.

        Unknown names are ignored.
        """
        self._refusals.add(names)

    def keep_refusals_in(self, store: SavedRefusals) -> None:
        """Save on disk which parts the server refuses."""
        self._refusals.keep_in(store)

    @property
    def at_once(self) -> int:
        return self.window.at_once

    def _write(
        self, request: ChatRequest, writing: ReplyCollector, watch: Watch = NO_WATCH
    ) -> None:
        body = {"model": self.model, **request.body()}
        if request.schema is not None:
            body["response_format"] = request.response_format()
        sending = _SendState(self.pauses())
        try:
            while not sending.answered:
                self._sent(self._refusals.allowed(body), writing, watch, sending)
        except Exception as error:
            self._refusals.forget(sending.learnt)  # leaving them out did not help
            failure = self.failure(error, writing.text)
            if failure is None:
                raise
            raise failure from error

    def _sent(
        self, body: dict[str, Any], writing: ReplyCollector, watch: Watch, sending: _SendState
    ) -> None:
        """Send a request once; if it gets no answer, prepare the next attempt.

        The next attempt follows after a pause, or leaves out what the server refuses.
        """
        start = time.perf_counter()
        with self.window.place(watch, sending.again) as slot:
            writing.waited += time.perf_counter() - start
            start = time.perf_counter()
            try:
                used = self._stream(body, writing, watch)
                slot.answered()
                sending.answered, start = True, time.perf_counter()
                self._check_whole(used, body, watch)
                writing.waited += time.perf_counter() - start
                return
            except Exception as error:
                passing = self._retry_reason(error, body, writing, sending)
        if passing is not None and not sending.pauses.wait(
            passing.why, passing.headers, watch, passing.tries
        ):
            raise passing.error
        writing.waited += time.perf_counter() - start

    def _retry_reason(
        self, error: Exception, body: dict[str, Any], writing: ReplyCollector, sending: _SendState
    ) -> PassingError | None:
        """Return the passing error to wait for before the request is sent again, if any.

        Raises the error if the request is not to be sent again.
        """
        import openai

        if writing.pieces or not isinstance(
            error, openai.APIStatusError | openai.APIConnectionError | TimeoutError
        ):
            raise error
        sending.again = True
        passing = self.passing(error)
        if passing is not None:
            if passing.busy:
                # Other requests were answered since, so the count of attempts begins again.
                if self.window.answers > sending.answers:
                    sending.pauses, sending.answers = self.pauses(), self.window.answers
                self.window.refused(sending.pauses.coming(passing.headers))
            return passing
        if (
            isinstance(error, openai.APITimeoutError | TimeoutError)
            and self.window.crowded
            and not sending.overdue
        ):
            sending.overdue = True
            self.window.overdue()
            return None
        status, message = (
            (error.status_code, error_message_of(error.body) or error.message)
            if isinstance(error, openai.APIStatusError)
            else (0, "")
        )
        refused_part = self._refusals.learn(status, message, body)
        if not refused_part:
            raise error
        sending.learnt.add(refused_part)
        return None

    def _stream(
        self, body: dict[str, Any], writing: ReplyCollector, watch: Watch = NO_WATCH
    ) -> tuple[int, int] | None:
        """Send one streamed request; return the token counts of the server.

        Leaving early closes the connection, which stops the server's work.
        """
        reported_counts: tuple[int, int] | None = None
        miscounted = False
        with self._open_stream(body) as stream:
            for piece in self._reply_pieces(stream, watch):
                reported_counts = piece.used or reported_counts
                miscounted = miscounted or piece.miscounted
                if _add_piece(piece, writing):
                    break
            if writing.finish is None and stream.done:
                writing.finish = "stop"
        if writing.finish is None:
            raise ValueError("the connection ended before the reply did")
        self._count_tokens(reported_counts, body["messages"], writing)
        if miscounted and reported_counts is None:
            add_note(
                f"How many tokens {self.name} read and wrote is not known: "
                f"the server at {self.url} sent no such numbers. The figures are estimates."
            )
        return reported_counts

    def _count_tokens(
        self, counts: tuple[int, int] | None, messages: Messages, writing: ReplyCollector
    ) -> None:
        """Record the tokens of prompt and reply, estimated if the server does not report them."""
        self.counts = counts is not None and counts[0] > 0
        if counts is None:
            prompt_tokens = max(fewest_tokens(messages), estimate_tokens(messages))
            counts = prompt_tokens, estimate_text_tokens("".join(writing.pieces))
        writing.tokens_in, writing.tokens_out = counts

    def _check_whole(
        self, counts: tuple[int, int] | None, body: dict[str, Any], watch: Watch = NO_WATCH
    ) -> None:
        """Raise PromptCut if the server read only a part of the prompt."""
        if not self.holds_counts or counts is None:
            return
        messages = body["messages"]
        if cut := self._whole_prompts.cut(
            counts[0], messages, lambda others: self._reads(others, body, watch)
        ):
            raise PromptCut(
                f"The server at {self.url} {cut}: it cut the prompt and did not say so. {ENLARGE}"
            )

    def _reads(self, messages: Messages, body: dict[str, Any], watch: Watch = NO_WATCH) -> int:
        """Return how many tokens the server says it reads of other messages; 0 if it does not say.

        The server is asked for a reply of one token.
        """
        read_tokens = 0
        try:
            limit_key = "max_completion_tokens" if "max_completion_tokens" in body else "max_tokens"
            probe_body = self._refusals.allowed({**body, "messages": list(messages), limit_key: 1})
            with self._open_stream(probe_body) as stream:
                for piece in self._reply_pieces(stream, watch):
                    read_tokens = piece.used[0] if piece.used else read_tokens
        except Exception as error:
            if self.failure(error) is None:
                raise
            return 0
        charge(self.name, Usage(1, read_tokens, 1))
        return read_tokens

    def _ready(self) -> Any:
        return self.client()

    def _open_stream(self, body: dict[str, Any]) -> Any:
        """Send a request and return the chunks of its reply as JSON.

        The client's checks of the request are skipped, since they take as long as all other client
        work of a request. The server checks the request, and `StreamPiece` the chunks.
        """
        from core.models.chat.events import EventStream  # imported late, since it loads the client

        options: dict[str, Any] = {
            "options": {"security": {"bearer_auth": True}},
            "cast_to": object,
            "stream_cls": EventStream,
        }
        return self._ready().post("/chat/completions", body=body, stream=True, **options)

    def _reply_pieces(self, stream: Any, watch: Watch = NO_WATCH) -> Iterator[StreamPiece]:
        """Yield the pieces of a reply, or one piece if the server does not stream.

        Raises ValueError for a web page, ReplyOverdueError, and what `watch` raises.
        """
        from core.models.chat.events import take_whole, timely_pieces

        response = stream.response
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "text/html":
            raise ValueError("it sent a web page; is the address right? It usually ends in /v1")
        if kind == "application/json":
            yield StreamPiece.whole(take_whole(response))
            return
        pieces = map(StreamPiece.of, stream)
        yield from timely_pieces(pieces, response, self.timeout, watch)


def _add_piece(piece: StreamPiece, writing: ReplyCollector) -> bool:
    """Add a piece to a reply; return whether the reply is then complete."""
    writing.finish = piece.finish or writing.finish
    writing.tool = writing.tool or piece.tool
    writing.refusal += piece.refusal
    is_complete = bool(piece.thought) and writing.think(piece.thought)
    if piece.text and writing.add(piece.text):
        is_complete = True
    if is_complete:
        writing.finish = writing.finish or "stop"
    return is_complete
