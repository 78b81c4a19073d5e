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

# Words for a metric's share, by the metric's name with or without its cut-off.
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
    questions needed to distinguish the two highest means. It is at most the number that is
    left in the sets, and 0 if it is unknown or if they are distinguished already.
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

    ranked: Ranks

    def recommendation(self) -> Recommendation | None:
        if not self.ranked.n:
            return None
        if len(self.ranked.values) == 1:
            (only_method,) = self.ranked.values
            share = f"{self.ranked.names[only_method]}: {self._share(only_method)}."
            headline = f"{share} There is no other method to compare."
            return Recommendation(self.ranked.metric, "", {only_method: 1}, headline)
        if self.ranked.n < MIN_RANKED_QUESTIONS:
            pick = ""
            few_text = (
                "One question says" if self.ranked.n == 1 else f"{self.ranked.n:,} questions say"
            )
            headline = f"{few_text} too little to recommend a method."
            details = [self._power()]
        else:
            pick = self.ranked.first_ranked[0]
            headline = self._headline(pick)
            details = [
                self._why(pick),
                self._highest(pick),
                *self._equal_results(),
                *self._lead_by_hops(pick),
                self._deeper(pick),
                self._power(),
                self._made_note(),
            ]
        return Recommendation(
            self.ranked.metric,
            pick,
            self.ranked.ranks,
            headline,
            tuple(filter(None, details)),
            self._further_questions(),
        )

    def _headline(self, pick: str) -> str:
        tied_count = len(self.ranked.first_ranked)
        name = self.ranked.names[pick]
        if tied_count == 1:
            return (
                f"Take {name}: it is better than "
                f"{'the other' if len(self.ranked.values) == 2 else 'each other method'} "
                "(statistically significant)."
            )
        others = self.ranked.first_ranked[1:]
        if pick not in self.ranked.costs:
            why = "has the highest mean"
        elif all(
            self.ranked.noticeable_cost_ratio(other, pick) >= DEARER_COST_RATIO for other in others
        ):
            why = "is the cheapest"
        else:
            why = "has the highest mean of those that cost as little"
        if tied_count == len(self.ranked.values):
            return f"Take {name}: no significant difference; it {why}."
        others_text = "one other" if tied_count == 2 else f"{tied_count - 1} others"
        return (
            f"Take {name}: it shares the first rank with {others_text} (no significant difference), "
            f"and {why}."
        )

    def _why(self, pick: str) -> str:
        """Return figure and cost of the recommended method and of the most expensive other one."""
        words = f"{self._share(pick)}{self._cost_text(pick)}."
        dearest = max(
            self.ranked.values, key=lambda one: self.ranked.noticeable_cost_ratio(one, pick)
        )
        if self.ranked.noticeable_cost_ratio(dearest, pick) >= DEARER_COST_RATIO:
            costs = _cost_words(self.ranked.cost_ratio(dearest, pick), "")
            words += (
                f" {self.ranked.names[dearest]} {costs}{self._cost_text(dearest)}, for "
                f"{format_share(self.ranked.means[dearest])}."
            )
        lower = (method for method, rank in self.ranked.ranks.items() if rank > 1)
        tests = [self.ranked.test(pick, method) for method in lower]
        gaps = [
            f"{self.ranked.names[test.b]} by {format_interval(test)}"
            for test in tests
            if test.is_significantly_above
        ]
        return words + (f" It is ahead of {_join_names(gaps)}." if gaps else "")

    def _highest(self, pick: str) -> str:
        """Return a sentence on the method with the highest mean, if it is another one."""
        best = max(self.ranked.values, key=lambda one: self.ranked.means[one])
        if self.ranked.means[best] <= self.ranked.means[pick]:
            return ""
        return (
            f"{self.ranked.names[best]} has the highest mean, "
            f"{format_interval(self.ranked.test(best, pick))} more (not significant)."
        )

    def _equal_results(self) -> Iterator[str]:
        """Yield sentences on methods with equal retrieval figures on every question."""
        groups: dict[tuple, list[str]] = {}
        for method in self.ranked.values:
            if facts := self.ranked.retrieval_facts(method):
                groups.setdefault(facts, []).append(method)
        for group in groups.values():
            if len(group) < 2:
                continue
            dear = max(group, key=self.ranked.noticeable_cost)
            cheap = min(group, key=self.ranked.noticeable_cost)
            cost_text = ""
            if self.ranked.noticeable_cost_ratio(dear, cheap) >= DEARER_COST_RATIO:
                costs = _cost_words(self.ranked.cost_ratio(dear, cheap), self.ranked.names[cheap])
                cost_text = f", and {self.ranked.names[dear]} {costs}"
            names = _join_names([self.ranked.names[method] for method in group])
            yield f"{names} agree in every retrieval figure on every question{cost_text}."

    def _lead_by_hops(self, pick: str) -> Iterator[str]:
        """Yield sentences on the hop counts at which another method is ahead."""
        for hops, test in self.ranked.leads_by_hops(pick):
            part = (
                f"On questions of {hops} hop{'s' * (hops != 1)} ({test.n:,} of {self.ranked.n:,})"
            )
            lead = f"is ahead by {format_interval(test)}{self._cost_text(test.a)}."
            yield f"{part} {self.ranked.names[test.a]} {lead}"

    def _deeper(self, pick: str) -> str:
        """Return a sentence on a method that finds all gold passages more often at its full depth.

        It is empty unless passages are compared at a cut-off and the depths differ.
        """
        summary = self.ranked.summary
        depths = summary.max_passages
        has_cutoff = self.ranked.metric.startswith("passage_recall@")
        if not has_cutoff or len({depths.get(method) for method in self.ranked.values}) == 1:
            return ""
        stages = {
            method: list(end_stages(summary, method, PASSAGE_MEASURE).values())
            for method in self.ranked.values
        }
        right_counts = {method: ends.count(END_RIGHT) for method, ends in stages.items()}
        best = max(stages, key=lambda method: right_counts[method])
        if right_counts[best] <= right_counts[pick] or best not in depths:
            return ""
        counts_text = (
            f"{right_counts[best]:,} of {len(stages[best]):,} questions, "
            f"{self.ranked.names[pick]} for {right_counts[pick]:,} of {len(stages[pick]):,}"
        )
        return (
            f"With all {depths[best]:,} passages that it hands on, {self.ranked.names[best]} "
            f"has all the evidence for {counts_text}."
        )

    def _power(self) -> str:
        """Return a sentence on the smallest distinguishable difference.

        It also says how many questions would settle the open comparison.
        """
        first, second = self.ranked.top_two
        deviation = self.ranked.difference_deviation(first, second)
        if not deviation:
            if self.ranked.n == 1 or self.ranked.means[first] != self.ranked.means[second]:
                return ""
            return (
                f"{self.ranked.names[first]} and {self.ranked.names[second]} have the same on each of "
                f"{self.ranked.n:,} questions."
            )
        limit_text = (
            f"With {self.ranked.n:,} questions, differences below "
            f"{format_share(DETECTABLE_STANDARD_ERRORS * deviation / math.sqrt(self.ranked.n))} "
            "cannot be told from chance"
        )
        if self.ranked.needed_questions <= self.ranked.n:
            return f"{limit_text}."
        gap = (
            f"{format_share(self.ranked.means[first] - self.ranked.means[second])} between "
            f"{self.ranked.names[first]} and {self.ranked.names[second]}"
        )
        if self.ranked.needed_questions > MAX_REQUESTED_QUESTIONS:
            more = "is too small to be settled by asking more"
        else:
            more = f"would take about {_round_up(self.ranked.needed_questions):,}"
        return f"{limit_text}; the {gap} {more}."

    def _made_note(self) -> str:
        """Return the note on questions made from the texts, if all questions are such."""
        sets = [name.strip() for name in self.ranked.summary.run.spec["set"].split(",")]
        kinds = {kind_of(row.question) for row in self.ranked.summary.rows}
        if all(name.endswith(MADE_SET_SUFFIX) for name in sets) and kinds <= KIND_WORDS.keys():
            return MADE_QUESTIONS_NOTE
        return ""

    def _further_questions(self) -> int:
        """Return how many further questions to ask, 0 if that does not help or there are none."""
        spec = self.ranked.summary.run.spec
        is_reachable = self.ranked.n < self.ranked.needed_questions <= MAX_REQUESTED_QUESTIONS
        if "," in spec["set"] or not is_reachable:
            return 0
        return max(0, min(_round_up(self.ranked.needed_questions), spec["of"]) - spec["sample"])

    def _share(self, method: str) -> str:
        share_text = SHARE_MEANINGS.get(self.ranked.metric)
        if share_text is None:
            base, _, k = self.ranked.metric.partition("@")
            share_text = SHARE_MEANINGS[base].format(k=number_words(int(k)))
        return f"{format_share(self.ranked.means[method])} {share_text}, n = {self.ranked.n:,}"

    def _cost_text(self, method: str) -> str:
        """Return the cost in brackets."""
        if method not in self.ranked.costs:
            return ""
        cost = self.ranked.costs[method]
        if self.ranked.cost == "tokens":
            return f" ({cost:,.0f} tokens a question)"
        return f" ({cost:.2g} s a question)"


def format_share(value: float) -> str:
    """Return a share with two digits, such as `.72`."""
    return f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.2f}"


def format_interval(test: PairedTest) -> str:
    """Return a difference with its interval, such as `.21 [.04, .37]`."""
    return test.estimate.format_with_interval(format_share)


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
