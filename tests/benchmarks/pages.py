"""Server processor time and kilobytes sent per page, on opening and on later runs.

Later runs are like those after a click. Processor time can be measured while other work runs. The
comparison that Compare shows has run before.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Callable
from urllib.parse import urlencode

import psutil

from tests.benchmarks.visitors import LANES, follow, look
from tests.server import server

QUESTION = urlencode(
    {"q": "which person directed the movie Inception", "lane": list(LANES), "llm": 0}, doseq=True
)
PAGES = {
    "Compare, a question": ("", QUESTION),
    "Compare, the example": ("", ""),
    **{
        name.capitalize(): (name, "")
        for name in ("build", "texts", "graphs", "indexes", "evaluate", "cases", "models")
    },
}
AGAIN = 3  # Runs after the one that opens a page.
REST = 0.4  # Seconds after a run, for work in threads.
WARM = 20.0  # Seconds in which the server loads things after its first visitor.


def run(times: int = 8, rest: float = WARM) -> list[dict]:
    """Means over this many visits of each page: processor milliseconds and kilobytes sent."""
    rows = []
    with server() as (address, process):
        watched = psutil.Process(process.pid)
        spent = lambda: sum(watched.cpu_times()[:2])
        asyncio.run(asyncio.wait_for(follow(address, QUESTION, len(LANES)), 300))
        for page, query in PAGES.values():
            asyncio.run(asyncio.wait_for(look(address, page, query), 120))
        time.sleep(rest)
        for name, (page, query) in PAGES.items():
            visits = [
                asyncio.run(asyncio.wait_for(_visit(address, page, query, spent), 120))
                for _ in range(times)
            ]
            opened = statistics.mean(visit[0][0] for visit in visits)
            again = [run for visit in visits for run in visit[1:]]
            said = (
                f"opened, {visits[-1][0][1] / 1000:.0f} KB; once more "
                f"{1000 * statistics.mean(run[0] for run in again):.0f} ms, "
            )
            said += f"{again[-1][1] / 1000:.0f} KB"
            rows.append({"name": name, "value": 1000 * opened, "unit": "ms", "note": said})
    return rows


async def _visit(
    address: str, page: str, query: str, spent: Callable[[], float]
) -> list[tuple[float, int]]:
    """Processor seconds and sent bytes of each run of one visit."""
    runs: list[tuple[float, int]] = []
    before = spent()

    async def after(sent: int) -> None:
        nonlocal before
        await asyncio.sleep(REST)
        runs.append((spent() - before, sent))
        before = spent()

    await look(address, page, query, 1 + AGAIN, after)
    return runs


def main(arguments: list[str]) -> None:
    """Run `python -m tests.benchmarks pages [--times N]`."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks pages")
    parser.add_argument("--times", type=int, default=8, help="visits of each page (default: 8)")
    options = parser.parse_args(arguments)
    for row in run(options.times):
        print(f"{row['name']:22} {row['value']:>6.0f} {row['unit']:3} {row['note']}")
