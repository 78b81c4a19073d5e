"""What chat models share: remembered replies, and a token estimate where a model cannot count."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from core.models.base import Messages, Reply
from core.runtime.meter import new_to_this, saved

REMEMBERED = 2_000


class Replies:
    """The last replies by what was asked, for one model; safe to use from several threads."""

    def __init__(self, remember: int = REMEMBERED):
        self.remember, self._lock = remember, threading.Lock()
        self._replies: OrderedDict[str, Reply] = OrderedDict()

    @staticmethod
    def key(messages: Messages, schema: dict[str, Any] | None, max_tokens: int, seed: int, temperature: float) -> str:
        """A digest of everything that a reply depends on."""
        return hashlib.sha256(json.dumps([list(messages), schema, max_tokens, seed, temperature], sort_keys=True).encode()).hexdigest()

    def find(self, key: str, on_text: Callable[[str], None] | None) -> Reply | None:
        """The reply remembered for `key`, marked as cached and given to `on_text` in one piece; None where there is none."""
        with self._lock:
            found = self._replies.get(key)
            if found is not None:
                self._replies.move_to_end(key)
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
            while len(self._replies) > self.remember:
                self._replies.popitem(last=False)
        return reply

    def forget(self) -> None:
        """Drop all remembered replies."""
        with self._lock:
            self._replies.clear()

    def __len__(self) -> int:
        return len(self._replies)


def estimate_tokens(messages: Messages) -> int:
    """About how many tokens the messages are: a token for 3.5 bytes of UTF-8 (close for English), 4 a message for its frame."""
    return 4 + sum(4 + -(-2 * len(m.get("content", "").encode("utf-8", "replace")) // 7) for m in messages)
