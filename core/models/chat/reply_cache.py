"""Cache of a model's replies: the latest in memory, and all of them on disk if wanted."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from cachetools import LRUCache

from core.errors import StoreError
from core.models.base import ChatReply
from core.models.chat.saved_replies import SavedReplies
from core.runtime.meter import first_requests, record_saved_time

MAX_CACHED_REPLIES = 2_000
log = logging.getLogger(__name__)


class ReplyCache:
    """Replies of one model by request key. Safe to use from several threads.

    Parameters
    ----------
    max_replies : largest number of replies in memory.
    store : store on disk; None for a cache in memory alone. Errors of its file are only
        logged.
    """

    def __init__(self, max_replies: int = MAX_CACHED_REPLIES, store: SavedReplies | None = None):
        self.store = store
        self._lock = threading.Lock()
        self._replies = LRUCache[str, ChatReply](max_replies)

    def find(
        self,
        key: str,
        on_text: Callable[[str], None] | None,
        schema: dict[str, Any] | None = None,
        allow_cut: bool = False,
        min_tokens: int = 0,
    ) -> ChatReply | None:
        """Return the usable cached reply for a key.

        Parameters
        ----------
        key : key of the request.
        on_text : called with the text in one piece.
        schema : JSON schema of the request; None for free text.
        allow_cut : if true, a reply that ends at its token limit is returned too.
        min_tokens : lower bound of the prompt's tokens. A reply on disk is not returned if
            the server read fewer, since it then cut the prompt.

        Returns
        -------
        The reply, marked as cached; None without one.
        """
        with self._lock:
            reply = self._replies.get(key)
        if reply is None:
            reply = self._find_on_disk(key, schema, allow_cut, min_tokens)
        if reply is None:
            return None
        if on_text and reply.text:
            on_text(reply.text)
        if first_requests([key]):
            record_saved_time(reply.seconds)
        return replace(reply, cached=True)

    def save(self, key: str, reply: ChatReply, allow_cut: bool = False) -> ChatReply:
        """Save a reply if it is usable, and return it.

        It is saved on disk without a model name, so that `SavedReplies.mean_cost` leaves it out:
        the durations of single replies do not tell the speed of building graphs.

        Parameters
        ----------
        key : key of the request.
        reply : any reply.
        allow_cut : if true, a reply that ends at its token limit is saved too.

        Returns
        -------
        The reply.
        """
        if not (reply.is_usable or (allow_cut and reply.is_cut)):
            return reply
        with self._lock:
            self._replies[key] = reply
        if self.store is not None:
            try:
                self.store.save(key, "", reply)
            except StoreError as error:
                log.warning("A reply was not kept. %s", error)
        return reply

    def forget(self) -> None:
        """Drop the replies in memory; those on disk stay."""
        with self._lock:
            self._replies.clear()

    def __len__(self) -> int:
        return len(self._replies)

    def _find_on_disk(
        self, key: str, schema: dict[str, Any] | None, allow_cut: bool, min_tokens: int
    ) -> ChatReply | None:
        if self.store is None:
            return None
        try:
            reply = self.store.find(key, schema, usable=not allow_cut, min_tokens=min_tokens)
        except StoreError as error:
            log.warning("Kept replies were not read. %s", error)
            return None
        if reply is None or not (reply.is_usable or reply.is_cut):
            return None
        with self._lock:
            self._replies[key] = reply
        return reply
