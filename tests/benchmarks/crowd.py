"""A crowd for minutes: whether anybody meets an error, gets another's result or is starved, and whether memory stays flat.

Each session asks a new question as soon as it has its answer. A visitor is starved whose median wait is over three times everybody's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from core.evaluation.runs.store import evaluations_file
from tests.benchmarks.evaluating_app import advanced, app, environment
from tests.benchmarks.visitors import CORPUS_LANES, LANES, SETS, Broken, follow, questions_of
from tests.server import server

STARVED = 3.0  # times the median of all
EVERY = 5.0  # seconds between two looks at memory


@dataclass
class Told:
    """What a crowd met: seconds by visitor, errors, questions whose result was another's, megabytes over time."""

    waits: dict[int, list[float]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    mixed: list[str] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    evaluated: tuple[int, int, int] | None = None  # evaluations that are done, their rows that went well, and that failed

    def rows(self, visitors: int, note: str) -> list[dict]:
        """The figures, one row each."""
        every = [wait for waits in self.waits.values() for wait in waits]
        overall = statistics.median(every) if every else float("nan")
        medians = [statistics.median(waits) for waits in self.waits.values() if waits]
        worst = max(medians) / overall if medians else float("nan")
        late = self.memory[len(self.memory) // 2 :]
        grown = late[-1] - late[0] if late else float("nan")
        values = [
            ("questions answered", len(every), "", note),
            ("errors", len(self.errors), "", "; ".join(sorted(set(self.errors))[:3])),
            ("mixed results", len(self.mixed), "", "; ".join(self.mixed[:3])),
            ("visitors without an answer", visitors - len(medians), "", ""),
            ("one question", overall, "s", f"median; {min(every):.1f} to {max(every):.1f} s" if every else ""),
            ("slowest visitor", worst, "×", f"their median over everybody's; starved from {STARVED:g}"),
            ("memory", max(self.memory, default=float("nan")), "MB", f"most; {grown:+.0f} MB over the second half"),
        ]
        if self.evaluated is not None:
            done, well, failed = self.evaluated
            values.append(("evaluations done", done, "", f"{well:,} of their questions answered, {failed:,} failed"))
        return [{"name": name, "value": value, "unit": unit, "note": said} for name, value, unit, said in values]


def run(
    visitors: int = 50,
    seconds: float = 300.0,
    lanes: tuple[str, ...] = (),
    model: int = 0,
    corpus: str = "",
    evaluations: int = 0,
    size: int = 20,
    each: int = 0,
) -> Told:
    """What `visitors` met in the time, `model` of them with the language model on; with a corpus, asking its documents. Beside so many
    evaluations, of `size` questions each. A visitor leaves after `each` answers, where that is not 0."""
    questions, told = questions_of(corpus), Told()
    asked: dict[str, Any] = {"lane": list(lanes or (CORPUS_LANES if corpus else LANES))} | ({"corpus": corpus} if corpus else {})
    with app(evaluations, size, LANES, SETS[0]) as folder, server(folder, **environment()) as (address, process):
        warm = urlencode({**asked, "q": next(questions), "llm": 0}, doseq=True)
        asyncio.run(asyncio.wait_for(follow(address, warm, len(asked["lane"])), 300))
        asyncio.run(_all(address, process.pid, asked, questions, told, visitors, seconds, model, each))
        if evaluations:
            told.evaluated = advanced(evaluations_file(), evaluations)
    return told


async def _all(
    address: str,
    pid: int,
    asked: dict[str, Any],
    questions: Iterator[str],
    told: Told,
    visitors: int,
    seconds: float,
    model: int,
    each: int,
) -> None:
    end = time.perf_counter() + seconds

    async def visitor(number: int) -> None:
        while (left := end - time.perf_counter()) > 0 and not (each and len(told.waits.get(number, ())) >= each):
            question, start = next(questions), time.perf_counter()
            query = urlencode({**asked, "q": question, "llm": int(number < model)}, doseq=True)
            try:
                drawn = await asyncio.wait_for(follow(address, query, len(asked["lane"])), left)
            except TimeoutError:
                return
            except (Broken, OSError) as error:
                told.errors.append(str(error)[:120])
                continue
            told.waits.setdefault(number, []).append(time.perf_counter() - start)
            if not shows(drawn, question):
                told.mixed.append(question)

    async def look() -> None:
        while time.perf_counter() < end:
            told.memory.append(_megabytes(pid))
            await asyncio.sleep(EVERY)

    looking = asyncio.create_task(look())
    await asyncio.gather(*(visitor(number) for number in range(visitors)))
    looking.cancel()


def shows(drawn: bytes, question: str) -> bool:
    """Whether what was drawn is the result of this question."""
    text = " ".join(question.split())  # as the app keeps it
    return json.dumps(text)[1:-1].encode() in drawn or text.encode() in drawn


def _megabytes(pid: int) -> float:
    """What a process holds of memory that is its own."""
    told = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(told["RssAnon"].split()[0]) / 1024


def main(arguments: list[str]) -> None:
    """`python -m tests.benchmarks crowd [--visitors N] [--seconds S] [--lanes A B] [--model N] [--corpus NAME] [--evaluations N]`"""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks crowd")
    parser.add_argument("--visitors", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--lanes", nargs="+", default=[])
    parser.add_argument("--corpus", default="", metavar="NAME", help="ask the documents of a corpus")
    parser.add_argument("--model", type=int, default=0, metavar="N", help="so many of them let the language model answer")
    parser.add_argument("--evaluations", type=int, default=0, metavar="N", help="so many evaluations at work beside them")
    parser.add_argument("--questions", type=int, default=20, metavar="N", help="of each evaluation (default: 20)")
    options = parser.parse_args(arguments)
    lanes = tuple(options.lanes)
    told = run(options.visitors, options.seconds, lanes, options.model, options.corpus, options.evaluations, options.questions)
    note = f"{options.visitors} visitors, {options.seconds:g} s, {options.model} with the language model"
    for row in told.rows(options.visitors, note):
        print(f"{row['name']:28} {row['value']:>8.4g} {row['unit']:3} {row['note']}")
