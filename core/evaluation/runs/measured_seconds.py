"""Mean seconds that methods took on a source, measured by the evaluations on this machine."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from statistics import fmean

from core.errors import HopscopeError, StoreError
from core.evaluation.runs.store import Store
from core.sources import AnswerSource


def mean_search_seconds(store: Store, source: AnswerSource) -> dict[str, float]:
    """Return the mean seconds per question before the answer, by the text of a method's line.

    Evaluations of several sources are left out, and so are results read from files and failed
    questions. The result is empty if the evaluations cannot be read.
    """
    seconds_by_line: dict[str, list[float]] = defaultdict(list)
    try:
        runs = store.runs()
    except StoreError:
        return {}
    for run in runs:
        if {name for name, _ in run.spec["graphs"]} != {source.saved_name}:
            continue
        for line, seconds in _run_seconds(store, run.id, run.done):
            seconds_by_line[line].append(seconds)
    return {line: fmean(seconds) for line, seconds in seconds_by_line.items()}


@lru_cache(maxsize=128)
def _run_seconds(store: Store, number: int, done: int) -> tuple[tuple[str, float], ...]:
    """Return the line and the seconds of each row. The number of rows is a cache key."""
    try:
        run = store.run(number)
        rows = store.rows(number)
    except HopscopeError:
        return ()
    lines = {spec["id"]: spec["line"] for spec in run.spec["instances"]}
    return tuple(
        (lines[row.method], sum(cost.seconds for cost in row.outcome.costs if _is_search(cost)))
        for row in rows
        if row.outcome is not None and row.outcome.costs and not row.outcome.is_from_file
    )


def _is_search(cost) -> bool:
    return cost.stage != "generate"
