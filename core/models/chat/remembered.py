"""The replies of one model that need not be asked for again: the last ones in memory, all of them on disk where they are kept."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from cachetools import LRUCache

from core.errors import StoreError
from core.models.base import Reply
from core.models.chat.saved_replies import SavedReplies
from core.runtime.meter import new_to_this, saved

REMEMBERED = 2_000
log = logging.getLogger(__name__)


class Replies:
    """The replies of one model by what was asked; safe to use from several threads.

    With `on_disk` they outlive the process. A file of kept replies that cannot be used costs no question its answer: it is told in the log.
    """

    def __init__(self, remember: int = REMEMBERED, on_disk: SavedReplies | None = None):
        self.on_disk = on_disk
        self._lock, self._replies = threading.Lock(), LRUCache[str, Reply](remember)

    def find(
        self,
        key: str,
        on_text: Callable[[str], None] | None,
        schema: dict[str, Any] | None = None,
        cut: bool = False,
        fewest: int = 0,
    ) -> Reply | None:
        """The usable reply remembered for `key`, marked as cached and given to `on_text` in one piece; None where there is none.

        With `cut` one that was cut counts too; one to a prompt of `fewest` tokens or more that a server cut does not.
        """
        with self._lock:
            found = self._replies.get(key)
        found = self._on_disk(key, schema, cut, fewest) if found is None else found
        if found is None:
            return None
        if on_text and found.text:
            on_text(found.text)
        if new_to_this([key]):
            saved(found.seconds)
        return replace(found, cached=True)

    def keep(self, key: str, reply: Reply, cut: bool = False) -> Reply:
        """Remember `reply` where it is usable, with `cut` one that was cut too, and return it.

        On disk it is under no model's name: replies one at a time do not say how fast builds are.
        """
        if not (reply.usable or (cut and reply.cut)):
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

    def _on_disk(
        self, key: str, schema: dict[str, Any] | None, cut: bool, fewest: int
    ) -> Reply | None:
        if self.on_disk is None:
            return None
        try:
            found = self.on_disk.find(key, schema, usable=not cut, fewest=fewest)
            found = found if found is None or found.usable or found.cut else None
        except StoreError as error:
            log.warning("Kept replies were not read. %s", error)
            return None
        if found is not None:
            with self._lock:
                self._replies[key] = found
        return found
