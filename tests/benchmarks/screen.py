"""Waiting times on screen and processor time of the server, in a real browser.

Times run from the click to the first answer, to a result in every lane, to a quick or exact result
in every lane, to the end of retrieval, to the first token, and to the end. It uses the app's default lanes,
on the idle machine or with `--busy N` next to N busy processes. Then the same questions are asked
again, and the server's memory is measured. `--isa avx2` limits the encoder to the instructions of
an older processor, in float32. Of each question the first time counts: no vector of its paths is
cached.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from core.methods.catalogue import catalogue
from tests.benchmarks.processor import processor
from tests.server import CHROMIUM, open_page, server

QUICK_LANES = ("lego-14-quick", "lego-12-quick", "chain-ranking")
WARM = "which person directed the movie Inception"
SETS = ("metaqa-1hop-dev", "metaqa-2hop-dev", "metaqa-3hop-dev")
SAMPLE_SECONDS = 0.05  # Between two looks at the server's processor time.
MAX_QUESTION_SECONDS = 300  # Seconds at most for one question.

WATCH = """(question) => new Promise((told) => {
  const times = {};
  const seen = (name) => { times[name] ??= (performance.now() - start) / 1000; };
  const shown = (lane, voice) => lane.querySelector(`.voice-${voice}:not([hidden]) .voice-text`)?.innerText.trim();
  const roots = () => [...document.querySelectorAll("*")].map((one) => one.shadowRoot).filter(Boolean);
  let board = null;
  const boards = () => roots().flatMap((root) => [...root.querySelectorAll("[data-question]")]);
  const asked = () => boards().find((one) => one.dataset.question === question);
  const ask = [...document.querySelectorAll("button")].find((one) => one.innerText.trim() === "Ask");
  const start = performance.now();
  document.activeElement?.blur();  // commits what was typed, as a click of the mouse does
  ask.click();
  const look = setInterval(() => {
    board = board?.isConnected && board.dataset.question === question ? board : asked();
    const lanes = [...(board?.querySelectorAll(".lane") ?? [])];
    const ended = (lane) => ["done", "failed", "cancelled"].includes(lane.dataset.status);
    const some = (lane) => shown(lane, "reader") || lane.classList.contains("so-far") || ended(lane);
    if (lanes.some((lane) => shown(lane, "reader"))) seen("first answer");
    if (lanes.length && lanes.every(some)) seen("something");
    if (lanes.length && lanes.every((lane) => ended(lane) || lane.classList.contains("quick"))) seen("quick");
    const whole = (lane) => (shown(lane, "reader") && !lane.classList.contains("so-far")) || ended(lane);
    if (lanes.length && lanes.every(whole)) seen("retrieved");
    if (lanes.some((lane) => shown(lane, "model"))) seen("token");
    if (lanes.length && lanes.every(ended)) { seen("done"); clearInterval(look); told(times); }
  }, 30);
})"""


def run(each: int = 1, busy: int = 0, plain: int = 4, isa: str = "") -> list[dict]:
    """Medians over `each` questions of 1 to 3 hops with the language model, and `plain` without.

    Zero leaves out that part.
    """
    if not CHROMIUM:
        return [
            {
                "name": "lanes on screen",
                "value": float("nan"),
                "unit": "s",
                "note": "not measured: Chromium is absent",
            }
        ]
    from core.datasets import datasets

    dataset = datasets()["metaqa"]
    asked = [dataset.draw_question(name, 100 + seed).text for name in SETS for seed in range(plain)]
    answered = [
        dataset.draw_question(name, 300 + seed).text for name in SETS for seed in range(each)
    ]
    alone = [dataset.draw_question(name, 500 + seed).text for name in SETS for seed in range(plain)]
    beside = f", {busy} busy processes beside" if busy else ""
    limited = {"ONEDNN_MAX_CPU_ISA": isa.upper()} if isa else {}
    with server(**limited) as (url, process), working(busy):
        watch = PageWatch(process.pid)
        with open_page(url + "/?llm=0") as page:
            _wait_until_ready(page)
            watch.ask(page, WARM)  # This warms up the server.
            first = [watch.ask(page, text) for text in asked]
            again = [watch.ask(page, text) for text in asked]
        quick = [key for key in QUICK_LANES if key in catalogue()]
        few = []
        if quick and plain:
            with open_page(f"{url}/?llm=0&{'&'.join(f'lane={key}' for key in quick)}") as page:
                _wait_until_ready(page)
                watch.ask(page, WARM)
                few = [watch.ask(page, text) for text in alone]
        told = []
        if answered:
            with open_page(url) as page:
                _wait_until_ready(page)
                watch.ask(page, WARM)  # The model is loaded now.
                told = [watch.ask(page, text) for text in answered]
        peak = _peak(process.pid)
    on = processor(isa)
    rows = [
        _row(f"no model: click to first answer{beside}", [t["first answer"] for t in first], 1),
        _row(
            f"no model: click to something in every lane{beside}",
            [t["something"] for t in first],
            1.5,
        ),
        _row(
            f"no model: click to a quick result in every lane{beside}",
            [t["quick"] for t in first],
            5,
        ),
        _row(
            f"no model: processor time until then{beside}",
            [t["quick processor"] for t in first],
            6,
        ),
        _row(f"no model: click to all done{beside}", [t["done"] for t in first], 12),
        _row(f"no model: the same asked again{beside}", [t["done"] for t in again], 0.3),
        _row(
            f"no model: processor time of the server a question{beside}",
            [t["processor"] for t in first],
        ),
        _row(f"no model: processor time, asked again{beside}", [t["processor"] for t in again]),
        _row(
            f"quick lanes alone: click to something in every lane{beside}",
            [t["something"] for t in few],
            1.5,
        ),
        _row(f"quick lanes alone: click to all done{beside}", [t["done"] for t in few], 6),
        _row(
            f"quick lanes alone: processor time of the server a question{beside}",
            [t["processor"] for t in few],
            6,
        ),
        _row(f"click to first answer{beside}", [t["first answer"] for t in told], 1),
        _row(f"click to all retrieved{beside}", [t["retrieved"] for t in told]),
        _row(f"click to first token{beside}", [t["token"] for t in told if "token" in t]),
        _row(
            f"first answer to first token{beside}",
            [t["token"] - t["first answer"] for t in told if "token" in t],
            3,
        ),
        _row(f"click to all done{beside}", [t["done"] for t in told]),
    ]
    note = f"encoder{' and language model' * bool(told)} loaded; limit 3 GiB; on {on}"
    return [
        *rows,
        {"name": "peak memory of the server", "value": peak / 2**30, "unit": "GiB", "note": note},
    ]


def main(arguments: list[str]) -> None:
    """Run `python -m tests.benchmarks screen [--busy N] [--each N] [--plain N] [--isa avx2]`."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks screen")
    parser.add_argument("--busy", type=int, default=0, help="processes that work beside")
    parser.add_argument(
        "--each",
        type=int,
        default=1,
        help="questions of each hop count with the language model; 0 for none",
    )
    parser.add_argument("--plain", type=int, default=4, help="questions of each hop count without")
    parser.add_argument(
        "--isa",
        default="",
        help=(
            "the instructions that the encoder is kept to, such as avx2, avx512_core or "
            "avx512_core_vnni"
        ),
    )
    options = parser.parse_args(arguments)
    print(f"On {processor(options.isa)}")
    for row in run(options.each, options.busy, options.plain, options.isa):
        print(f"{row['name']:60} {row['value']:>8.3g} {row['unit']:4} {row['note']}")


