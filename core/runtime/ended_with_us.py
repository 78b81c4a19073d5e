"""Runs a command and ends it, with all that it started, once the process that asked for it is gone: `python ended_with_us.py COMMAND ...`.

The asking process holds the other end of this one's standard input and closes it, or dies, even by kill -9, which closes it too. What the
command started is its group of processes. Windows has no such groups: there it is the processes below it while it runs, and what a
command that ended by itself left behind is not found.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading

GROUPS = hasattr(os, "killpg")  # not on Windows
GRACE = 10.0  # seconds that the command may take to end by itself


def run(command: list[str]) -> int:
    """The exit code of the command, 128 and the signal's number where a signal ended it, as shells have it."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    threading.Thread(target=_end_with_input, args=[process], daemon=True).start()
    code = process.wait()
    _end(process, kill=True)  # what it started and left behind
    return code if code >= 0 else 128 - code


def _end_with_input(process: subprocess.Popen) -> None:
    while os.read(0, 1 << 10):
        pass
    _end(process, kill=False)
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        _end(process, kill=True)


def _end(process: subprocess.Popen, kill: bool) -> None:
    """Ends the command and all in its session's first group, asking them to or, with `kill`, at once."""
    if sys.platform == "win32" or not GROUPS:
        _end_tree(process.pid, kill)
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL if kill else signal.SIGTERM)


def _end_tree(pid: int, kill: bool) -> None:
    """Ends a process and those below it."""
    import psutil

    with contextlib.suppress(psutil.NoSuchProcess):
        top = psutil.Process(pid)
        for one in (*top.children(recursive=True), top):
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill() if kill else one.terminate()


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
