"""Pieces of streamed replies from servers of the OpenAI protocol.

Their format is checked. Programs that offer the protocol differ in their fields for reasoning,
refusals and token counts. A `StreamPiece` is the same for all.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.io.files import size_text
from core.models.chat.refusals import extract_error_message
from core.models.number_checks import token_count

# A response may have so many bytes per requested token, and extra bytes in all.
MAX_TOKEN_BYTES = 1 << 13
EXTRA_REPLY_BYTES = 1 << 20
ASSUMED_REPLY_TOKENS = 1 << 13  # of a reply whose request gives no limit
MAX_MEAN_TOKEN_SECONDS = 1.0  # any model in use is faster
# Compressions with a bounded ratio. Others could unpack a few bytes to a full memory.
ALLOWED_ENCODINGS = ("", "identity", "gzip", "deflate")
# Names of the field for reasoning in different programs, and of the field for a part's text.
THOUGHT_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
TEXT_FIELDS = ("text", "content", "thinking", "reasoning", "summary", "refusal", "value")
MAX_PART_DEPTH = 4  # of parts within parts; deeper ones are ignored


class ReplyOverdueError(TimeoutError):
    """Error for a server that did not answer within `seconds`."""

    def __init__(self, seconds: float):
        super().__init__(f"did not answer within {seconds:g} seconds")


@dataclass(frozen=True)
class StreamPiece:
    """Content of one piece of a streamed reply; any field may be empty.

    Parameters
    ----------
    text : text of the reply.
    finish : finish reason of the protocol; None before the end.
    token_counts : tokens of the prompt and of the reply; None if the piece has none.
    thought : reasoning text.
    tool : name of a tool that is called.
    refusal : words of a refusal.
    has_invalid_counts : true if the piece has token counts that are not valid.
    """

    text: str = ""
    finish: str | None = None
    token_counts: tuple[int, int] | None = None
    thought: str = ""
    tool: str = ""
    refusal: str = ""
    has_invalid_counts: bool = False

    @property
    def has_content(self) -> bool:
        """True if it contains any part of the reply."""
        return bool(self.text or self.thought or self.tool or self.refusal or self.finish)

    @classmethod
    def from_json(cls, answer: Any) -> StreamPiece:
        """Convert a whole reply that was not streamed, but came as one JSON object.

        Raises ValueError if it is no reply, with the server's message if there is one.
        """
        try:
            choice = answer["choices"][0]
            finish = choice.get("finish_reason") or "stop"
            message = dict(choice["message"].items())
            usage = answer.get("usage")
        except (KeyError, IndexError, TypeError, AttributeError):
            detail = extract_error_message(answer)
            raise ValueError(
                f"it says: {detail}" if detail else "it sent an object that is no reply"
            ) from None
        return cls.from_chunk(
            {"choices": [{"finish_reason": finish, "delta": message}], "usage": usage}
        )

    @classmethod
    def from_chunk(cls, chunk: Any) -> StreamPiece:
        """Convert a chunk of a stream. Raises ValueError if it is no part of a chat reply."""
        try:
            deltas, finishes = _read_choices(chunk)
            contents = [_read_content(delta.get("content")) for delta in deltas]
            usage = chunk.get("usage")
        except (KeyError, AttributeError, TypeError):
            raise ValueError("it sent a piece that is none of a reply") from None
        if not all(isinstance(end, str) for end in finishes):
            raise ValueError("it sent a piece whose end is none")
        token_counts = _read_token_counts(usage) if usage else None
        content_thought = "".join(thought for _, thought in contents)
        return cls(
            text="".join(text for text, _ in contents),
            finish=finishes[-1] if finishes else None,
            token_counts=token_counts,
            thought=_read_first_field(deltas, THOUGHT_FIELDS) + content_thought,
            tool=_find_tool_name(deltas),
            refusal=_read_first_field(deltas, ("refusal",)),
            has_invalid_counts=bool(usage) and token_counts is None,
        )


def _read_choices(chunk: Any) -> tuple[list[Any], list[Any]]:
    """Return the deltas and the finish reasons of a chunk's choices."""
    deltas: list[Any] = []
    finishes: list[Any] = []
    for choice in chunk["choices"] or ():
        finish = choice.get("finish_reason")
        delta = choice["delta"]
        if delta:
            deltas.append(delta)
        if finish:
            finishes.append(finish)
    return deltas, finishes


