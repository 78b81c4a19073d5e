"""What comes from a server of the OpenAI protocol, checked: no more than a reply can be, and only what a reply is made of."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.io.files import size_text

EACH, BESIDE = 1 << 13, 1 << 20  # bytes that a server may send for a token, and beside them


@dataclass(frozen=True)
class Heard:
    """What one piece of a stream tells: text, how the reply ended, tokens read and written."""

    text: str = ""
    finish: str | None = None
    used: tuple[int, int] | None = None

    @classmethod
    def of(cls, chunk: Any) -> Heard:
        """What a chunk of the client tells. Raises ValueError where it is none of a chat's reply."""
        try:
            choices = [(choice.finish_reason, choice.delta.content if choice.delta else None) for choice in chunk.choices or ()]
            usage = getattr(chunk, "usage", None)
            used = (_count(usage.prompt_tokens), _count(usage.completion_tokens)) if usage else None
        except (AttributeError, TypeError):
            raise ValueError("it sent a piece that is none of a reply") from None
        texts, ends = [text for _, text in choices if text], [finish for finish, _ in choices if finish]
        if not all(isinstance(text, str) for text in (*texts, *ends)):
            raise ValueError("it sent a piece whose text is none")
        return cls("".join(texts), ends[-1] if ends else None, used)


def bound(response: Any) -> None:
    """Bounds what is read of a response, after unpacking, by the tokens that its request asks for: reading more raises ValueError."""
    try:
        tokens = json.loads(response.request.content)["max_tokens"]
    except (ValueError, KeyError, TypeError):
        tokens = 0
    most, read = BESIDE + EACH * tokens, response.iter_bytes

    def iter_bytes(chunk_size: int | None = None) -> Iterator[bytes]:
        left = most
        for data in read(chunk_size):
            left -= len(data)
            if left < 0:
                raise ValueError(f"it sent more than {size_text(most)} for a reply of {tokens:,} tokens and was cut off")
            yield data

    response.iter_bytes = iter_bytes


def _count(value: Any) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError("no number of tokens")
    return value
