"""Simulated crowds over minutes: answers, waiting times, errors, fairness, cost and memory.

It also checks that no user gets the result of another.

`--mix light` asks two cheap lanes of a warm server; each visitor asks a new question as soon as the
last is answered. `--mix default` resembles real use. Most visitors ask the page's default lanes,
many of them the same shipped questions and some in their own words; some ask documents, some view
other pages, some leave before the answer, and the server has just been started. A visitor counts as
starved if their median wait is over three times the overall median.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import psutil

from core.evaluation.runs.store import evaluations_file
from tests.benchmarks.evaluating_app import advanced, app, environment
from tests.benchmarks.visitors import (
    CORPUS_LANES,
    LANES,
    SETS,
    PageFailed,
    follow,
    look,
    questions_of,
)
from tests.server import server

STARVED_MEDIAN_RATIO = 3.0  # Times the overall median.
MEMORY_INTERVAL_SECONDS = 5.0  # Seconds between two measurements of memory.
STACK_SAMPLES_PER_SECOND = 20  # Stack samples per second.
SHIPPED_QUESTIONS = 30  # Questions that many visitors ask.
OWN_WORDS_FRACTION = 0.3  # Fraction of graph questions in the visitor's own words.
REPHRASINGS = ("please tell me {}", "I would like to know {}", "{}, as far as you know")
PAGES = ("build", "texts", "graphs", "indexes", "evaluate", "cases", "models")
MAX_STAY_SECONDS = (
    3.0  # Seconds at most that a visitor views another page, or waits before they leave.
)


@dataclass(frozen=True)
class VisitorMix:
    """Behaviour of visitors: the probability of each action.

    `lanes` are the methods asked on a graph. `cold` means a freshly started server.
    """

    often: Mapping[str, float]
    lanes: tuple[str, ...]
    cold: bool = False


# The lanes of the page, as in a permalink.
DEFAULT_LANES = ("lego-14", "lego-12", "chain-ranking")
MIXES = {
    "light": VisitorMix({"graph": 1.0}, LANES),
    "default": VisitorMix(
        {"graph": 0.6, "documents": 0.15, "page": 0.15, "leaves": 0.1}, DEFAULT_LANES, cold=True
    ),
}
CORPUS = "hotpotqa"


@dataclass
class Told:
    """Results of a crowd: seconds per visitor, errors, mixed-up results, and memory in MB."""

    waits: dict[int, list[float]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    mixed: list[str] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    evaluated: tuple[int, int, int] | None = (
        None  # Finished evaluations, and their successful and failed rows.
    )
    kinds: dict[str, list[float]] = field(default_factory=dict)  # Seconds by action.
    first: float | None = None  # Seconds from the start of a cold server to its first answer.
    processor: float | None = None  # Processor seconds of the server.
    divided: Mapping[str, float] | None = None  # Fractions of these processor seconds.

    def rows(self, visitors: int, note: str, seconds: float = 0.0) -> list[dict]:
        """The metrics, one row each."""
        every = [wait for waits in self.waits.values() for wait in waits]
        overall = statistics.median(every) if every else float("nan")
        medians = [statistics.median(waits) for waits in self.waits.values() if waits]
        worst = max(medians) / overall if medians else float("nan")
        late = self.memory[len(self.memory) // 2 :]
        grown = late[-1] - late[0] if late else float("nan")
        values = [
            ("questions answered", len(every), "", note),
            *(
                [("answers a minute", len(every) * 60 / seconds, "", self._kinds())]
                if seconds
                else []
            ),
            ("errors", len(self.errors), "", "; ".join(sorted(set(self.errors))[:3])),
            ("mixed results", len(self.mixed), "", "; ".join(self.mixed[:3])),
            ("visitors without an answer", visitors - len(medians), "", ""),
            (
                "one question",
                overall,
                "s",
                f"median; {min(every):.1f} to {max(every):.1f} s" if every else "",
            ),
            (
                "95 of 100 questions",
                float(np.quantile(every, 0.95)) if every else float("nan"),
                "s",
                "at most",
            ),
            (
                "slowest visitor",
                worst,
                "×",
                f"their median over everybody's; starved from {STARVED_MEDIAN_RATIO:g}",
            ),
            (
                "memory",
                max(self.memory, default=float("nan")),
                "MB",
                f"most; {grown:+.0f} MB over the second half",
            ),
        ]
        if self.processor is not None and every:
            values.append(
                ("processor time", self.processor / len(every), "s", f"an answer; {self._shares()}")
            )
        if self.first is not None:
            values.append(("first answer", self.first, "s", "from the start of the server"))
        if self.evaluated is not None:
            done, well, failed = self.evaluated
            values.append(
                (
                    "evaluations done",
                    done,
                    "",
                    f"{well:,} of their questions answered, {failed:,} failed",
                )
            )
        return [
            {"name": name, "value": value, "unit": unit, "note": said}
            for name, value, unit, said in values
        ]

    def _kinds(self) -> str:
        said = (
            f"{len(waits):,} {kind}, median {statistics.median(waits):.1f} s"
            for kind, waits in sorted(self.kinds.items())
            if waits
        )
        return "; ".join(said)

    def _shares(self) -> str:
        if self.divided is None:
            return "not divided, as py-spy is not installed"
        return (
            ", ".join(f"{kind} {100 * share:.0f} %" for kind, share in self.divided.items())
            + ", by samples of its threads"
        )


class CrowdVisitor:
    """Actions of one visitor in sequence, the same for the same number."""

    def __init__(
        self,
        number: int,
        mix: VisitorMix,
        model: bool,
        corpus: str,
        fresh: Iterator[str],
        shipped: list[str],
        texts: list[str],
    ):
        self._dice, self._mix, self._model, self._corpus = (
            np.random.default_rng((7, number)),
            mix,
            model,
            corpus,
        )
        self._fresh, self._shipped, self._texts = fresh, shipped, texts

    def next(self) -> tuple[str, dict[str, Any]]:
        """The next action, and the parameters of its address."""
        kind = str(self._dice.choice(list(self._mix.often), p=list(self._mix.often.values())))
        if kind == "page":
            return kind, {"page": str(self._dice.choice(PAGES))}
        if kind == "documents" or self._corpus:
            asked = {
                "corpus": self._corpus or CORPUS,
                "lane": list(CORPUS_LANES),
                "q": self._one(self._texts),
            }
            return ("documents" if kind == "graph" else kind), asked | {"llm": int(self._model)}
        question = next(self._fresh)
        if len(self._mix.often) > 1 and self._dice.random() >= OWN_WORDS_FRACTION:
            question = self._one(self._shipped)
        elif len(self._mix.often) > 1:
            question = str(self._dice.choice(REPHRASINGS)).format(question)
        return kind, {"lane": list(self._mix.lanes), "q": question, "llm": int(self._model)}

    def stays(self) -> float:
        """Seconds that a visitor views a page, or waits before they leave."""
        return float(self._dice.uniform(0.5, MAX_STAY_SECONDS))

    def _one(self, texts: list[str]) -> str:
        """One of these questions, with earlier ones more likely."""
        return texts[min(int(self._dice.exponential(len(texts) / 3)), len(texts) - 1)]


def run(
    visitors: int = 50,
    seconds: float = 300.0,
    lanes: tuple[str, ...] = (),
    model: int = 0,
    corpus: str = "",
    evaluations: int = 0,
    size: int = 20,
    each: int = 0,
    mix: str = "light",
    profiled: bool = False,
) -> Told:
    """Simulate `visitors` for a time, `model` of them with the language model on.

    With a corpus they ask its documents. Meanwhile this many evaluations of `size` questions run. A
    visitor leaves after `each` answers, unless it is 0.
    """
    chosen = MIXES[mix]
    chosen = VisitorMix(
        chosen.often, lanes or (CORPUS_LANES if corpus else chosen.lanes), chosen.cold
    )
    fresh, told = questions_of(corpus), Told()
    shipped = [next(fresh) for _ in range(SHIPPED_QUESTIONS)]
    pool = questions_of(corpus or CORPUS) if corpus or "documents" in chosen.often else iter(())
    texts = [text for _, text in zip(range(SHIPPED_QUESTIONS), pool)]
    crowd = [
        CrowdVisitor(number, chosen, number < model, corpus, fresh, shipped, texts)
        for number in range(visitors)
    ]
    begun = time.perf_counter()
    with (
        app(evaluations, size, LANES, SETS[0]) as folder,
        server(folder, **environment()) as (address, process),
    ):
        if not chosen.cold:
            warm = {"lane": list(chosen.lanes), "q": next(fresh), "llm": 0} | (
                {"corpus": corpus} if corpus else {}
            )
            asyncio.run(
                asyncio.wait_for(
                    follow(address, urlencode(warm, doseq=True), len(chosen.lanes)), 300
                )
            )
        with _processor_time(process.pid, told, seconds if profiled else 0.0):
            asyncio.run(
                _run_crowd(
                    address, process.pid, crowd, told, seconds, each, begun if chosen.cold else None
                )
            )
        if evaluations:
            told.evaluated = advanced(evaluations_file(), evaluations)
    return told


async def _run_crowd(
    address: str,
    pid: int,
    crowd: list[CrowdVisitor],
    told: Told,
    seconds: float,
    each: int,
    begun: float | None,
) -> None:
    end = time.perf_counter() + seconds

    async def visit(number: int, visitor: CrowdVisitor) -> None:
        while (left := end - time.perf_counter()) > 0 and not (
            each and len(told.waits.get(number, ())) >= each
        ):
            (kind, asked), start = visitor.next(), time.perf_counter()
            try:
                if not await asyncio.wait_for(
                    _do_action(address, kind, asked, visitor, told), left
                ):
                    continue
            except TimeoutError:
                return
            except (PageFailed, OSError) as error:
                told.errors.append(str(error)[:120])
                continue
            if begun is not None and told.first is None:
                told.first = time.perf_counter() - begun
            told.waits.setdefault(number, []).append(time.perf_counter() - start)
            told.kinds.setdefault(kind, []).append(time.perf_counter() - start)

    async def watch() -> None:
        while time.perf_counter() < end:
            told.memory.append(_memory_megabytes(pid))
            await asyncio.sleep(MEMORY_INTERVAL_SECONDS)

    watching = asyncio.create_task(watch())
    await asyncio.gather(*(visit(number, visitor) for number, visitor in enumerate(crowd)))
    watching.cancel()


async def _do_action(
    address: str, kind: str, asked: dict[str, Any], visitor: CrowdVisitor, told: Told
) -> bool:
    """Do one action, and return whether it was an answered question."""
    if kind == "page":
        start = time.perf_counter()
        await look(address, asked["page"])
        told.kinds.setdefault(kind, []).append(time.perf_counter() - start)
        await asyncio.sleep(visitor.stays())
        return False
    answer = follow(address, urlencode(asked, doseq=True), len(asked["lane"]))
    if kind == "leaves":
        try:
            await asyncio.wait_for(answer, visitor.stays())
        except TimeoutError:
            return False
        return False
    drawn = await answer
    if not shows(drawn, asked["q"]):
        told.mixed.append(asked["q"])
    return True


def shows(drawn: bytes, question: str) -> bool:
    """Return whether the response shows the result of this question."""
    text = " ".join(question.split())  # The app normalises spaces in the same way.
    return json.dumps(text)[1:-1].encode() in drawn or text.encode() in drawn


@contextmanager
def _processor_time(pid: int, told: Told, seconds: float) -> Iterator[None]:
    """Record the processor time of a server while the block runs.

    With `seconds` and py-spy installed, stack samples record what it was spent on.
    """
    process = psutil.Process(pid)
    spent = lambda: sum(process.cpu_times()[:2])
    with tempfile.TemporaryDirectory() as folder:
        file, spy, before = (
            Path(folder) / "samples",
            shutil.which("py-spy", path=_beside_python()),
            spent(),
        )
        options = [
            "-p",
            str(pid),
            "-d",
            str(int(seconds)),
            "-r",
            str(STACK_SAMPLES_PER_SECOND),
            "-f",
            "raw",
            "-t",
            "-o",
            str(file),
        ]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        sampling = subprocess.Popen([spy, "record", *options], **quiet) if spy and seconds else None
        yield
        told.processor = spent() - before
        if sampling is not None:
            sampling.wait()
            told.divided = shares(file.read_text("utf-8").splitlines()) if file.exists() else None


def _beside_python() -> str:
    import os
    import sys

    return os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))


def shares(samples: list[str]) -> dict[str, float]:
    """Fractions of stack samples in models, in pages and elsewhere.

    Samples have py-spy's format `frame;frame;... count`. Those of waiting threads are left out.
    """
    counts: Counter[str] = Counter()
    for line in samples:
        stack, _, count = line.rpartition(" ")
        last = stack.rsplit(";", 1)[-1]
        if (
            last.startswith(("Condition.wait", "_worker (concurrent"))
            or "selectors.py" in last
            or ".sleep" in last
        ):
            continue
        if "core/models/" in stack:
            kind = "models"
        elif "script_runner.py" in stack:
            kind = "pages"
        else:
            kind = "rest"
        counts[kind] += int(count)
    total = counts.total() or 1
    return {kind: counts[kind] / total for kind in ("models", "pages", "rest")}


def _memory_megabytes(pid: int) -> float:
    """Private memory of a process in MB."""
    told = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(told["RssAnon"].split()[0]) / 1024


def main(arguments: list[str]) -> None:
    """Run the command.

    python -m tests.benchmarks crowd [--mix light|default] [--visitors N] [--seconds S]
        [--lanes A B] [--model N] [--corpus NAME] [--evaluations N] [--profile]
    """
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks crowd")
    parser.add_argument(
        "--mix",
        choices=list(MIXES),
        default="default",
        help="what visitors do (default: as people do)",
    )
    parser.add_argument("--visitors", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=180.0)
    parser.add_argument("--lanes", nargs="+", default=[])
    parser.add_argument(
        "--corpus", default="", metavar="NAME", help="ask the documents of a corpus"
    )
    parser.add_argument(
        "--model",
        type=int,
        default=0,
        metavar="N",
        help="so many of them let the language model answer",
    )
    parser.add_argument(
        "--evaluations",
        type=int,
        default=0,
        metavar="N",
        help="so many evaluations at work beside them",
    )
    parser.add_argument(
        "--questions", type=int, default=20, metavar="N", help="of each evaluation (default: 20)"
    )
    parser.add_argument(
        "--profile",
        action="store_true",
        help="what the processor time goes to, by py-spy where it is installed",
    )
    options = parser.parse_args(arguments)
    lanes, beside = tuple(options.lanes), (options.evaluations, options.questions)
    crowd = (options.visitors, options.seconds, lanes, options.model, options.corpus)
    told = run(*crowd, *beside, mix=options.mix, profiled=options.profile)
    note = (
        f"{options.mix}: {options.visitors} visitors, {options.seconds:g} s, {options.model} with "
        f"the language model"
    )
    for row in told.rows(options.visitors, note, options.seconds):
        print(f"{row['name']:28} {row['value']:>8.4g} {row['unit']:3} {row['note']}")
