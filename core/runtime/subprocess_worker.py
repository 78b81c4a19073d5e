"""Work in a process of its own: it holds up nothing here, and ends at once when it is cancelled or this process dies.

Work goes to it by its standard input, reports come by its standard output, and what it prints goes to the standard error. On Linux the
kernel holds it to its limits. Elsewhere this process looks ten times a second at what it takes (macOS enforces no limit of addresses,
Windows none at all): memory is then what is resident, and may be exceeded between two looks. There a compiled loop that does not let other
threads run is ended with this process only after it.
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
from core.io.home import ROOT
from core.runtime.jobs import sentence

# whether the system itself sets limits, and ends a process with the one that asked
KERNEL = sys.platform == "linux"
LOOK = 0.1  # seconds between two looks at whether a person has cancelled
LENGTH = 8  # bytes before a message, that hold how many it has
DIED = "The process at this work was ended from outside, perhaps for want of memory."
BEGUN, PROGRESS, DONE, FAILED, MEMORY, TIME = (
    "begun",
    "progress",
    "done",
    "failed",
    "memory",
    "time",
)
BEYOND = {
    MEMORY: "This work takes more memory than it may.",
    TIME: "This work takes longer than it may.",
    "": DIED,
}


class Ended(HopscopeError):
    """A process ended before its work was done. It was beyond its `limit`, `MEMORY` or `TIME`; empty for another reason."""

    def __init__(self, limit: str = ""):
        self.limit = limit
        super().__init__(BEYOND[limit])


def in_subprocess(work: Callable[..., Any], *arguments: Any, watch: Watch = NO_WATCH) -> Any:
    """What `work(*arguments, watch)` gives, done in a process of its own, as by `Worker.do`."""
    with Worker() as worker:
        return worker.do(work, *arguments, watch=watch)


class Worker:
    """A process that does one piece of work after another. It begins with the first one, anew after one that ended it, and ends with the
    block of a `with`. It may take `memory` bytes: of addresses on Linux, resident ones elsewhere."""

    def __init__(self, memory: int | None = None):
        self._memory = memory
        self._process: subprocess.Popen | None = None
        self._messages: SimpleQueue[bytes | None]

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def do(
        self,
        work: Callable[..., Any],
        *arguments: Any,
        watch: Watch = NO_WATCH,
        seconds: float | None = None,
    ) -> Any:
        """What `work(*arguments, watch)` gives; `work` is a function of a module, and all that travels can be pickled.

        What it raises is raised here as a HopscopeError of the same sentence; Ended is raised where the process dies, takes more memory
        than it may, or more than so many `seconds` of the processor's time for this work. What `watch` raises is raised here, and
        the process is killed then.
        """
        done, consumption = False, None
        try:
            self._give((work, arguments, seconds))
            while True:
                watch.check()
                if consumption is not None and (limit := consumption.exceeded()):
                    raise Ended(limit)
                try:
                    message = self._messages.get(timeout=LOOK)
                except Empty:
                    continue
                if message is None:
                    raise Ended(self._limit_by_kernel())
                what, *said = pickle.loads(message)
                if what == BEGUN:
                    consumption = Consumption(said[0], self._memory, seconds)
                elif what == PROGRESS:
                    watch.report(*said)
                elif what == DONE:
                    done = True
                    return said[0]
                elif what == FAILED:
                    done = True
                    raise HopscopeError(said[0])
                else:
                    raise Ended(MEMORY)
        except BrokenPipeError:
            raise Ended(self._limit_by_kernel()) from None
        finally:
            if not done:
                self._end()

    def _give(self, work: tuple) -> None:
        if self._process is None:
            self._process, self._messages = _started(self._memory), SimpleQueue()
            threading.Thread(
                target=_listen, args=(self._process.stdout, self._messages), daemon=True
            ).start()
        assert self._process.stdin is not None  # it was started with a pipe
        _send(self._process.stdin, work)

    def _limit_by_kernel(self) -> str:
        """The limit for which the kernel ended the process, which has closed its pipes; empty for another reason."""
        assert self._process is not None
        if sys.platform == "linux" and KERNEL and self._process.wait() == -signal.SIGXCPU:
            return TIME
        return ""

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            assert process.stdin is not None
            with suppress(OSError):  # what was not yet sent goes nowhere
                process.stdin.close()
            process.wait()


class Consumption:
    """What a process takes from now on, compared with what it may: for systems that do not limit it themselves."""

    def __init__(self, pid: int, memory: int | None, seconds: float | None):
        import psutil

        self._process, self._memory, self._error = psutil.Process(pid), memory, psutil.Error
        self._last = None if seconds is None else self._spent() + seconds

    def exceeded(self) -> str:
        """The limit that it is beyond, `MEMORY` or `TIME`; empty where it is not, or has ended."""
        with suppress(self._error):
            if self._memory is not None and self._process.memory_info().rss > self._memory:
                return MEMORY
            if self._last is not None and self._spent() > self._last:
                return TIME
        return ""

    def _spent(self) -> float:
        times = self._process.cpu_times()
        return times.user + times.system


def _send(stream: IO[bytes], message: Any) -> None:
    data = pickle.dumps(message)
    stream.write(len(data).to_bytes(LENGTH, "little"))
    stream.write(data)
    stream.flush()


def _messages(stream: IO[bytes]) -> Iterator[bytes]:
    """The messages of a stream as they come, up to its end."""
    while (
        len(length := stream.read(LENGTH)) == LENGTH
        and len(data := stream.read(size := int.from_bytes(length, "little"))) == size
    ):
        yield data


def _listen(stream: IO[bytes], messages: SimpleQueue[bytes | None]) -> None:
    """Puts the messages of a stream into a queue, and None at its end."""
    with stream:
        for message in _messages(stream):
            messages.put(message)
    messages.put(None)


def _started(memory: int | None) -> subprocess.Popen:
    """A process that waits for its work, and holds the only end of the pipe to report into."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(
        [sys.executable, "-c", f"from {__name__} import serve; serve({memory}, {KERNEL})"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )


