"""Previews of a lane: its result if nothing more was read.

They are limited in number, and to a share of the lane's time. They are never saved.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from core.runtime.meter import count_time
from core.types import State

PREVIEW_SECONDS = 0.6  # least seconds between two previews of a lane
# The same while others wait. Drawing a preview takes as long as encoding twenty texts.
CROWDED_PREVIEW_SECONDS = 3.0
PREVIEW_PAUSE_FACTOR = (
    30  # least time between two previews, as a multiple of the time that one takes
)


@dataclass(frozen=True)
class Preview:
    """The states that a lane would have if nothing more was read.

    `text` tells the progress, as in `512 of 1,190 paths read`. `number` counts the previews of a
    lane from 1.
    """

    number: int
    text: str
    states: tuple[State, ...]


class Previews:
    """The previews of one lane, which are made when they are due.

    A preview that fails is the last one. The lane goes on without.
    """

    def __init__(
        self,
        show: Callable[[Preview], None],
        is_wanted: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
        work_clock: Callable[[], float] = time.thread_time,
        others: Callable[[], bool] = lambda: False,
    ):
        """Take the functions that show previews and say if they are wanted.

        Parameters
        ----------
        show : shows a preview.
        is_wanted : returns whether a viewer displays the lane.
        clock : returns the time in seconds.
        work_clock : returns the processor time of the thread, in seconds.
        others : returns whether other jobs wait for the machine.
        """
        self._show, self._is_wanted, self._clock, self._work_clock, self._others = (
            show,
            is_wanted,
            clock,
            work_clock,
            others,
        )
        self._number, self._due_at = 0, 0.0

    def __call__(self, text: str, states: Callable[[], tuple[State, ...]]) -> bool:
        """Show the result of `states` if a preview is due; return whether it was shown."""
        if self._clock() < self._due_at:
            return False
        started_at, shown = self._work_clock(), False
        try:
            if shown := self._is_wanted():
                with count_time("waiting"):
                    preview_states = states()
                self._number += 1
                self._show(Preview(self._number, text, preview_states))
        except Exception:
            logging.getLogger(__name__).exception("A preview failed")
            self._due_at = float("inf")
            return False
        self._due_at = self._clock() + max(
            CROWDED_PREVIEW_SECONDS if self._others() else PREVIEW_SECONDS,
            PREVIEW_PAUSE_FACTOR * (self._work_clock() - started_at),
        )
        return shown
