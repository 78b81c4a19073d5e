"""Work in a subprocess with limits of memory and time.

It can be ended at any moment. Work is sent by the standard input of the subprocess, and reports
return by its standard output. Printed text goes to the standard error. The subprocess ends when the
work is cancelled or this process dies.

On Linux the kernel enforces the limits. On other systems this process checks them ten times a
second, because macOS enforces no limit of address space, and Windows no limit at all. The limit of
memory is then a limit of resident memory, and may be exceeded between two checks. On these systems,
if this process dies while a compiled loop blocks the other threads of the subprocess, the
subprocess ends only after the loop.
"""

from __future__ import annotations

import math
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import IO, Any

from core.watch import NO_WATCH, Watch

if sys.platform == "linux":
    import fcntl
    import resource

from core.errors import HopscopeError
from core.runtime.jobs import error_sentence
from core.runtime.python_process import python_command, python_environment

# True if the kernel enforces limits and ends the subprocess when this process dies.
KERNEL = sys.platform == "linux"
WORKER_CHECK_SECONDS = 0.1  # seconds between two checks for cancellation
# Linux's clock of the processor time of this process in ticks, MAKE_PROCESS_CPUCLOCK(0, PROF).
TICKS_CLOCK = ~0 << 3
LENGTH_FIELD_BYTES = 8  # bytes of the length field before each message
PROCESS_DIED_MESSAGE = (
    "The process at this work was ended from outside, perhaps because memory ran out."
)
REPORT_BEGUN = "begun"
REPORT_PROGRESS = "progress"
REPORT_DONE = "done"
REPORT_FAILED = "failed"
LIMIT_MEMORY = "memory"
LIMIT_TIME = "time"
LIMIT_MESSAGES = {
    LIMIT_MEMORY: "This work takes more memory than it may.",
    LIMIT_TIME: "This work takes longer than it may.",
    "": PROCESS_DIED_MESSAGE,
}


class WorkerEndedError(HopscopeError):
    """Error of a subprocess that ended before its work was done.

    `limit` is the exceeded limit, `LIMIT_MEMORY` or `LIMIT_TIME`, and empty for another reason.
    """

    def __init__(self, limit: str = ""):
        self.limit = limit
        super().__init__(LIMIT_MESSAGES[limit])


def in_subprocess(work: Callable[..., Any], *arguments: Any, watch: Watch = NO_WATCH) -> Any:
    """Return `work(*arguments, watch)`, done in a new subprocess as by `Worker.run`."""
    with Worker() as worker:
        return worker.run(work, *arguments, watch=watch)


