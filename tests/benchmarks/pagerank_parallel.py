"""PageRank on threads and worker processes, compared with a power iteration on one core.

    python -m tests.benchmarks pagerank --distributed [--graphs metaqa 100000 1000000]
        [--methods pafo hgpa delta-push] [--questions 5] [--json]

A graph is a source's name, or the number of nodes of a synthetic one. Each method runs in this
process, and on one and two threads (PAFO) or workers (the others). The preparation is the first
question, less a later one; the skeleton of HGPA is computed in this process once. Of each question
the least time counts, because other programs may run on the machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import BadInput
from tests.benchmarks.processor import processor

KEEP, DAMPING, DIRECTION = 1000, 0.8, "both"
GRAPHS = ("metaqa", "100000", "1000000")
METHODS = ("pafo", "hgpa", "delta-push")
TOLERANCES = (1e-10, 1e-4)  # of the power iteration; the first is the baseline
COUNTS = (1, 2)  # threads or workers
REPEATS, ENOUGH_MS = 5, 10_000  # of each question; after so much, twice is enough
COLUMNS = ("graph", "method", "on", "preparation s", "ms", "times", "recall", "note")


def main(argv: list[str]) -> None:
    """Print a line for each row, or JSON."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks pagerank --distributed")
    parser.add_argument("--distributed", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--graphs", nargs="+", default=GRAPHS)
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--questions", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    rows = []
    print(processor(), file=sys.stderr)
    for name in options.graphs:
        for row in GraphMeasurement(name, options.questions).rows(options.methods):
            rows.append(row)
            if not options.json:
                print(
                    "  ".join(f"{column}: {_cell(row[column])}" for column in COLUMNS), flush=True
                )
    if options.json:
        print(json.dumps({"processor": processor(), "rows": rows}, indent=2))


class GraphMeasurement:
    """One graph and its questions, with the time of a power iteration."""

    def __init__(self, name: str, questions: int):
        self.name = name
        self.graph = _open(name)
        degrees = self.graph.degrees(np.arange(self.graph.n_nodes))
        rng = np.random.default_rng(0)
        self.seeds = rng.choice(np.flatnonzero(degrees > 0), questions, replace=False).tolist()
        self.best: dict[int, np.ndarray] = {}
        self.baseline_ms = 0.0

    def rows(self, methods: Sequence[str]) -> Iterator[dict]:
        """Yield a row for each method and number of threads or workers."""
        from core.runtime.cluster import Workers

        for tolerance in TOLERANCES:
            yield self._power_row(tolerance)
        for method in methods:
            if method == "pafo":
                for count in COUNTS:
                    yield self._row(method, f"{count} threads", threads=count)
                continue
            row = self._row(method, "this process")
            yield row
            for count in COUNTS if row["ms"] is not None else ():
                workers = Workers(count)
                with workers.start_ray():
                    yield self._row(method, f"{count} workers", workers=workers)

    def _power_row(self, tolerance: float) -> dict:
        """Time a power iteration, which is also the truth with the first tolerance."""
        from core.graph.order import top_k
        from core.graph.pagerank.problem import pose_problem

        spent = []
        for seed in self.seeds:
            links = pose_problem(self.graph, [seed], KEEP, DAMPING, DIRECTION).links
            estimate, times = _timed(partial(_power_iterate, links, seed, tolerance))
            spent.append(min(times))
            if tolerance == TOLERANCES[0]:
                last = top_k(np.arange(len(estimate)), estimate, KEEP)[1][-1]
                self.best[seed] = np.flatnonzero(estimate >= last * (1 - 1e-7))
        median = statistics.median(spent)
        self.baseline_ms = self.baseline_ms or median
        return self._made(f"power iteration, {tolerance:g}", "one core", median)

    def _row(self, method: str, place: str, **more) -> dict:
        from core.graph.pagerank.top_nodes import PageRankReport, top_pagerank

        spent, recalls, report = [], [], PageRankReport()
        preparation = None
        settings = (KEEP, DAMPING, DIRECTION, method)
        for seed in self.seeds:
            ask = partial(top_pagerank, self.graph, [seed], *settings, report=report, **more)
            try:
                (nodes, _), times = _timed(ask)
            except BadInput as error:
                return self._made(method, place, note=str(error))
            if preparation is None:
                preparation = (times[0] - min(times)) / 1e3
            spent.append(min(times))
            recalls.append(len(np.intersect1d(nodes, self.best[seed])) / KEEP)
        median = statistics.median(spent)
        return self._made(
            method, place, median, preparation, statistics.fmean(recalls), report.note
        )

    def _made(
        self,
        method: str,
        place: str,
        median: float | None = None,
        preparation: float | None = None,
        recall: float | None = None,
        note: str = "",
    ) -> dict:
        times = None if median is None else self.baseline_ms / median
        graph = f"{self.name} ({self.graph.n_nodes:,} nodes, {self.graph.n_edges:,} triples)"
        values = graph, method, place, preparation, median, times, recall, note
        return dict(zip(COLUMNS, values))


def _power_iterate(links, seed: int, tolerance: float) -> np.ndarray:
    """Return the scores of all nodes."""
    from core.graph import kernels

    estimate, residual = np.zeros((2, len(links.out_indptr) - 1))
    residual[seed] = 1.0
    kernels.power_iterate(estimate, residual, DAMPING, tolerance, 1 << 30, *links[:5])
    return estimate


def _timed(work: Callable) -> tuple[Any, list[float]]:
    """Return the result of some work, and the milliseconds of each repetition."""
    times = []
    for _ in range(REPEATS + 1):
        start = time.perf_counter()
        result = work()
        times.append((time.perf_counter() - start) * 1e3)
        if len(times) > 1 and sum(times) > ENOUGH_MS:
            break
    return result, times


def _open(name: str):
    """Return the graph of a source, or a synthetic one of this many nodes."""
    from core.datasets import open_graph
    from tests.benchmarks.synthetic import store

    if not name.isdecimal():
        return open_graph(name)
    folder = Path(tempfile.gettempdir()) / "hopscope-scale" / name
    folder.mkdir(parents=True, exist_ok=True)
    return store(int(name), folder / "graph")


def _cell(value) -> str:
    if value is None:
        return "-"
    return f"{value:,.3g}" if isinstance(value, float) else str(value)
