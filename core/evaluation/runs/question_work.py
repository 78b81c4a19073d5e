"""Work on the questions of an evaluation: several at a time, within a cap."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from core.evaluation.runs.servers import fix_concurrency, question_slots
from core.models.price import Spending
from core.runtime.account import Account, charged_to
from core.runtime.concurrent_work import ConcurrentWork, ProcessorLock
from core.watch import Watch

T = TypeVar("T")


@dataclass(eq=False)
class QuestionWork:
    """Work on questions, of which one computes while the others wait for model servers.

    Parameters
    ----------
    servers : the models that take several requests at a time; without any, one question runs.
    spending : what the work has spent and may spend.
    max_concurrent : requests to each server at a time; 0 determines it automatically.

    Attributes
    ----------
    n_open : number of questions at work.
    """

    servers: Sequence[Any]
    spending: Spending
    max_concurrent: int = 0
    n_open: int = field(default=0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def run_each(
        self, work: Callable[[T, Watch], None], questions: Iterable[T], watch: Watch
    ) -> None:
        """Work on questions until the end, or until another one might exceed the cap.

        Raises what `work` and `watch` raise.

        Parameters
        ----------
        work : function of a question and the watch of its work. Its calls are charged.
        questions : the questions; each is taken when its work begins.
        watch : cancels the work.
        """
        processor = ProcessorLock()
        pieces = ConcurrentWork(self._free_slots, watch)

        def run_piece(question: T) -> None:
            account = Account()
            try:
                with processor.hold(), charged_to(account, self.spending.account):
                    work(question, pieces)
            finally:
                self.spending.record_piece(account)
                self._count(-1)

        with fix_concurrency(self.servers, self.max_concurrent):
            for _ in pieces.run_each(run_piece, self._begun(questions)):
                continue  # the work saves its results

    def _begun(self, questions: Iterable[T]) -> Iterator[T]:
        for question in questions:
            self._count(1)
            yield question

    def _free_slots(self) -> int:
        # No further question begins if it might exceed the cap.
        return question_slots(self.servers) if self.spending.can_begin(self.n_open) else 0

    def _count(self, change: int) -> None:
        with self._lock:
            self.n_open += change
