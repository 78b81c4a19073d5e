"""What comes from a server of the OpenAI protocol, checked: no more than a reply can be, and only what a reply is made of."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.io.files import size_text
from core.models.chat.refusals import said_by
from core.models.numbers import token_count

EACH, BESIDE = 1 << 13, 1 << 20  # bytes that a server may send for a token, and beside them
UNSAID = 1 << 13  # tokens of a reply whose request does not say how many it may have
TOKEN_SECONDS = (
    1.0  # that a token of a reply may take on average; slower than any model that is used
)
PACKINGS = ("", "identity", "gzip", "deflate")  # of which a small piece unpacks to a bounded one
THOUGHT_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
TEXT_FIELDS = ("text", "content", "thinking", "reasoning", "summary", "refusal", "value")
MAX_DEPTH = 4  # of parts within parts


class Overdue(TimeoutError):
    """A server did not say what was asked for within `seconds`."""

    def __init__(self, seconds: float):
        super().__init__(f"did not answer within {seconds:g} seconds")


@dataclass(frozen=True)
class Piece:
    """What one piece of a stream says: text, thought, how the reply ended, tokens read and written, a tool that is asked for, a refusal.

    `miscounted` is on where numbers of tokens came that are none.
    """

    text: str = ""
    finish: str | None = None
    used: tuple[int, int] | None = None
    thought: str = ""
    tool: str = ""
    refusal: str = ""
    miscounted: bool = False

    @property
    def says(self) -> bool:
        """Whether there is anything of the reply in it."""
        return bool(self.text or self.thought or self.tool or self.refusal or self.finish)

    @classmethod
    def whole(cls, answer: Any) -> Piece:
        """What a reply says that came as one JSON object. Raises ValueError for one that is none, in the server's words if it has any."""
        try:
            choice = answer["choices"][0]
            ended, message = choice.get("finish_reason") or "stop", dict(choice["message"].items())
            usage = answer.get("usage")
        except (KeyError, IndexError, TypeError, AttributeError):
            said = said_by(answer)
            raise ValueError(
                f"it says: {said}" if said else "it sent an object that is no reply"
            ) from None
        return cls.of({"choices": [{"finish_reason": ended, "delta": message}], "usage": usage})

    @classmethod
    def of(cls, chunk: Any) -> Piece:
        """What a chunk of a stream says, as its JSON has it. Raises ValueError where it is none of a chat's reply."""
        try:
            choices = [
                (choice.get("finish_reason"), choice["delta"]) for choice in chunk["choices"] or ()
            ]
            deltas = [delta for _, delta in choices if delta]
            ends = [finish for finish, _ in choices if finish]
            contents = [_content(delta.get("content")) for delta in deltas]
            usage = chunk.get("usage")
        except (KeyError, AttributeError, TypeError):
            raise ValueError("it sent a piece that is none of a reply") from None
        if not all(isinstance(end, str) for end in ends):
            raise ValueError("it sent a piece whose end is none")
        used = _used(usage) if usage else None
        return cls(
            text="".join(text for text, _ in contents),
            finish=ends[-1] if ends else None,
            used=used,
            thought=_first_text(deltas, THOUGHT_FIELDS) + "".join(more for _, more in contents),
            tool=_tool(deltas),
            refusal=_first_text(deltas, ("refusal",)),
            miscounted=bool(usage) and used is None,
        )


def _content(content: Any) -> tuple[str, str]:
    """Text and thought of a content, which is a text or a list of parts. Raises ValueError."""
    if not content or isinstance(content, str):
        return content or "", ""
    parts = content if isinstance(content, list) else [None]
    if not all(isinstance(part, str | dict) for part in parts):
        raise ValueError("it sent a piece whose text is none")
    texts, thoughts = [], []
    for part in parts:
        kind = str(part.get("type") or "text").lower() if isinstance(part, dict) else "text"
        if "think" in kind or "reason" in kind or "thought" in kind:
            thoughts.append(_text_of(part))
        elif "text" in kind:  # others are no text: pictures, references
            texts.append(_text_of(part))
    return "".join(texts), "".join(thoughts)


def _text_of(value: Any, depth: int = MAX_DEPTH) -> str:
    """The text of a part, which may have parts itself."""
    if isinstance(value, str):
        return value
    if not depth or not isinstance(value, list | dict):
        return ""
    if isinstance(value, list):
        return "".join(_text_of(part, depth - 1) for part in value)
    return next((text for key in TEXT_FIELDS if (text := _text_of(value.get(key), depth - 1))), "")


def _first_text(deltas: list[Any], names: tuple[str, ...]) -> str:
    """The text of the first of some fields that a piece has."""
    texts = (
        next((text for name in names if (text := _text_of(delta.get(name)))), "")
        for delta in deltas
    )
    return "".join(texts)


def _tool(deltas: list[Any]) -> str:
    """The name of the first tool that is asked for."""
    try:
        calls = (
            call["function"].get("name")
            for delta in deltas
            for call in delta.get("tool_calls") or ()
        )
        return next((str(name) for name in calls if name), "")
    except (KeyError, AttributeError, TypeError):
        return ""


def _used(usage: Any) -> tuple[int, int] | None:
    """Tokens that were read and written; None where these are no numbers of tokens.

    Those of the prompt that the server had read before are added where it counts them on their own.
    """
    try:
        read, written = (
            token_count(usage.get(name)) for name in ("prompt_tokens", "completion_tokens")
        )
        details = usage.get("prompt_tokens_details")
        cached = token_count(details.get("cached_tokens")) if isinstance(details, dict) else 0
    except (ValueError, AttributeError):
        return None
    return (read + cached if cached > read else read), written


def bound(response: Any, seconds: float) -> None:
    """Bounds what is read of a response, and how long that takes, by the tokens that its request asks for.

    Bytes are counted after unpacking. Reading more raises ValueError, reading longer Overdue.
    """
    packing = response.headers.get("content-encoding", "").strip().lower()
    if packing not in PACKINGS:
        raise ValueError("it sent a reply that is packed in a way that was not asked for")
    asked = _tokens_asked(response)
    tokens = asked or UNSAID
    most, read = BESIDE + EACH * tokens, response.iter_bytes
    within = seconds + TOKEN_SECONDS * asked
    end = time.monotonic() + within

    def iter_bytes(chunk_size: int | None = None) -> Iterator[bytes]:
        left = most
        for data in read(chunk_size):
            left -= len(data)
            if left < 0:
                raise ValueError(
                    f"it sent more than {size_text(most)} for a reply of {tokens:,} tokens and was cut off"
                )
            if time.monotonic() > end:
                raise Overdue(within)
            yield data

    response.iter_bytes = iter_bytes


def _tokens_asked(response: Any) -> int:
    """The tokens of a reply that the request of a response asks for; 0 where it does not say."""
    try:
        asked = json.loads(response.request.content)
        return int(asked.get("max_tokens") or asked.get("max_completion_tokens") or 0)
    except (ValueError, AttributeError, TypeError):
        return 0
