"""Run a command, and end it when the parent process dies.

Its child processes are ended, too. This file is run as a script, with the command as its arguments.
The parent process holds the other end of the standard input of the script. When the parent closes
that end or dies, even by kill -9, the script ends the command.

The command and its children form a process group. Windows has no such groups. On Windows, child
processes are found only while the command runs: those that remain after it has ended by itself are
missed.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading

HAS_PROCESS_GROUPS = hasattr(os, "killpg")  # Windows has none
GRACE_SECONDS = 10.0  # from the request to end until the command is killed


def run(command: list[str]) -> int:
    """Run a command and return its exit code.

    If a signal ended it, the result is 128 plus the signal.
    """
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    threading.Thread(target=_end_when_input_closes, args=[process], daemon=True).start()
    code = process.wait()
    _end_group(process, kill=True)  # child processes may remain
    return code if code >= 0 else 128 - code


def _end_when_input_closes(process: subprocess.Popen) -> None:
    """End the command when standard input is closed, by force after `GRACE_SECONDS`."""
    while os.read(0, 1 << 10):  # returns nothing once the input is closed
        pass
    _end_group(process, kill=False)
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        _end_group(process, kill=True)


def _end_group(process: subprocess.Popen, kill: bool) -> None:
    """End the command and its process group, by force if `kill`."""
    # The platform is compared for the type checker, which knows no `killpg` on Windows.
    if sys.platform == "win32" or not HAS_PROCESS_GROUPS:
        _end_tree(process.pid, kill)
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL if kill else signal.SIGTERM)


def _end_tree(pid: int, kill: bool) -> None:
    """End a process and its descendants."""
    import psutil

    with contextlib.suppress(psutil.NoSuchProcess):
        top = psutil.Process(pid)
        for process in (*top.children(recursive=True), top):
            with contextlib.suppress(psutil.NoSuchProcess):
                if kill:
                    process.kill()
                else:
                    process.terminate()


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
