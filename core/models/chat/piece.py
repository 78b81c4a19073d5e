"""What comes from a server of the OpenAI protocol, checked: no more than a reply can be, and only what a reply is made of."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.io.files import size_text
from core.models.chat.refusals import said_by

EACH, BESIDE = 1 << 13, 1 << 20  # bytes that a server may send for a token, and beside them
UNSAID = 1 << 13  # tokens of a reply whose request does not say how many it may have
DONE, WHOLE = (
    b"[DONE]",
    "hopscope_whole",
)  # the mark at the end of a stream, and what a response says of having had it


@dataclass(frozen=True)
class Piece:
    """What one piece of a stream says: text, thought, how the reply ended, tokens read and written, a tool that is asked for, a refusal."""

    text: str = ""
    finish: str | None = None
    used: tuple[int, int] | None = None
    thought: str = ""
    tool: str = ""
    refusal: str = ""

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
            usage = chunk.get("usage")
            used = (_prompt(usage), _count(usage.get("completion_tokens"))) if usage else None
            deltas, ends = (
                [delta for _, delta in choices if delta],
                [finish for finish, _ in choices if finish],
            )
            texts = [delta["content"] for delta in deltas if delta.get("content")]
        except (KeyError, AttributeError, TypeError):
            raise ValueError("it sent a piece that is none of a reply") from None
        if not all(isinstance(text, str) for text in (*texts, *ends)):
            raise ValueError("it sent a piece whose text is none")
        thoughts, refusals = (
            _first_text(deltas, names)
            for names in (("reasoning_content", "reasoning"), ("refusal",))
        )
        return cls(
            "".join(texts), ends[-1] if ends else None, used, thoughts, _tool(deltas), refusals
        )


def _first_text(deltas: list[Any], names: tuple[str, ...]) -> str:
    """The text of the first of some fields that a piece has."""
    texts = (
        next((text for name in names if isinstance(text := delta.get(name), str) and text), "")
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


def _prompt(usage: Any) -> int:
    """The tokens of the prompt that were read, with those that the server had read before where it counts these on their own."""
    read, details = _count(usage.get("prompt_tokens")), usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return (
        read + cached
        if isinstance(cached, int) and not isinstance(cached, bool) and cached > read
        else read
    )


def bound(response: Any) -> None:
    """Bounds what is read of a response, after unpacking, by the tokens that its request asks for: reading more raises ValueError."""
    try:
        asked = json.loads(response.request.content)
        tokens = int(asked.get("max_tokens") or asked.get("max_completion_tokens") or UNSAID)
    except (ValueError, AttributeError, TypeError):
        tokens = 0
    most, read = BESIDE + EACH * tokens, response.iter_bytes

    def iter_bytes(chunk_size: int | None = None) -> Iterator[bytes]:
        left, end = most, b""
        for data in read(chunk_size):
            left, end = left - len(data), (end + data)[-64:]
            response.extensions[WHOLE] = response.extensions.get(WHOLE, False) or DONE in end
            if left < 0:
                raise ValueError(
                    f"it sent more than {size_text(most)} for a reply of {tokens:,} tokens and was cut off"
                )
            yield data

    response.iter_bytes = iter_bytes


def _count(value: Any) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError("no number of tokens")
    return value