class Worker:
    """A subprocess that does one piece of work after another.

    It starts with the first piece, starts again if a piece has ended it, and ends with the `with`
    block.

    Parameters
    ----------
    memory : limit in bytes, of address space on Linux and of resident memory elsewhere; None for no
        limit.
    """

    def __init__(self, memory: int | None = None):
        self._memory = memory
        self._process: subprocess.Popen | None = None
        self._messages: SimpleQueue[bytes | None]

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._end_process()

    def run(
        self,
        work: Callable[..., Any],
        *arguments: Any,
        watch: Watch = NO_WATCH,
        seconds: float | None = None,
    ) -> Any:
        """Return `work(*arguments, watch)`, done in the subprocess.

        Parameters
        ----------
        work : a function of a module. Its arguments and result must be picklable.
        arguments : its arguments.
        watch : receives the progress, and can cancel the work. If it raises, the process is killed.
        seconds : limit of processor time for this piece of work; None for no limit.

        Raises
        ------
        HopscopeError
            With the message of an error that `work` raised.
        WorkerEndedError
            If the process dies or exceeds a limit.
        """
        is_done, consumption = False, None
        try:
            self._send_work((work, arguments, seconds))
            while True:
                watch.check()
                limit = "" if consumption is None else consumption.exceeded_limit()
                if limit:
                    raise WorkerEndedError(limit)
                try:
                    message = self._messages.get(timeout=WORKER_CHECK_SECONDS)
                except Empty:
                    continue
                if message is None:
                    raise WorkerEndedError(self._limit_by_kernel())
                kind, *values = pickle.loads(message)
                if kind == REPORT_BEGUN:
                    consumption = Consumption(values[0], self._memory, seconds)
                elif kind == REPORT_PROGRESS:
                    watch.report(*values)
                elif kind == REPORT_DONE:
                    is_done = True
                    return values[0]
                elif kind == REPORT_FAILED:
                    is_done = True
                    raise HopscopeError(values[0])
                else:  # a report of LIMIT_MEMORY
                    raise WorkerEndedError(LIMIT_MEMORY)
        except BrokenPipeError:
            raise WorkerEndedError(self._limit_by_kernel()) from None
        finally:
            if not is_done:
                self._end_process()

    def _send_work(self, work: tuple) -> None:
        """Send a piece of work to the subprocess. It is started if there is none."""
        if self._process is None:
            self._process = _start_process(self._memory)
            self._messages = SimpleQueue()
            arguments = (self._process.stdout, self._messages)
            threading.Thread(target=_listen, args=arguments, daemon=True).start()
        assert self._process.stdin is not None  # it was started with a pipe
        _send(self._process.stdin, work)

    def _limit_by_kernel(self) -> str:
        """Wait for a process that ended, and return the limit that it exceeded.

        The text is empty if the process ended for another reason.
        """
        assert self._process is not None
        if sys.platform == "linux" and KERNEL and self._process.wait() == -signal.SIGXCPU:
            return LIMIT_TIME
        return ""

    def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            assert process.stdin is not None
            with suppress(OSError):  # data that was not sent is dropped
                process.stdin.close()
            process.wait()


class Consumption:
    """Memory and processor time of a process from now on, compared with its limits.

    It is used on systems that do not enforce limits. Limits are in bytes and seconds; None for no
    limit.
    """

    def __init__(self, pid: int, memory: int | None, seconds: float | None):
        import psutil

        self._process, self._memory, self._error = psutil.Process(pid), memory, psutil.Error
        self._max_cpu_seconds = None if seconds is None else self._cpu_seconds() + seconds

    def exceeded_limit(self) -> str:
        """Return the exceeded limit, `LIMIT_MEMORY` or `LIMIT_TIME`.

        The text is empty if no limit is exceeded or the process has ended.
        """
        with suppress(self._error):
            if self._memory is not None and self._process.memory_info().rss > self._memory:
                return LIMIT_MEMORY
            if self._max_cpu_seconds is not None and self._cpu_seconds() > self._max_cpu_seconds:
                return LIMIT_TIME
        return ""

    def _cpu_seconds(self) -> float:
        times = self._process.cpu_times()
        return times.user + times.system


def _send(stream: IO[bytes], message: Any) -> None:
    """Write a pickled message, after its length in bytes."""
    data = pickle.dumps(message)
    stream.write(len(data).to_bytes(LENGTH_FIELD_BYTES, "little"))
    stream.write(data)
    stream.flush()


