"""A server program on this computer, started and ended by this process.

An example is a model server.
"""

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
from core.runtime import child_guard

HEALTH_CHECK_SECONDS = 0.1  # seconds between two health checks
HEALTH_TIMEOUT_SECONDS = 5.0  # timeout of a health check in seconds
MAX_UNHEALTHY_SECONDS = 15.0  # seconds that a running server may fail its health checks
LOG_TAIL_BYTES = 1 << 16  # bytes at the end of the log that are searched for an error
LOG_ERROR = re.compile(r"\b(\w*(?:Error|Exception): .*\S)")
# Log lines that do not name the cause: a general failure, lower log levels, progress bars.
LOG_NOISE = re.compile(r"Engine core initialization failed|\b(?:DEBUG|INFO|WARNING)\b|\d%\|")


class ServerProcess:
    """A server program on a free loopback port.

    It ends with `stop`, and at the latest with this process, even if this process is killed
    (`core.runtime.child_guard`).

    Parameters
    ----------
    command : returns the command line for a port.
    environment : additional environment variables.
    log : file that receives the output.
    health : URL path that the server answers with status 200 when it is ready.

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
        self.port = free_port()
        self.log, self._health = log, health
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as log_file:
            self._process = subprocess.Popen(
                [sys.executable, "-I", child_guard.__file__, *command(self.port)],
                stdin=subprocess.PIPE,
                stdout=log_file,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment},
                start_new_session=True,  # Ctrl-C must reach only this process
                # The same on Windows.
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def is_healthy(self) -> bool:
        """Return whether the server runs and passes its health check."""
        if not self.is_running:
            return False
        import http.client  # imported late, since it loads ssl and more

        connection = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=HEALTH_TIMEOUT_SECONDS
        )
        try:
            connection.request("GET", self._health)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def wait_until_healthy(self, seconds: float) -> bool:
        """Wait until the server is healthy.

        Return False if it ends or is not healthy within `seconds`.
        """
        deadline = time.monotonic() + seconds
        while not self.is_healthy():
            if not self.is_running or time.monotonic() > deadline:
                return False
            time.sleep(HEALTH_CHECK_SECONDS)
        return True

    def has_crashed(self) -> bool:
        """Return whether the server has ended, or stays unhealthy for `MAX_UNHEALTHY_SECONDS`.

        An unhealthy server is awaited for that time.
        """
        return not self.wait_until_healthy(MAX_UNHEALTHY_SECONDS)

    def stop(self) -> None:
        """End the server and all its child processes, within some seconds."""
        if self._process.stdin and not self._process.stdin.closed:
            self._process.stdin.close()
        try:
            self._process.wait(child_guard.GRACE_SECONDS + HEALTH_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def describe_end(self) -> str:
        """Describe how the server ended, as a phrase that follows its name.

        The phrase names a signal or the exit code, and the last error of the log if there is one.
        """
        code = self._process.wait()
        if code > 128:  # `child_guard.run` adds 128 to the number of a signal
            ending = f"was ended from outside ({_signal_name(code - 128)})"
        else:
            ending = f"ended by itself (exit code {code})"
        error = self.find_log_error()
        return f"{ending}: {error}" if error else ending

    def find_log_error(self) -> str:
        """Return the first specific error in the end of the log.

        If there is none, return its last line. Lines without information are skipped (`LOG_NOISE`).
        The text is empty if there are no others.
        """
        with self.log.open("rb") as file:
            file.seek(max(0, self.log.stat().st_size - LOG_TAIL_BYTES))
            lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines()]
        informative_lines = [line for line in lines if line and not LOG_NOISE.search(line)]
        for line in informative_lines:
            error = LOG_ERROR.search(line)
            if error:
                return shorten(error[1], 300)
        return shorten(informative_lines[-1], 300) if informative_lines else ""


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
