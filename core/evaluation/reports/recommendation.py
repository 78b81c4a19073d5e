"""Recommendation of a method after an evaluation, with its evidence and its cost.

The sentences are made from the rows alone. Ranks are those of `core.evaluation.reports.ranks`. The
cheapest method of rank 1 is recommended, and among those that cost about as little, the one with
the highest mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.diagnosis.wording import number_words
from core.evaluation.metrics.statistics import PairedTest
from core.evaluation.questions.name_questions import (
    KIND_WORDS,
    MADE_QUESTIONS_NOTE,
    MADE_SET_SUFFIX,
    kind_of,
)
from core.evaluation.reports.flow import END_RIGHT, PASSAGE_MEASURE, end_stages
from core.evaluation.reports.ranks import (
    DEARER_COST_RATIO,
    DETECTABLE_STANDARD_ERRORS,
    MIN_RANKED_QUESTIONS,
    Ranks,
    ranking_metric,
)
from core.evaluation.reports.summary import RunSummary

# Meaning of a metric's share in words, by the metric's name with or without its cut-off.
SHARE_MEANINGS = {
    "hits@1": "of the questions answered right",
    "accuracy": "of the questions answered right",
    "token_recall": "of the words of the correct answers",
    "reader_hit@1": "of the questions answered right by the graph reader",
    "passage_recall": "of the evidence in the first {k} passages",
    "context_recall": "of the answers in the prompt",
    "path_hit@32": "of the questions with an answer in the first 32 paths",
}
MAX_REQUESTED_QUESTIONS = 10_000  # maximum number of questions to ask for


@dataclass(frozen=True)
class Recommendation:
    """Recommended method with its reasons.

    `take` is the id of a method, empty if the rows allow no choice. `ranks` holds the rank of
    each compared method: 1 plus the number of methods significantly ahead of it by `metric`.
    `headline` is one sentence, and `details` are further ones. `more` is the number of further
    questions needed to distinguish the two highest means. It is 0 if that is unknown, if they are
    distinguished already, or if there are not enough questions.
    """

    metric: str
    take: str
    ranks: Mapping[str, int]
    headline: str
    details: tuple[str, ...] = ()
    more: int = 0


def recommendation(summary: RunSummary) -> Recommendation | None:
    """Return the recommendation of a run, based on the rows so far.

    It is None if no method has a figure of quality.
    """
    name = ranking_metric(summary)
    return _RecommendationText(Ranks(summary, name)).recommendation() if name else None


@dataclass(frozen=True, eq=False)
class _RecommendationText:
    """Sentences about ranked methods."""

    of: Ranks

    def recommendation(self) -> Recommendation | None:
        if not self.of.n:
            return None
        if len(self.of.values) == 1:
            (only_method,) = self.of.values
            return Recommendation(
                self.of.metric,
                "",
                {only_method: 1},
                f"{self.of.names[only_method]}: {self._share(only_method)}. There is no other method to compare.",
            )
        further_questions, power = self._further_questions(), self._power()
        if self.of.n < MIN_RANKED_QUESTIONS:
            few_text = "One question says" if self.of.n == 1 else f"{self.of.n:,} questions say"
            headline = f"{few_text} too little to recommend a method."
            return Recommendation(
                self.of.metric,
                "",
                self.of.ranks,
                headline,
                tuple(filter(None, [power])),
                further_questions,
            )
        pick = self.of.first[0]
        same_results, pays = self._equal_results(pick), self._pays(pick)
        details = (
            self._why(pick),
            self._highest(pick),
            *same_results,
            *pays,
            self._deeper(pick),
            power,
            self._made_note(),
        )
        return Recommendation(
            self.of.metric,
            pick,
            self.of.ranks,
            self._headline(pick),
            tuple(filter(None, details)),
            further_questions,
        )

    def _headline(self, pick: str) -> str:
        tied_count, name = len(self.of.first), self.of.names[pick]
        if tied_count == 1:
            return (
                f"Take {name}: it is better than "
                f"{'the other' if len(self.of.values) == 2 else 'each other method'} "
                "(statistically significant)."
            )
        cheaper = all(self.of.times(one, pick) >= DEARER_COST_RATIO for one in self.of.first[1:])
        why = "is the cheapest" if cheaper else "has the highest mean of those that cost as little"
        why = why if pick in self.of.costs else "has the highest mean"
        if tied_count == len(self.of.values):
            return f"Take {name}: no significant difference; it {why}."
        others = "one other" if tied_count == 2 else f"{tied_count - 1} others"
        return (
            f"Take {name}: it shares the first rank with {others} (no significant difference), "
            f"and {why}."
        )

    def _why(self, pick: str) -> str:
        """Return figure and cost of the recommended method and of the most expensive other one."""
        words = f"{self._share(pick)}{self._cost_text(pick)}."
        dearest = max(self.of.values, key=lambda one: self.of.times(one, pick))
        if self.of.times(dearest, pick) >= DEARER_COST_RATIO:
            costs = _cost_words(self.of.ratio(dearest, pick), "")
            words += (
                f" {self.of.names[dearest]} {costs}{self._cost_text(dearest)}, for "
                f"{format_share(self.of.means[dearest])}."
            )
        tests_ahead = [
            self.of.test(pick, one)
            for one in self.of.values
            if self.of.ranks[one] > 1 and self.of.test(pick, one).beyond_chance
        ]
        gaps = [
            f"{self.of.names[test.b]} by {format_interval(test)}"
            for test in tests_ahead
            if test.difference > 0
        ]
        return words + (f" It is ahead of {_join_names(gaps)}." if gaps else "")

    def _highest(self, pick: str) -> str:
        """Return a sentence on the method with the highest mean, if it is another one."""
        best = max(self.of.values, key=lambda one: self.of.means[one])
        if self.of.means[best] <= self.of.means[pick]:
            return ""
        return (
            f"{self.of.names[best]} has the highest mean, "
            f"{format_interval(self.of.test(best, pick))} more (not significant)."
        )

    def _equal_results(self, pick: str) -> Iterator[str]:
        """Yield sentences on methods that agree on every question in all that was measured."""
        groups: dict[tuple, list[str]] = {}
        for method in self.of.values:
            if facts := self.of.retrieved(method):
                groups.setdefault(facts, []).append(method)
        for group in groups.values():
            if len(group) > 1:
                dear, cheap = max(group, key=self.of.price), min(group, key=self.of.price)
                cost_text = ""
                if self.of.times(dear, cheap) >= DEARER_COST_RATIO:
                    costs = _cost_words(self.of.ratio(dear, cheap), self.of.names[cheap])
                    cost_text = f", and {self.of.names[dear]} {costs}"
                names = _join_names([self.of.names[one] for one in group])
                yield (f"{names} agree in every retrieval figure on every question{cost_text}.")

    def _pays(self, pick: str) -> Iterator[str]:
        """Yield sentences on the hop counts at which another method is ahead."""
        for hops, test in self.of.pays(pick):
            part = f"On questions of {hops} hop{'s' * (hops != 1)} ({test.n:,} of {self.of.n:,})"
            lead = f"is ahead by {format_interval(test)}{self._cost_text(test.a)}."
            yield f"{part} {self.of.names[test.a]} {lead}"

    def _deeper(self, pick: str) -> str:
        """Return a sentence on a method that finds all gold passages more often at its full depth.

        This matters if passages are compared over the first few only.
        """
        summary, depths = self.of.summary, self.of.summary.handed_on
        if (
            not self.of.metric.startswith("passage_recall@")
            or len({depths.get(one) for one in self.of.values}) == 1
        ):
            return ""
        stages = {
            one: list(end_stages(summary, one, PASSAGE_MEASURE).values()) for one in self.of.values
        }
        best = max(stages, key=lambda one: stages[one].count(END_RIGHT))
        best_count, own_count = stages[best].count(END_RIGHT), stages[pick].count(END_RIGHT)
        if best_count <= own_count or best not in depths:
            return ""
        counts_text = (
            f"{best_count:,} of {len(stages[best]):,} questions, {self.of.names[pick]} for "
            f"{own_count:,} of "
            f"{len(stages[pick]):,}"
        )
        return (
            f"With all {depths[best]:,} passages that it hands on, {self.of.names[best]} "
            f"has all the evidence for {counts_text}."
        )

    def _power(self) -> str:
        """Return a sentence on the smallest distinguishable difference.

        It also says how many questions would settle the open comparison.
        """
        first, second = self.of.top
        deviation = self.of.spread(first, second)
        if not deviation:
            equality_text = (
                f"{self.of.names[first]} and {self.of.names[second]} have the same on each of "
                f"{self.of.n:,} questions."
            )
            return (
                equality_text
                if self.of.n > 1 and self.of.means[first] == self.of.means[second]
                else ""
            )
        limit_text = (
            f"With {self.of.n:,} questions, differences below "
            f"{format_share(DETECTABLE_STANDARD_ERRORS * deviation / math.sqrt(self.of.n))} "
            "cannot be told from chance"
        )
        if self.of.needed <= self.of.n:
            return f"{limit_text}."
        gap = (
            f"{format_share(self.of.means[first] - self.of.means[second])} between "
            f"{self.of.names[first]} and {self.of.names[second]}"
        )
        if self.of.needed > MAX_REQUESTED_QUESTIONS:
            more = "is too small to be settled by asking more"
        else:
            more = f"would take about {_round_up(self.of.needed):,}"
        return f"{limit_text}; the {gap} {more}."

    def _made_note(self) -> str:
        """Return a sentence that the questions were made from the texts, if they were."""
        sets = [name.strip() for name in self.of.summary.run.spec["set"].split(",")]
        kinds = {kind_of(row.question) for row in self.of.summary.rows}
        if all(name.endswith(MADE_SET_SUFFIX) for name in sets) and kinds <= KIND_WORDS.keys():
            return MADE_QUESTIONS_NOTE
        return ""

    def _further_questions(self) -> int:
        """Return how many further questions to ask, 0 if that does not help or there are none."""
        unasked_count = self.of.summary.run.spec["of"] - self.of.summary.run.spec["sample"]
        helpful = 0
        if self.of.n < self.of.needed <= MAX_REQUESTED_QUESTIONS:
            helpful = _round_up(self.of.needed) - self.of.summary.run.spec["sample"]
        return (
            max(0, min(helpful, unasked_count)) if "," not in self.of.summary.run.spec["set"] else 0
        )

    def _share(self, method: str) -> str:
        base, _, k = self.of.metric.partition("@")
        share_text = SHARE_MEANINGS.get(self.of.metric) or SHARE_MEANINGS[base].format(
            k=number_words(int(k))
        )
        return f"{format_share(self.of.means[method])} {share_text}, n = {self.of.n:,}"

    def _cost_text(self, method: str) -> str:
        """Return the cost in brackets."""
        if method not in self.of.costs:
            return ""
        cost = self.of.costs[method]
        if self.of.cost == "tokens":
            return f" ({cost:,.0f} tokens a question)"
        return f" ({cost:.2g} s a question)"


def format_share(value: float) -> str:
    """Return a share with two digits, such as `.72`."""
    return f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.2f}"


def format_interval(test: PairedTest) -> str:
    """Return a difference with its interval, such as `.21 [.04, .37]`."""
    return test.estimate.text(format_share)


def _cost_words(ratio: float, other: str) -> str:
    """Return a ratio of costs in words, such as `costs 1.5 times as much as A`.

    It is `costs more` if the ratio is infinite.
    """
    if math.isinf(ratio):
        return f"costs more than {other}" if other else "costs more"
    figure = f"{ratio:.1f}" if ratio < 3 else f"{ratio:,.0f}"
    return f"costs {figure} times as much{f' as {other}' if other else ''}"


def _round_up(questions: int) -> int:
    """Return a number of questions, rounded up to the next ten."""
    return math.ceil(questions / 10) * 10


def _join_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
