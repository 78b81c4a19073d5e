"""`kill -9` at random moments of one kind of work: damage, losses, and time to recover."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from core.cases import cases, comparison_of_case
from core.errors import HopscopeError
from core.evaluation.runs.store import Store
from core.graph.store import Graph
from core.io.home import ROOT
from core.methods.catalogue import catalogue
from tests.benchmarks import fault_work

PATIENCE = 300.0  # Seconds until work counts as hanging.
LATEST_KILL_RATIO = 1.05  # Last moment of a kill, as a multiple of the seconds of undisturbed work.


@dataclass
class Met:
    """Results of one kind of fault: number, damage, losses, and seconds to recover."""

    kind: str
    times: int = 0
    corrupt: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    back: list[float] = field(default_factory=list)
    note: str = ""

    def words(self) -> str:
        """A row of the table."""
        back = f"{median(self.back):.1f} s, {max(self.back):.1f} s" if self.back else ""
        return (
            f"| {self.kind} | {self.times} | {len(self.corrupt)} | {len(self.lost)} | {back} | "
            f"{self.note} |"
        )


class WorkProcess:
    """A process that works in a folder, and its output so far."""

    def __init__(self, kind: str, folder: Path, times: int = fault_work.SAVES):
        command = [
            sys.executable,
            "-m",
            "tests.benchmarks.fault_work",
            kind,
            str(folder),
            str(times),
        ]
        self.words: list[str] = []
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "HOPSCOPE_HOME": str(folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def until(self, word: str) -> bool:
        """Wait for a line that starts with this word, and return whether it came."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.words.append(line.strip())
            if line.startswith(word):
                return True
        return False

    def end(self) -> tuple[int, str]:
        """Wait for the end and return exit code and error output."""
        out, complaint = self.process.communicate(timeout=PATIENCE)
        self.words += out.split("\n")
        return self.process.returncode, complaint

    def kill(self, after: float) -> None:
        """Kill the process by `kill -9` after this many seconds, unless it has ended before."""
        assert self.process.stdout is not None
        time.sleep(after)
        self.process.kill()
        self.end()

    def said(self, word: str) -> list[str]:
        """The rest of each complete line that starts with this word."""
        return [line.removeprefix(f"{word} ") for line in self.words if line.startswith(f"{word} ")]


@contextmanager
def home(folder: Path):
    """Set the user folder of this process."""
    before = os.environ.get("HOPSCOPE_HOME")
    os.environ["HOPSCOPE_HOME"] = str(folder)
    try:
        yield
    finally:
        os.environ.pop("HOPSCOPE_HOME") if before is None else os.environ.__setitem__(
            "HOPSCOPE_HOME", before
        )


def kills(kind: str, folder: Path, count: int, seed: int = 0) -> Met:
    """Results of `count` kills at random moments of one kind of work, each from the same inputs."""
    met, lot, begin = Met(kind), random.Random(f"{kind} {seed}"), folder / "begin"
    fault_work.inputs(kind, begin)
    undisturbed, span = _undisturbed(kind, begin, folder / "undisturbed")
    for number in range(count):
        place = folder / f"kill-{number}"
        shutil.copytree(begin, place)
        work = WorkProcess(kind, place)
        assert work.until("ready"), work.end()
        work.kill(lot.uniform(0, span * LATEST_KILL_RATIO))
        met.times += 1
        look(kind, place, work.said("ok"), met, undisturbed)
        _recover(kind, place, met, undisturbed)
        look(kind, place, work.said("ok"), met, undisturbed)
        shutil.rmtree(place)
    return met


def _undisturbed(kind: str, begin: Path, place: Path) -> tuple[str, float]:
    """Last line of undisturbed work, and its seconds."""
    shutil.copytree(begin, place)
    work = WorkProcess(kind, place)
    assert work.until("ready"), work.end()
    start = time.perf_counter()
    assert work.until("done"), work.end()
    return work.words[-1], time.perf_counter() - start


def _recover(kind: str, place: Path, met: Met, undisturbed: str) -> None:
    """Repeat the work, which must end as if nothing had happened.

    Of saved things it is enough that one more can be saved.
    """
    start = time.perf_counter()
    work = WorkProcess(kind, place, 1)
    code, complaint = work.end()
    met.back.append(time.perf_counter() - start)
    if code or undisturbed not in work.words:
        met.corrupt.append(
            f"{kind}: it ended with {code} and {complaint[-300:] or work.words[-2:]}"
        )


def look(kind: str, place: Path, promised: list[str], met: Met, undisturbed: str = "") -> None:
    """Open the files as they are: they must be whole and contain all that was promised."""
    with home(place):
        try:
            there = LOOKS[kind](place, undisturbed)
        except (HopscopeError, OSError, ValueError, KeyError, AssertionError) as error:
            met.corrupt.append(f"{kind}: {type(error).__name__}: {error}")
            return
    met.lost += [f"{kind}: {one}" for one in promised if one not in there]


def _graph(place: Path, undisturbed: str) -> set[str]:
    graph = Graph.open(place / "graph")
    earlier = graph.n_nodes == 2 and graph.triple_texts([0]) == ["an -> earlier -> one"]
    assert earlier or f"done {graph.digest}" == undisturbed, (
        "the graph is neither the earlier one nor the new one"
    )
    return set()


def _cases(place: Path, undisturbed: str) -> set[str]:
    found = {case.id for case in cases() if not case.example}
    for key in found:
        comparison_of_case(key)
    return found


def _methods(place: Path, undisturbed: str) -> set[str]:
    return set(catalogue())


def _evaluation(place: Path, undisturbed: str) -> set[str]:
    if not (place / "evaluations.sqlite").exists():
        return set()
    store = Store(place / "evaluations.sqlite")
    try:
        for run in store.runs():
            assert all(row.error is None for row in store.rows(run.id)), (
                "a row is said to have failed"
            )
    finally:
        store.close()
    return set()


def _nothing(place: Path, undisturbed: str) -> set[str]:
    return set()


LOOKS: dict[str, Callable[[Path, str], set[str]]] = {
    "build": _graph,
    "steps": _graph,
    "index": _nothing,
    "evaluate": _evaluation,
    "cases": _cases,
    "instances": _methods,
    "text": _nothing,
}
