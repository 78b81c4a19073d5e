"""Starting: a cold `import core`, and the server with its first page."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 5


def run() -> list[dict]:
    """The median seconds of `import core` with everything a command needs before it opens a graph, in a new process."""
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", "import core, core.engine, core.instances.catalogue, core.cli"],
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
