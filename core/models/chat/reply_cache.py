"""Remembered replies of one model: the latest in memory, and all on disk if they are saved."""

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
    on_disk : replies that outlive the process; None without. If its file cannot be used, this
        prevents no reply; the log mentions it.
    """

    def __init__(self, remember: int = MAX_CACHED_REPLIES, on_disk: SavedReplies | None = None):
        self.on_disk = on_disk
        self._lock, self._replies = threading.Lock(), LRUCache[str, ChatReply](remember)

    def find(
        self,
        key: str,
        on_text: Callable[[str], None] | None,
        schema: dict[str, Any] | None = None,
        allow_cut: bool = False,
        fewest: int = 0,
    ) -> ChatReply | None:
        """Return the usable remembered reply for a key.

        Parameters
        ----------
        key : key of the request.
        on_text : receives the reply in one piece.
        schema : schema of the request.
        allow_cut : if true, replies that were cut off count too.
        fewest : least possible tokens of the prompt. A saved reply whose prompt the server cut, by
            this number, does not count.

        Returns
        -------
        The reply, marked as cached; None without one.
        """
        with self._lock:
            reply = self._replies.get(key)
        reply = self._find_on_disk(key, schema, allow_cut, fewest) if reply is None else reply
        if reply is None:
            return None
        if on_text and reply.text:
            on_text(reply.text)
        if first_requests([key]):
            record_saved_time(reply.seconds)
        return replace(reply, cached=True)

    def keep(self, key: str, reply: ChatReply, allow_cut: bool = False) -> ChatReply:
        """Remember a usable reply, and return it.

        On disk it is saved without the model's name: the duration of single replies says nothing of
        the speed of builds.

        Parameters
        ----------
        key : key of the request.
        reply : any reply.
        allow_cut : remembers the reply also if it was cut off.

        Returns
        -------
        The reply.
        """
        if not (reply.usable or (allow_cut and reply.cut)):
            return reply
        with self._lock:
            self._replies[key] = reply
        if self.on_disk is not None:
            try:
                self.on_disk.keep(key, "", reply)
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
            reply = reply if reply is None or reply.usable or reply.cut else None
        except StoreError as error:
            log.warning("Kept replies were not read. %s", error)
            return None
        if reply is not None:
            with self._lock:
                self._replies[key] = reply
        return reply
