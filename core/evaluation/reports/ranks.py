"""Ranks of a run's methods by paired tests; differences within chance share a rank.

A method is ahead of another only if a test is significant: a sign-flip permutation test on the
questions that both have, with Holm's correction over all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from core.evaluation.metrics.statistics import (
    NORMAL_QUANTILE,
    PairedTest,
    holm_corrected,
    paired_test,
)
from core.evaluation.reports.method_names import method_names
from core.evaluation.reports.summary import RunSummary

RETRIEVAL_METRICS = (
    "reader_hit@1",
    "passage_recall@4",
    "context_recall",
    "path_hit@32",
    "token_recall",
)
# Difference, in standard errors, that is significant at the level of .05 in 80 of 100 samples.
DETECTABLE_STANDARD_ERRORS = NORMAL_QUANTILE + 0.841621
DEARER_COST_RATIO = 1.2  # ratio of costs from which a method counts as more expensive
# Costs below these count as equal to them, because they are too small to matter.
NOTICEABLE_COSTS = {"tokens": 1.0, "seconds": 0.1}
MIN_RANKED_QUESTIONS = 8  # minimum number of questions for a statement


def ranking_metric(summary: RunSummary) -> str:
    """Return the metric of quality to rank by, empty if there is none.

    It is the first metric for which two methods have values that are not all 0. Metrics of
    answers come first if a language model gave the answers.
    """
    retrieval_names = tuple(map(summary.fitting, RETRIEVAL_METRICS))
    names = (
        summary.defaults.answers + retrieval_names if summary.run.spec["model"] else retrieval_names
    )
    # Shape [methods, questions, names].
    values = np.array([summary.values(method, names) for method in summary.methods])
    counts = (~np.isnan(values)).any(1).sum(0) >= min(2, len(summary.methods))
    varies = counts & (np.nan_to_num(values) != 0).any((0, 1))
    return next((name for name, good in [*zip(names, varies), *zip(names, counts)] if good), "")


@dataclass(frozen=True, eq=False)
class Ranks:
    """Ranking of a run's methods by one metric of quality, without adaptations."""

    summary: RunSummary
    metric: str

    @cached_property
    def values(self) -> dict[str, np.ndarray]:
        """Values of each compared method, one per question, NaN where there is none."""
        values_by_method = {
            one: self.summary.values(one, (self.metric,))[:, 0]
            for one in self.summary.methods
            if one not in self.summary.adapted
        }
        return {
            one: values for one, values in values_by_method.items() if not np.isnan(values).all()
        }

    @cached_property
    def common(self) -> np.ndarray:
        """Mask of the questions for which all methods have a value, bool [questions]."""
        return np.all([~np.isnan(values) for values in self.values.values()], axis=0)

    @cached_property
    def means(self) -> dict[str, float]:
        """Mean value of each method over the common questions."""
        return {one: float(values[self.common].mean()) for one, values in self.values.items()}

    @cached_property
    def costs(self) -> dict[str, float]:
        """Mean cost of each method: tokens if a language model answers, else seconds."""
        return {
            one: float(np.nanmean(values))
            for one in self.values
            if not np.isnan(values := self.summary.values(one, (self.cost,))).all()
        }

    def times(self, dear: str, cheap: str) -> float:
        """Return the ratio of two costs, after raising each to the noticeable minimum.

        Parameters
        ----------
        dear, cheap : ids of methods.

        Returns
        -------
        A ratio; 1 if one of the costs is unknown.
        """
        if dear not in self.costs or cheap not in self.costs:
            return 1.0
        return self.price(dear) / self.price(cheap)

    def ratio(self, dear: str, cheap: str) -> float:
        """Return the ratio of two known costs.

        Parameters
        ----------
        dear, cheap : ids of methods.

        Returns
        -------
        A ratio; infinite if the lower cost is 0.
        """
        if not self.costs[cheap]:
            return math.inf
        return self.costs[dear] / self.costs[cheap]

    def price(self, method: str) -> float:
        """Return the mean cost, at least the noticeable minimum; infinite if unknown."""
        return max(NOTICEABLE_COSTS[self.cost], self.costs.get(method, math.inf))

    @cached_property
    def cost(self) -> str:
        """The metric of cost."""
        used = self.summary.run.spec["model"] and any(
            np.nansum(self.summary.values(one, ("tokens",))) for one in self.values
        )
        return "tokens" if used else "seconds"

    @cached_property
    def names(self) -> dict[str, str]:
        """Name of each method."""
        return {key: one.plain for key, one in method_names(self.summary.run).items()}

    @cached_property
    def tests(self) -> dict[tuple[str, str], PairedTest]:
        """Test of every pair, with Holm's correction over all pairs."""
        return {
            (one.a, one.b): one
            for one in self.summary.compared(list(combinations(self.values, 2)), (self.metric,))
        }

    def test(self, a: str, b: str) -> PairedTest:
        """Return the paired test of two methods.

        Parameters
        ----------
        a, b : ids of methods.

        Returns
        -------
        The test with the difference a - b.
        """
        return self.tests[a, b] if (a, b) in self.tests else self.tests[b, a].turned

    @cached_property
    def ranks(self) -> dict[str, int]:
        """Rank of each method: 1 plus the number of methods significantly ahead of it."""
        return {
            b: 1 + sum(self.test(a, b).ahead for a in self.values if a != b) for b in self.values
        }

    @cached_property
    def first(self) -> list[str]:
        """Methods of rank 1, the recommended one first.

        Those that cost about as little as the cheapest come first, ordered by mean value.
        """
        tied = [one for one, rank in self.ranks.items() if rank == 1]
        min_price = min(map(self.price, tied))
        return sorted(
            tied,
            key=lambda one: (
                self.price(one) >= DEARER_COST_RATIO * min_price,
                -self.means[one],
                self.price(one),
            ),
        )

    @cached_property
    def n(self) -> int:
        """Number of common questions."""
        return int(self.common.sum())

    def retrieved(self, method: str) -> tuple:
        """Return all facts about what a method retrieved, by question.

        The tuple is empty for a method that retrieves nothing.
        """
        rows = {row.question.id: row.outcome for row in self.summary.of(method)}
        facts = lambda outcome: (
            (outcome.extracted, outcome.paths, outcome.reader, outcome.passages, outcome.fates)
            if outcome
            else ()
        )
        all_facts = [facts(rows.get(question)) for question in self.summary.questions]
        if any(fact is not None for facts in all_facts for fact in facts):
            return tuple(map(repr, all_facts))
        return ()

    def pays(self, pick: str) -> Iterator[tuple[int, PairedTest]]:
        """Yield the hop counts at which another method of rank 1 is ahead of `pick`.

        Each comes with the test on the questions of that hop count, with Holm's correction over all
        tests made here. Hop counts with fewer than `MIN_RANKED_QUESTIONS` questions are left out.
        """
        hops = {row.question.id: row.question.hops for row in self.summary.rows}
        hops_per_question = np.array([hops[question] or 0 for question in self.summary.questions])
        hop_tests = [
            (part, test)
            for part in sorted(set(hops_per_question.tolist()) - {0})
            if MIN_RANKED_QUESTIONS
            <= (mask := (hops_per_question == part) & self.common).sum()
            < self.n
            for one in self.first
            if one != pick
            and (
                test := paired_test(
                    self.metric, one, pick, self.values[one][mask], self.values[pick][mask]
                )
            )
            is not None
        ]
        for (part, _), test in zip(
            hop_tests, holm_corrected(test for _, test in hop_tests), strict=True
        ):
            if test.ahead:
                yield part, test

    def spread(self, a: str, b: str) -> float:
        """Return the standard deviation of the differences of two methods.

        Parameters
        ----------
        a, b : ids of methods.

        Returns
        -------
        The unit of the metric; 0 for a single question.
        """
        if self.n > 1:
            return float(np.std((self.values[a] - self.values[b])[self.common], ddof=1))
        return 0.0

    @cached_property
    def top(self) -> tuple[str, str]:
        """The two methods with the highest means."""
        first, second, *_ = sorted(
            self.values, key=lambda one: (-self.means[one], self.costs.get(one, math.inf))
        )
        return first, second

    @cached_property
    def needed(self) -> int:
        """Number of questions that would make the difference of the two highest means significant.

        It assumes a difference as large as the observed one. It is 0 if the difference is
        significant already or if the means are equal.
        """
        first, second = self.top
        gap, deviation = self.means[first] - self.means[second], self.spread(first, second)
        if self.n == 1 or not gap or self.test(first, second).beyond_chance:
            return 0
        return math.ceil((DETECTABLE_STANDARD_ERRORS * deviation / gap) ** 2)
