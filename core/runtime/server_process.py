"""A server program on loopback that this process starts, watches and ends."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from core.errors import shorten
from core.runtime import ended_with_us

LOOK = 0.1  # seconds between two health checks
ANSWER = 5.0  # timeout of a health check in seconds
RECOVER = 15.0  # seconds that a running server may fail its health checks
LAST_WORDS = 1 << 16  # bytes at the end of the log that are searched for an error
FAULT = re.compile(r"\b(\w*(?:Error|Exception): .*\S)")
# Log lines that do not name the cause: a general failure, other log levels, progress bars.
NO_FAULT = re.compile(r"Engine core initialization failed|\b(?:DEBUG|INFO|WARNING)\b|\d%\|")


class ServerProcess:
    """A server program on a free loopback port.

    It ends with `stop`, and in any case with this process, however that ends.

    Parameters
    ----------
    command : returns the command line for a port.
    environment : additional environment variables.
    log : file that receives the output.
    health : URL path that answers with status 200 when the server is ready.

    Raises
    ------
    OSError
        If the program cannot be started.
    """

    def __init__(
        self,
        command: Callable[[int], Sequence[str]],
        environment: Mapping[str, str],
        log: Path,
        health: str = "/health",
    ):
        self.port, self.log, self._health = free_port(), log, health
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as written:
            self._process = subprocess.Popen(
                [sys.executable, "-I", ended_with_us.__file__, *command(self.port)],
                stdin=subprocess.PIPE,
                stdout=written,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment},
                start_new_session=True,  # Ctrl-C must reach this process alone
                # The same on Windows.
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def healthy(self) -> bool:
        """Return whether the server runs and passes its health check."""
        if not self.running:
            return False
        import http.client  # imported late, since it loads ssl and more

        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER)
        try:
            connection.request("GET", self._health)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def wait(self, seconds: float) -> bool:
        """Wait until the server is healthy; return False if it ends first or the time is over."""
        until = time.monotonic() + seconds
        while not self.healthy():
            if not self.running or time.monotonic() > until:
                return False
            time.sleep(LOOK)
        return True

    def crashed(self) -> bool:
        """Return whether the server has ended, or stays unhealthy for `RECOVER` seconds."""
        return not self.wait(RECOVER)

    def stop(self) -> None:
        """End the server and all its child processes, within some seconds."""
        if self._process.stdin and not self._process.stdin.closed:
            self._process.stdin.close()
        try:
            self._process.wait(ended_with_us.GRACE + ANSWER)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def end(self) -> str:
        """Describe how the server ended, as a phrase that follows its name.

        The phrase names a signal or the exit code, and the last error of the log if there is one.
        """
        code = self._process.wait()
        if code > 128:
            how = f"was ended from outside ({_signal_name(code - 128)})"
        else:
            how = f"ended by itself (exit code {code})"
        words = self.last_words()
        return f"{how}: {words}" if words else how

    def last_words(self) -> str:
        """Return the first specific error at the end of the log, else the last line.

        The text is empty if the server wrote nothing.
        """
        with self.log.open("rb") as file:
            file.seek(max(0, self.log.stat().st_size - LAST_WORDS))
            lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines()]
        said = [line for line in lines if line and not NO_FAULT.search(line)]
        faults = [found[1] for line in said if (found := FAULT.search(line))]
        last = faults[:1] or said[-1:]
        return shorten(last[0], 300) if last else ""


def free_port() -> int:
    """Return a loopback port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
