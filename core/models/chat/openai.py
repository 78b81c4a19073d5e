"""Any OpenAI-compatible server, by its address: vLLM, llama.cpp, Ollama, a hosted service."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from core.errors import ModelFailed, shorten
from core.models.base import Messages
from core.models.chat.client import ChatClient, ChatRequest, Check
from core.models.chat.pauses import BUSY, Pauses
from core.models.chat.piece import WHOLE, Piece, bound
from core.models.chat.refusals import Refusals, said_by
from core.models.chat.replies import estimate, estimate_tokens, fewest_tokens
from core.models.chat.whole_prompts import WholePrompts
from core.models.chat.writing import Writing
from core.models.keys import key_for

if TYPE_CHECKING:
    from openai import OpenAI

ENLARGE = (
    "Give it a larger context (Ollama: OLLAMA_CONTEXT_LENGTH or num_ctx; llama.cpp: -c; vLLM: --max-model-len), or say in models.toml how "
    "large it is (context), so that prompts are made to fit."
)
QUOTA = re.compile(r"insufficient_quota|quota|billing", re.IGNORECASE)  # in a refusal that does not pass by waiting
DROPPED = ("RemoteProtocolError", "ReadError", "WriteError")  # the HTTP library's faults of a connection that was there
CONNECT = 5.0  # seconds until a server that does not answer counts as dead


class OpenAIChat(ChatClient):
    """A Chat over the server at `url` (ending in /v1), asking for `model`.

    The key is read from the environment variable `key_variable` where one is named. Redirects are not followed: a server leads to no
    host that is not allowed. Requests run side by side. A request is sent again without what the server refuses of it (`refuses`), which
    later ones leave out, and after a pause where the server is busy or drops the connection before it says anything. One that is
    cancelled is given up, also before the server has said anything. `reply` raises ModelFailed naming the address. Tokens are estimated,
    as a server does not count them beforehand.
    """

    side_by_side = True

    def __init__(
        self, url: str, model: str, name: str, key_variable: str = "", context: int = 8192, timeout: float = 120.0, key: str | None = None
    ):
        super().__init__(name, context)
        self.url, self.model = url.rstrip("/"), model
        self.key_variable, self.timeout, self._key = key_variable, timeout, key
        self._lock = threading.Lock()
        self._whole, self._refusals = WholePrompts(), Refusals()
        self._client: OpenAI | None = None

    @property
    def refuses(self) -> tuple[str, ...]:
        """The parts of requests that the server refused, so that they are left out."""
        return self._refusals.names

    def _write(self, request: ChatRequest, writing: Writing, check: Check | None) -> None:
        import openai

        body = {"model": self.model, **request.body()}
        if request.schema is not None:
            body["response_format"] = request.response_format()
        pauses, learnt = Pauses(f"The server at {self.url}"), set[str]()
        try:
            while not self._sent(self._refusals.allowed(body), writing, check, pauses, learnt):
                continue
        except Exception as error:
            self._refusals.forget(learnt)  # leaving them out did not help
            if isinstance(error, openai.OpenAIError | OSError | ValueError | RecursionError) or _transport(error):
                raise ModelFailed(self._sentence(error, writing.text)) from error
            raise

    def _sent(self, body: dict[str, Any], writing: Writing, check: Check | None, pauses: Pauses, learnt: set[str]) -> bool:
        """Whether the request was answered; False where it is to be sent again: later, or without what the server `learnt` to refuse."""
        import openai

        try:
            self._stream(body, writing, check)
        except openai.APIStatusError as error:
            status, said = error.status_code, said_by(error.body) or error.message
            if writing.pieces:
                raise
            if status in BUSY:
                if QUOTA.search(f"{said} {error.code}") or not pauses.wait(f"is busy ({status})", error.response.headers, check):
                    raise
                return False
            refused = self._refusals.learn(status, said, body)
            if not refused:
                raise
            learnt.add(refused)
            return False
        except openai.APIConnectionError as error:
            dropped = not isinstance(error, openai.APITimeoutError) and type(error.__cause__).__name__ in DROPPED
            if writing.pieces or not dropped or not pauses.wait("dropped the connection", {}, check):
                raise
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
        messages = body["messages"]
        if used is not None and (cut := self._whole.cut(used[0], messages, lambda others: self._reads(others, body, check))):
            raise ModelFailed(f"The server at {self.url} {cut}: it cut the prompt and did not say so. {ENLARGE}")
        about = max(fewest_tokens(messages), estimate_tokens(messages)), estimate("".join(writing.pieces))
        writing.tokens_in, writing.tokens_out = used or about

    def _reads(self, messages: Messages, body: dict[str, Any], check: Check | None) -> int:
        """How many tokens the server says it reads of other messages, asked for a reply of one token; 0 where it does not say."""
        import openai

        read = 0
        try:
            limit = "max_completion_tokens" if "max_completion_tokens" in body else "max_tokens"
            asked = self._refusals.allowed({**body, "messages": list(messages), limit: 1})
            with self._ready().chat.completions.create(**asked) as stream:
                for piece in _pieces(stream):
                    if check:
                        check()
                    read = piece.used[0] if piece.used else read
        except (openai.OpenAIError, OSError, ValueError, RecursionError):
            return 0
        except Exception as error:
            if not _transport(error):
                raise
            return 0
        return read

    def _ready(self) -> Any:
        """The client, made when first asked for. Raises ModelUnavailable where the key's variable is not set."""
        import openai

        with self._lock:
            if self._client is None:
                key = self._key or (key_for(self.key_variable, self.url, self.name) if self.key_variable else "none")
                timeout = openai.Timeout(self.timeout, connect=CONNECT)
                http = openai.DefaultHttpxClient(event_hooks={"response": [bound]}, follow_redirects=False)
                self._client = openai.OpenAI(base_url=self.url, api_key=key, timeout=timeout, max_retries=0, http_client=http)
            return self._client

    def _sentence(self, error: Exception, so_far: str) -> str:
        """What happened, in words for a person."""
        import openai

        if isinstance(error, openai.APITimeoutError):
            what = f"did not answer within {self.timeout:g} seconds"
        elif isinstance(error, openai.APIStatusError) and 300 <= error.status_code < 400:
            target = shorten(error.response.headers.get("Location", ""), 200) or "no address"
            what = f"redirects to {target} ({error.status_code}), which was not followed; if that is right, give it as the address"
        elif isinstance(error, openai.AuthenticationError):
            what = "refused the key"
        elif isinstance(error, openai.NotFoundError):
            said = said_by(error.body)
            what = f"does not know the model “{self.model}” or this address" + (f": {shorten(said, 200)}" if said else "")
        elif isinstance(error, openai.APIConnectionError) and not so_far:
            what = "cannot be reached; is it running?"
        elif isinstance(error, json.JSONDecodeError | UnicodeDecodeError | RecursionError):
            what = f"sent what cannot be read ({shorten(str(error), 100)})"
        else:
            what = f"failed: {shorten(str(error), 200)}"
        tail = f" What came so far: “{shorten(so_far, 200)}”" if so_far else ""
        return f"The server at {self.url} {what}{'' if what.endswith('?') else '.'}{tail}"


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


def _transport(error: Exception) -> bool:
    """Whether `error` comes from the HTTP library below the client, which lets its read errors through in mid-stream."""
    return type(error).__module__.split(".")[0] in ("httpx", "httpx2", "httpcore", "httpcore2", "h11")
