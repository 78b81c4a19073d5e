"""Joint encoding of the texts of concurrent callers, in shared batches.

Several questions and retrieval methods use the sentence encoder at the same time. A text that
several of them need is encoded once, a short request does not wait for a long one, and each can be
cancelled without the others.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from core.errors import RunCancelled
from core.models.chat.cancellable_work import THREAD_CHECK_SECONDS
from core.models.encoders.bert import ForwardPass
from core.runtime.account import Account, accounts, charged_to
from core.runtime.meter import Meter, count_time, current_meter, use_meter
from core.runtime.slots import Slots
from core.watch import NO_WATCH, Watch

# Batches after which other uses of the network, such as late interaction, get their turn.
MIN_ROUND_BATCHES = 8

Vectors = tuple[list[str], np.ndarray]  # texts, and their vectors [texts, d]
# Called with texts, the means of their token vectors and seconds; returns the final vectors.
FinishBatch = Callable[[list[str], np.ndarray, float], np.ndarray]


@dataclass(eq=False)
class _Request:
    """The texts of one caller, with their progress."""

    waiting: dict[int, deque[str]]  # texts that are not being encoded yet, by number of tokens
    n_unfinished: int  # texts without a result
    watch: Watch
    meter: Meter | None  # the caller's, to which time is counted
    accounts: tuple[Account, ...]  # the caller's, to which costs are charged
    results: deque[Vectors] = field(default_factory=deque)  # not yet passed to the caller
    n_running: int = 0  # texts that are being encoded
    is_daemon: bool = False  # true if the caller's thread ends with the program
    fault: BaseException | None = None  # raised to the caller


@dataclass(eq=False)
class _Text:
    """A text that was requested, with the requests that need it."""

    ids: Sequence[int]  # its tokens
    requests: list[_Request]
    is_running: bool = False  # true while it is being encoded


class JointReader:
    """Encoder of the texts of all callers, in batches of equal token length.

    Every second batch is for the caller with the fewest remaining texts, so that a question's
    vector does not wait for many paths. The other batches are for the callers in rotation. A batch
    that is not full is filled with texts of that length from other callers. Each caller's shortest
    texts come first.

    Parameters
    ----------
    slots : lock of the network, which is held while batches are encoded.
    """

    def __init__(self, slots: Slots):
        self._slots = slots
        self._condition = threading.Condition()
        self._texts: dict[str, _Text] = {}  # texts without a result
        self._requests: deque[_Request] = deque()  # those with waiting texts, the next one first
        self._is_serving = False  # true while the thread that encodes runs
        self._takes_fewest = False  # true if the last batch was for the fewest remaining texts

    def read(
        self,
        texts: Mapping[str, Sequence[int]],
        watch: Watch,
        *,
        forward: Callable[[], ForwardPass],
        finish: FinishBatch,
    ) -> Iterator[Vectors]:
        """Yield texts with their vectors as they are computed.

        All callers must pass the same `forward` and `finish`. They are no attributes of the reader,
        since a reference from the reader to its encoder would keep both in memory.

        Parameters
        ----------
        texts : the token ids of each text.
        watch : checked before each batch and while waiting; it may raise RunCancelled, which ends
            only this call.
        forward : returns the forward pass.
        finish : converts a batch: receives its texts, the means of their token vectors [n, d] and
            the seconds that these took, and returns the vectors for the callers.

        Yields
        ------
        Some texts of this caller, and their rows of the result of `finish`.

        Raises
        ------
        Exception : any error of the forward pass, of `finish` or of `watch`.
        """
        request = self._add_request(texts, watch, lambda: self._serve(forward, finish))
        try:
            while request.n_unfinished or request.results:
                yield self._next_result(request)
        finally:
            self._withdraw(request)

    def _add_request(
        self, texts: Mapping[str, Sequence[int]], watch: Watch, serve: Callable[[], None]
    ) -> _Request:
        """Queue a request, and start the thread that encodes if it does not run."""
        texts_by_length: dict[int, deque[str]] = {}
        for text in sorted(texts, key=lambda text: len(texts[text])):
            texts_by_length.setdefault(len(texts[text]), deque()).append(text)
        request = _Request(
            texts_by_length,
            len(texts),
            watch,
            current_meter(),
            accounts(),
            is_daemon=threading.current_thread().daemon,
        )
        with self._condition:
            for text, ids in texts.items():
                entry = self._texts.setdefault(text, _Text(ids, []))
                entry.requests.append(request)
                request.n_running += entry.is_running
            self._requests.append(request)
            if not self._is_serving:
                self._is_serving = True
                self._start_thread(serve)
        return request

    def _start_thread(self, serve: Callable[[], None]) -> None:
        """Start the thread that encodes.

        It is no daemon thread, since ending it inside a library's native code would abort the
        program. Raises RunCancelled if the program is ending, when Python 3.12 starts no thread.
        """
        try:
            threading.Thread(target=serve, name="encoder", daemon=False).start()
        except RuntimeError as error:
            self._is_serving = False
            self._texts = {}
            self._requests = deque()
            if "shutdown" not in str(error):
                raise
            raise RunCancelled() from None

    def _next_result(self, request: _Request) -> Vectors:
        """Return the next result of a request.

        Time in which none of its texts is encoded counts as waiting.
        """
        while True:
            request.watch.check()
            with self._condition:
                if request.results:
                    return request.results.popleft()
                if request.fault:
                    raise request.fault
                if request.n_running:
                    self._condition.wait(THREAD_CHECK_SECONDS)
                    continue
            with count_time("waiting"), self._condition:
                if not request.n_running and not request.results and not request.fault:
                    self._condition.wait(THREAD_CHECK_SECONDS)

    def _withdraw(self, request: _Request) -> None:
        """Drop a request, and the waiting texts that nobody else needs."""
        with self._condition:
            if request in self._requests:
                self._requests.remove(request)
            for text in chain(*request.waiting.values()):
                entry = self._texts.get(text)
                if entry is None or request not in entry.requests:
                    continue
                entry.requests.remove(request)
                if not entry.requests and not entry.is_running:
                    del self._texts[text]
            request.waiting = {}

    def _serve(self, forward: Callable[[], ForwardPass], finish: FinishBatch) -> None:
        """Encode until there are no more requests."""
        while True:
            with self._condition:
                if not self._requests:
                    self._is_serving = False
                    return
            try:
                with self._slots:
                    self._run_round(forward(), finish)
            except BaseException as error:  # the waiting callers raise it
                self._fail(error)

    def _run_round(self, forward: ForwardPass, finish: FinishBatch) -> None:
        """Encode batches until another use of the network waits, or no texts are left."""
        # Concurrent batches share the time, so each counts from the end of the last one.
        last_end = time.perf_counter()

        def batches() -> Iterator[tuple[list[str], np.ndarray]]:
            number = 0
            while number < MIN_ROUND_BATCHES or not self._slots.has_waiting:
                batch = self._next_batch(forward.max_batch_texts)
                if batch is None:
                    return
                yield batch
                number += 1

        def on_batch(texts: list[str], means: np.ndarray, tokens: np.ndarray | None) -> None:
            nonlocal last_end
            seconds = time.perf_counter() - last_end
            last_end = time.perf_counter()
            self._deliver(texts, finish(texts, means.copy(), seconds))

        forward.run(batches(), on_batch, NO_WATCH, False)

    def _next_batch(self, size: int) -> tuple[list[str], np.ndarray] | None:
        """Return the texts of the next batch with their token ids [texts, tokens].

        The batch has the shortest texts of the next caller, and texts of that length of others. A
        caller that was cancelled is dropped. None if no texts are left.
        """
        while (request := self._next_request()) is not None:
            try:
                if request.is_daemon and not threading.main_thread().is_alive():
                    raise RunCancelled()
                with use_meter(request.meter), charged_to(*request.accounts):
                    request.watch.check()
            except BaseException as error:
                self._withdraw(request)
                with self._condition:
                    request.fault = error
                    self._condition.notify_all()
                continue
            batch = self._take_texts(request, size)
            if batch is not None:
                return batch
        return None

    def _next_request(self) -> _Request | None:
        """Return the request that is served next.

        It is the one with the fewest texts, or every second time the next in rotation.
        """
        with self._condition:
            self._takes_fewest = not self._takes_fewest
            if not self._requests:
                return None
            if not self._takes_fewest:
                return self._requests[0]
            return min(self._requests, key=lambda request: sum(map(len, request.waiting.values())))

    def _take_texts(self, request: _Request, size: int) -> tuple[list[str], np.ndarray] | None:
        """Take the shortest texts of a request out of the queue.

        Other texts of their length are taken too.
        """
        with self._condition:
            texts = self._begin_shortest(request, size)
            if request in self._requests:  # goes to the end of the queue
                self._requests.remove(request)
            self._requests.append(request)
            self._requests = deque(
                queued for queued in self._requests if any(queued.waiting.values())
            )
            self._condition.notify_all()
            if texts:
                return texts, np.array([self._texts[text].ids for text in texts], np.int64)
            return None

    def _begin_shortest(self, request: _Request, size: int) -> list[str]:
        """Mark at most `size` texts of equal length as running, and return them.

        Their length is that of the shortest text of a request. The request's texts come before
        those of others. The caller holds the lock.
        """
        length = min((length for length, texts in request.waiting.items() if texts), default=0)
        begun_texts: list[str] = []
        for requester in (request, *(other for other in self._requests if other is not request)):
            waiting_texts = requester.waiting.get(length, deque())
            while waiting_texts and len(begun_texts) < size:
                text = waiting_texts.popleft()
                if self._begin_text(text, requester):
                    begun_texts.append(text)
        return begun_texts

    def _begin_text(self, text: str, requester: _Request) -> bool:
        """Mark a text as running; return whether to encode it.

        It must be encoded if it is neither done nor running, and its requester still waits for it.
        """
        entry = self._texts.get(text)
        if entry is None or entry.is_running or requester not in entry.requests:
            return False
        entry.is_running = True
        for request in entry.requests:
            request.n_running += 1
        return True

    def _deliver(self, texts: list[str], vectors: np.ndarray) -> None:
        """Pass the vectors of texts to their requests."""
        with self._condition:
            rows_by_request: dict[int, tuple[_Request, list[int]]] = {}
            for row, text in enumerate(texts):
                for request in self._texts.pop(text).requests:
                    rows_by_request.setdefault(id(request), (request, []))[1].append(row)
            for request, rows in rows_by_request.values():
                request.results.append(([texts[row] for row in rows], vectors[rows]))
                request.n_unfinished -= len(rows)
                request.n_running -= len(rows)
            self._condition.notify_all()

    def _fail(self, error: BaseException) -> None:
        """End all requests with an error."""
        with self._condition:
            for text in self._texts.values():
                for request in text.requests:
                    request.fault = error
            self._texts = {}
            self._requests = deque()
            self._condition.notify_all()
