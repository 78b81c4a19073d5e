"""A queue of pieces of work that is fair between those who asked for them.

Owners take turns, and a piece that only waits lets the next one begin in its place. A pool of
`concurrent.futures` has one order for all, and its pieces hold a thread while they wait.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Hashable
from typing import NamedTuple

from core.runtime.turn import Turn

Work = Callable[[], None]
RECENT = 8  # pieces over which the pace of a queue is averaged
PREPARING = 2  # pieces of a queue that prepare something while others go on
IDLE = 20.0  # seconds after which a thread without work ends


class Wait(NamedTuple):
    """How many other owners come before one, and in about how many seconds it is its turn; None where no pace is known."""

    others: int
    seconds: float | None


class Fair:
    """Does pieces of work in threads, `workers` at a time; owners take turns, each owner's pieces stay in their order.

    With `alone` an owner has one piece at work at a time, so that the next one finds what the one before it left behind. A piece that
    prepares something passes its turn on meanwhile, `PREPARING` of them at a time, and so does each that only waits for what another
    prepares.
    """

    def __init__(
        self,
        name: str,
        workers: int = 2,
        alone: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._name, self._workers, self._alone = name, workers, alone
        self._waiting: OrderedDict[Hashable, deque[Work]] = OrderedDict()
        self._busy: Counter[Hashable] = Counter()  # owners with pieces at work
        # those of them that have not passed their turn on
        self._turns: Counter[Hashable] = Counter()
        self._preparing = self._idle = 0
        self.begun = 0  # pieces so far
        # seconds from the end of one piece to that of the next, while others wait
        self._clock, self._ended, self.pace = (clock, 0.0, 0.0)
        self._changed = threading.Condition()

    def put(self, owner: Hashable, work: Work) -> None:
        """Let `work` be done when it is its owner's turn. It must not raise."""
        with self._changed:
            self._waiting.setdefault(owner, deque()).append(work)
            self._wake()

    def drop(self, owner: Hashable) -> int:
        """Forget the pieces of an owner that have not begun; how many they were."""
        with self._changed:
            return len(self._waiting.pop(owner, ()))

    def ahead(self, owner: Hashable) -> int:
        """How many other owners have work here: those at work, and those who waited before."""
        with self._changed:
            before = list(self._waiting)
            before = before[: before.index(owner)] if owner in self._waiting else before
            return len({*self._busy, *before} - {owner})

    def wait(self, owner: Hashable) -> Wait | None:
        """How long an owner waits for its first piece to begin; None where none of its pieces waits, or one is at work."""
        with self._changed:
            if owner not in self._waiting or owner in self._busy:
                return None
            order = list(self._waiting)
            before = order[: order.index(owner)]
            return Wait(
                len({*self._busy, *before} - {owner}), (1 + len(before)) * self.pace or None
            )

    def _wake(self) -> None:
        """A piece may begin: let a thread look for it."""
        if not self._idle and self._turns.total() < self._workers:
            threading.Thread(target=self._run, name=self._name, daemon=True).start()
        self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                taken = self._next()
            if taken is None:
                return
            self._do(*taken)
            del taken  # else a thread that waits holds on to what it did last

    def _do(self, owner: Hashable, work: Work) -> None:
        turn = Turn(
            lambda waits: self._pass_on(owner, waits), lambda waits: self._take_back(owner, waits)
        )
        try:
            with turn.held():
                work()
        except Exception:
            logging.getLogger(__name__).exception("A piece of work failed")
        finally:
            with self._changed:
                self._note_pace()
                _count(self._busy, owner, -1)
                _count(self._turns, owner, -1)
                self._changed.notify()

    def _note_pace(self) -> None:
        """A piece has ended. What lies between two ends counts as long as others wait: a queue at rest has no pace."""
        now = self._clock()
        if self._ended and self._waiting:
            self.pace += (
                (now - self._ended - self.pace) / RECENT if self.pace else now - self._ended
            )
        self._ended = now if self._waiting else 0.0

    def _pass_on(self, owner: Hashable, waits: bool) -> bool:
        """A piece at work lets another one begin in its place; False where enough of them prepare something."""
        with self._changed:
            if not waits and self._preparing == PREPARING:
                return False
            self._preparing += not waits
            _count(self._turns, owner, -1)
            self._wake()
            return True

    def _take_back(self, owner: Hashable, waits: bool) -> None:
        with self._changed:
            self._preparing -= not waits
            _count(self._turns, owner, 1)

    def _next(self) -> tuple[Hashable, Work] | None:
        """The next piece and its owner, who then stands last; None after a while without any."""
        while True:
            owner = next((o for o in self._waiting if not (self._alone and o in self._turns)), None)
            if owner is not None and self._turns.total() < self._workers:
                pieces = self._waiting[owner]
                work = pieces.popleft()
                self._waiting.move_to_end(owner)
                if not pieces:
                    del self._waiting[owner]
                _count(self._busy, owner, 1)
                _count(self._turns, owner, 1)
                self.begun += 1
                return owner, work
            self._idle += 1
            notified = self._changed.wait(IDLE)
            self._idle -= 1
            if not notified and not self._waiting:
                return None


def _count(owners: Counter[Hashable], owner: Hashable, by: int) -> None:
    """Add to an owner's count; one of none is left out."""
    owners[owner] += by
    if not owners[owner]:
        del owners[owner]
