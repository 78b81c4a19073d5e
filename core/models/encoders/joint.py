"""One reader for all who wait for vectors.

Texts are read in joint batches across callers, a text that several want once, and the shortest
request does not wait behind the longest. Each caller may be cancelled without the others.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.errors import Cancelled
from core.models.chat.turns import LOOK
from core.models.encoders.bert import Forward
from core.runtime.account import Account, accounts, charged_to
from core.runtime.meter import Meter, current, going_on, spent
from core.runtime.places import Places
from core.watch import NO_WATCH, Watch

ROUND = 8  # batches after which others who need the model in another way have their turn, where some wait

Vectors = tuple[list[str], np.ndarray]  # texts with a row each
Ended = Callable[[list[str], np.ndarray, float], np.ndarray]


@dataclass(eq=False)
class _Request:
    """One caller's texts: those not begun by their number of tokens, the number not ended, and what came and was not taken yet."""

    left: dict[int, deque[str]]
    wanted: int
    watch: Watch
    meter: Meter | None
    charged: tuple[Account, ...]
    came: deque[Vectors] = field(default_factory=deque)
    running: int = 0  # texts that are being read
    passing: bool = False  # whether its thread ends with the program
    fault: BaseException | None = None


@dataclass(eq=False)
class _Text:
    """A text that is wanted, in tokens, and who wants it."""

    ids: Sequence[int]
    requests: list[_Request]
    begun: bool = False


