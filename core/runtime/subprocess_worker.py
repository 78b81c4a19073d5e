"""Work in a process of its own: it holds up nothing here, and ends at once when it is cancelled or this process dies."""

from __future__ import annotations

import fcntl
import math
import os
import pickle
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, Pipe
from typing import Any

from core.errors import HopscopeError
from core.io.home import ROOT
from core.runtime.jobs import sentence

LOOK = 0.1  # seconds between two looks at whether a person has cancelled
DIED = "The process at this work was ended from outside, perhaps for want of memory."
PROGRESS, DONE, FAILED, MEMORY, TIME = "progress", "done", "failed", "memory", "time"
BEYOND = {MEMORY: "This work takes more memory than it may.", TIME: "This work takes longer than it may.", "": DIED}
Tell = Callable[[str, float | None], None]


class Ended(HopscopeError):
    """A process ended before its work was done. It was beyond its `limit`, `MEMORY` or `TIME`; empty for another reason."""

    def __init__(self, limit: str = ""):
        self.limit = limit
        super().__init__(BEYOND[limit])


def in_subprocess(work: Callable[..., Any], *arguments: Any, progress: Tell, check: Callable[[], None]) -> Any:
    """What `work(*arguments, progress, check)` gives, done in a process of its own, as by `Worker.do`."""
    with Worker() as worker:
        return worker.do(work, *arguments, progress=progress, check=check)


class Worker:
    """A process that does one piece of work after another. It begins with the first one, anew after one that ended it, and ends with the
    block of a `with`. It may take `memory` bytes, addresses counted."""

    def __init__(self, memory: int | None = None):
        self._memory = memory
        self._process: subprocess.Popen | None = None
        self._receiving: Connection

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def do(self, work: Callable[..., Any], *arguments: Any, progress: Tell, check: Callable[[], None], seconds: float | None = None) -> Any:
        """What `work(*arguments, progress, check)` gives; `work` is a function of a module, and all that travels can be pickled.

        What it raises is raised here as a HopscopeError of the same sentence; Ended is raised where the process dies, takes more memory
        than it may, or more than so many `seconds` of the processor's time for this work. What `check` raises is raised here, and
        the process is killed then.
        """
        done = False
        try:
            self._give((work, arguments, seconds))
            while True:
                check()
                if self._receiving.poll(LOOK):
                    what, *said = self._receiving.recv()
                    if what == PROGRESS:
                        progress(*said)
                        continue
                    done = what in (DONE, FAILED)
                    if what == DONE:
                        return said[0]
                    raise HopscopeError(said[0]) if what == FAILED else Ended(MEMORY)
        except (EOFError, BrokenPipeError):
            assert self._process is not None
            raise Ended(TIME if self._process.wait() == -signal.SIGXCPU else "") from None  # it has let go of the pipe by ending
        finally:
            if not done:
                self._end()

    def _give(self, work: tuple) -> None:
        if self._process is None:
            self._receiving, sending = Pipe(duplex=False)
            self._process = _started(sending, self._memory)
        assert self._process.stdin is not None  # it was started with a pipe
        pickle.dump(work, self._process.stdin)
        self._process.stdin.flush()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            self._receiving.close()
            process.kill()
            process.communicate()


def _started(sending: Connection, memory: int | None) -> subprocess.Popen:
    """A process that waits for its work, and holds the only end of the pipe to tell into."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    with sending:
        return subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import serve; serve({sending.fileno()}, {memory})"],
            stdin=subprocess.PIPE,
            pass_fds=[sending.fileno()],
            env={**os.environ, "PYTHONPATH": path},
        )


def serve(pipe: int, memory: int | None) -> None:
    """In the other process: does the work that comes by the standard input, and reports on it by the pipe of that number."""
    line = Connection(pipe, readable=False)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    while True:
        try:
            work, arguments, seconds = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        _limit_time(seconds)
        _end_with_input(True)
        answer = _answer(line, work, arguments)
        _end_with_input(False)
        try:
            line.send(answer)
        except MemoryError:
            line.send((MEMORY,))


def _answer(line: Connection, work: Callable[..., Any], arguments: tuple) -> tuple:
    try:
        return (DONE, work(*arguments, lambda text, share=None: line.send((PROGRESS, text, share)), lambda: None))
    except MemoryError:
        return (MEMORY,)
    except Exception as error:
        return (FAILED, sentence(error))


def _limit_time(seconds: float | None) -> None:
    """From now on the process may take so many seconds of the processor's time; the system ends it then."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (most if seconds is None else math.ceil(time.process_time() + seconds), most))


def _end_with_input(on: bool) -> None:
    """Whether the system ends this process once the other end of its input is gone, even in the middle of a compiled loop."""
    flags = fcntl.fcntl(0, fcntl.F_GETFL)
    fcntl.fcntl(0, fcntl.F_SETFL, flags | os.O_ASYNC if on else flags & ~os.O_ASYNC)
