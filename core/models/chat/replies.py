"""What chat models share: remembered replies, and a token estimate where a model cannot count."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from cachetools import LRUCache

from core.models.base import Messages, Reply
from core.runtime.meter import new_to_this, saved

REMEMBERED = 2_000


class Replies:
    """The last replies by what was asked, for one model; safe to use from several threads."""

    def __init__(self, remember: int = REMEMBERED):
        self._lock, self._replies = threading.Lock(), LRUCache[str, Reply](remember)

    def find(self, key: str, on_text: Callable[[str], None] | None) -> Reply | None:
        """The reply remembered for `key`, marked as cached and given to `on_text` in one piece; None where there is none."""
        with self._lock:
            found = self._replies.get(key)
        if found is None:
            return None
        if on_text and found.text:
            on_text(found.text)
        if new_to_this([key]):
            saved(found.seconds)
        return replace(found, cached=True)

    def keep(self, key: str, reply: Reply) -> Reply:
        """Remember `reply` and return it."""
        with self._lock:
            self._replies[key] = reply
        return reply

    def forget(self) -> None:
        """Drop all remembered replies."""
        with self._lock:
            self._replies.clear()

    def __len__(self) -> int:
        return len(self._replies)


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