def _messages(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the messages of a stream until it ends."""
    while len(length := stream.read(LENGTH_FIELD_BYTES)) == LENGTH_FIELD_BYTES:
        size = int.from_bytes(length, "little")
        data = stream.read(size)
        if len(data) < size:  # the process died within the message
            return
        yield data


def _listen(stream: IO[bytes], messages: SimpleQueue[bytes | None]) -> None:
    """Put the messages of a stream into a queue, and None at its end."""
    with stream:
        for message in _messages(stream):
            messages.put(message)
    messages.put(None)


def _start_process(memory: int | None) -> subprocess.Popen:
    """Start a process that waits for work.

    Only the process itself holds the writing end of the pipe for reports, so the pipe ends with it.
    """
    return subprocess.Popen(
        python_command("-c", f"from {__name__} import serve; serve({memory}, {KERNEL})"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=python_environment(),
    )


def serve(memory: int | None, kernel: bool) -> None:
    """In the subprocess: do the work that arrives and report on it.

    With `kernel`, the process sets its limits itself; otherwise the parent process checks them.
    """
    reports = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # printed text must not mix with the reports
    if kernel:
        _prepare_limits(memory)
    work_queue: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_queue_work, args=(work_queue,), daemon=True).start()
    while True:
        work, arguments, seconds = pickle.loads(work_queue.get())
        if kernel:
            _limit_time(seconds)
            _set_end_with_input(True)
        else:
            _send(reports, (REPORT_BEGUN, os.getpid()))
        answer = _do_work(reports, work, arguments)
        if kernel:
            _set_end_with_input(False)
        try:
            _send(reports, answer)
        except MemoryError:
            _send(reports, (LIMIT_MEMORY,))


def _queue_work(work_queue: SimpleQueue[bytes]) -> None:
    """Put arriving work into a queue. The process ends with the parent, which closes the input."""
    try:
        for work in _messages(sys.stdin.buffer):
            work_queue.put(work)
    finally:
        os._exit(0)


def _do_work(reports: IO[bytes], work: Callable[..., Any], arguments: tuple) -> tuple:
    """Return the last report on a piece of work: its result, an error or the exceeded memory."""
    try:
        watch = Watch(report=lambda *progress: _send(reports, (REPORT_PROGRESS, *progress)))
        return (REPORT_DONE, work(*arguments, watch))
    except MemoryError:
        return (LIMIT_MEMORY,)
    except Exception as error:
        return (REPORT_FAILED, error_sentence(error))


def _prepare_limits(memory: int | None) -> None:
    """Limit the address space and forbid core files. The signals of the input are received, too."""
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (allowed_memory(memory),) * 2)
        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())


def _limit_time(seconds: float | None) -> None:
    """Limit the processor time of this process from now on.

    The kernel then ends the process. It compares the limit with time counted in ticks, which drifts
    from `time.process_time` on a busy processor. The limit starts from the count in ticks.
    """
    if sys.platform == "linux":
        _, hard_limit = resource.getrlimit(resource.RLIMIT_CPU)
        if seconds is not None:
            seconds = math.ceil(allowed_seconds(time.clock_gettime(TICKS_CLOCK) + seconds))
        soft_limit = hard_limit if seconds is None else seconds
        resource.setrlimit(resource.RLIMIT_CPU, (soft_limit, hard_limit))


def allowed_memory(requested: int) -> int:
    """Return the bytes that a process may take.

    This is `requested`, or the inherited limit if that is less.
    """
    return int(min(requested, _inherited_limit("RLIMIT_AS")))


def allowed_seconds(requested: float) -> float:
    """Return the processor time that a process may take.

    This is `requested`, or a second less than the inherited limit if that is less. At the inherited
    limit itself the kernel would end the process without a reason.
    """
    return max(1.0, min(requested, _inherited_limit("RLIMIT_CPU") - 1))


def _inherited_limit(name: str) -> float:
    """Return the inherited hard limit of this process; infinite if none."""
    if sys.platform != "linux":
        return math.inf
    _, hard_limit = resource.getrlimit(getattr(resource, name))
    return math.inf if hard_limit == resource.RLIM_INFINITY else hard_limit


def _set_end_with_input(enabled: bool) -> None:
    """Set whether the kernel ends this process when its input ends.

    With O_ASYNC the end of the input sends a signal, which ends the process even in the middle of a
    compiled loop. New work would send it too, so this is on only while work is done.
    """
    if sys.platform == "linux":
        flags = fcntl.fcntl(0, fcntl.F_GETFL)
        fcntl.fcntl(0, fcntl.F_SETFL, flags | os.O_ASYNC if enabled else flags & ~os.O_ASYNC)
