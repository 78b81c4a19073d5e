"""Comparison of two methods over the same questions without saving anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from core.environment import Environment
from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.defaults import defaults
from core.evaluation.metrics.failures import patterns, reasons
from core.evaluation.metrics.outcome import Outcome
from core.evaluation.metrics.statistics import Paired, paired
from core.evaluation.runs.plan import Drawn, Plan
from core.evaluation.runs.row import vary
from core.sources import Ask
from core.types import Question
from core.watch import Watch


@dataclass(frozen=True)
class Difference:
    """Difference of one metric between two methods.

    The means are over the questions where both methods have a value. `test` is the paired test of
    the difference.
    """

    metric: str
    before: float
    now: float
    test: Paired


@dataclass
class BothLines:
    """Run of a plan with two instances; calling it with its job asks both every question.

    The instances share common prefixes, and take turns in going first. `outcomes` holds the results
    so far, in the order of the questions, with None for a failed one. `errors` holds the reasons of
    failures.
    """

    plan: Plan
    environment: Environment
    ask: Callable[[Drawn], Ask]
    outcomes: list[tuple[Outcome | None, Outcome | None]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def __call__(self, watch: Watch) -> BothLines:
        """Ask every question with both instances.

        Raises Cancelled if the job was cancelled; `outcomes` then holds the results until that
        moment.
        """
        of = len(self.plan.drawn)
        for place in range(of):
            watch.check()
            watch.report(f"{place:,} of {of:,} questions", place / of)
            found = dict[str, Outcome | None]()
            for row in vary(self.plan, self.environment, self.ask, place, watch=watch):
                found[row.instance] = row.outcome
                self.errors += [row.error] if row.error else []
            before, now = self.plan.instances
            self.outcomes.append((found[before.id], found[now.id]))
        watch.report(f"{of:,} of {of:,} questions", 1.0)
        return self

    def reasons(self) -> str:
        """Return why questions failed, similar reasons counted together; empty if none failed."""
        return reasons(patterns(self.errors)) if self.errors else ""

    def differences(self) -> tuple[Difference, ...]:
        """Return the differences so far, for each metric that both methods have.

        A failed question has the value that the metric gives to failures.
        """
        outcomes = list(self.outcomes)
        questions = [drawn.question for drawn in self.plan.drawn[: len(outcomes)]]
        asked = lambda name: self.plan.model or name != "hits@1"
        found = []
        for name in filter(asked, defaults(self.plan.drawn[0].source).changes):
            pairs = zip(outcomes, questions)
            numbers = [[_number(name, one, question) for one in pair] for pair, question in pairs]
            before, now = np.array(numbers, np.float64).reshape(-1, 2).T
            test = paired(name, "now", "before", now, before)
            if test is not None:
                there = ~np.isnan(now - before)
                means = float(before[there].mean()), float(now[there].mean())
                found.append(Difference(name, *means, test))
        return tuple(found)


def _number(name: str, outcome: Outcome | None, question: Question) -> float:
    """Return a metric's value for one question, NaN if it has none."""
    number = metric(name).when_failed(question) if outcome is None else metric(name)(outcome)
    return np.nan if number is None else float(number)
