"""Any OpenAI-compatible server, by its address: vLLM, llama.cpp, Ollama, a hosted service."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from core.errors import ModelFailed, ModelUnavailable, shorten
from core.models.base import Messages, Reply
from core.models.chat.repeats import ended, guarded
from core.models.chat.replies import Replies, estimate_tokens
from core.models.chat.turns import patiently
from core.runtime.meter import spent

if TYPE_CHECKING:
    from openai import OpenAI

CONNECT = 5.0  # seconds until a server that does not answer counts as dead


class OpenAIChat:
    """A Chat over the server at `url` (ending in /v1), asking for `model`.

    The key is read from the environment variable `key_variable` where one is named. Replies are remembered; requests run
    side by side; nothing is tried twice, except once without the JSON schema where the server refuses that (noted in
    `schemas`, so that later requests leave it out).
    """

    side_by_side = True

    def __init__(
        self, url: str, model: str, name: str, key_variable: str = "", context: int = 8192, timeout: float = 120.0, key: str | None = None
    ):
        self.url, self.model, self.name, self.context = url.rstrip("/"), model, name, context
        self.key_variable, self.timeout, self.schemas, self._key = key_variable, timeout, True, key
        self._lock, self._replies = threading.Lock(), Replies()
        self._client: OpenAI | None = None

    def reply(
        self,
        messages: Messages,
        *,
        schema: dict[str, Any] | None = None,
        max_tokens: int = 256,
        seed: int = 0,
        temperature: float = 0.0,
        on_text: Callable[[str], None] | None = None,
        check: Callable[[], None] | None = None,
    ) -> Reply:
        """The server's reply; see `core.models.base.Chat`. Raises ModelFailed naming the address."""
        import openai

        key = Replies.key(messages, schema, max_tokens, seed, temperature)
        found = self._replies.find(key, on_text)
        if found is not None:
            return found
        request = {
            "model": self.model,
            "messages": [dict(m) for m in messages],
            "max_tokens": max_tokens,
            "seed": seed,
            "temperature": temperature,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if check:
            check()
        with_schema = dict(request)
        if schema is not None and self.schemas:
            with_schema["response_format"] = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": schema}}
        pieces: list[str] = []
        try:
            try:
                return self._replies.keep(key, self._asked(with_schema, pieces, on_text, check, schema))
            except (openai.BadRequestError, openai.UnprocessableEntityError):
                if "response_format" not in with_schema or pieces:
                    raise
                reply = self._asked(request, pieces, on_text, check, schema)
                self.schemas = False
                return self._replies.keep(key, reply)
        except (openai.OpenAIError, OSError, ValueError) as error:
            raise ModelFailed(self._sentence(error, "".join(pieces))) from error
        except Exception as error:
            if not _transport(error):
                raise
            raise ModelFailed(self._sentence(error, "".join(pieces))) from error

    def forget(self) -> None:
        """Drop all remembered replies."""
        self._replies.forget()

    def count_tokens(self, messages: Messages) -> int:
        """An estimate: a server does not tell."""
        return estimate_tokens(messages)

    def _asked(
        self,
        request: dict[str, Any],
        pieces: list[str],
        on_text: Callable[[str], None] | None,
        check: Callable[[], None] | None,
        schema: Any,
    ) -> Reply:
        """The reply to one streamed request; where `check` raises, also before the server has said anything, the request is given up."""
        client = self._open()

        def asked() -> Reply:
            with spent("model"):
                return self._stream(client, request, pieces, on_text, check, schema)

        return patiently(asked, check)

    def _stream(self, client: Any, request: dict[str, Any], pieces: list[str], on_text: Any, check: Any, schema: Any) -> Reply:
        """One streamed request; leaving early closes the connection, which stops the server's work."""
        finish, usage, start = None, None, time.perf_counter()
        repeats, heard = guarded(on_text, schema)
        with client.chat.completions.create(**request) as stream:
            for chunk in stream:
                if check:
                    check()
                usage = getattr(chunk, "usage", None) or usage
                for choice in chunk.choices or ():
                    finish = choice.finish_reason or finish
                    text = choice.delta.content if choice.delta else None
                    if text:
                        pieces.append(text)
                        if heard(text):
                            finish = "repeat"
                            break
                if finish == "repeat":
                    break
        text = "".join(pieces)
        if finish is None:
            raise ValueError("the connection ended before the reply did")
        tokens_in = usage.prompt_tokens if usage else estimate_tokens(request["messages"])
        tokens_out = usage.completion_tokens if usage else -(-len(text) // 4)
        return ended(repeats, text, tokens_in or 0, tokens_out or 0, finish, time.perf_counter() - start)

    def _open(self) -> Any:
        """The client, made when first asked for. Raises ModelUnavailable where the key's variable is not set."""
        import openai

        with self._lock:
            if self._client is None:
                key = self._key or (os.environ.get(self.key_variable) if self.key_variable else "none")
                if not key:
                    raise ModelUnavailable(f"{self.name} needs a key: set the environment variable {self.key_variable}.")
                timeout = openai.Timeout(self.timeout, connect=CONNECT)
                self._client = openai.OpenAI(base_url=self.url, api_key=key, timeout=timeout, max_retries=0)
            return self._client

    def _sentence(self, error: Exception, so_far: str) -> str:
        """What happened, in words for a person."""
        import openai

        if isinstance(error, openai.APITimeoutError):
            what = f"did not answer within {self.timeout:g} seconds"
        elif isinstance(error, openai.AuthenticationError):
            what = "refused the key"
        elif isinstance(error, openai.NotFoundError):
            what = f"does not know the model “{self.model}” or this address"
        elif isinstance(error, openai.APIConnectionError) and not so_far:
            what = "cannot be reached; is it running?"
        else:
            what = f"failed: {shorten(str(error), 200)}"
        tail = f" What came so far: “{shorten(so_far, 200)}”" if so_far else ""
        return f"The server at {self.url} {what}{'' if what.endswith('?') else '.'}{tail}"


def _transport(error: Exception) -> bool:
    """Whether `error` comes from the HTTP library below the client, which lets its read errors through in mid-stream."""
    return type(error).__module__.split(".")[0] in ("httpx", "httpx2", "httpcore", "httpcore2", "h11")
