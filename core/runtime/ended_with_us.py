"""Runs a command and ends it, with all that it started, once the process that asked for it is gone: `python ended_with_us.py COMMAND ...`.

The asking process holds the other end of this one's standard input and closes it, or dies, even by kill -9, which closes it too.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading

GRACE = 10.0  # seconds that the command may take to end by itself


def run(command: list[str]) -> int:
    """The exit code of the command, 128 and the signal's number where a signal ended it, as shells have it."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    threading.Thread(target=_end_with_input, args=[process], daemon=True).start()
    code = process.wait()
    _signal(process, signal.SIGKILL)  # what it started and left behind
    return code if code >= 0 else 128 - code


def _end_with_input(process: subprocess.Popen) -> None:
    while os.read(0, 1 << 10):
        pass
    _signal(process, signal.SIGTERM)
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        _signal(process, signal.SIGKILL)


def _signal(process: subprocess.Popen, number: signal.Signals) -> None:
    """To the command and all in its session's first group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