class JointReader:
    """Reads texts by a forward pass, all callers' together, in batches of one number of tokens.

    Every second batch is for whom the fewest texts are left, so that a question's vector does not wait behind many paths; the batches
    between go round. A batch that is not full is filled with what others want of that length. Of one caller the shortest texts come first.
    `turn` is held while batches are read.
    """

    def __init__(self, turn: Places):
        self._turn = turn
        self._changed = threading.Condition()
        self._texts: dict[str, _Text] = {}
        # those with texts that are not begun, who is next first
        self._requests: deque[_Request] = deque()
        self._serving, self._fewest = False, False

    def read(
        self,
        texts: Mapping[str, Sequence[int]],
        watch: Watch,
        *,
        forward: Callable[[], Forward],
        ended: Ended,
    ) -> Iterator[Vectors]:
        """Texts, given in tokens, with what is made of the means of their token vectors, [n, d], as they come.

        `watch` is called before each batch and while waiting, and may raise; what others want is read all the same. Raises also what the
        forward pass raises. All callers hand over the same `forward` and `ended`, which are held only while texts are read, so that a
        model and its reader are freed together. `ended` is given each batch's texts, the means of their token vectors and the seconds
        that it took; what it returns the callers get.
        """
        request = self._asked(texts, watch, lambda: self._serve(forward, ended))
        try:
            while request.wanted or request.came:
                yield self._next(request)
        finally:
            self._withdraw(request)

    def _asked(
        self, texts: Mapping[str, Sequence[int]], watch: Watch, serve: Callable[[], None]
    ) -> _Request:
        left: dict[int, deque[str]] = {}
        for text in sorted(texts, key=lambda text: len(texts[text])):
            left.setdefault(len(texts[text]), deque()).append(text)
        request = _Request(
            left,
            len(texts),
            watch,
            current(),
            accounts(),
            passing=threading.current_thread().daemon,
        )
        with self._changed:
            for text, ids in texts.items():
                wanted = self._texts.setdefault(text, _Text(ids, []))
                wanted.requests.append(request)
                request.running += wanted.begun
            self._requests.append(request)
            if not self._serving:
                self._serving = True
                self._begin(serve)
        return request

    def _begin(self, serve: Callable[[], None]) -> None:
        """Serve in a thread that does not end with the program, which in the midst of a library's work would abort it. Raises Cancelled
        where the program is at its end, from which on Python 3.12 begins no thread."""
        try:
            threading.Thread(target=serve, name="encoder", daemon=False).start()
        except RuntimeError as error:
            self._serving, self._texts, self._requests = False, {}, deque()
            if "shutdown" not in str(error):
                raise
            raise Cancelled() from None

    def _next(self, request: _Request) -> Vectors:
        """What comes next for a request; time in which none of its texts is read is waiting."""
        while True:
            request.watch.check()
            with self._changed:
                if request.came:
                    return request.came.popleft()
                if request.fault:
                    raise request.fault
                if request.running:
                    self._changed.wait(LOOK)
                    continue
            with spent("waiting"), self._changed:
                if not request.running and not request.came and not request.fault:
                    self._changed.wait(LOOK)

    def _withdraw(self, request: _Request) -> None:
        """Forget a request; texts that nobody else wants are not begun any more."""
        with self._changed:
            if request in self._requests:
                self._requests.remove(request)
            for text in [text for rows in request.left.values() for text in rows]:
                wanted = self._texts.get(text)
                if wanted is None or request not in wanted.requests:
                    continue
                wanted.requests.remove(request)
                if not wanted.requests and not wanted.begun:
                    del self._texts[text]
            request.left = {}

    def _serve(self, forward: Callable[[], Forward], ended: Ended) -> None:
        """Read until nobody wants anything."""
        while True:
            with self._changed:
                if not self._requests:
                    self._serving = False
                    return
            try:
                with self._turn:
                    self._round(forward(), ended)
            except BaseException as error:  # raised by those who wait
                self._fail(error)

    def _round(self, forward: Forward, ended: Ended) -> None:
        since = time.perf_counter()  # a batch ended: batches side by side share the time

        def batches() -> Iterator[tuple[list[str], np.ndarray]]:
            number = 0
            while number < ROUND or not self._turn.wanted:
                batch = self._batch(forward.batch)
                if batch is None:
                    return
                yield batch
                number += 1

        def done(texts: list[str], pooled: np.ndarray, tokens: np.ndarray | None) -> None:
            nonlocal since
            seconds, since = time.perf_counter() - since, time.perf_counter()
            self._deliver(texts, ended(texts, pooled.copy(), seconds))

        forward.run(batches(), done, NO_WATCH, False)

    def _batch(self, size: int) -> tuple[list[str], np.ndarray] | None:
        """The next batch: the shortest texts of whose turn it is, filled with others' of that length."""
        while (request := self._whose_turn()) is not None:
            try:
                if request.passing and not threading.main_thread().is_alive():
                    raise Cancelled()
                with going_on(request.meter), charged_to(*request.charged):
                    request.watch.check()
            except BaseException as error:
                self._withdraw(request)
                with self._changed:
                    request.fault = error
                    self._changed.notify_all()
                continue
            if (batch := self._taken(request, size)) is not None:
                return batch
        return None

    def _whose_turn(self) -> _Request | None:
        with self._changed:
            self._fewest = not self._fewest
            if not self._requests or not self._fewest:
                return self._requests[0] if self._requests else None
            return min(self._requests, key=lambda one: sum(map(len, one.left.values())))

    def _taken(self, request: _Request, size: int) -> tuple[list[str], np.ndarray] | None:
        with self._changed:
            length = min((length for length, rows in request.left.items() if rows), default=0)
            texts: list[str] = []
            for one in [request, *(other for other in self._requests if other is not request)]:
                rows = one.left.get(length, deque())
                while rows and len(texts) < size:
                    wanted = self._texts.get(rows[0])
                    if wanted is not None and not wanted.begun and one in wanted.requests:
                        wanted.begun = True
                        texts.append(rows[0])
                        for who in wanted.requests:
                            who.running += 1
                    rows.popleft()
            self._requests = deque(
                one for one in (*self._requests, request) if any(one.left.values())
            )
            if request in self._requests:
                self._requests.remove(request)  # the first of the two: it is the last from now on
            self._changed.notify_all()
            if texts:
                return (texts, np.array([self._texts[text].ids for text in texts], np.int64))
            return None

    def _deliver(self, texts: list[str], vectors: np.ndarray) -> None:
        with self._changed:
            for_whom: dict[int, tuple[_Request, list[int]]] = {}
            for row, text in enumerate(texts):
                for request in self._texts.pop(text).requests:
                    for_whom.setdefault(id(request), (request, []))[1].append(row)
            for request, rows in for_whom.values():
                request.came.append(([texts[row] for row in rows], vectors[rows]))
                request.wanted, request.running = (
                    request.wanted - len(rows),
                    request.running - len(rows),
                )
            self._changed.notify_all()

    def _fail(self, error: BaseException) -> None:
        with self._changed:
            waiting = {id(one): one for text in self._texts.values() for one in text.requests}
            for request in waiting.values():
                request.fault = error
            self._texts, self._requests = {}, deque()
            self._changed.notify_all()
