"""Report on a trained encoder: retrieval with it and with the plain one on unseen questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from core.evaluation.metrics.statistics import Estimate
from core.evaluation.reports.export import align_columns
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.store import Run, Store, StoredRow
from core.finetune.split import QuestionSplit
from core.methods.catalogue import catalogue, find_method
from core.runtime.jobs import Job

# Methods that rank the same paths, the first by the plain encoder, the second by encoder-finetuned.
PLAIN_METHOD = "lego-v1-16"
TRAINED_METHOD = "lego-v1-18"
COMPARED_METRICS = ("path_hit@1", "path_hit@32", "path_recall@32")


def evaluations(split: QuestionSplit, size: int, engine, store: Store) -> Iterator[Job]:
    """Yield the jobs that evaluate first the plain encoder, then the trained one.

    Each asks `size` unseen questions of every test set. The runs are separate and saved question by
    question, so that the plain encoder's results can be reused when another encoder is trained. A
    job's `number` is the number of its run in the store. Raises BadInput, StoreError.
    """
    methods = catalogue()
    for name in (PLAIN_METHOD, TRAINED_METHOD):
        yield evaluate(engine, store, split.plan([find_method(name, methods)], size, engine.graph))


def merge_summaries(runs: Sequence[tuple[Run, Sequence[StoredRow]]]) -> RunSummary:
    """Return one summary of several runs over the same questions.

    Each run has its own method.
    """
    first = runs[0][0]
    methods = [method for run, _ in runs for method in run.spec["instances"]]
    return RunSummary(
        replace(first, spec={**first.spec, "instances": methods}),
        [row for _, rows in runs for row in rows],
    )


def comparison_rows(summary: RunSummary) -> list[dict[str, Any]]:
    """Return a row for each hop count and metric.

    `before` is the figure of the first method and `after` that of the second, both with 95 %
    intervals. `change` is the mean difference over the same questions, with its interval and the
    p-value of the hypothesis of no change, not corrected for several tests. It is empty if there is
    no test.
    """
    first, second = summary.methods
    rows = []
    for hops, part in summary.by_hops().items():
        figures = part.table(COMPARED_METRICS)
        tests = {
            test.metric: test for test in part.paired_tests([(second, first)], COMPARED_METRICS)
        }
        for name in COMPARED_METRICS:
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


def report_lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the rows of `comparison_rows` as a text table.

    Lines on metrics without a gain follow.
    """
    head = ("hops", "questions", "metric", "before", "after", "change, 95 % interval", "p")
    text = align_columns([head, *map(_cells, rows)], left_count=0)
    without_gain = []
    uncertain = []
    for row in rows:
        title = f"{row['metric']} at {_hops(row)} hops"
        if row["change"] and row["change"]["difference"] <= 0:
            without_gain.append(title)
        elif row["change"] and row["change"]["low"] <= 0:
            uncertain.append(title)
    if without_gain:
        text.append(f"No gain: {', '.join(without_gain)}.")
    if uncertain:  # the interval of the change includes 0
        text.append(f"A gain that may be chance: {', '.join(uncertain)}.")
    return text


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    change = row["change"]
    estimates = [
        Estimate(**row[side]).format_with_interval("{:.3f}".format) for side in ("before", "after")
    ]
    change_cells = ("–", "–")
    if change:
        difference = Estimate(change["difference"], change["low"], change["high"], change["n"])
        change_cells = (difference.format_with_interval("{:+.3f}".format), f"{change['p']:.2g}")
    return _hops(row), str(row["after"]["n"]), row["metric"], *estimates, *change_cells


def _hops(row: dict[str, Any]) -> str:
    return "?" if row["hops"] is None else str(row["hops"])
