"""Ranks of a run's instances by paired tests: what chance may explain shares a rank.

A method is ahead of another only where a test carries it: a sign-flip permutation test on the questions that both have, with Holm's
correction over all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from core.evaluation.metrics.statistics import WIDE, Paired, corrected, paired
from core.evaluation.reports.naming import called
from core.evaluation.reports.summary import Summary

FOUND = ("reader_hit@1", "passage_recall@4", "context_recall", "path_hit@32", "token_recall")
# standard errors that a difference needs to be found in 80 of 100 samples, at the level of .05
POWER = WIDE + 0.841621
DEARER = 1.2  # times the cost from which on a method counts as dearer
NOTICED = {"tokens": 1.0, "seconds": 0.1}  # costs below which nobody looks at how large they are
FEW = 8  # questions: fewer say nothing


def quality(summary: Summary) -> str:
    """The metric to go by: the first that two instances have numbers of, not all of them 0; those of answers first, where a language model
    gave them."""
    found = tuple(map(summary.fitting, FOUND))
    names = summary.defaults.answers + found if summary.run.spec["model"] else found
    # [instances, questions, names]
    values = np.array([summary.values(instance, names) for instance in summary.instances])
    counts = (~np.isnan(values)).any(1).sum(0) >= min(2, len(summary.instances))
    varied = counts & (np.nan_to_num(values) != 0).any((0, 1))
    return next((name for name, good in [*zip(names, varied), *zip(names, counts)] if good), "")


@dataclass(frozen=True, eq=False)
class Ranks:
    """The instances of a run by one metric of quality; adaptations are left out."""

    summary: Summary
    metric: str

    @cached_property
    def values(self) -> dict[str, np.ndarray]:
        """For each instance that is compared its value of each question, NaN where there is none."""
        found = {
            one: self.summary.values(one, (self.metric,))[:, 0]
            for one in self.summary.instances
            if one not in self.summary.adapted
        }
        return {one: values for one, values in found.items() if not np.isnan(values).all()}

    @cached_property
    def common(self) -> np.ndarray:
        """bool [questions]: which of them all instances have a value of."""
        return np.all([~np.isnan(values) for values in self.values.values()], axis=0)

    @cached_property
    def means(self) -> dict[str, float]:
        """The mean value of each instance over the questions that all of them have."""
        return {one: float(values[self.common].mean()) for one, values in self.values.items()}

    @cached_property
    def costs(self) -> dict[str, float]:
        """Each instance's mean cost: tokens where a language model answers, else seconds."""
        return {
            one: float(np.nanmean(values))
            for one in self.values
            if not np.isnan(values := self.summary.values(one, (self.cost,))).all()
        }

    def times(self, dear: str, cheap: str) -> float:
        """Ratio of two costs as far as anybody looks at them; 1 where one is not known."""
        if dear not in self.costs or cheap not in self.costs:
            return 1.0
        return self.price(dear) / self.price(cheap)

    def ratio(self, dear: str, cheap: str) -> float:
        """Ratio of two known costs; infinite where the lower one is 0."""
        if not self.costs[cheap]:
            return math.inf
        return self.costs[dear] / self.costs[cheap]

    def price(self, instance: str) -> float:
        """The mean cost as far as anybody looks at it; infinite where it is not known."""
        return max(NOTICED[self.cost], self.costs.get(instance, math.inf))

    @cached_property
    def cost(self) -> str:
        """The metric of cost."""
        used = self.summary.run.spec["model"] and any(
            np.nansum(self.summary.values(one, ("tokens",))) for one in self.values
        )
        return "tokens" if used else "seconds"

    @cached_property
    def names(self) -> dict[str, str]:
        """What each instance is called."""
        return {key: one.plain for key, one in called(self.summary.run).items()}

    @cached_property
    def tests(self) -> dict[tuple[str, str], Paired]:
        """The test of every pair, Holm's correction over all of them."""
        return {
            (one.a, one.b): one
            for one in self.summary.compared(list(combinations(self.values, 2)), (self.metric,))
        }

    def test(self, a: str, b: str) -> Paired:
        """The test of a pair, seen from `a`."""
        return self.tests[a, b] if (a, b) in self.tests else self.tests[b, a].turned

    @cached_property
    def ranks(self) -> dict[str, int]:
        """1 more than there are methods that are ahead beyond chance."""
        return {
            b: 1 + sum(self.test(a, b).ahead for a in self.values if a != b) for b in self.values
        }

    @cached_property
    def first(self) -> list[str]:
        """The instances of rank 1: those that cost about as little as the cheapest first, of these the highest mean."""
        tied = [one for one, rank in self.ranks.items() if rank == 1]
        least = min(map(self.price, tied))
        return sorted(
            tied,
            key=lambda one: (self.price(one) >= DEARER * least, -self.means[one], self.price(one)),
        )

    @cached_property
    def n(self) -> int:
        """The questions of which all instances have a value."""
        return int(self.common.sum())

    def retrieved(self, instance: str) -> tuple:
        """All facts of what an instance retrieved, by question; none for one that retrieves nothing."""
        rows = {row.question.id: row.outcome for row in self.summary.of(instance)}
        facts = lambda outcome: (
            (outcome.extracted, outcome.paths, outcome.reader, outcome.passages, outcome.fates)
            if outcome
            else ()
        )
        found = [facts(rows.get(question)) for question in self.summary.questions]
        if any(fact is not None for facts in found for fact in facts):
            return tuple(map(repr, found))
        return ()

    def pays(self, take: str) -> Iterator[tuple[int, Paired]]:
        """Where another of the first rank is ahead of `take`: a number of hops, and the test on the questions that have it, with Holm's
        correction over all that were made. Parts of fewer than `FEW` questions are left out."""
        hops = {row.question.id: row.question.hops for row in self.summary.rows}
        of = np.array([hops[question] or 0 for question in self.summary.questions])
        tried = [
            (part, test)
            for part in sorted(set(of.tolist()) - {0})
            if FEW <= (chosen := (of == part) & self.common).sum() < self.n
            for one in self.first
            if one != take
            and (
                test := paired(
                    self.metric, one, take, self.values[one][chosen], self.values[take][chosen]
                )
            )
            is not None
        ]
        for (part, _), test in zip(tried, corrected(test for _, test in tried), strict=True):
            if test.ahead:
                yield part, test

    def spread(self, a: str, b: str) -> float:
        """The standard deviation of the differences of a pair; 0 of one question."""
        if self.n > 1:
            return float(np.std((self.values[a] - self.values[b])[self.common], ddof=1))
        return 0.0

    @cached_property
    def top(self) -> tuple[str, str]:
        """The two methods of the highest means."""
        first, second, *_ = sorted(
            self.values, key=lambda one: (-self.means[one], self.costs.get(one, math.inf))
        )
        return first, second

    @cached_property
    def needed(self) -> int:
        """How many questions would show a difference of the two highest means as large as here; 0 where it shows already, or they agree."""
        first, second = self.top
        gap, spread = self.means[first] - self.means[second], self.spread(first, second)
        if self.n == 1 or not gap or self.test(first, second).beyond_chance:
            return 0
        return math.ceil((POWER * spread / gap) ** 2)
