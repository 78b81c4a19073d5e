"""A chat model behind any OpenAI-compatible server: vLLM, llama.cpp, Ollama, a hosted service."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from core.errors import ModelFailed
from core.models.base import Messages
from core.models.chat.client import ChatClient, ChatRequest
from core.models.chat.pauses import RetryPauses
from core.models.chat.refusals import Refusals, SavedRefusals, extract_error_message
from core.models.chat.reply_collector import ReplyCollector
from core.models.chat.server import OpenAIServer, PassingError
from core.models.chat.stream_piece import StreamPiece
from core.models.chat.token_estimates import estimate_text_tokens, estimate_tokens, min_token_count
from core.models.chat.whole_prompts import WholePrompts
from core.models.chat.window import Window
from core.runtime.account import charge
from core.runtime.meter import add_note
from core.types import Usage
from core.watch import NO_WATCH, Watch

# Advice in the message on a prompt that the server cut.
CONTEXT_ADVICE = (
    "Give it a larger context (Ollama: OLLAMA_CONTEXT_LENGTH or num_ctx; llama.cpp: -c; vLLM: "
    "--max-model-len), or say in models.toml how "
    "large it is (context), so that prompts are made to fit."
)


class PromptCut(ModelFailed):
    """Error for a server that cut a prompt without reporting it.

    The prompt was cut to the context size of the server.
    """


@dataclass
class _SendState:
    """State of a request that may be sent several times."""

    pauses: RetryPauses
    refused_parts: set[str] = field(default_factory=set)  # that this request found
    was_sent: bool = False
    # Replies of the server to all requests, when it was last too busy for this one.
    reply_count: int = 0
    was_overdue: bool = False  # true if its reply was late while other requests were running too
    is_answered: bool = False


class OpenAIChat(OpenAIServer, ChatClient):
    """A chat model behind a server of the OpenAI protocol.

    Its `window` limits the number of concurrent requests. If the server refuses a part of a
    request, such as the seed, the request is sent again without this part, which later requests
    omit too (`refuses`). If the server is busy, or drops the connection before replying, the
    request is sent again after a pause. Cancelling a request closes its connection. `count_tokens`
    estimates, as servers do not count in advance.

    Parameters
    ----------
    url : address of the server, ending in /v1.
    model : the model's name at the server.
    name : the model's name in models.toml.
    key_variable : environment variable of the API key; see `OpenAIServer`.
    context : context size in tokens.
    timeout : seconds without content after which a request fails.
    key : the API key itself; None to look it up.
    max_concurrent : number of concurrent requests; 0 to adapt it to the server (`Window`).
    reasoning_tokens : token budget for reasoning, if the model is known to reason; else 0.
    """

    side_by_side = True  # true if several requests may run at the same time
    # True if the server's token counts are compared with the prompts, to detect cut prompts.
    checks_token_counts = True
    has_token_counts = False  # true if the last reply came with the tokens of the prompt

    def __init__(
        self,
        url: str,
        model: str,
        name: str,
        key_variable: str = "",
        context: int = 8192,
        timeout: float = 120.0,
        key: str | None = None,
        max_concurrent: int = 0,
        reasoning_tokens: int = 0,
    ):
        OpenAIServer.__init__(self, url, model, name, key_variable, timeout, key)
        ChatClient.__init__(self, name, context, reasoning_tokens)
        self.window = Window(max_concurrent, timeout)
        self._whole_prompts = WholePrompts()
        self._refusals = Refusals()

    @property
    def refuses(self) -> tuple[str, ...]:
        """Names of the request parts that the server refused.

        They are now left out.
        """
        return self._refusals.names

    def remove_refused_parts(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the body of a request without the parts that the server refuses."""
        return self._refusals.remove_refused_parts(body)

    def leave_out(self, *names: str) -> None:
        """Leave out parts of requests from now on.

        They are treated as if the server had refused them. Unknown names are ignored.
        """
        self._refusals.add(names)

    def save_refusals_to(self, store: SavedRefusals) -> None:
        """Save on disk the parts that the server refuses, and add those saved before."""
        self._refusals.save_to(store)

    @property
    def max_concurrent(self) -> int:
        return self.window.max_concurrent

    def _write_reply(
        self, request: ChatRequest, collector: ReplyCollector, watch: Watch = NO_WATCH
    ) -> None:
        body = {"model": self.model, **request.body()}
        if request.schema is not None:
            body["response_format"] = request.response_format()
        send_state = _SendState(self.pauses())
        try:
            while not send_state.is_answered:
                self._send_once(
                    self._refusals.remove_refused_parts(body), collector, watch, send_state
                )
        except Exception as error:
            self._refusals.forget(send_state.refused_parts)  # leaving them out did not help
            failure = self.to_model_failure(error, collector.text)
            if failure is None:
                raise
            raise failure from error

    def _send_once(
        self, body: dict[str, Any], collector: ReplyCollector, watch: Watch, send_state: _SendState
    ) -> None:
        """Send a request once; if it gets no answer, prepare the next attempt.

        Preparing means to pause, or to note a refused part that the next attempt leaves out.
        """
        # All time but that of the stream that brings the reply counts as waiting.
        start = time.perf_counter()
        with self.window.hold_slot(watch, send_state.was_sent) as slot:
            collector.wait_seconds += time.perf_counter() - start
            start = time.perf_counter()
            try:
                reported_counts = self._stream(body, collector, watch)
                slot.report_answered()
                send_state.is_answered = True
                start = time.perf_counter()
                self._check_prompt_whole(reported_counts, body, watch)
                collector.wait_seconds += time.perf_counter() - start
                return
            except Exception as error:
                passing_error = self._find_retry_reason(error, body, collector, send_state)
        if passing_error is not None and not send_state.pauses.wait(
            passing_error.reason, passing_error.headers, watch, passing_error.max_pauses
        ):
            raise passing_error.error
        collector.wait_seconds += time.perf_counter() - start

    def _find_retry_reason(
        self,
        error: Exception,
        body: dict[str, Any],
        collector: ReplyCollector,
        send_state: _SendState,
    ) -> PassingError | None:
        """Return a temporary error, after which the request is sent again with a pause.

        None if it can be sent again without a pause. Raises the error if it is not to be sent
        again.
        """
        import openai

        if collector.pieces or not isinstance(
            error, openai.APIStatusError | openai.APIConnectionError | TimeoutError
        ):
            raise error
        send_state.was_sent = True
        passing_error = self.find_passing_error(error)
        if passing_error is not None:
            if passing_error.is_busy:
                # Other requests were answered since, so the pauses are counted anew.
                if self.window.reply_count > send_state.reply_count:
                    send_state.pauses = self.pauses()
                    send_state.reply_count = self.window.reply_count
                pause = send_state.pauses.next_pause(passing_error.headers)
                self.window.shrink_after_refusal(pause)
            return passing_error
        if (
            isinstance(error, openai.APITimeoutError | TimeoutError)
            and self.window.has_concurrent_requests
            and not send_state.was_overdue
        ):
            send_state.was_overdue = True
            self.window.shrink_after_timeout()
            return None
        if not isinstance(error, openai.APIStatusError):
            raise error
        message = extract_error_message(error.body) or error.message
        refused_part = self._refusals.learn(error.status_code, message, body)
        if not refused_part:
            raise error
        send_state.refused_parts.add(refused_part)
        return None

    def _stream(
        self, body: dict[str, Any], collector: ReplyCollector, watch: Watch = NO_WATCH
    ) -> tuple[int, int] | None:
        """Send one streamed request; return the tokens of prompt and reply, if reported.

        Leaving the stream early closes the connection, which stops the server's work.
        """
        reported_counts: tuple[int, int] | None = None
        has_invalid_counts = False
        with self._open_stream(body) as stream:
            for piece in self._reply_pieces(stream, watch):
                reported_counts = piece.token_counts or reported_counts
                has_invalid_counts = has_invalid_counts or piece.has_invalid_counts
                if _add_piece(piece, collector):
                    break
            if collector.finish is None and stream.has_ended:
                collector.finish = "stop"
        if collector.finish is None:
            raise ValueError("the connection ended before the reply did")
        self._count_tokens(reported_counts, body["messages"], collector)
        if has_invalid_counts and reported_counts is None:
            add_note(
                f"How many tokens {self.name} read and wrote is not known: "
                f"the server at {self.url} sent no such numbers. The figures are estimates."
            )
        return reported_counts

    def _count_tokens(
        self, counts: tuple[int, int] | None, messages: Messages, collector: ReplyCollector
    ) -> None:
        """Record the tokens of prompt and reply, estimated if the server reports none."""
        self.has_token_counts = counts is not None and counts[0] > 0
        if counts is None:
            prompt_tokens = max(min_token_count(messages), estimate_tokens(messages))
            counts = prompt_tokens, estimate_text_tokens("".join(collector.pieces))
        collector.tokens_in, collector.tokens_out = counts

    def _check_prompt_whole(
        self, counts: tuple[int, int] | None, body: dict[str, Any], watch: Watch = NO_WATCH
    ) -> None:
        """Raise PromptCut if the server read only a part of the prompt."""
        if not self.checks_token_counts or counts is None:
            return
        count_read_tokens = partial(self._count_read_tokens, body=body, watch=watch)
        evidence = self._whole_prompts.find_cut_evidence(
            counts[0], body["messages"], count_read_tokens
        )
        if evidence:
            raise PromptCut(
                f"The server at {self.url} {evidence}: it cut the prompt and did not say so. "
                f"{CONTEXT_ADVICE}"
            )

    def _count_read_tokens(
        self, messages: Messages, body: dict[str, Any], watch: Watch = NO_WATCH
    ) -> int:
        """Return the server's token count of other messages; 0 if it reports none.

        `body` is the request whose other parts are kept. The reply is limited to one token.
        """
        read_tokens = 0
        try:
            # One of two names; servers refuse the other one.
            limit_key = "max_completion_tokens" if "max_completion_tokens" in body else "max_tokens"
            probe_body = self._refusals.remove_refused_parts(
                {**body, "messages": list(messages), limit_key: 1}
            )
            with self._open_stream(probe_body) as stream:
                for piece in self._reply_pieces(stream, watch):
                    read_tokens = piece.token_counts[0] if piece.token_counts else read_tokens
        except Exception as error:
            if self.to_model_failure(error) is None:
                raise
            return 0
        charge(self.name, Usage(1, read_tokens, 1))
        return read_tokens

    def _prepare(self) -> Any:
        return self.client()

    def _open_stream(self, body: dict[str, Any]) -> Any:
        """Send a request and return the stream of its reply, an `EventStream`.

        The client library's checks of the request are skipped, since they take as long as all its
        other work for a request. The server checks the request, and `StreamPiece` the chunks.
        """
        from core.models.chat.events import EventStream  # imported late, since it loads the client

        options: dict[str, Any] = {
            "options": {"security": {"bearer_auth": True}},
            "cast_to": object,
            "stream_cls": EventStream,
        }
        return self._prepare().post("/chat/completions", body=body, stream=True, **options)

    def _reply_pieces(self, stream: Any, watch: Watch = NO_WATCH) -> Iterator[StreamPiece]:
        """Yield the pieces of a reply.

        There is one piece if the server does not stream. Raises ValueError for a web page,
        ReplyOverdueError, and what `watch` raises.
        """
        from core.models.chat.events import limit_silence, read_whole_json

        response = stream.response
        content_type, _, _ = response.headers.get("content-type", "").lower().partition(";")
        if content_type.strip() == "text/html":
            raise ValueError("it sent a web page; is the address right? It usually ends in /v1")
        if content_type.strip() == "application/json":
            yield StreamPiece.from_json(read_whole_json(response))
            return
        pieces = map(StreamPiece.from_chunk, stream)
        yield from limit_silence(pieces, response, self.timeout, watch)


def _add_piece(piece: StreamPiece, collector: ReplyCollector) -> bool:
    """Add a piece to a reply; return whether the reply is then complete."""
    collector.finish = piece.finish or collector.finish
    collector.tool = collector.tool or piece.tool
    collector.refusal += piece.refusal
    is_complete = bool(piece.thought) and collector.add_thought(piece.thought)
    if piece.text and collector.add(piece.text):
        is_complete = True
    if is_complete:
        collector.finish = collector.finish or "stop"
    return is_complete