def serve(memory: int | None, kernel: bool) -> None:
    """In the other process: does the work that comes, and reports on it; it has limits of the `kernel`, or those of the one that looks."""
    reports = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed is no report
    if kernel:
        _limit(memory)
    works: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_take, args=(works,), daemon=True).start()
    while True:
        work, arguments, seconds = pickle.loads(works.get())
        if kernel:
            _limit_time(seconds)
            _end_with_input(True)
        else:
            _send(reports, (BEGUN, os.getpid()))
        answer = _answer(reports, work, arguments)
        if kernel:
            _end_with_input(False)
        try:
            _send(reports, answer)
        except MemoryError:
            _send(reports, (MEMORY,))


def _take(works: SimpleQueue[bytes]) -> None:
    """Puts the work that comes into a queue, and ends this process once the one that asks is gone."""
    try:
        for work in _messages(sys.stdin.buffer):
            works.put(work)
    finally:
        os._exit(0)


def _answer(reports: IO[bytes], work: Callable[..., Any], arguments: tuple) -> tuple:
    try:
        return (
            DONE,
            work(
                *arguments,
                Watch(report=lambda text, share: _send(reports, (PROGRESS, text, share))),
            ),
        )
    except MemoryError:
        return (MEMORY,)
    except Exception as error:
        return (FAILED, sentence(error))


def _limit(memory: int | None) -> None:
    """From now on this process may take so many bytes of addresses; and it hears of its input, once that is asked for."""
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (allowed_memory(memory),) * 2)
        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())


def _limit_time(seconds: float | None) -> None:
    """From now on the process may take so many seconds of the processor's time; the system ends it then."""
    if sys.platform == "linux":
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        if seconds is not None:
            seconds = math.ceil(allowed_seconds(time.process_time() + seconds))
        resource.setrlimit(resource.RLIMIT_CPU, (most if seconds is None else seconds, most))


def allowed_memory(wanted: int) -> int:
    """Return the bytes that a process may take: what is wanted, or the limit of the one who began this one where that is less."""
    return int(min(wanted, _limit_given("RLIMIT_AS")))


def allowed_seconds(wanted: float) -> float:
    """Return the processor time that a process may take, as `allowed_memory`.

    It ends a second before the limit that was given, at which the system ends it without a reason.
    """
    return max(1.0, min(wanted, _limit_given("RLIMIT_CPU") - 1))


def _limit_given(name: str) -> float:
    """The hard limit of this process, as `ulimit` sets it; infinite where there is none."""
    if sys.platform != "linux":
        return math.inf
    _, most = resource.getrlimit(getattr(resource, name))
    return math.inf if most == resource.RLIM_INFINITY else most


def _end_with_input(on: bool) -> None:
    """Whether the system ends this process once the other end of its input is gone, even in the middle of a compiled loop."""
    if sys.platform == "linux":
        flags = fcntl.fcntl(0, fcntl.F_GETFL)
        fcntl.fcntl(0, fcntl.F_SETFL, flags | os.O_ASYNC if on else flags & ~os.O_ASYNC)
