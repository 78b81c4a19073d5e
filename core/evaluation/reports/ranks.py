"""Ranks of a run's methods by paired tests.

The recommendation of a method is based on them. A method is ahead of another only if a test is
significant: a sign-flip permutation test on the questions for which both have a value, with Holm's
correction over all pairs. Methods that no other method is ahead of share rank 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from operator import attrgetter

import numpy as np

from core.evaluation.metrics.statistics import (
    NORMAL_QUANTILE,
    PairedTest,
    holm_corrected,
    paired_test,
)
from core.evaluation.reports.method_names import method_names
from core.evaluation.reports.summary import RunSummary

# Metrics to rank by if no metric of answers can be used, best first.
RETRIEVAL_METRICS = (
    "reader_hit@1",
    "passage_recall@4",
    "context_recall",
    "path_hit@32",
    "token_recall",
)
# True difference, in standard errors, that a test at the level of .05 finds with a power of .8.
DETECTABLE_STANDARD_ERRORS = NORMAL_QUANTILE + 0.841621
DEARER_COST_RATIO = 1.2  # ratio of costs from which a method counts as more expensive
# Costs below these count as equal to them, because they are too small to matter.
NOTICEABLE_COSTS = {"tokens": 1.0, "seconds": 0.1}
MIN_RANKED_QUESTIONS = 8  # minimum number of questions for a statement
# Reads the fields of an outcome that retrieval alone determines.
RETRIEVAL_FACTS = attrgetter("extracted", "paths", "reader", "passages", "fates")


def ranking_metric(summary: RunSummary) -> str:
    """Return the metric of quality to rank by, empty if there is none.

    It is the first metric for which at least two methods (or the only one) have values, and some
    value is not 0. Failing that, it is the first metric with values. Metrics of answers come first
    if a language model gave the answers.
    """
    answer_names = summary.defaults.answer_metrics if summary.run.spec["model"] else ()
    names = (*answer_names, *map(summary.fitting_metric, RETRIEVAL_METRICS))
    # Shape [methods, questions, names].
    values = np.array([summary.values(method, names) for method in summary.methods])
    is_known = (~np.isnan(values)).any(1).sum(0) >= min(2, len(summary.methods))
    has_hits = is_known & (np.nan_to_num(values) != 0).any((0, 1))
    for mask in (has_hits, is_known):
        if mask.any():
            return names[mask.argmax()]
    return ""


@dataclass(frozen=True, eq=False)
class Ranks:
    """Ranking of a run's methods by one metric of quality.

    Adaptations are left out, because their results say nothing about the published method.
    """

    summary: RunSummary
    metric: str

    @cached_property
    def values(self) -> dict[str, np.ndarray]:
        """Values of each ranked method: one per question, NaN if there is none."""
        values_by_method = {}
        for method in self.summary.methods:
            values = self.summary.values(method, (self.metric,))[:, 0]
            if method not in self.summary.adapted_names and not np.isnan(values).all():
                values_by_method[method] = values
        return values_by_method

    @cached_property
    def common_mask(self) -> np.ndarray:
        """Mask of the questions for which all methods have a value, bool [questions]."""
        return np.all([~np.isnan(values) for values in self.values.values()], axis=0)

    @cached_property
    def means(self) -> dict[str, float]:
        """Mean value of each method over the common questions."""
        return {
            method: float(values[self.common_mask].mean()) for method, values in self.values.items()
        }

    @cached_property
    def costs(self) -> dict[str, float]:
        """Mean cost per question of each method, in the unit of `cost_metric`."""
        costs = {}
        for method in self.values:
            values = self.summary.values(method, (self.cost_metric,))
            if not np.isnan(values).all():
                costs[method] = float(np.nanmean(values))
        return costs

    def noticeable_cost_ratio(self, method: str, other: str) -> float:
        """Return the ratio of two costs.

        A cost below the noticeable minimum is first raised to it.

        Parameters
        ----------
        method, other : ids of methods.

        Returns
        -------
        The cost of `method` over the cost of `other`; 1 if one of the costs is unknown.
        """
        if method not in self.costs or other not in self.costs:
            return 1.0
        return self.noticeable_cost(method) / self.noticeable_cost(other)

    def cost_ratio(self, method: str, other: str) -> float:
        """Return the ratio of two known costs.

        Parameters
        ----------
        method, other : ids of methods.

        Returns
        -------
        The cost of `method` over the cost of `other`; infinite if the latter is 0.
        """
        if not self.costs[other]:
            return math.inf
        return self.costs[method] / self.costs[other]

    def noticeable_cost(self, method: str) -> float:
        """Return a method's mean cost, at least the noticeable minimum; infinite if unknown."""
        return max(NOTICEABLE_COSTS[self.cost_metric], self.costs.get(method, math.inf))

    @cached_property
    def cost_metric(self) -> str:
        """Metric of cost: tokens if a language model answers and any were counted, else seconds."""
        if not self.summary.run.spec["model"]:
            return "seconds"
        tokens = (self.summary.values(method, ("tokens",)) for method in self.values)
        return "tokens" if any(map(np.nansum, tokens)) else "seconds"

    @cached_property
    def names(self) -> dict[str, str]:
        """Name of each method in plain words."""
        return {method: name.plain for method, name in method_names(self.summary.run).items()}

    @cached_property
    def tests(self) -> dict[tuple[str, str], PairedTest]:
        """Paired test of every pair of methods, with Holm's correction over all pairs."""
        tests = self.summary.paired_tests(list(combinations(self.values, 2)), (self.metric,))
        return {(test.a, test.b): test for test in tests}

    def test(self, a: str, b: str) -> PairedTest:
        """Return the paired test of two methods.

        Parameters
        ----------
        a, b : ids of methods.

        Returns
        -------
        The test with the difference a - b.
        """
        return self.tests[a, b] if (a, b) in self.tests else self.tests[b, a].swapped

    @cached_property
    def ranks(self) -> dict[str, int]:
        """Rank of each method: 1 plus the number of methods significantly ahead of it."""
        return {
            b: 1 + sum(self.test(a, b).is_significantly_above for a in self.values if a != b)
            for b in self.values
        }

    @cached_property
    def first_ranked(self) -> list[str]:
        """Methods of rank 1, the recommended one first.

        Methods that cost about as little as the cheapest come first. Within these, and within the
        others, the highest mean comes first.
        """
        tied = [method for method, rank in self.ranks.items() if rank == 1]
        min_cost = min(map(self.noticeable_cost, tied))

        def sort_key(method: str) -> tuple[bool, float, float]:
            cost = self.noticeable_cost(method)
            return cost >= DEARER_COST_RATIO * min_cost, -self.means[method], cost

        return sorted(tied, key=sort_key)

    @cached_property
    def n(self) -> int:
        """Number of questions for which all methods have a value."""
        return int(self.common_mask.sum())

    def retrieval_facts(self, method: str) -> tuple:
        """Return the retrieval fields of a method's outcomes as texts, one per question.

        Methods with equal tuples have equal retrieval figures. The tuple is empty for a method that
        retrieves nothing.
        """
        outcomes = {row.question.id: row.outcome for row in self.summary.rows_of(method)}
        facts = []
        for question in self.summary.questions:
            outcome = outcomes.get(question)
            facts.append(RETRIEVAL_FACTS(outcome) if outcome else ())
        if any(fact is not None for fact in chain.from_iterable(facts)):
            return tuple(map(repr, facts))
        return ()

    def leads_by_hops(self, pick: str) -> Iterator[tuple[int, PairedTest]]:
        """Yield the hop counts at which another method is ahead of `pick`.

        The other method has rank 1. Each hop count comes with the test on its questions, with
        Holm's correction over all these tests. A hop count is left out if it has fewer than
        `MIN_RANKED_QUESTIONS` common questions, or all of them.
        """
        hops_by_id = {row.question.id: row.question.hops for row in self.summary.rows}
        # 0 stands for an unknown hop count.
        question_hops = np.array([hops_by_id[id] or 0 for id in self.summary.questions])
        tested_hops: list[int] = []
        tests: list[PairedTest] = []
        for hops in sorted(set(question_hops.tolist()) - {0}):
            mask = (question_hops == hops) & self.common_mask
            if not MIN_RANKED_QUESTIONS <= mask.sum() < self.n:
                continue
            for method in self.first_ranked:
                if method == pick:
                    continue
                values = self.values[method][mask], self.values[pick][mask]
                spreads = [self.summary.spread(each, self.metric) for each in (method, pick)]
                test = paired_test(self.metric, method, pick, *values, spreads=spreads)
                if test is not None:
                    tested_hops.append(hops)
                    tests.append(test)
        for hops, test in zip(tested_hops, holm_corrected(tests), strict=True):
            if test.is_significantly_above:
                yield hops, test

    def difference_deviation(self, a: str, b: str) -> float:
        """Return the standard deviation of the difference of two methods over common questions.

        Parameters
        ----------
        a, b : ids of methods.

        Returns
        -------
        A number in the unit of the metric; 0 for a single question.
        """
        if self.n > 1:
            return float(np.std((self.values[a] - self.values[b])[self.common_mask], ddof=1))
        return 0.0

    @cached_property
    def top_two(self) -> tuple[str, str]:
        """The two methods with the highest means; of equal means the cheaper one first.

        There must be at least two methods.
        """
        first, second, *_ = sorted(
            self.values, key=lambda method: (-self.means[method], self.costs.get(method, math.inf))
        )
        return first, second

    @cached_property
    def needed_questions(self) -> int:
        """Number of questions that would make the difference of the two highest means significant.

        The number assumes that the difference stays as large as observed. It is 0 if the difference
        is significant already, if the means are equal, or if there is a single question.
        """
        first, second = self.top_two
        gap = self.means[first] - self.means[second]
        if self.n == 1 or not gap or self.test(first, second).is_significant:
            return 0
        standard_errors = (
            DETECTABLE_STANDARD_ERRORS * self.difference_deviation(first, second) / gap
        )
        return math.ceil(standard_errors**2)
