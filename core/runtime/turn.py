"""The turn of a piece of work, passed on while it prepares something or waits.

Who waits deep inside a piece need not know whose turn it is: a place of `core.comparison.queues.Fair`,
or the `Processor` of `core.runtime.flight`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

AFTER = 0.3  # seconds that a preparation takes before others go on
_thread = threading.local()


class Turn:
    """The turn of one piece of work: `release(waits)` passes it on and says whether that could be done, `resume(waits)` takes it back."""

    def __init__(self, release: Callable[[bool], bool], resume: Callable[[bool], None]):
        self._release, self._resume = release, resume
        self._lock, self._over, self._released = threading.Lock(), False, False

    @contextmanager
    def held(self) -> Iterator[None]:
        """What this thread does within is the piece of work that has the turn."""
        _thread.turn = self
        try:
            yield
        finally:
            _thread.turn = None

    @contextmanager
    def passed_on(self, waits: bool, at_once: bool = False) -> Iterator[None]:
        """Within, the turn is passed on `at_once` or after `AFTER` seconds, and taken back at the end."""
        _thread.turn, self._over = None, False  # what lies within passes nothing on
        timer = threading.Timer(AFTER, self._late, [waits])
        timer.daemon = True
        if at_once:
            self._late(waits)
        else:
            timer.start()
        try:
            yield
        finally:
            timer.cancel()
            _thread.turn = self
            with self._lock:
                self._over = True
                if self._released:
                    self._released = False
                    self._resume(waits)

    def _late(self, waits: bool) -> None:
        with self._lock:
            if not self._over:
                self._released = self._release(waits)


@contextmanager
def passed_on(waits: bool = False) -> Iterator[None]:
    """Others may go on while this thread prepares something, or with `waits` only waits for it; without a turn nothing happens."""
    turn: Turn | None = getattr(_thread, "turn", None)
    if turn is None:
        yield
        return
    with turn.passed_on(waits):
        yield


@contextmanager
def away() -> Iterator[None]:
    """Others go on at once while this thread waits for what another computer does; without a turn nothing happens."""
    turn: Turn | None = getattr(_thread, "turn", None)
    if turn is None:
        yield
        return
    with turn.passed_on(waits=True, at_once=True):
        yield
