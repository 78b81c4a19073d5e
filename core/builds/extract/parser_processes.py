"""Parsing of many batches of texts by several processes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue

from core.builds.facts import Facts
from core.errors import HopscopeError
from core.models.threads import thread_count
from core.runtime.cluster import LostResult, Workers
from core.runtime.subprocess_worker import in_subprocess
from core.watch import NO_WATCH, Watch

MIN_PARALLEL_BATCHES = 16  # fewest batches for which starting another process saves time
# A function of a module that returns the facts of each text of a batch.
FactReader = Callable[[Sequence[str]], list[Facts]]
BatchFacts = tuple[int, list[Facts]]  # the number of a batch, and the facts of its texts


def read_batches(
    read: FactReader,
    batches: Sequence[Sequence[str]],
    watch: Watch = NO_WATCH,
    workers: Workers | None = None,
) -> Iterator[BatchFacts]:
    """Yield the facts of batches as soon as they are ready.

    A batch is read as a whole by one process, so its facts do not depend on the number of
    processes. Batches left by a process that died are read in this one. If `watch` or `read`
    raises, the other processes end.

    Parameters
    ----------
    read : a function of a module that returns the facts of each text of a batch.
    batches : the batches of texts.
    watch : checked between batches; may raise RunCancelled.
    workers : processes that read all batches, if given. Otherwise this function starts further
        processes if there are many batches.

    Yields
    ------
    Number of a batch, and the facts of its texts.
    """
    if workers is not None:
        for number, (batch, facts) in enumerate(workers.run_each(read, batches, watch)):
            yield number, read(batch) if isinstance(facts, LostResult) else facts
        return
    # The batches are dealt out in turn: this process reads 0, count, 2 count and so on.
    count = thread_count() if len(batches) >= MIN_PARALLEL_BATCHES else 1
    helpers = [
        ParserProcess(read, {number: batches[number] for number in range(i, len(batches), count)})
        for i in range(1, count)
    ]
    try:
        for number in range(0, len(batches), count):
            watch.check()
            yield number, read(batches[number])
            for helper in helpers:
                yield from helper.arrived_batches()
        for helper in helpers:
            while not helper.has_ended:
                watch.check()
                yield from helper.arrived_batches(wait=0.2)
            for number, batch in helper.remaining.items():
                watch.check()
                yield number, read(batch)
    finally:
        for helper in helpers:
            helper.stop()


class ParserProcess:
    """Another process that reads batches, and a thread that receives its results.

    Parameters
    ----------
    read : reads a batch of texts in that process.
    batches : batches of texts by number.

    Attributes
    ----------
    remaining : the batches whose facts have not arrived.
    has_ended : true once no more will arrive.
    """

    def __init__(self, read: FactReader, batches: dict[int, Sequence[str]]):
        self.remaining = dict(batches)
        self.has_ended = False
        self._messages: SimpleQueue[tuple[str, float | None] | None] = SimpleQueue()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(read, batches), daemon=True)
        self._thread.start()

    def arrived_batches(self, wait: float = 0.0) -> Iterator[BatchFacts]:
        """Yield the batches that have arrived since the last call.

        If there are none, wait at most `wait` seconds for the end of the process.
        """
        if wait and self._messages.empty():
            self._thread.join(wait)
        while not self._messages.empty():
            message = self._messages.get()
            if message is None:
                self.has_ended = True
                return
            number, _, facts = message[0].partition("\n")
            del self.remaining[int(number)]
            yield int(number), [Facts.from_json(line) for line in facts.split("\n")]

    def stop(self) -> None:
        """End the process, and wait until it has ended."""
        self._stopped.set()
        self._thread.join()

    def _run(self, read: FactReader, batches: dict[int, Sequence[str]]) -> None:
        watch = Watch(self._check, lambda text, share: self._messages.put((text, share)))
        try:
            in_subprocess(_send_facts, read, batches, watch=watch)
        except HopscopeError:
            # Its remaining batches are read in the main process, where the reason becomes visible.
            pass
        finally:
            self._messages.put(None)

    def _check(self) -> None:
        if self._stopped.is_set():
            raise HopscopeError("Nobody waits for it any more.")


def _send_facts(
    read: FactReader, batches: dict[int, Sequence[str]], watch: Watch = NO_WATCH
) -> None:
    """Send the number and the facts of each batch.

    The facts of each text are a line of JSON. This runs in the other process. The messages are sent
    as reports of progress.
    """
    for number, batch in batches.items():
        watch.report("\n".join([str(number), *(facts.to_json() for facts in read(batch))]))
