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

LOOK = 0.1  # seconds between two looks at whether it answers
ANSWER = 5.0  # seconds for a sign of life
RECOVER = 15.0  # seconds that one which runs may give none
LAST_WORDS = 1 << 16  # bytes at the end of its log in which its fault is looked for
FAULT = re.compile(r"\b(\w*(?:Error|Exception): .*\S)")
# another came before or may come; a bar
NO_FAULT = re.compile(r"Engine core initialization failed|\b(?:DEBUG|INFO|WARNING)\b|\d%\|")


class ServerProcess:
    """A program that answers `health` on a free port of loopback, begun by `command(port)`; what it writes goes to the file `log`.

    It ends with `stop`, and with this process however that ends. Raises OSError where it cannot be started.
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
                start_new_session=True,  # Ctrl-C is for this process to hear
                creationflags=getattr(
                    subprocess, "CREATE_NEW_PROCESS_GROUP", 0
                ),  # the same on Windows
            )

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def healthy(self) -> bool:
        """Whether it runs and answers that it is well."""
        if not self.running:
            return False
        import http.client  # brings ssl and more

        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER)
        try:
            connection.request("GET", self._health)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def wait(self, seconds: float) -> bool:
        """Whether it became healthy before it ended and within so many seconds."""
        until = time.monotonic() + seconds
        while not self.healthy():
            if not self.running or time.monotonic() > until:
                return False
            time.sleep(LOOK)
        return True

    def crashed(self) -> bool:
        """Whether it has ended, or no longer answers and does not recover within some seconds."""
        return not self.wait(RECOVER)

    def stop(self) -> None:
        """End it with all that it started; some seconds at most."""
        if self._process.stdin and not self._process.stdin.closed:
            self._process.stdin.close()
        try:
            self._process.wait(ended_with_us.GRACE + ANSWER)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def end(self) -> str:
        """How one that no longer runs ended, to follow its name: by what, and its last words where it has some."""
        code = self._process.wait()
        if code > 128:
            how = f"was ended from outside ({_signal_name(code - 128)})"
        else:
            how = f"ended by itself (exit code {code})"
        words = self.last_words()
        return f"{how}: {words}" if words else how

    def last_words(self) -> str:
        """The first error at the end of its log that says more than that there was one, else its last line; empty where it wrote none."""
        with self.log.open("rb") as file:
            file.seek(max(0, self.log.stat().st_size - LAST_WORDS))
            lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines()]
        said = [line for line in lines if line and not NO_FAULT.search(line)]
        faults = [found[1] for line in said if (found := FAULT.search(line))]
        last = faults[:1] or said[-1:]
        return shorten(last[0], 300) if last else ""


def free_port() -> int:
    """A port of loopback on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
