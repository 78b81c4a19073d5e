"""Joint encoding of the texts of all callers.

Batches contain texts of several callers, and a text that several need is encoded once. The shortest
request does not wait for the longest. Each caller can be cancelled without the others.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.errors import RunCancelled
from core.models.chat.cancellable_work import THREAD_CHECK_SECONDS
from core.models.encoders.bert import ForwardPass
from core.runtime.account import Account, accounts, charged_to
from core.runtime.meter import Meter, count_time, current_meter, use_meter
from core.runtime.slots import Slots
from core.watch import NO_WATCH, Watch

# Batches after which another kind of use of the model gets its turn, if one is waiting.
MIN_ROUND_BATCHES = 8

Vectors = tuple[list[str], np.ndarray]  # texts with one row each
Ended = Callable[[list[str], np.ndarray, float], np.ndarray]


@dataclass(eq=False)
class _Request:
    """The texts of one caller, with their progress.

    `left` holds the texts that have not begun, by their number of tokens. `wanted` is the number of
    texts that have not ended, and `came` holds results that were not taken yet.
    """

    left: dict[int, deque[str]]
    wanted: int
    watch: Watch
    meter: Meter | None
    charged: tuple[Account, ...]
    came: deque[Vectors] = field(default_factory=deque)
    running: int = 0  # texts that are being encoded
    passing: bool = False  # true if its thread ends with the program
    fault: BaseException | None = None


@dataclass(eq=False)
class _Text:
    """A requested text in tokens, with the requests for it."""

    ids: Sequence[int]
    requests: list[_Request]
    begun: bool = False


class JointReader:
    """Encoder of the texts of all callers, in batches of equal token length.

    Every second batch is for the caller with the fewest remaining texts, so that a question's
    vector does not wait for many paths. The other batches are for the callers in rotation. A batch
    that is not full is filled with texts of that length from other callers. Of each caller the
    shortest texts come first.

    Parameters
    ----------
    turn : lock that is held while batches are encoded.
    """

    def __init__(self, turn: Slots):
        self._turn = turn
        self._condition = threading.Condition()
        self._texts: dict[str, _Text] = {}
        # Requests with texts that have not begun, the next one first.
        self._requests: deque[_Request] = deque()
        self._serving, self._fewest = False, False

    def read(
        self,
        texts: Mapping[str, Sequence[int]],
        watch: Watch,
        *,
        forward: Callable[[], ForwardPass],
        finish: Ended,
    ) -> Iterator[Vectors]:
        """Yield texts with their vectors as they are computed.

        The callers pass the same `forward` and `finish`. They are held only during encoding, so
        that a model and its reader are freed together.

        Parameters
        ----------
        texts : the tokens of each text.
        watch : called before each batch and while waiting; may raise. Texts of other callers are
            then encoded all the same.
        forward : returns the forward pass.
        finish : receives the texts of a batch, the means of their token vectors [n, d] and the
            seconds taken, and returns the vectors for the callers.

        Yields
        ------
        What `finish` returns for texts of this caller.

        Raises
        ------
        Exception
            What the forward pass and `watch` raise.
        """
        request = self._add_request(texts, watch, lambda: self._serve(forward, finish))
        try:
            while request.wanted or request.came:
                yield self._next_result(request)
        finally:
            self._withdraw(request)

    def _add_request(
        self, texts: Mapping[str, Sequence[int]], watch: Watch, serve: Callable[[], None]
    ) -> _Request:
        texts_by_length: dict[int, deque[str]] = {}
        for text in sorted(texts, key=lambda text: len(texts[text])):
            texts_by_length.setdefault(len(texts[text]), deque()).append(text)
        request = _Request(
            texts_by_length,
            len(texts),
            watch,
            current_meter(),
            accounts(),
            passing=threading.current_thread().daemon,
        )
        with self._condition:
            for text, ids in texts.items():
                entry = self._texts.setdefault(text, _Text(ids, []))
                entry.requests.append(request)
                request.running += entry.begun
            self._requests.append(request)
            if not self._serving:
                self._serving = True
                self._begin(serve)
        return request

    def _begin(self, serve: Callable[[], None]) -> None:
        """Start the thread that encodes.

        It is no daemon thread: ended inside a library's work, it would abort the program. Raises
        RunCancelled if the program is ending, when Python 3.12 starts no thread.
        """
        try:
            threading.Thread(target=serve, name="encoder", daemon=False).start()
        except RuntimeError as error:
            self._serving, self._texts, self._requests = False, {}, deque()
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
                if request.came:
                    return request.came.popleft()
                if request.fault:
                    raise request.fault
                if request.running:
                    self._condition.wait(THREAD_CHECK_SECONDS)
                    continue
            with count_time("waiting"), self._condition:
                if not request.running and not request.came and not request.fault:
                    self._condition.wait(THREAD_CHECK_SECONDS)

    def _withdraw(self, request: _Request) -> None:
        """Drop a request; texts that nobody else needs are not begun any more."""
        with self._condition:
            if request in self._requests:
                self._requests.remove(request)
            for text in [text for rows in request.left.values() for text in rows]:
                entry = self._texts.get(text)
                if entry is None or request not in entry.requests:
                    continue
                entry.requests.remove(request)
                if not entry.requests and not entry.begun:
                    del self._texts[text]
            request.left = {}

    def _serve(self, forward: Callable[[], ForwardPass], finish: Ended) -> None:
        """Encode until there are no more requests."""
        while True:
            with self._condition:
                if not self._requests:
                    self._serving = False
                    return
            try:
                with self._turn:
                    self._run_round(forward(), finish)
            except BaseException as error:  # the waiting callers raise it
                self._fail(error)

    def _run_round(self, forward: ForwardPass, finish: Ended) -> None:
        # End of the last batch. Concurrent batches share the time.
        since = time.perf_counter()

        def batches() -> Iterator[tuple[list[str], np.ndarray]]:
            number = 0
            while number < MIN_ROUND_BATCHES or not self._turn.wanted:
                batch = self._batch(forward.batch)
                if batch is None:
                    return
                yield batch
                number += 1

        def done(texts: list[str], vectors: np.ndarray, tokens: np.ndarray | None) -> None:
            nonlocal since
            seconds, since = time.perf_counter() - since, time.perf_counter()
            self._deliver(texts, finish(texts, vectors.copy(), seconds))

        forward.run(batches(), done, NO_WATCH, False)

    def _batch(self, size: int) -> tuple[list[str], np.ndarray] | None:
        """Return the next batch: the shortest texts of the next caller, filled with others of that
        length.
        """
        while (request := self._whose_turn()) is not None:
            try:
                if request.passing and not threading.main_thread().is_alive():
                    raise RunCancelled()
                with use_meter(request.meter), charged_to(*request.charged):
                    request.watch.check()
            except BaseException as error:
                self._withdraw(request)
                with self._condition:
                    request.fault = error
                    self._condition.notify_all()
                continue
            if (batch := self._take_texts(request, size)) is not None:
                return batch
        return None

    def _whose_turn(self) -> _Request | None:
        with self._condition:
            self._fewest = not self._fewest
            if not self._requests or not self._fewest:
                return self._requests[0] if self._requests else None
            return min(self._requests, key=lambda one: sum(map(len, one.left.values())))

    def _take_texts(self, request: _Request, size: int) -> tuple[list[str], np.ndarray] | None:
        """Return the shortest texts of a request and others of their length, if any are left."""
        with self._condition:
            texts = self._begin_shortest(request, size)
            self._requests = deque(
                one for one in (*self._requests, request) if any(one.left.values())
            )
            if request in self._requests:
                # It is in the queue twice: removing the first entry moves it to the end.
                self._requests.remove(request)
            self._condition.notify_all()
            if texts:
                return (texts, np.array([self._texts[text].ids for text in texts], np.int64))
            return None

    def _begin_shortest(self, request: _Request, size: int) -> list[str]:
        """Begin at most `size` texts as long as the shortest of a request, its own ones first.

        The caller holds the lock.
        """
        length = min((length for length, rows in request.left.items() if rows), default=0)
        texts: list[str] = []
        for requester in (request, *(other for other in self._requests if other is not request)):
            rows = requester.left.get(length, deque())
            while rows and len(texts) < size:
                text = rows.popleft()
                if self._begin_text(text, requester):
                    texts.append(text)
        return texts

    def _begin_text(self, text: str, requester: _Request) -> bool:
        """Mark a text as begun; return whether it is still to be encoded for its requester."""
        entry = self._texts.get(text)
        if entry is None or entry.begun or requester not in entry.requests:
            return False
        entry.begun = True
        for request in entry.requests:
            request.running += 1
        return True

    def _deliver(self, texts: list[str], vectors: np.ndarray) -> None:
        with self._condition:
            rows_by_request: dict[int, tuple[_Request, list[int]]] = {}
            for row, text in enumerate(texts):
                for request in self._texts.pop(text).requests:
                    rows_by_request.setdefault(id(request), (request, []))[1].append(row)
            for request, rows in rows_by_request.values():
                request.came.append(([texts[row] for row in rows], vectors[rows]))
                request.wanted, request.running = (
                    request.wanted - len(rows),
                    request.running - len(rows),
                )
            self._condition.notify_all()

    def _fail(self, error: BaseException) -> None:
        with self._condition:
            waiting = {id(one): one for text in self._texts.values() for one in text.requests}
            for request in waiting.values():
                request.fault = error
            self._texts, self._requests = {}, deque()
            self._condition.notify_all()
