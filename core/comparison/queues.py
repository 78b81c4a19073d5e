"""Work that takes turns: a few pieces at a time, fair between those who asked for it."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable

Work = Callable[[], None]
IDLE = 20.0  # seconds after which a thread without work ends


class Fair:
    """Does pieces of work in threads, `workers` at a time; owners take turns, each owner's pieces stay in their order.

    With `alone` an owner has one piece at work at a time, so that the next one finds what the one before it left behind.
    """

    def __init__(self, name: str, workers: int = 2, alone: bool = True):
        self._name, self._workers, self._alone = name, workers, alone
        self._waiting: OrderedDict[Hashable, deque[Work]] = OrderedDict()
        self._busy: dict[Hashable, int] = {}  # owners with pieces at work
        self._threads = self._idle = 0
        self._changed = threading.Condition()

    def put(self, owner: Hashable, work: Work) -> None:
        """Let `work` be done when it is its owner's turn. It must not raise."""
        with self._changed:
            self._waiting.setdefault(owner, deque()).append(work)
            if not self._idle and self._threads < self._workers:
                self._threads += 1
                threading.Thread(target=self._run, name=self._name, daemon=True).start()
            self._changed.notify()

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

    def _run(self) -> None:
        while True:
            with self._changed:
                taken = self._next()
                if taken is None:
                    self._threads -= 1
                    return
            owner, work = taken
            try:
                work()
            except Exception:
                logging.getLogger(__name__).exception("A piece of work failed")
            finally:
                with self._changed:
                    self._busy[owner] -= 1
                    if not self._busy[owner]:
                        del self._busy[owner]
                    self._changed.notify()
            del taken, owner, work  # else a thread that waits holds on to what it did last

    def _next(self) -> tuple[Hashable, Work] | None:
        """The next piece and its owner, who then stands last; None after a while without any."""
        while True:
            owner = next((o for o in self._waiting if not (self._alone and o in self._busy)), None)
            if owner is not None:
                pieces = self._waiting[owner]
                work = pieces.popleft()
                self._waiting.move_to_end(owner)
                if not pieces:
                    del self._waiting[owner]
                self._busy[owner] = self._busy.get(owner, 0) + 1
                return owner, work
            self._idle += 1
            notified = self._changed.wait(IDLE)
            self._idle -= 1
            if not notified and not self._waiting:
                return None