@contextmanager
def working(processes: int) -> Iterator[None]:
    """Run this many busy processes during the block."""
    started = [
        multiprocessing.get_context("spawn").Process(target=_work, daemon=True)
        for _ in range(processes)
    ]
    for one in started:
        one.start()
    try:
        yield
    finally:
        for one in started:
            one.terminate()


def _work() -> None:
    number = 1
    while True:
        number = number * 6364136223846793005 % 2**64 + 1442695040888963407


def _wait_until_ready(page) -> None:
    page.get_by_role("button", name="Ask", exact=True).wait_for(timeout=120_000)
    page.locator(".lane").first.wait_for(timeout=120_000)


class PageWatch:
    """Asks questions on a page and measures the server's processor time."""

    def __init__(self, pid: int):
        self._process = psutil.Process(pid)

    def ask(self, page, text: str) -> dict[str, float]:
        """Seconds from the click to each stage, and `processor` seconds of the server.

        Stages: `first answer`, `something` in every lane, `quick` or exact results in every lane,
        `retrieved`, `token` (where a model answered) and `done`. `quick processor` are the seconds
        of the processor until the stage `quick`.
        """
        box = page.get_by_role("textbox", name="Question")
        box.fill(text)
        page.set_default_timeout(MAX_QUESTION_SECONDS * 1000)
        before = self._spent()
        spent_by_time = {time.monotonic(): before}
        start, ended = time.monotonic(), threading.Event()

        def sample() -> None:
            while not ended.wait(SAMPLE_SECONDS):
                spent_by_time[time.monotonic()] = self._spent()

        sampler = threading.Thread(target=sample, daemon=True)
        sampler.start()
        try:
            times = page.evaluate(WATCH, text)
        finally:
            ended.set()
            sampler.join()
        quick = max(at for at in spent_by_time if at <= start + times["quick"])
        return {
            **times,
            "quick processor": spent_by_time[quick] - before,
            "processor": self._spent() - before,
        }

    def _spent(self) -> float:
        """Processor seconds of the server and its child processes so far."""
        alive = [self._process, *self._process.children(recursive=True)]
        return sum(sum(one.cpu_times()[:2]) for one in alive)


def _row(name: str, values: list[float], aim: float | None = None) -> dict:
    if not values:
        return {"name": name, "value": float("nan"), "unit": "s", "note": "not measured"}
    note = f"median of {len(values)}, {min(values):.2f} to {max(values):.2f}" + (
        f"; aim {aim} s" if aim is not None else ""
    )
    return {"name": name, "value": statistics.median(values), "unit": "s", "note": note}


def _peak(pid: int) -> int:
    """Peak resident memory of the process in bytes, as the kernel counts it."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        kilobytes = next(line.split()[1] for line in status if line.startswith("VmHWM"))
    return int(kilobytes) * 1024 if psutil.pid_exists(pid) else 0
