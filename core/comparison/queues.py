"""A queue of pieces of work that is fair between their owners.

An owner is a job. Owners take turns, and while a piece only waits, another one may begin. A pool of
`concurrent.futures` is not fair: it runs all pieces in one order, and a piece that waits occupies a
worker.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from typing import NamedTuple

from core.runtime.turn import Turn

Work = Callable[[], None]
PACE_PIECES = 8  # pieces over which the pace of a queue is averaged
MAX_PREPARING_PIECES = 2  # pieces of a queue that prepare something without holding a turn
MAX_IDLE_SECONDS = 20.0  # seconds after which a thread without work ends


class QueueWait(NamedTuple):
    """An owner's wait in a queue: the owners before it, and the expected seconds.

    The seconds are None if the queue has not measured its pace yet.
    """

    n_others: int
    seconds: float | None


class FairQueue:
    """A queue that runs pieces of work in threads, fairly between owners.

    Owners take turns. The pieces of one owner keep their order. A piece that prepares something,
    such as an index, passes its turn on meanwhile; at most `MAX_PREPARING_PIECES` pieces do so at a
    time. A piece that waits for the preparation of another piece passes its turn on too.

    Parameters
    ----------
    name : the name of the threads.
    workers : maximum number of pieces that hold a turn at the same time.
    one_per_owner : True if only one piece of an owner holds a turn at a time, so that the next one
        can reuse what it computed.
    clock : returns the time in seconds.
    """

    def __init__(
        self,
        name: str,
        workers: int = 2,
        one_per_owner: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._name, self._workers, self._one_per_owner = name, workers, one_per_owner
        self._waiting: OrderedDict[Hashable, deque[Work]] = OrderedDict()
        # Pieces that begin only while no other piece waits and none holds them back.
        self._postponed: OrderedDict[Hashable, deque[Work]] = OrderedDict()
        self._n_holding = 0  # pieces at work that hold the postponed ones back
        self._busy: Counter[Hashable] = Counter()  # owners with pieces at work
        # Owners with pieces at work that hold a turn, which they have not passed on.
        self._turns: Counter[Hashable] = Counter()
        self._preparing = 0  # pieces that passed their turn on to prepare something
        self._idle = 0  # threads that wait for a piece
        self.n_begun = 0  # pieces that have begun so far
        self._clock = clock
        self._end_at = 0.0  # when the last piece ended; 0 if no piece waited then
        # Mean seconds from the end of one piece to the next while others wait; 0 if unknown.
        self.seconds_per_piece = 0.0
        self._changed = threading.Condition()

    def put(self, owner: Hashable, work: Work, postponed: bool = False) -> None:
        """Add a piece of work, which runs at its owner's turn. Its errors are only logged.

        A `postponed` piece begins once no other piece waits or holds it back.
        """
        with self._changed:
            pieces = self._postponed if postponed else self._waiting
            pieces.setdefault(owner, deque()).append(work)
            self._wake()

    @contextmanager
    def hold_back_postponed(self) -> Iterator[None]:
        """Keep postponed pieces from beginning within the block, for a piece at work."""
        with self._changed:
            self._n_holding += 1
        try:
            yield
        finally:
            with self._changed:
                self._n_holding -= 1
                self._wake()

    def hasten(self, owner: Hashable) -> None:
        """Queue the postponed pieces of an owner like all others."""
        with self._changed:
            pieces = self._postponed.pop(owner, ())
            if pieces:
                self._waiting.setdefault(owner, deque()).extend(pieces)
                self._wake()

    def drop(self, owner: Hashable) -> int:
        """Remove the pieces of an owner that have not begun; return how many."""
        with self._changed:
            return len(self._waiting.pop(owner, ())) + len(self._postponed.pop(owner, ()))

    def count_others(self, owner: Hashable) -> int:
        """Return how many other owners have pieces that wait and are not postponed."""
        with self._changed:
            return len(self._waiting.keys() - {owner})

    def has_postponed(self, owner: Hashable) -> bool:
        """Return whether an owner has postponed pieces that have not begun."""
        with self._changed:
            return owner in self._postponed

    def count_ahead(self, owner: Hashable) -> int:
        """Return how many other owners are at work or wait before an owner.

        All waiting owners count if the owner itself does not wait.
        """
        with self._changed:
            return len({*self._busy, *self._waiting_before(owner)} - {owner})

    def expected_wait(self, owner: Hashable) -> QueueWait | None:
        """Return how long an owner waits for its first piece to begin.

        The result is None if none of its pieces waits, or one is at work.
        """
        with self._changed:
            if owner not in self._waiting or owner in self._busy:
                return None
            owners_before = self._waiting_before(owner)
            seconds = (1 + len(owners_before)) * self.seconds_per_piece or None
            return QueueWait(len({*self._busy, *owners_before}), seconds)

    def _waiting_before(self, owner: Hashable) -> list[Hashable]:
        """Return the owners that wait before an owner; all if it does not wait."""
        return list(takewhile(lambda other: other != owner, self._waiting))

    def _wake(self) -> None:
        """Make a thread look for a piece that may begin: a waiting thread, else a new one."""
        if not self._idle and self._turns.total() < self._workers:
            threading.Thread(target=self._run, name=self._name, daemon=True).start()
        self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                next_work = self._take_next()
            if next_work is None:
                return
            self._do_work(*next_work)
            del next_work  # a waiting thread would keep its last piece in memory

    def _do_work(self, owner: Hashable, work: Work) -> None:
        turn = Turn(
            lambda waits: self._pass_turn(owner, waits), lambda waits: self._take_back(owner, waits)
        )
        try:
            with turn.hold():
                work()
        # Pieces report their own faults. One that escapes must not end the thread of the queue.
        except Exception:
            logging.getLogger(__name__).exception("A piece of work failed")
        finally:
            with self._changed:
                self._note_pace()
                _count(self._busy, owner, -1)
                _count(self._turns, owner, -1)
                self._changed.notify()

    def _note_pace(self) -> None:
        """Update the pace at the end of a piece.

        The time between two ends counts only while others wait, as an idle queue has no pace.
        """
        now = self._clock()
        if self._end_at and self._waiting:
            seconds = now - self._end_at
            self.seconds_per_piece += (
                (seconds - self.seconds_per_piece) / PACE_PIECES
                if self.seconds_per_piece
                else seconds
            )
        self._end_at = now if self._waiting else 0.0

    def _pass_turn(self, owner: Hashable, waits: bool) -> bool:
        """Let another piece begin while a piece at work waits or prepares something.

        The result is False if `MAX_PREPARING_PIECES` pieces prepare something already. A piece that
        only `waits` is not limited.
        """
        with self._changed:
            if not waits and self._preparing == MAX_PREPARING_PIECES:
                return False
            self._preparing += not waits
            _count(self._turns, owner, -1)
            self._wake()
            return True

    def _take_back(self, owner: Hashable, waits: bool) -> None:
        # Never refused: the piece continues even if more pieces than workers then hold a turn.
        with self._changed:
            self._preparing -= not waits
            _count(self._turns, owner, 1)

    def _take_next(self) -> tuple[Hashable, Work] | None:
        """Wait for the next piece and return it with its owner.

        The owner's turn then comes last. The result is None after `MAX_IDLE_SECONDS` without a
        piece. The lock must be held.
        """
        while True:
            pieces_by_owner = self._waiting
            if not self._waiting and not self._n_holding:
                pieces_by_owner = self._postponed
            at_turn = self._turns if self._one_per_owner else ()
            owner = next((other for other in pieces_by_owner if other not in at_turn), None)
            if owner is not None and self._turns.total() < self._workers:
                pieces = pieces_by_owner[owner]
                work = pieces.popleft()
                pieces_by_owner.move_to_end(owner)
                if not pieces:
                    del pieces_by_owner[owner]
                # No piece waits any more, so another thread may begin a postponed one.
                if self._postponed and not self._waiting:
                    self._wake()
                _count(self._busy, owner, 1)
                _count(self._turns, owner, 1)
                self.n_begun += 1
                return owner, work
            self._idle += 1
            notified = self._changed.wait(MAX_IDLE_SECONDS)
            self._idle -= 1
            if not notified and not self._waiting and not self._postponed:
                return None


def _count(owners: Counter[Hashable], owner: Hashable, change: int) -> None:
    """Change an owner's count, and remove a count of zero."""
    owners[owner] += change
    if not owners[owner]:
        del owners[owner]
