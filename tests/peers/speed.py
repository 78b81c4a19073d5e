"""Measurement of a program's steps in a separate process, for `tests.benchmarks.peers`.

The module imports nothing of Hopscope, so that it runs in the programs' environment.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Step = Callable[[], Any]


class StepMeasurements:
    """Wall-clock and processor seconds by step, including child processes.

    `encoded` are the texts encoded in the current step.
    """

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, Any]] = {}
        self.encoded: list[str] = []
        self.calls: Callable[[], int] = lambda: 0

    def step(self, name: str, work: Step) -> Any:
        """Return the result of `work`, measured as `name`."""
        self.encoded.clear()
        calls, clock, begin = self.calls(), _processor(), time.perf_counter()
        try:
            return work()
        finally:
            seconds = {"processor": _processor() - clock, "clock": time.perf_counter() - begin}
            self.rows[name] = {
                **seconds,
                "calls": self.calls() - calls,
                "encoded": list(self.encoded),
            }

    def write(self, file: str, **more: Any) -> None:
        """Write the measurements with the process's peak memory in MB."""
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        Path(file).write_text(json.dumps({"rows": self.rows, "memory": memory, **more}), "utf-8")


def _processor() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def asked() -> tuple[str, dict[str, Any], str, str]:
    """Read the command line.

    It names a program, its inputs, the server's address (empty: replies in the process), and the
    output file.
    """
    name, given, url, out = sys.argv[1:5]
    return name, json.loads(Path(given).read_text("utf-8")), url, out
