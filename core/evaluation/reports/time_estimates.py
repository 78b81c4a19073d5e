"""Expected seconds of methods, from the evaluations that this installation has saved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import fmean

from core.errors import HopscopeError
from core.evaluation.reports.method_names import method_name
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.store import Store
from core.methods.catalogue import Method
from core.operators.base import Line
from core.operators.text import parse_line

MAX_READ_RUNS = 8  # newest runs that are read
MAX_READ_ROWS = 2_000  # of a run; reading more would delay a page


@dataclass(frozen=True)
class MeasuredSeconds:
    """Mean seconds a question, without the answer of a language model.

    Parameters
    ----------
    by_line : seconds of whole lines, by their text without the answering step.
    by_operator : seconds of single operators, by name, over all lines.
    """

    by_line: Mapping[str, float] = field(default_factory=dict)
    by_operator: Mapping[str, float] = field(default_factory=dict)

    def of_line(self, line: Line) -> float | None:
        """Return the seconds of a line, None if it has an operator that was never measured.

        They are those of the line itself, or else the sum over its operators.
        """
        retrieving = line.without_stage("generate")
        if repr(retrieving) in self.by_line:
            return self.by_line[repr(retrieving)]
        seconds = [self.by_operator.get(type(operator).__name__) for operator in retrieving]
        known = [each for each in seconds if each is not None]
        return sum(known) if len(known) == len(seconds) else None


def expected_seconds(
    methods: Iterable[Method], measured: MeasuredSeconds, guess: Callable[[Line], float]
) -> tuple[float, list[str]]:
    """Return the expected seconds a question of methods together, and the guessed ones by name.

    Parameters
    ----------
    methods : the methods.
    measured : seconds of earlier evaluations.
    guess : seconds of a line that was never measured.

    Returns
    -------
    The sum of the seconds, and the names of the methods whose seconds are guesses.
    """
    total = 0.0
    guessed = []
    for method in methods:
        seconds = measured.of_line(method.line)
        if seconds is None:
            seconds = guess(method.line)
            guessed.append(str(method_name(method)))
        total += seconds
    return total, guessed


def measured_seconds(store: Store) -> MeasuredSeconds:
    """Return the mean seconds in the newest evaluations.

    They are empty if nothing was evaluated.
    """
    by_line: dict[str, list[float]] = {}
    by_operator: dict[str, list[float]] = {}
    runs = [run for run in store.runs() if run.done and run.done <= MAX_READ_ROWS]
    for run in runs[:MAX_READ_RUNS]:
        for text, costs in _run_seconds(store, run.id, (run.created, run.done)):
            try:
                line = parse_line(text).without_stage("generate")
            except HopscopeError:  # the line has operators that no longer exist
                continue
            by_line.setdefault(repr(line), []).append(sum(seconds for _, seconds in costs))
            for operator, seconds in costs:
                by_operator.setdefault(operator, []).append(seconds)
    return MeasuredSeconds(_means(by_line), _means(by_operator))


def _means(seconds: Mapping[str, list[float]]) -> dict[str, float]:
    return {name: fmean(values) for name, values in seconds.items()}


@lru_cache(maxsize=64)
def _run_seconds(
    store: Store, number: int, progress: tuple[float, int]
) -> tuple[tuple[str, tuple[tuple[str, float], ...]], ...]:
    """Return the seconds of each operator of each line of a run.

    `progress` is a part of the cache's key, so that a run that advances is read again.
    """
    summary = RunSummary(store.run(number), store.rows(number))
    lines = []
    for spec in summary.run.spec["instances"]:
        steps = summary.operators(spec["id"])
        costs = [(one["operator"], one["seconds"]) for one in steps if one["stage"] != "generate"]
        if costs:
            lines.append((spec["line"], tuple(costs)))
    return tuple(lines)
