"""Start times: a cold `import core`, and the server with its first page."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 5


def run() -> list[dict]:
    """Median seconds of `import core` in a new process.

    It includes everything that a command needs before it opens a graph.
    """
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", "import core, core.engine, core.methods.catalogue, core.cli"],
            check=True,
        )
        seconds.append(time.perf_counter() - start)
    return [
        {
            "name": "cold import core",
            "value": statistics.median(seconds),
            "unit": "s",
            "note": f"median of {RUNS}, engine, catalogue and command line included; limit 1 s",
        }
    ]
