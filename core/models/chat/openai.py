"""Any OpenAI-compatible server, by its address: vLLM, llama.cpp, Ollama, a hosted service."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from core.errors import ModelFailed
from core.models.base import Messages
from core.models.chat.client import ChatClient, ChatRequest
from core.models.chat.pauses import Pauses
from core.models.chat.piece import Piece
from core.models.chat.refusals import Refusals, SavedRefusals, said_by
from core.models.chat.replies import estimate, estimate_tokens, fewest_tokens
from core.models.chat.server import OpenAIServer, Passing
from core.models.chat.whole_prompts import WholePrompts
from core.models.chat.window import Window
from core.models.chat.writing import Writing
from core.runtime.account import charge
from core.runtime.meter import tell
from core.types import Usage
from core.watch import NO_WATCH, Watch

ENLARGE = (
    "Give it a larger context (Ollama: OLLAMA_CONTEXT_LENGTH or num_ctx; llama.cpp: -c; vLLM: --max-model-len), or say in models.toml how "
    "large it is (context), so that prompts are made to fit."
)


class PromptCut(ModelFailed):
    """A server cut a prompt and did not say so."""


@dataclass
class _Sending:
    """A request on its way: its pauses, the parts that the server was found to refuse, whether it was sent before, and answered."""

    pauses: Pauses
    learnt: set[str] = field(default_factory=set)
    again: bool = False
    answers: int = 0  # of the server when it was last refused
    overdue: bool = False  # whether a reply did not come in time while others were waited for too
    answered: bool = False


class OpenAIChat(OpenAIServer, ChatClient):
    """A Chat over the server at `url` (ending in /v1), asking for `model`; see `OpenAIServer` for the key.

    Requests run side by side, as many as its `window` lets in: `at_once`, or as many as make replies come faster. A request is
    sent again without what the server refuses of it (`refuses`), which later ones leave out, and
    after a pause where the server is busy or drops the connection before it says anything. One that is cancelled is given up, also
    before the server has said anything. `reply` raises ModelFailed naming the address. Tokens are estimated, as a server does not count
    them beforehand.
    """

    side_by_side = True
    holds_counts = True  # whether the tokens that a server says it read are held against the prompt
    counts = False  # whether its last reply said how many tokens it read

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
        self._whole, self._refusals, self.window = (
            WholePrompts(),
            Refusals(),
            Window(at_once, timeout),
        )

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

    def keep_refusals_in(self, saved: SavedRefusals) -> None:
        """Have what the server refuses outlive this process."""
        self._refusals.keep_in(saved)

    @property
    def at_once(self) -> int:
        return self.window.at_once

    def _write(self, request: ChatRequest, writing: Writing, watch: Watch = NO_WATCH) -> None:
        body = {"model": self.model, **request.body()}
        if request.schema is not None:
            body["response_format"] = request.response_format()
        sending = _Sending(self.pauses())
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
        self, body: dict[str, Any], writing: Writing, watch: Watch, sending: _Sending
    ) -> None:
        """Send a request once; where it is not answered it is to be sent again: after a pause, or without what the server refuses of it."""
        start = time.perf_counter()
        with self.window.place(watch, sending.again) as place:
            writing.waited += time.perf_counter() - start
            start = time.perf_counter()
            try:
                used = self._stream(body, writing, watch)
                place.answered()
                sending.answered, start = True, time.perf_counter()
                self._look_whole(used, body, watch)
                writing.waited += time.perf_counter() - start
                return
            except Exception as error:
                passing = self._put_off(error, body, writing, sending)
        if passing is not None and not sending.pauses.wait(
            passing.why, passing.headers, watch, passing.tries
        ):
            raise passing.error
        writing.waited += time.perf_counter() - start

    def _put_off(
        self, error: Exception, body: dict[str, Any], writing: Writing, sending: _Sending
    ) -> Passing | None:
        """What is to be waited for before the request is sent again, if anything. Raises the error of one that is not to be sent again."""
        import openai

        if writing.pieces or not isinstance(
            error, openai.APIStatusError | openai.APIConnectionError | TimeoutError
        ):
            raise error
        sending.again = True
        passing = self.passing(error)
        if passing is not None:
            if passing.busy:
                # others were answered since: its turn will come
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
        status, said = (
            (error.status_code, said_by(error.body) or error.message)
            if isinstance(error, openai.APIStatusError)
            else (0, "")
        )
        refused = self._refusals.learn(status, said, body)
        if not refused:
            raise error
        sending.learnt.add(refused)
        return None

    def _stream(
        self, body: dict[str, Any], writing: Writing, watch: Watch = NO_WATCH
    ) -> tuple[int, int] | None:
        """One streamed request; the tokens that the server says it read and wrote. Leaving early closes the connection, which stops the
        server's work."""
        used: tuple[int, int] | None = None
        miscounted = False
        with self._streamed(body) as stream:
            for piece in self._reply_pieces(stream, watch):
                used, writing.finish = piece.used or used, piece.finish or writing.finish
                miscounted = miscounted or piece.miscounted
                writing.tool, writing.refusal = (
                    writing.tool or piece.tool,
                    writing.refusal + piece.refusal,
                )
                stop = bool(piece.thought) and writing.think(piece.thought)
                if (piece.text and writing.add(piece.text)) or stop:
                    writing.finish = writing.finish or "stop"
                    break
            if writing.finish is None and stream.done:
                writing.finish = "stop"
        if writing.finish is None:
            raise ValueError("the connection ended before the reply did")
        messages, self.counts = body["messages"], used is not None and used[0] > 0
        about = (
            max(fewest_tokens(messages), estimate_tokens(messages)),
            estimate("".join(writing.pieces)),
        )
        writing.tokens_in, writing.tokens_out = used or about
        if miscounted and used is None:
            tell(
                f"How many tokens {self.name} read and wrote is not known: "
                f"the server at {self.url} sent no such numbers. The figures are estimates."
            )
        return used

    def _look_whole(
        self, used: tuple[int, int] | None, body: dict[str, Any], watch: Watch = NO_WATCH
    ) -> None:
        """Raises PromptCut where the server read only a part of the prompt."""
        if not self.holds_counts or used is None:
            return
        messages = body["messages"]
        if cut := self._whole.cut(
            used[0], messages, lambda others: self._reads(others, body, watch)
        ):
            raise PromptCut(
                f"The server at {self.url} {cut}: it cut the prompt and did not say so. {ENLARGE}"
            )

    def _reads(self, messages: Messages, body: dict[str, Any], watch: Watch = NO_WATCH) -> int:
        """How many tokens the server says it reads of other messages, asked for a reply of one token; 0 where it does not say."""
        read = 0
        try:
            limit = "max_completion_tokens" if "max_completion_tokens" in body else "max_tokens"
            asked = self._refusals.allowed({**body, "messages": list(messages), limit: 1})
            with self._streamed(asked) as stream:
                for piece in self._reply_pieces(stream, watch):
                    read = piece.used[0] if piece.used else read
        except Exception as error:
            if self.failure(error) is None:
                raise
            return 0
        charge(self.name, Usage(1, read, 1))
        return read

    def _ready(self) -> Any:
        return self.client()

    def _streamed(self, body: dict[str, Any]) -> Any:
        """The chunks of the reply to a request, as JSON: sent as it is, since the client's checks of its form take as long as all else of
        a request together. The server checks it, and `Piece` the chunks."""
        from core.models.chat.events import Events  # brings the client with it

        how: dict[str, Any] = {
            "options": {"security": {"bearer_auth": True}},
            "cast_to": object,
            "stream_cls": Events,
        }
        return self._ready().post("/chat/completions", body=body, stream=True, **how)

    def _reply_pieces(self, stream: Any, watch: Watch = NO_WATCH) -> Iterator[Piece]:
        """What a reply says piece by piece, or at once where the server does not stream.

        Raises ValueError for a web page, Overdue, and what `watch` raises.
        """
        from core.models.chat.events import take_whole, timely_pieces

        response = stream.response
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "text/html":
            raise ValueError("it sent a web page; is the address right? It usually ends in /v1")
        if kind == "application/json":
            yield Piece.whole(take_whole(response))
            return
        pieces = map(Piece.of, stream)
        yield from timely_pieces(pieces, response, self.timeout, watch)
