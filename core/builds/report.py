"""The report of a build: counts, notes, and what models cost."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from core.models.base import Reply
from core.types import Usage

UNREADABLE = ("unread", "unread reports", "unread summaries")
"""What replies that could not be read are counted as, by what was asked for."""


@dataclass(eq=False)
class BuildReport:
    """What building operators report: `counts` by what is counted (chunks, extracted, kept, unread ...), and notes for a person."""

    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    usage: Usage = Usage()
    usage_saved: Usage = Usage()  # of replies that were saved before, as they cost when they were made
    seconds: dict[str, float] = field(default_factory=dict)  # by operator
    fresh: int = 0  # texts that were read or encoded now, rather than found saved
    models: tuple[str, ...] = ()  # the titles of the language models that it rests on
    shipped: dict[str, Any] | None = None  # where it came with the corpus: what it took when it was made (`core.builds.shipped`)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def count(self, **more: int) -> None:
        """Add to counts, from whatever thread."""
        with self._lock:
            self.counts.update(more)

    def used(self, reply: Reply) -> None:
        """Add what a reply cost, nothing where it was saved; from whatever thread."""
        with self._lock:
            if reply.cached:
                self.counts["replies kept"] += 1
                self.usage_saved += Usage(1, reply.tokens_in, reply.tokens_out)
            else:
                self.usage += Usage(1, reply.tokens_in, reply.tokens_out)

    def note(self, text: str) -> None:
        """Add a note, once; from whatever thread."""
        with self._lock:
            if text not in self.notes:
                self.notes.append(text)

    def plain(self) -> dict[str, Any]:
        """The report as plain data."""
        used, saved = (
            {"calls": usage.calls, "tokens_in": usage.tokens_in, "tokens_out": usage.tokens_out} for usage in (self.usage, self.usage_saved)
        )
        seconds = {name: round(took, 1) for name, took in self.seconds.items()}
        counts = dict(sorted(self.counts.items()))
        report = {"counts": counts, "notes": list(self.notes), "usage": used, "usage_kept": saved, "seconds": seconds}
        return report | ({"models": list(self.models)} if self.models else {}) | ({"shipped": self.shipped} if self.shipped else {})
