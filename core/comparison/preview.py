"""Previews of a lane: what it would come to with what was read so far.

They are made at most so often, and cost at most a share of the work. They are never saved.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from core.runtime.meter import spent
from core.types import State

EVERY = 0.6  # seconds between two previews of a lane, at least
SELDOM = (
    3.0  # the same where others wait, for whom drawing one takes as long as reading twenty texts
)
SHARE = 30  # times what a preview took goes by before the next one


@dataclass(frozen=True)
class Preview:
    """The states that a lane would have if nothing more was read, and how far it is in words: `512 of 1,190 paths read`. `number` counts
    the previews of a lane from 1."""

    number: int
    text: str
    states: tuple[State, ...]


class Previews:
    """Makes the previews of one lane as it is read, where they are due. One that fails is the last, and the lane goes on without."""

    def __init__(
        self,
        show: Callable[[Preview], None],
        wanted: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
        worked: Callable[[], float] = time.thread_time,
        others: Callable[[], bool] = lambda: False,
    ):
        """`wanted` says whether somebody looks on, `others` whether anybody else waits for the machine."""
        self._show, self._wanted, self._clock, self._worked, self._others = (
            show,
            wanted,
            clock,
            worked,
            others,
        )
        self._number, self._next = 0, 0.0

    def __call__(self, text: str, states: Callable[[], tuple[State, ...]]) -> bool:
        """Show what `states` gives, where it is time for it; whether it was shown."""
        if self._clock() < self._next:
            return False
        begun, wanted = self._worked(), False
        try:
            if wanted := self._wanted():
                with spent("waiting"):
                    found = states()
                self._number += 1
                self._show(Preview(self._number, text, found))
        except Exception:
            logging.getLogger(__name__).exception("A preview failed")
            self._next = float("inf")
            return False
        self._next = self._clock() + max(
            SELDOM if self._others() else EVERY, SHARE * (self._worked() - begun)
        )
        return wanted
