"""Two lines over the same questions, nothing of which is saved: how the second differs from the first, question by question."""

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
    """One metric over the questions that gave both lines a number: its means before and now, and what the test of their difference says."""

    metric: str
    before: float
    now: float
    test: Paired


@dataclass
class BothLines:
    """A plan of two instances at work; called with its job it asks both every question, the first one by turns, sharing what they share.

    `outcomes` has what came of them so far (None where one failed), in the order of the questions; `errors` why.
    """

    plan: Plan
    environment: Environment
    ask: Callable[[Drawn], Ask]
    outcomes: list[tuple[Outcome | None, Outcome | None]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def __call__(self, watch: Watch) -> BothLines:
        """Ask everything; raises Cancelled where the job was cancelled, after which `outcomes` has what was asked until then."""
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
        """Why questions failed, those of one kind counted together; empty where none did."""
        return reasons(patterns(self.errors)) if self.errors else ""

    def differences(self) -> tuple[Difference, ...]:
        """The differences so far, of the metrics that both lines have; a failed question has what the metric says of one."""
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
    """A metric's number for one question, nan for none."""
    number = metric(name).when_failed(question) if outcome is None else metric(name)(outcome)
    return np.nan if number is None else float(number)
