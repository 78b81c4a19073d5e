"""Comparison of two methods over the same questions, without saving anything.

It shows, for example, what a change of a method or of a graph does to a sample of questions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from core.environment import Environment
from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.defaults import defaults_for
from core.evaluation.metrics.failures import failure_patterns, join_reasons
from core.evaluation.metrics.outcome import Outcome
from core.evaluation.metrics.statistics import PairedTest, paired_test
from core.evaluation.runs.plan import DrawnQuestion, Plan
from core.evaluation.runs.row import run_methods
from core.sources import SourceQuestion
from core.types import Question
from core.watch import Watch


@dataclass(frozen=True)
class MetricDifference:
    """Difference of one metric between two methods.

    `before` and `now` are the means of the plan's first and second method, over the questions for
    which both have a value. `test` is the paired test of `now` minus `before`.
    """

    metric: str
    before: float
    now: float
    test: PairedTest


@dataclass
class PairedRun:
    """Run of a plan with two methods.

    Calling it with its job asks both methods every question. The methods share the states after
    common leading operators, and their order alternates. `ask` prepares a question
    (`core.evaluation.runs.row.make_ask`). `outcomes` holds the results so far: per question, the
    outcomes of the first and second method, with None for a failure. `errors` holds the reasons of
    failures as sentences.
    """

    plan: Plan
    environment: Environment
    ask: Callable[[DrawnQuestion], SourceQuestion]
    outcomes: list[tuple[Outcome | None, Outcome | None]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def __call__(self, watch: Watch) -> PairedRun:
        """Ask every question with both methods.

        Raises RunCancelled if the job was cancelled; `outcomes` then holds the results until that
        moment.
        """
        question_count = len(self.plan.drawn)
        for index in range(question_count):
            watch.check()
            watch.report(f"{index:,} of {question_count:,} questions", index / question_count)
            outcomes: dict[str, Outcome | None] = {}
            for row in run_methods(self.plan, self.environment, self.ask, index, watch=watch):
                outcomes[row.method] = row.outcome
                if row.error:
                    self.errors.append(row.error)
            before, now = self.plan.methods
            self.outcomes.append((outcomes[before.id], outcomes[now.id]))
        watch.report(f"{question_count:,} of {question_count:,} questions", 1.0)
        return self

    def reasons(self) -> str:
        """Return the reasons of failures by pattern, empty if no question failed."""
        return join_reasons(failure_patterns(self.errors))

    def differences(self) -> tuple[MetricDifference, ...]:
        """Return the differences so far, by change metric.

        A metric is included if both methods have values for it. A failed question has the value
        that the metric gives to failures.
        """
        outcomes = list(self.outcomes)  # a copy, because the job may still be running
        questions = [drawn.question for drawn in self.plan.drawn[: len(outcomes)]]
        differences = []
        for name in defaults_for(self.plan.drawn[0].source).change_metrics:
            if name == "hits@1" and not self.plan.model:
                continue
            numbers = [
                (_number(name, before, question), _number(name, now, question))
                for (before, now), question in zip(outcomes, questions)
            ]
            before_values, now_values = np.array(numbers, np.float64).reshape(-1, 2).T
            test = paired_test(name, "now", "before", now_values, before_values)
            if test is not None:
                has_both = ~np.isnan(now_values - before_values)
                before_mean = float(before_values[has_both].mean())
                now_mean = float(now_values[has_both].mean())
                differences.append(MetricDifference(name, before_mean, now_mean, test))
        return tuple(differences)


def _number(name: str, outcome: Outcome | None, question: Question) -> float:
    """Return a metric's value for one question, NaN if it has none."""
    number = metric(name).value_if_failed(question) if outcome is None else metric(name)(outcome)
    return np.nan if number is None else float(number)