def _read_content(content: Any) -> tuple[str, str]:
    """Return the text and the reasoning of a delta's content.

    The content is a text or a list of parts. Raises ValueError for a content of another type.
    """
    if not content or isinstance(content, str):
        return content or "", ""
    parts = content if isinstance(content, list) else [None]
    if not all(isinstance(part, str | dict) for part in parts):
        raise ValueError("it sent a piece whose text is none")
    texts = []
    thoughts = []
    for part in parts:
        kind = str(part.get("type") or "text").lower() if isinstance(part, dict) else "text"
        if "think" in kind or "reason" in kind or "thought" in kind:
            thoughts.append(_read_text(part))
        elif "text" in kind:  # other parts are no text, such as pictures and references
            texts.append(_read_text(part))
    return "".join(texts), "".join(thoughts)


def _read_text(value: Any, depth: int = MAX_PART_DEPTH) -> str:
    """Return the text of a part; empty if it has none.

    A part may itself consist of parts.
    """
    if isinstance(value, str):
        return value
    if not depth or not isinstance(value, list | dict):
        return ""
    if isinstance(value, list):
        return "".join(_read_text(part, depth - 1) for part in value)
    texts = (_read_text(value.get(key), depth - 1) for key in TEXT_FIELDS)
    return next(filter(None, texts), "")


def _read_first_field(deltas: list[Any], names: tuple[str, ...]) -> str:
    """Join the texts of all deltas.

    Each text is from the first of these fields that has any.
    """
    joined_text = ""
    for delta in deltas:
        texts = (_read_text(delta.get(name)) for name in names)
        joined_text += next(filter(None, texts), "")
    return joined_text


def _find_tool_name(deltas: list[Any]) -> str:
    """Return the name of the first tool that is called.

    The result is empty if there is none.
    """
    try:
        for delta in deltas:
            for call in delta.get("tool_calls") or ():
                name = call["function"].get("name")
                if name:
                    return str(name)
    except (KeyError, AttributeError, TypeError):
        pass
    return ""


def _read_token_counts(usage: Any) -> tuple[int, int] | None:
    """Return the tokens of prompt and reply; None if the counts are invalid.

    Some servers do not include cached tokens in those of the prompt. These are then added, as more
    cached tokens than tokens of the prompt show it.
    """
    try:
        prompt_tokens = token_count(usage.get("prompt_tokens"))
        reply_tokens = token_count(usage.get("completion_tokens"))
        details = usage.get("prompt_tokens_details")
        cached_tokens = (
            token_count(details.get("cached_tokens")) if isinstance(details, dict) else 0
        )
    except (ValueError, AttributeError):
        return None
    if cached_tokens > prompt_tokens:
        prompt_tokens += cached_tokens
    return prompt_tokens, reply_tokens


def limit_response(response: Any, seconds: float) -> None:
    """Limit the size of a response and the time to read it.

    The limits grow with the token limit of the request. Bytes are counted after unpacking.

    Parameters
    ----------
    response : a response of the HTTP library; its bytes are limited in place.
    seconds : time limit. `MAX_MEAN_TOKEN_SECONDS` per requested token are added.

    Raises
    ------
    ValueError : its compression was not requested; or, while it is read, it is too large.
    ReplyOverdueError : while it is read, it takes too long.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in ALLOWED_ENCODINGS:
        raise ValueError("it sent a reply that is packed in a way that was not asked for")
    requested_tokens = _read_token_limit(response)
    tokens = requested_tokens or ASSUMED_REPLY_TOKENS
    max_bytes = EXTRA_REPLY_BYTES + MAX_TOKEN_BYTES * tokens
    max_seconds = seconds + MAX_MEAN_TOKEN_SECONDS * requested_tokens
    end = time.monotonic() + max_seconds
    iter_unlimited = response.iter_bytes

    def iter_bytes(chunk_size: int | None = None) -> Iterator[bytes]:
        remaining_bytes = max_bytes
        for data in iter_unlimited(chunk_size):
            remaining_bytes -= len(data)
            if remaining_bytes < 0:
                raise ValueError(
                    f"it sent more than {size_text(max_bytes)} for a reply of {tokens:,} tokens and "
                    "was cut off"
                )
            if time.monotonic() > end:
                raise ReplyOverdueError(max_seconds)
            yield data

    response.iter_bytes = iter_bytes


def _read_token_limit(response: Any) -> int:
    """Return the token limit in the request of a response.

    The result is 0 if there is none.
    """
    try:
        body = json.loads(response.request.content)
        return int(body.get("max_tokens") or body.get("max_completion_tokens") or 0)
    except (ValueError, AttributeError, TypeError):
        return 0
