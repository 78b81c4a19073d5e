"""Cached replies of one model: the latest in memory, and all of them on disk if saved."""

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
    remember : largest number of replies in memory.
    on_disk : replies saved on disk, if any. Errors of its file are only logged.
    """

    def __init__(self, remember: int = MAX_CACHED_REPLIES, on_disk: SavedReplies | None = None):
        self.on_disk = on_disk
        self._lock = threading.Lock()
        self._replies = LRUCache[str, ChatReply](remember)

    def find(
        self,
        key: str,
        on_text: Callable[[str], None] | None,
        schema: dict[str, Any] | None = None,
        allow_cut: bool = False,
        fewest: int = 0,
    ) -> ChatReply | None:
        """Return the usable cached reply for a key.

        Parameters
        ----------
        key : key of the request.
        on_text : receives the reply in one piece.
        schema : schema of the request.
        allow_cut : if true, a reply that was cut off is returned too.
        fewest : lower bound of the prompt's tokens. A saved reply is not returned if the server
            read fewer, that is, cut the prompt.

        Returns
        -------
        The reply, marked as cached; None without one.
        """
        with self._lock:
            reply = self._replies.get(key)
        if reply is None:
            reply = self._find_on_disk(key, schema, allow_cut, fewest)
        if reply is None:
            return None
        if on_text and reply.text:
            on_text(reply.text)
        if first_requests([key]):
            record_saved_time(reply.seconds)
        return replace(reply, cached=True)

    def save(self, key: str, reply: ChatReply, allow_cut: bool = False) -> ChatReply:
        """Save a usable reply, and return it.

        The disk gets no model name, by which `SavedReplies.mean_cost` averages the durations of
        replies: single replies say nothing of the speed of builds.

        Parameters
        ----------
        key : key of the request.
        reply : any reply.
        allow_cut : if true, a reply that was cut off is saved too.

        Returns
        -------
        The reply.
        """
        if not (reply.is_usable or (allow_cut and reply.is_cut)):
            return reply
        with self._lock:
            self._replies[key] = reply
        if self.on_disk is not None:
            try:
                self.on_disk.save(key, "", reply)
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
        self, key: str, schema: dict[str, Any] | None, allow_cut: bool, fewest: int
    ) -> ChatReply | None:
        if self.on_disk is None:
            return None
        try:
            reply = self.on_disk.find(key, schema, usable=not allow_cut, fewest=fewest)
        except StoreError as error:
            log.warning("Kept replies were not read. %s", error)
            return None
        if reply is None or not (reply.is_usable or reply.is_cut):
            return None
        with self._lock:
            self._replies[key] = reply
        return reply
