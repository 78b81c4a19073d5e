"""The turn of a piece of work, which can be passed on.

It is passed on while the piece prepares something or waits. Normally a piece of work computes only
while it has the turn. A turn is a slot of `core.comparison.queues.FairQueue` or the `ProcessorLock`
of `core.runtime.concurrent_work`. Code deep inside a piece of work passes the turn on by
`pass_turn`, without knowing which of the two it is.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

PASS_ON_AFTER_SECONDS = 0.3  # seconds of preparation after which the turn is passed on
_thread = threading.local()  # its `turn` is that of the thread's work, None if it has none


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
        self._block_ended = False  # True once the block of `pass_on` has ended
        self._released = False  # True while the turn is passed on

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

        It is passed on `at_once`, or after `PASS_ON_AFTER_SECONDS` if the block lasts that long.
        `waits` is true if the piece only waits within the block.
        """
        _thread.turn, self._block_ended = None, False  # nested blocks pass nothing on
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
                self._block_ended = True
                if self._released:
                    self._released = False
                    self._resume(waits)

    def _pass_on(self, waits: bool) -> None:
        with self._lock:
            if not self._block_ended:  # the timer may fire after it
                self._released = self._release(waits)


@contextmanager
def pass_turn(waits: bool = False) -> Iterator[None]:
    """Pass the turn on while this thread prepares something or, with `waits`, only waits.

    This happens after `PASS_ON_AFTER_SECONDS`, so that short preparations keep the turn.

    Without a turn this does nothing.
    """
    turn: Turn | None = getattr(_thread, "turn", None)
    with nullcontext() if turn is None else turn.pass_on(waits):
        yield


@contextmanager
def pass_turn_at_once() -> Iterator[None]:
    """Pass the turn on at once while this thread waits.

    It waits for another computer or other lanes. Without a turn this does nothing.
    """
    turn: Turn | None = getattr(_thread, "turn", None)
    with nullcontext() if turn is None else turn.pass_on(waits=True, at_once=True):
        yield
