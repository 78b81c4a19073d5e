"""Work that outlives the page that asked for it: threads, progress, cancelling."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from core.errors import Cancelled, HopscopeError, NotAllowed
from core.sharing import acting, called, who
from core.watch import Watch

MAX_RESULT_BYTES = 256 << 20  # bytes that the results of jobs may take together
WAITING, RUNNING, DONE, FAILED, CANCELLED = "waiting", "running", "done", "failed", "cancelled"


def nothing() -> None:
    """Does nothing."""


class Job(Watch):
    """A piece of work in a thread. `version` grows with every change, so that a screen knows when to draw again."""

    comparison: Any  # of a job that compares: what it fills, which is of a floor above
    number: int  # of a job that evaluates: its run's in the store
    written: str  # of a job whose model writes: the reply as far as it has come
    evaluation: Any  # of a job that evaluates: its work, which is of a floor above

    def __init__(self, key: str, work: Callable[[Job], Any] = lambda job: None):
        super().__init__()
        self.key, self._work, self.who = key, work, who()
        self.status, self.text = WAITING, "Waiting for its turn"
        self.fraction: float | None = None
        self.error: str | None = None
        self.result: Any = None
        self.version = 0
        self.started = time.time()
        self.unattended = False  # whether it is to end even where nobody waits for it
        self.left = False  # whether it was cancelled since nobody waited for it any more
        self.on_cancel: Callable[[], None] = nothing
        self._cancel, self._ended, self._news = (
            threading.Event(),
            threading.Event(),
            threading.Condition(),
        )

    def check(self) -> None:
        """Raises Cancelled once the job was cancelled."""
        if self._cancel.is_set():
            raise Cancelled()

    def report(self, text: str, fraction: float | None = None) -> None:
        """Say what is being done, and how much of it is done (0 to 1), where that is known."""
        self.text, self.fraction = text or self.text, fraction
        self.touch()

    def touch(self) -> None:
        """Something worth drawing has changed."""
        with self._news:
            self.version += 1
            self._news.notify_all()

    def changed(self, version: int | None, seconds: float) -> bool:
        """Whether there is something to draw that was not there at `version`, after waiting for it at most `seconds`."""
        with self._news:
            return self._news.wait_for(lambda: self.version != version, seconds)

    @property
    def needed_by(self) -> str:
        """Why the job may not be cancelled by who asks, in a sentence; empty where it may."""
        person = who()
        of = "" if person.administrator or person == self.who else called(self.who.id)
        return of and f"This was begun by {of}, and only they and the administrator may cancel it."

    def cancel(self) -> None:
        """Ask the work to stop at its next check. Raises NotAllowed where somebody else began it."""
        if sentence := self.needed_by:
            raise NotAllowed(sentence)
        self.stop()

    def stop(self) -> None:
        """Cancel the work, whoever began it."""
        if not self._cancel.is_set():
            self._cancel.set()
            self.on_cancel()
            self.touch()

    def leave(self) -> None:
        """Cancel the work since nobody waits for it."""
        self.left = True
        self.stop()

    @property
    def cancelled(self) -> bool:
        """Whether it was asked to stop."""
        return self._cancel.is_set()

    @property
    def ended(self) -> bool:
        return self._ended.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Whether the job has ended, after waiting at most `seconds`."""
        return self._ended.wait(seconds)

    def run(self) -> None:
        """Do the work; every end is recorded, none raised."""
        try:
            self.check()
            self.begin()
            with acting(self.who):
                self.result = self._work(self)
            self.end(DONE)
        except Cancelled:
            self.end(CANCELLED)
        except Exception as error:
            self.end(FAILED, sentence(error))

    def begin(self) -> None:
        """The work has begun."""
        self.status = RUNNING
        self.touch()

    def end(self, status: str, error: str | None = None) -> None:
        """The work has ended, in this way."""
        self.status, self.error = status, error
        self._ended.set()
        self.touch()


class Jobs:
    """Runs jobs, a few at a time, one for each key; keeps those asked for last so that another browser finds them: at most `keep`, with
    results of at most `most` bytes together, as `weigh` tells of one that has ended. Those that run are kept in any case, and those that
    are `needed`: a screen whose job is forgotten as it ends asks again, and where many ask, again and again."""

    def __init__(
        self,
        workers: int = 2,
        keep: int = 64,
        most: int = MAX_RESULT_BYTES,
        weigh: Callable[[Job], int] = lambda job: 0,
        needed: Callable[[Job], bool] = lambda job: False,
    ):
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="job")
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._keep, self._most, self._weigh, self._needed, self._lock = (
            keep,
            most,
            weigh,
            needed,
            threading.Lock(),
        )
        self._weights: dict[str, int] = {}  # of those that have ended

    def get(self, key: str) -> Job | None:
        """The job of that key, running or ended, if it is still known."""
        with self._lock:
            return self._known(key)

    def of(self, begins: str) -> list[Job]:
        """The jobs whose keys begin so, running or ended."""
        with self._lock:
            return [job for key, job in self._jobs.items() if key.startswith(begins)]

    def holds(self, job: Job) -> bool:
        """Whether the job of this one's key is this one."""
        return self._jobs.get(job.key) is job

    def start(
        self,
        key: str,
        make: Callable[[], Job],
        again: bool = False,
        run: Callable[[Job], None] | None = None,
    ) -> Job:
        """The running job of that key, or a new one; an ended one is taken as it is unless `again`, or if it did not end well.

        With `run` a new one is handed to it instead of to the threads here, and one that was asked to stop is as good as ended.
        """
        with self._lock:
            job = self._known(key)
            if job is not None and (
                (job.status == DONE and not again) if job.ended else not (run and job.cancelled)
            ):
                return job
            job = make()
            self._jobs[key] = job
            self._jobs.move_to_end(key)
            self._weights.pop(key, None)
            self._forget()
        run(job) if run is not None else self._pool.submit(job.run)
        return job

    def run(self, key: str, work: Callable[[Job], Any], again: bool = False) -> Job:
        """The running job of that key, or a new one that does `work`; see `start`."""
        return self.start(key, lambda: Job(key, work), again)

    def _known(self, key: str) -> Job | None:
        """The job of that key, which is then the last to be forgotten. Call with the lock held."""
        job = self._jobs.get(key)
        if job is not None:
            self._jobs.move_to_end(key)
        return job

    def _forget(self) -> None:
        """Those that have ended and were not asked for the longest, as far as there are too many. Call with the lock held."""
        ended = [key for key, job in self._jobs.items() if job.ended]
        for key in ended:
            if key not in self._weights:
                self._weights[key] = self._weigh(self._jobs[key])
        for key in ended:
            if len(self._jobs) <= self._keep and sum(self._weights.values()) <= self._most:
                return
            if not self._needed(self._jobs[key]):
                del self._jobs[key], self._weights[key]

    @property
    def busy(self) -> bool:
        """Whether a job is at work."""
        return any(job.status == RUNNING for job in list(self._jobs.values()))

    def stop(self) -> None:
        """Cancel everything and take no more work."""
        for job in list(self._jobs.values()):
            job.stop()
        self._pool.shutdown(wait=False, cancel_futures=True)


def sentence(error: BaseException) -> str:
    """An error as a sentence for a person; an unforeseen one is logged with its trace and named."""
    if isinstance(error, HopscopeError):
        return str(error)
    logging.getLogger(__name__).error("A job failed", exc_info=error)
    return f"Something went wrong here that should not have: {type(error).__name__}: {error}"
