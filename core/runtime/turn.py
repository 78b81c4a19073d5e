"""The turn of a piece of work, passed on while it prepares something or waits.

Code deep inside a piece of work can wait without knowing whose turn it is. The turn is a slot of
`core.comparison.queues.FairQueue` or the `ProcessorLock` of `core.runtime.concurrent_work`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

PASS_ON_AFTER_SECONDS = 0.3  # seconds of preparation after which the turn is passed on
_thread = threading.local()


class Turn:
    """The turn of one piece of work.

    Parameters
    ----------
    release : passes the turn on and returns whether it could; its argument is true if the piece
        only waits.
    resume : takes the turn back, with the same argument.
    """

    def __init__(self, release: Callable[[bool], bool], resume: Callable[[bool], None]):
        self._release, self._resume = release, resume
        self._lock = threading.Lock()
        self._over = False  # True once the block has ended in which the turn may be passed on
        self._released = False

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Give the turn to the work of this thread within the block."""
        _thread.turn = self
        try:
            yield
        finally:
            _thread.turn = None

    @contextmanager
    def pass_on(self, waits: bool, at_once: bool = False) -> Iterator[None]:
        """Pass the turn on within the block, and take it back after it.

        It is passed on `at_once`, or after `PASS_ON_AFTER_SECONDS`.
        """
        _thread.turn, self._over = None, False  # nested blocks pass nothing on
        timer = threading.Timer(PASS_ON_AFTER_SECONDS, self._pass_on, [waits])
        timer.daemon = True
        if at_once:
            self._pass_on(waits)
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

    def _pass_on(self, waits: bool) -> None:
        with self._lock:
            if not self._over:
                self._released = self._release(waits)


@contextmanager
def pass_turn(waits: bool = False) -> Iterator[None]:
    """Let other work run while this thread prepares something or, with `waits`, only waits.

    Without a turn this does nothing.
    """
    turn: Turn | None = getattr(_thread, "turn", None)
    with nullcontext() if turn is None else turn.pass_on(waits):
        yield


@contextmanager
def pass_turn_at_once() -> Iterator[None]:
    """Let other work run at once while this thread waits for another computer.

    Without a turn this does nothing.
    """
    turn: Turn | None = getattr(_thread, "turn", None)
    with nullcontext() if turn is None else turn.pass_on(waits=True, at_once=True):
        yield
