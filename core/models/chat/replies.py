"""What chat models share: a token estimate where a model cannot count."""

from __future__ import annotations

from core.models.base import Messages


def estimate(text: str) -> int:
    """About how many tokens a text is to a language model: one for 3.5 bytes of UTF-8, which is close for English.

    >>> from core.models.chat.replies import estimate
    >>> estimate("seven b"), estimate("")
    (2, 0)
    """
    return -(-2 * len(text.encode("utf-8", "replace")) // 7)


def estimate_tokens(messages: Messages) -> int:
    """About how many tokens the messages are, 4 a message for its frame."""
    return 4 + sum(4 + estimate(message.get("content", "")) for message in messages)
