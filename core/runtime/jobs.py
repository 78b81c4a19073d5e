"""Jobs in threads that outlive the page that started them, with progress and cancellation."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from core.errors import HopscopeError, NotAllowed, RunCancelled
from core.sharing import acting_as, current_person, owner_words
from core.watch import Watch

MAX_RESULT_BYTES = 256 << 20  # total size of the results of kept jobs
JOB_WAITING = "waiting"
JOB_RUNNING = "running"
JOB_DONE = "done"
JOB_FAILED = "failed"
JOB_CANCELLED = "cancelled"


def do_nothing() -> None:
    """Do nothing."""


class Job(Watch):
    """A piece of work in a thread, and the watch of this work.

    `version` grows with every change, so that a page knows when to draw again. `fraction` is the
    part that is done, 0 to 1, and None if it is unknown.

    Parameters
    ----------
    key : identifies the work; `Jobs` keeps one job for each key.
    work : does the work and returns the result.
    """

    # Fields that only jobs of one kind have. Comparisons and evaluations are typed Any, since
    # their classes belong to a higher layer, which this module must not import.
    comparison: Any  # of a comparing job: the comparison that receives the results
    number: int  # of an evaluating job: the number of its run in the store
    reply_text: str  # of a job in which a model writes: the reply so far
    evaluation: Any  # of an evaluating job: the evaluation itself

    def __init__(self, key: str, work: Callable[[Job], Any] = lambda job: None):
        super().__init__()
        self.key, self._work = key, work
        self.person = current_person()
        self.status = JOB_WAITING
        self.text = "Waiting for its turn"
        self.text_since = time.monotonic()  # when the text was new
        self.fraction: float | None = None
        self.error: str | None = None
        self.result: Any = None
        self.version = 0
        self.started_at = time.time()
        # True if the job runs to its end even if nobody waits for it.
        self.is_unattended = False
        # True if the job was cancelled because nobody waited for it any more.
        self.is_abandoned = False
        self.on_cancel: Callable[[], None] = do_nothing
        self._cancel = threading.Event()
        self._ended = threading.Event()
        self._changed = threading.Condition()

    def check(self) -> None:
        """Raise RunCancelled once the job was cancelled."""
        if self._cancel.is_set():
            raise RunCancelled()

    def report(self, text: str, fraction: float | None = None) -> None:
        """Report the current activity and, if known, the fraction done (0 to 1)."""
        if text and text != self.text:
            self.text, self.text_since = text, time.monotonic()
        self.fraction = fraction
        self.touch()

    def touch(self) -> None:
        """Announce a change that is worth drawing."""
        with self._changed:
            self.version += 1
            self._changed.notify_all()

    def wait_for_change(self, version: int | None, seconds: float) -> bool:
        """Wait for a change since `version`, at most `seconds`; return whether there was one."""
        with self._changed:
            return self._changed.wait_for(lambda: self.version != version, seconds)

    @property
    def cancel_refusal(self) -> str:
        """The reason why the current user may not cancel the job. Empty if they may."""
        person = current_person()
        if person.administrator or person == self.person:
            return ""
        owner = owner_words(self.person.id)
        return f"This was begun by {owner}, and only they and the administrator may cancel it."

    def cancel(self) -> None:
        """Ask the work to stop at its next check. Raises NotAllowed if another user started it."""
        reason = self.cancel_refusal
        if reason:
            raise NotAllowed(reason)
        self.stop()

    def stop(self) -> None:
        """Cancel the work, whoever started it."""
        if not self._cancel.is_set():
            self._cancel.set()
            self.on_cancel()
            self.touch()

    def abandon(self) -> None:
        """Cancel the work because nobody waits for it."""
        self.is_abandoned = True
        self.stop()

    @property
    def is_cancelled(self) -> bool:
        """True if the job was asked to stop."""
        return self._cancel.is_set()

    @property
    def has_ended(self) -> bool:
        """True if the job and its work have ended. The job is done, failed or was cancelled."""
        return self._ended.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait at most `seconds` for the job to end; return whether it has ended."""
        return self._ended.wait(seconds)

    def run(self) -> None:
        """Do the work. Errors are recorded as the status and error of the job, not raised."""
        try:
            self.check()
            self.begin()
            with acting_as(self.person):
                self.result = self._work(self)
            self.end(JOB_DONE)
        except RunCancelled:
            self.end(JOB_CANCELLED)
        except Exception as error:  # `error_sentence` logs a fault of the program
            self.end(JOB_FAILED, error_sentence(error))

    def begin(self) -> None:
        """Mark the job as running."""
        self.status = JOB_RUNNING
        self.touch()

    def end(self, status: str, error: str | None = None) -> None:
        """Mark the job as ended with this status."""
        self.status, self.error = status, error
        self._ended.set()
        self.touch()


