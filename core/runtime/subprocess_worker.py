"""Work in a process of its own: it holds up nothing here, and ends at once when it is cancelled or this process dies."""

from __future__ import annotations

import fcntl
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection, Pipe
from typing import Any

from core.errors import HopscopeError
from core.io.home import ROOT
from core.runtime.jobs import sentence

LOOK = 0.1  # seconds between two looks at whether a person has cancelled
DIED = "The process at this work was ended from outside, perhaps for want of memory."
PROGRESS, DONE, FAILED = "progress", "done", "failed"
Tell = Callable[[str, float | None], None]


def apart(work: Callable[..., Any], *arguments: Any, progress: Tell, check: Callable[[], None]) -> Any:
    """What `work(*arguments, progress, check)` gives; `work` is a function of a module, and all that travels can be pickled.

    What it raises is raised here as a HopscopeError of the same sentence, as is its death. What `check` raises is raised here,
    and the process is killed then.
    """
    receiving, sending = Pipe(duplex=False)
    with receiving:
        process = _started(sending)
        assert process.stdin is not None  # it was started with a pipe
        try:
            pickle.dump((work, arguments), process.stdin)
            process.stdin.flush()
            while True:
                check()
                if receiving.poll(LOOK):
                    what, *said = receiving.recv()
                    if what == PROGRESS:
                        progress(*said)
                    elif what == DONE:
                        return said[0]
                    else:
                        raise HopscopeError(said[0])
        except (EOFError, BrokenPipeError):
            raise HopscopeError(DIED) from None
        finally:
            process.kill()
            process.communicate()


def _started(sending: Connection) -> subprocess.Popen:
    """A process that waits for its work, and holds the only end of the pipe to tell into."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    with sending:
        return subprocess.Popen(
            [sys.executable, "-c", f"from core.runtime.subprocess_worker import serve; serve({sending.fileno()})"],
            stdin=subprocess.PIPE,
            pass_fds=[sending.fileno()],
            env={**os.environ, "PYTHONPATH": path},
        )


def serve(pipe: int) -> None:
    """In the other process: does the work that comes by the standard input, and tells of it by the pipe of that number."""
    line = Connection(pipe, readable=False)
    work, arguments = pickle.load(sys.stdin.buffer)
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())  # the system ends this process once the other end of its input is gone,
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)  # even in the middle of a compiled loop
    try:
        answer = (DONE, work(*arguments, lambda text, share=None: line.send((PROGRESS, text, share)), lambda: None))
    except Exception as error:
        answer = (FAILED, sentence(error))
    line.send(answer)
