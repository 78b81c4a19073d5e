"""Throughput of evaluations with a slow model server.

    python -m tests.benchmarks server [names] [--answers N]

Each evaluation runs in a separate process and user folder, with a model server in another process
whose replies take a second each.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from core.io.home import ROOT, home_folder, models_folder
from tests.model_server import model_server

SECONDS = 1.0  # Seconds of a reply.
MODEL = """
[model.far]
kind = "chat"
backend = "openai"
url = "{url}"
model = "far"

[roles]
answer = "far"
choose = "far"
judge = "far"
"""


@dataclass(frozen=True)
class ServerCase:
    """An evaluation of `answers` questions on a server with `slots` parallel requests.

    It must take at most `seconds`, or reach `rate` replies per second.
    """

    method: str
    answers: int
    slots: int = 0
    busy: str = "queue"
    seconds: float = 0.0
    rate: float = 0.0


CASES = {
    "64": ServerCase("lego-1", 64, seconds=12),
    "2000": ServerCase("lego-1", 2000, seconds=120),
    "waits": ServerCase("lego-1", 400, 8, rate=0.9 * 8),
    "refuses": ServerCase("lego-1", 400, 8, "refuse", rate=0.9 * 8),
    "beam": ServerCase("lego-15", 60, 8, rate=0.9 * 8),
    "tog": ServerCase("tog", 160, 8, rate=0.9 * 8),
}


def main(arguments: list[str]) -> None:
    """Run the cases and print their results."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks server", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(CASES)} (default: all)"
    )
    parser.add_argument("--set", default="metaqa-2hop-test")
    parser.add_argument(
        "--at-once", type=int, default=0, help="requests at a time (default: found out)"
    )
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.names if name not in CASES]:
        parser.error(f"there is no case “{unknown[0]}”; there are {', '.join(CASES)}")
    for name in options.names or CASES:
        print(measured(name, CASES[name], options.set, options.at_once), flush=True)


def measured(name: str, case: ServerCase, question_set: str, at_once: int) -> str:
    """Result of a case: seconds from the first request, replies per second, and a verdict."""
    with (
        tempfile.TemporaryDirectory() as folder,
        model_server(SECONDS, case.slots, case.busy) as server,
    ):
        shutil.copytree(home_folder() / "graphs", Path(folder) / "graphs", copy_function=os.link)
        (Path(folder) / "models.toml").write_text(MODEL.format(url=server.url), "utf-8")
        more = ["--at-once", str(at_once)] if at_once else []
        command = [
            sys.executable,
            "-m",
            "core",
            "evaluate",
            "--set",
            question_set,
            "--methods",
            case.method,
        ]
        command += ["--sample", str(case.answers), "--json", *more]
        environment = {
            **os.environ,
            "HOPSCOPE_HOME": folder,
            "HOPSCOPE_MODELS": str(models_folder()),
        }
        start = time.perf_counter()
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        whole = time.perf_counter() - start
        if done.returncode:
            return f"{name}: failed: {done.stderr[-500:]}"
        seen = server.seen()
    seconds, rows = seen["last"] - seen["first"], json.loads(done.stdout)
    rate = seen["answered"] / seconds
    holds = (not case.seconds or seconds <= case.seconds) and rate >= case.rate
    asked = f"at most {case.seconds:g} s" if case.seconds else f"at least {case.rate:g} a second"
    failed = sum(one["questions"]["failed"] for one in rows["instances"].values())
    places = f"{case.slots} places ({case.busy})" if case.slots else "any number at a time"
    took = (
        f"{seconds:.1f} s, {rate:.1f} replies a second, up to {seen['most']:,} at a time, "
        f"{seen['refused']:,} refused, {failed:,} failed"
    )
    verdict = f"{asked}: {'held' if holds else 'NOT HELD'} ({whole:.0f} s with the start)"
    return f"{name}: {case.answers:,} answers of {case.method}, {places}: {took}; {verdict}"