class Jobs:
    """Runner of jobs: a few at a time, and one for each key.

    Ended jobs are kept so that other browsers find their results. The least recently requested jobs
    are dropped first. Running jobs are always kept, and so are the jobs for which `is_needed` is
    true: a page whose job was dropped at its end would start it again and, with many users, again
    and again.

    Parameters
    ----------
    workers : threads that run jobs.
    keep : number of jobs that are kept, unless more are running or needed.
    max_bytes : bytes that the results of the kept jobs may take together.
    weigh : returns the bytes of the result of an ended job. Called once for each.
    is_needed : returns whether a job must be kept.
    """

    def __init__(
        self,
        workers: int = 2,
        keep: int = 64,
        max_bytes: int = MAX_RESULT_BYTES,
        weigh: Callable[[Job], int] = lambda job: 0,
        is_needed: Callable[[Job], bool] = lambda job: False,
    ):
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="job")
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._keep = keep
        self._max_bytes = max_bytes
        self._weigh = weigh
        self._is_needed = is_needed
        self._lock = threading.Lock()
        self._weights: dict[str, int] = {}  # bytes of the result, for ended jobs

    def get(self, key: str) -> Job | None:
        """Return the kept job of a key, running or ended, or None."""
        with self._lock:
            return self._get_job(key)

    def with_key_prefix(self, prefix: str) -> list[Job]:
        """Return the kept jobs whose keys begin with `prefix`, running or ended."""
        with self._lock:
            return [job for key, job in self._jobs.items() if key.startswith(prefix)]

    def is_current(self, job: Job) -> bool:
        """Return whether this very job is the one kept under its key."""
        return self._jobs.get(job.key) is job

    def start(
        self,
        key: str,
        make: Callable[[], Job],
        again: bool = False,
        run: Callable[[Job], None] | None = None,
    ) -> Job:
        """Return the job of a key, or start a new one.

        A running job is returned as it is. An ended one is returned if it succeeded and `again` is
        false.

        Parameters
        ----------
        key : the key.
        make : creates the job.
        again : if true, an ended job is replaced.
        run : starts the new job, instead of a thread of this pool. If given, a running job that was
            asked to stop counts as ended.
        """
        with self._lock:
            job = self._get_job(key)
            if job is not None:
                is_running = not job.has_ended and not (run and job.is_cancelled)
                if is_running or (job.has_ended and job.status == JOB_DONE and not again):
                    return job
            job = make()
            self._jobs[key] = job
            self._jobs.move_to_end(key)
            self._weights.pop(key, None)
            self._drop_old_jobs()
        run(job) if run is not None else self._pool.submit(job.run)
        return job

    def run(self, key: str, work: Callable[[Job], Any], again: bool = False) -> Job:
        """Return the running job of a key, or start one that does `work`."""
        return self.start(key, lambda: Job(key, work), again)

    def _get_job(self, key: str) -> Job | None:
        """Return the job of a key and mark it as the most recently used. Requires the lock."""
        job = self._jobs.get(key)
        if job is not None:
            self._jobs.move_to_end(key)
        return job

    def _drop_old_jobs(self) -> None:
        """Drop the least recently used ended jobs while there are too many. Requires the lock."""
        ended_keys = [key for key, job in self._jobs.items() if job.has_ended]
        for key in ended_keys:
            if key not in self._weights:
                self._weights[key] = self._weigh(self._jobs[key])
        for key in ended_keys:
            if len(self._jobs) <= self._keep and sum(self._weights.values()) <= self._max_bytes:
                return
            if not self._is_needed(self._jobs[key]):
                del self._jobs[key], self._weights[key]

    @property
    def is_busy(self) -> bool:
        """True while any job is running."""
        return any(job.status == JOB_RUNNING for job in list(self._jobs.values()))

    def stop(self) -> None:
        """Cancel all jobs and accept no more."""
        for job in list(self._jobs.values()):
            job.stop()
        self._pool.shutdown(wait=False, cancel_futures=True)


def error_sentence(error: BaseException) -> str:
    """Return an error as a sentence for the user.

    An error of another class than HopscopeError is a fault of the program. It is logged with its
    traceback, and the sentence contains its name.
    """
    if isinstance(error, HopscopeError):
        return str(error)
    logging.getLogger(__name__).error("A job failed", exc_info=error)
    return f"Something went wrong here that should not have: {type(error).__name__}: {error}"
