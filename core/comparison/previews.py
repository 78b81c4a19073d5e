"""Intermediate results of a running lane.

They are made from the candidates that it has ranked so far. They are limited in number, and to a
small share of the lane's time. They are never saved.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from core.errors import RunCancelled
from core.runtime.meter import count_time
from core.types import State

PREVIEW_SECONDS = 0.6  # minimum seconds between two previews of a lane
# The same while other jobs wait, because drawing a preview takes as long as encoding twenty texts.
CROWDED_PREVIEW_SECONDS = 3.0
# Minimum time between two previews, as a multiple of the time that the last one took.
PREVIEW_PAUSE_FACTOR = 30


@dataclass(frozen=True)
class Preview:
    """The states that a lane would have if it stopped ranking now.

    Parameters
    ----------
    number : counts the previews of a lane from 1.
    text : the progress in words, as in `512 of 1,190 paths read`.
    states : the states of the lane.
    is_quick : True for the result of the quick pass.
    """

    number: int
    text: str
    states: tuple[State, ...]
    is_quick: bool = False


class PreviewScheduler:
    """Scheduler of the previews of one lane.

    If a preview fails, the lane continues without further previews.
    """

    def __init__(
        self,
        show: Callable[[Preview], None],
        is_wanted: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
        work_clock: Callable[[], float] = time.thread_time,
        has_waiting_jobs: Callable[[], bool] = lambda: False,
    ):
        """Set the functions that decide about previews and show them.

        Parameters
        ----------
        show : shows a preview.
        is_wanted : returns whether a viewer displays the lane.
        clock : returns the time in seconds.
        work_clock : returns the processor time of the thread, in seconds.
        has_waiting_jobs : returns whether other jobs wait for the machine.
        """
        self._show = show
        self._is_wanted = is_wanted
        self._clock = clock
        self._work_clock = work_clock
        self._has_waiting_jobs = has_waiting_jobs
        self._number = 0
        self._due_at = 0.0

    def show_if_due(self, text: str, make_states: Callable[[], tuple[State, ...]]) -> bool:
        """Show a preview if one is due; return whether it was shown.

        Parameters
        ----------
        text : the progress of the lane in words.
        make_states : computes the states of the preview, which takes time.
        """
        if self._clock() < self._due_at:
            return False
        started_at = self._work_clock()
        try:
            shown = self._is_wanted()
            if shown:
                # A preview is no cost of the method, so its time counts as waiting.
                with count_time("waiting"):
                    preview_states = make_states()
                self._number += 1
                self._show(Preview(self._number, text, preview_states))
        except RunCancelled:
            raise
        # A preview is an extra: the lane goes on without further ones.
        except Exception:
            logging.getLogger(__name__).exception("A preview failed")
            self._due_at = float("inf")
            return False
        min_seconds = CROWDED_PREVIEW_SECONDS if self._has_waiting_jobs() else PREVIEW_SECONDS
        work_seconds = self._work_clock() - started_at
        self._due_at = self._clock() + max(min_seconds, PREVIEW_PAUSE_FACTOR * work_seconds)
        return shown
