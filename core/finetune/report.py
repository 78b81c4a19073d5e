"""Comparison of the plain and the trained encoder on the same unseen questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from core.evaluation.metrics.statistics import Estimate
from core.evaluation.reports.export import aligned
from core.evaluation.reports.summary import Summary
from core.evaluation.runs.starting import evaluate
from core.evaluation.runs.store import Run, Store, StoredRow
from core.finetune.split import Split
from core.instances.catalogue import catalogue, find
from core.runtime.jobs import Job

# Methods that rank the same paths once, by the plain encoder and by encoder-finetuned.
BEFORE, AFTER = ("lego-v1-16", "lego-v1-18")
SHOWN = ("path_hit@1", "path_hit@32", "path_recall@32")


def evaluations(split: Split, size: int, engine, store: Store) -> Iterator[Job]:
    """Yield the jobs that evaluate first the plain encoder, then the trained one.

    Each asks `size` unseen questions of every test set. The runs are separate and kept question by
    question. Results of the plain encoder can thus be reused when another encoder is trained. A
    job's `number` is its run's in the evaluations' store. Raises BadInput, StoreError.
    """
    known = catalogue()
    for name in (BEFORE, AFTER):
        yield evaluate(engine, store, split.plan([find(name, known)], size, engine.graph))


def together(runs: Sequence[tuple[Run, Sequence[StoredRow]]]) -> Summary:
    """Return one summary of several runs over the same questions, each with one instance."""
    first = runs[0][0]
    instances = [instance for run, _ in runs for instance in run.spec["instances"]]
    return Summary(
        replace(first, spec={**first.spec, "instances": instances}),
        [row for _, rows in runs for row in rows],
    )


def table(summary: Summary) -> list[dict[str, Any]]:
    """Return a row for each hop count and metric.

    `before` and `after` have 95 % intervals. `change` has its interval and p-value. The change is
    paired, over the same questions. The p-value is for no change, uncorrected, one test a cell.
    """
    first, second = summary.instances
    rows = []
    for hops, part in summary.by_hops().items():
        figures = part.table(SHOWN)
        tests = {test.metric: test for test in part.compared([(second, first)], SHOWN)}
        for name in SHOWN:
            change = asdict(tests[name]) if name in tests else {}
            rows.append(
                {
                    "hops": hops,
                    "metric": name,
                    "before": asdict(figures[first][name]),
                    "after": asdict(figures[second][name]),
                    "change": {
                        key: change[key]
                        for key in ("difference", "low", "high", "p", "n")
                        if key in change
                    },
                }
            )
    return rows


def lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the table as text: a line for each row, and lines on metrics that did not improve."""
    head = ("hops", "questions", "metric", "before", "after", "change, 95 % interval", "p")
    text = aligned([head, *map(_cells, rows)], left=0)
    worse = [
        f"{row['metric']} at {_hops(row)} hops"
        for row in rows
        if row["change"] and row["change"]["difference"] <= 0
    ]
    unsure = [
        f"{row['metric']} at {_hops(row)} hops"
        for row in rows
        if row["change"] and row["change"]["low"] <= 0 < row["change"]["difference"]
    ]
    if worse:
        text.append(f"No gain: {', '.join(worse)}.")
    if unsure:
        text.append(f"A gain that may be chance: {', '.join(unsure)}.")
    return text


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    change, n = row["change"], str(row["after"]["n"])
    both = [Estimate(**row[side]).text("{:.3f}".format) for side in ("before", "after")]
    found = ("–", "–")
    if change:
        difference = Estimate(change["difference"], change["low"], change["high"], change["n"])
        found = (difference.text("{:+.3f}".format), f"{change['p']:.2g}")
    return _hops(row), n, row["metric"], *both, *found


def _hops(row: dict[str, Any]) -> str:
    return "?" if row["hops"] is None else str(row["hops"])
