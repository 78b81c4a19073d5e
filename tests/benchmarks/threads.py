"""Speed of the embedded model with sleeping or spinning OpenMP threads.

Idle threads sleep with `OMP_WAIT_POLICY=passive`. It measures tokens per second, read and written,
on the idle machine and next to busy processes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from typing import Any

from core.io.home import ROOT
from tests.benchmarks.screen import working

POLICIES = ("active", "passive")
PATHS = "\n".join(
    f"Film {n} -> directed_by -> Person {n * 7 % 41} -> directed_by_reverse -> Film {n * 3}"
    for n in range(32)
)
ASK = [
    {
        "role": "user",
        "content": f"{PATHS}\n\nQuestion: which films did Person 7 direct? List all of them.",
    }
]


def measure() -> dict[str, float]:
    """Tokens per second of one prompt, read and written, in this process."""
    from core.models.registry import Registry

    chat: Any = Registry().chat("answer")
    chat.load()
    start, came = time.perf_counter(), []
    reply = chat.reply(ASK, max_tokens=32, on_text=lambda piece: came.append(time.perf_counter()))
    return {
        "read": reply.tokens_in / (came[0] - start),
        "written": (len(came) - 1) / (came[-1] - came[0]),
    }


def main(arguments: list[str]) -> None:
    """Run `python -m tests.benchmarks threads [--busy 0 4] [--times 3]`.

    The policies take turns, in separate processes.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks threads")
    parser.add_argument(
        "--busy", type=int, nargs="+", default=[0, 4], help="processes that work beside"
    )
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.here:
        print(json.dumps(measure()))
        return
    for busy in options.busy:
        with working(busy):
            told = {policy: [] for policy in POLICIES}
            for _ in range(options.times):
                for policy in POLICIES:
                    told[policy].append(_apart(policy))
        for policy, rows in told.items():
            read, written = (
                statistics.median(row[key] for row in rows) for key in ("read", "written")
            )
            print(
                f"{busy} busy beside, threads that wait {policy:8} read {read:7.1f} tokens/s, "
                f"write {written:6.1f} tokens/s"
            )


def _apart(policy: str) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.benchmarks", "threads", "--here"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "OMP_WAIT_POLICY": policy},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.strip().splitlines()[-1])
