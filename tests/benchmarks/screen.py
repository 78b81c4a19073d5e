"""What a person waits for: three lanes on screen after the click, the same asked again, and the server's memory."""

from __future__ import annotations

import json
import statistics
import time

import psutil

from tests.server import CHROMIUM, open_page, server

SETS = ("metaqa-1hop-dev", "metaqa-2hop-dev", "metaqa-3hop-dev")
EACH = 10  # questions of each hop count


def run() -> list[dict]:
    """Medians over questions of 1 to 3 hops, from the click to the retrieval of three lanes being drawn; then again."""
    if not CHROMIUM:
        return [{"name": "three lanes on screen", "value": float("nan"), "unit": "s", "note": "not measured: Chromium is absent"}]
    from core.datasets import datasets

    dataset = datasets()["metaqa"]
    questions = [dataset.draw(name, 100 + seed).text for name in SETS for seed in range(EACH)]
    with server() as (url, process), open_page(url + "/?llm=0") as page:
        page.get_by_role("button", name="Ask", exact=True).wait_for(timeout=60_000)
        _ask(page, "which person directed the movie Inception")  # warm
        first = [_ask(page, text) for text in questions]
        again = [_ask(page, text) for text in questions]
        page.goto(url + "/?q=" + "who+directed+Inception&lane=lego-12", wait_until="domcontentloaded")
        page.locator(".lane[data-status=done]").first.wait_for(timeout=120_000)
        peak = _peak(process.pid)
    row = lambda name, values, limit: {
        "name": name,
        "value": statistics.median(values),
        "unit": "s",
        "note": f"median of {len(values)}, {min(values):.2f} to {max(values):.2f}; limit {limit} s",
    }
    return [
        row("three lanes on screen (No. 1, 12, 14)", first, 3),
        row("the same, asked again", again, 1),
        {
            "name": "peak memory of the server",
            "value": peak / 2**30,
            "unit": "GiB",
            "note": "encoder and language model loaded; limit 3 GiB",
        },
    ]


def _ask(page, text: str) -> float:
    page.get_by_role("textbox", name="Question").fill(text)
    start = time.perf_counter()
    page.get_by_role("button", name="Ask", exact=True).click()
    page.locator(f"[data-question={json.dumps(text, ensure_ascii=False)}] .lane[data-status=done]").nth(2).wait_for(timeout=60_000)
    return time.perf_counter() - start


def _peak(pid: int) -> int:
    """The peak resident memory of the process, in bytes, as the kernel counts it."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        kilobytes = next(line.split()[1] for line in status if line.startswith("VmHWM"))
    return int(kilobytes) * 1024 if psutil.pid_exists(pid) else 0
