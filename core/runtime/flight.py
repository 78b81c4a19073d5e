"""Pieces of work in flight: several wait for servers while one computes.

A `Flight` takes no more items than it begins, as many as may be sent by now, and ends with the first
fault. The map of a pool takes all items at once, and one number of threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import TypeVar

from core.errors import Cancelled
from core.runtime.account import accounts, charged_to
from core.runtime.meter import spent
from core.runtime.turn import Turn, away
from core.watch import NO_WATCH, Watch

LOOK = 0.05  # seconds between two looks at whether somebody cancelled, and at how many may be in flight
MAX_PIECES = 1024  # in flight at a time
PATIENCE = 60.0  # seconds that a piece waits to compute on before it does so beside another
T = TypeVar("T")
W = TypeVar("W")


class Flight(Watch):
    """Pieces of work, `at_once()` of them at a time; that is asked again and again, so that it may change while they are at work.

    It is the watch of each piece: cancelled with the whole, and once another piece has failed. It reports nowhere, as several pieces
    would report at once.
    """

    def __init__(self, at_once: Callable[[], int], watch: Watch = NO_WATCH):
        super().__init__(watch.check)
        self._at_once, self._whole, self._over = at_once, watch, threading.Event()

    def check(self) -> None:
        """Raises Cancelled once nobody waits for the pieces any more, and what the whole raises."""
        if self._over.is_set():
            raise Cancelled()
        self._whole.check()

    def each(
        self, work: Callable[[W], T], items: Iterable[W]
    ) -> Generator[tuple[W, T], None, None]:
        """Each item with `work(item)`, as they come; begun in the order of the items, of which no more are taken than are begun.

        What `work` or the watch raises is raised once the pieces at work have ended, of which what came is handed out first.
        """
        waiting: dict[Future[T], tuple[int, W]] = {}
        ended = SimpleQueue[Future[T]]()
        left, fault = enumerate(items), None
        with ThreadPoolExecutor(MAX_PIECES, "flight") as pool:
            try:
                while True:
                    while (
                        fault is None
                        and len(waiting) < self._at_once()
                        and (following := next(left, None)) is not None
                    ):
                        begun = pool.submit(work, following[1])
                        waiting[begun] = following
                        begun.add_done_callback(ended.put)
                    if not waiting:
                        break
                    for future in sorted(_those(ended), key=lambda one: waiting[one][0]):
                        _, item = waiting.pop(future)
                        error = future.exception()
                        if error is None:
                            yield item, future.result()
                        fault = fault or error
                    try:
                        self._whole.check()
                    except BaseException as error:  # raised below, once those at work have ended
                        fault = fault or error
                    if fault is not None:
                        self._over.set()
            finally:
                self._over.set()
        if fault is not None:
            raise fault


def _those(ended: SimpleQueue[Future[T]]) -> list[Future[T]]:
    """The pieces that have ended, once there is one, or after a while none."""
    found = list[Future[T]]()
    with suppress(Empty):
        found.append(ended.get(timeout=LOOK))
        while True:
            found.append(ended.get_nowait())
    return found


def together(
    work: Callable[[W, Watch], T],
    items: Iterable[W],
    at_once: Callable[[], int],
    watch: Watch = NO_WATCH,
) -> list[T]:
    """`work(item, watch)` of each item, in their order: side by side where more than one may be asked at a time, else one after the other.

    What is asked is charged to whom this thread's work is charged, and the time by the clock is this thread's, in which others go on.
    Raises what `work` and `watch` raise.
    """
    if at_once() <= 1:
        found = []
        for item in items:
            watch.check()
            found.append(work(item, watch.quiet))
        return found
    flight, payers = Flight(at_once, watch), accounts()

    def piece(numbered: tuple[int, W]) -> T:
        with charged_to(*payers):
            return work(numbered[1], flight)

    with away(), spent("model"):
        return [
            made
            for _, made in sorted(flight.each(piece, enumerate(items)), key=lambda one: one[0][0])
        ]


class Processor:
    """What pieces of work compute on, one at a time, so that the seconds of each are its own; see `core.runtime.turn.away`."""

    def __init__(self) -> None:
        self._free = threading.Semaphore()

    @contextmanager
    def held(self) -> Iterator[None]:
        """A piece of work that computes within, and lets others do so whenever it waits for another computer or for one of them.

        One that could not go on for `PATIENCE` seconds does so beside another, from then on to its end: what it holds may be what the
        other waits for.
        """
        has = self._free.acquire()

        def release(waits: bool) -> bool:
            nonlocal has
            if not (waits and has):
                return False
            has = False
            self._free.release()
            return True

        def resume(waits: bool) -> None:
            nonlocal has
            with spent("waiting"):
                has = self._free.acquire(timeout=PATIENCE)

        try:
            with Turn(release, resume).held():
                yield
        finally:
            if has:
                self._free.release()
