"""Concurrent pieces of work: several wait for servers while one computes.

The map of a thread pool takes all items at once and has a fixed number of threads. `ConcurrentWork`
takes an item from its iterable only when it starts the item, may change the number of concurrent
pieces while it runs, and ends at the first error.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import TypeVar

from core.errors import RunCancelled
from core.runtime.account import accounts, charged_to
from core.runtime.meter import count_time
from core.runtime.turn import Turn, pass_turn_at_once
from core.watch import NO_WATCH, Watch

# Seconds between two checks for cancellation and for the number of pieces that may run.
PIECE_CHECK_SECONDS = 0.05
MAX_CONCURRENT_PIECES = 1024  # concurrent pieces of work
# Seconds that a piece waits for the processor before it computes in parallel to the others.
MAX_PROCESSOR_WAIT_SECONDS = 60.0
T = TypeVar("T")
W = TypeVar("W")


class ConcurrentWork(Watch):
    """Concurrent pieces of work, at most `max_concurrent()` at a time.

    `max_concurrent` is called before each start, so its result may change while pieces run. This
    object is also the watch of each piece: it cancels the piece if the whole work is cancelled or
    another piece has failed. It reports no progress, because several pieces would report at the
    same time.
    """

    def __init__(self, max_concurrent: Callable[[], int], watch: Watch = NO_WATCH):
        super().__init__(watch.check)
        self._max_concurrent = max_concurrent
        self._watch = watch
        self._stopped = threading.Event()

    def check(self) -> None:
        """Raise RunCancelled once the pieces are no longer needed.

        Any error of the watch is raised, too.
        """
        if self._stopped.is_set():
            raise RunCancelled()
        self._watch.check()

    def run_each(
        self, work: Callable[[W], T], items: Iterable[W]
    ) -> Generator[tuple[W, T], None, None]:
        """Yield each item with `work(item)`, in the order in which they end.

        Items are started in their order, and taken from the iterable only when started. An error of
        `work` or of the watch is raised after the running pieces have ended. Results that arrive
        until then are yielded before.
        """
        waiting: dict[Future[T], tuple[int, W]] = {}
        finished = SimpleQueue[Future[T]]()
        remaining = enumerate(items)
        fault: BaseException | None = None
        with ThreadPoolExecutor(MAX_CONCURRENT_PIECES, "flight") as pool:
            try:
                while True:
                    while fault is None and len(waiting) < self._max_concurrent():
                        numbered_item = next(remaining, None)
                        if numbered_item is None:
                            break
                        submitted = pool.submit(work, numbered_item[1])
                        waiting[submitted] = numbered_item
                        submitted.add_done_callback(finished.put)
                    if not waiting:
                        break
                    for future in sorted(
                        _ended_pieces(finished), key=lambda ended: waiting[ended][0]
                    ):
                        _, item = waiting.pop(future)
                        error = future.exception()
                        if error is None:
                            yield item, future.result()
                        fault = fault or error
                    try:
                        self._watch.check()
                    except BaseException as error:  # raised below, once the pieces have ended
                        fault = fault or error
                    if fault is not None:
                        self._stopped.set()
            finally:
                self._stopped.set()
        if fault is not None:
            raise fault


def _ended_pieces(finished: SimpleQueue[Future[T]]) -> list[Future[T]]:
    """Wait for pieces to end and return them.

    The list is empty if none ends within `PIECE_CHECK_SECONDS` seconds.
    """
    futures: list[Future[T]] = []
    with suppress(Empty):
        futures.append(finished.get(timeout=PIECE_CHECK_SECONDS))
        while True:
            futures.append(finished.get_nowait())
    return futures


def map_concurrently(
    work: Callable[[W, Watch], T],
    items: Iterable[W],
    max_concurrent: Callable[[], int],
    watch: Watch = NO_WATCH,
) -> list[T]:
    """Return `work(item, watch)` of each item, in their order.

    Items are processed concurrently if `max_concurrent()` is more than 1, else one after the other.
    Calls to language models are charged to the accounts of the calling thread. The elapsed time
    counts once, as time of the language model, and other work may take its turn meanwhile.

    Parameters
    ----------
    work : function of an item and the watch of its piece.
    items : the items.
    max_concurrent : returns how many pieces may run at a time; called before each start.
    watch : receives the progress of the whole work, and can cancel it.

    Raises
    ------
    Exception
        Any error of `work` or `watch`.
    """
    if max_concurrent() <= 1:
        results = []
        for item in items:
            watch.check()
            results.append(work(item, watch.without_reports))
        return results
    pieces, charged_accounts = ConcurrentWork(max_concurrent, watch), accounts()

    def run_piece(numbered_item: tuple[int, W]) -> T:
        with charged_to(*charged_accounts):
            return work(numbered_item[1], pieces)

    with pass_turn_at_once(), count_time("model"):
        results_by_item = list(pieces.run_each(run_piece, enumerate(items)))
    results_by_item.sort(key=lambda pair: pair[0][0])
    return [result for _, result in results_by_item]


class ProcessorLock:
    """A lock that lets one of several concurrent pieces compute.

    The measured seconds of a piece then do not contain work of other pieces. A piece releases the
    processor while it waits (`core.runtime.turn.pass_turn_at_once`).
    """

    def __init__(self) -> None:
        self._free = threading.Semaphore()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Compute within the block, and release the processor whenever this piece waits.

        A piece waits for another computer or for another piece of work. A piece that does not get
        the processor back within `MAX_PROCESSOR_WAIT_SECONDS` computes in parallel to the others
        from then on, because it may hold something that the others wait for.
        """
        is_held = self._free.acquire()

        def release(waits: bool) -> bool:
            nonlocal is_held
            if not (waits and is_held):
                return False
            is_held = False
            self._free.release()
            return True

        def resume(waits: bool) -> None:
            nonlocal is_held
            with count_time("waiting"):
                is_held = self._free.acquire(timeout=MAX_PROCESSOR_WAIT_SECONDS)

        try:
            with Turn(release, resume).hold():
                yield
        finally:
            if is_held:
                self._free.release()
