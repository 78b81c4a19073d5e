"""Answer to “do I need a graph?” in sentences made from the rows of its evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from core.evaluation.advice.plan import GRAPHS, PLAIN
from core.evaluation.advice.saved import Advice
from core.evaluation.metrics.statistics import Paired, corrected, paired
from core.evaluation.questions.from_names import (
    BRIDGE,
    CLOZE,
    KIND_WORDS,
    NOT_YOURS,
    SHARED,
    kind_of,
    left_out,
)
from core.evaluation.reports.ranks import FEW, Ranks
from core.evaluation.reports.recommendation import figure, interval, recommendation
from core.evaluation.reports.summary import Summary

METRIC = "passage_recall@4"
NO, PARTLY, YES, OPEN = "no", "partly", "yes", "open"
ABOUT = {
    "written": "a language model wrote them from one passage each, often in its words",
    CLOZE: "they repeat a sentence, which favours search by words",
    SHARED: "they give two names, which favours search by words and by names",
    BRIDGE: "they leave out the name that leads to the second passage, which favours graphs",
}
PARSED = (
    "A graph that a language model builds, and questions that people ask, may give another answer."
)
ASKED = "Questions that people ask may give another answer."


@dataclass(frozen=True)
class Kind:
    """One kind of question with the best method without and with a graph.

    `number` is the number of questions and `favours` says which methods the kind favours. The
    shares are those of gold passages among the first four. `difference` is the result of the test
    of the two methods.
    """

    name: str
    number: int
    favours: str
    plain: str
    plain_share: float
    graph: str
    graph_share: float
    difference: str

    def words(self) -> str:
        """Return the kind as a sentence."""
        shares = (
            f"{self.plain} {figure(self.plain_share)} without a graph, {self.graph} "
            f"{figure(self.graph_share)} with one"
        )
        return f"{self.name} ({self.number:,}; {self.favours}): {shares}; {self.difference}."


@dataclass(frozen=True)
class Answer:
    """Answer to “do I need a graph?”.

    Parameters
    ----------
    needed : no, partly, yes or open.
    headline : the answer in one sentence.
    kinds : the kinds of questions.
    details : sentences of the recommendation.
    caveats : sentences on what the questions can and cannot show.
    made : sentences on how many questions were made and left out.
    shares : share of gold passages among the first four, by instance, over the `asked` questions
        that all methods were asked. Empty if there are too few.
    names : names of the instances. Empty if there are too few questions.
    """

    needed: str
    headline: str
    kinds: tuple[Kind, ...] = ()
    details: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    shares: Mapping[str, float] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    asked: int = 0


def answer(summary: Summary, advice: Advice) -> Answer:
    """Return the answer that the rows so far allow."""
    return _Sides(summary, Ranks(summary, summary.fitting(METRIC))).answer(advice)


@dataclass(frozen=True, eq=False)
class _Sides:
    """Comparison of the methods without a graph and those with one."""

    summary: Summary
    ranks: Ranks

    def answer(self, advice: Advice) -> Answer:
        caveats = (NOT_YOURS, ASKED if advice.graphs and all(advice.graphs.values()) else PARSED)
        made = tuple(_made(advice, self.ranks.n if self.ranks.values else 0))
        if len(self.ranks.values) < len(PLAIN + GRAPHS) or self.ranks.n < FEW:
            asked = self.ranks.n if self.ranks.values else 0
            few = (
                f"{asked:,} questions that all methods were asked are too few to say whether a "
                "graph is needed."
            )
            return Answer(OPEN, few, (), (), caveats, made)
        advised = recommendation(self.summary)
        details = (
            tuple(one for one in (advised.headline, *advised.details) if one != NOT_YOURS)
            if advised
            else ()
        )
        needed, headline = self._headline()
        names = {one: str(self.ranks.names[one]) for one in self.ranks.means}
        return Answer(
            needed,
            headline,
            tuple(self._kinds()),
            details,
            caveats,
            made,
            self.ranks.means,
            names,
            self.ranks.n,
        )

    def _headline(self) -> tuple[str, str]:
        plain, graph = self._best(PLAIN), self._best(GRAPHS)
        test = self.ranks.test(graph, plain)
        names = self.ranks.names
        ahead = [
            one
            for one in GRAPHS
            if self.ranks.test(one, plain).beyond_chance
            and self.ranks.means[one] > self.ranks.means[plain]
        ]
        if ahead:
            return (
                YES,
                f"A graph helps here: {names[graph]} is ahead of {names[plain]}, the best without "
                f"a graph, by {interval(test)}.",
            )
        where = [(kind, one) for kind, one in self.by_kind.items() if one.ahead]
        behind = all(self.ranks.test(plain, one).ahead for one in GRAPHS)
        if behind:
            over = f"{names[plain]} is ahead of every method with one"
        else:
            over = f"no method with one is ahead of {names[plain]}"
        if where:
            parts = ", ".join(
                f"{KIND_WORDS[kind]} ({names[one.a]} by {interval(one)})" for kind, one in where
            )
            return (
                PARTLY,
                f"A graph helps with some questions: {parts}. Over all of them {over} beyond "
                "chance.",
            )
        return NO, f"No graph is needed for questions like these: {over} beyond chance."

    def _best(self, of: tuple[str, ...]) -> str:
        return max(of, key=lambda one: self.ranks.means[one])

    def _best_on(self, part: np.ndarray) -> tuple[str, str]:
        """Return the best methods with and without a graph, by their mean on some questions."""
        graph, plain = (
            max(of, key=lambda one: self.ranks.values[one][part].mean()) for of in (GRAPHS, PLAIN)
        )
        return graph, plain

    @cached_property
    def _parts(self) -> dict[str, np.ndarray]:
        """Mask of the common questions of each kind, bool [questions]."""
        known = {row.question.id: kind_of(row.question) for row in self.summary.rows}
        kinds = np.array([known[question] for question in self.summary.questions])
        return {
            kind: part for kind in KIND_WORDS if (part := (kinds == kind) & self.ranks.common).any()
        }

    @cached_property
    def by_kind(self) -> dict[str, Paired]:
        """Test of the best method with a graph against the best without, for each kind.

        Kinds with too few questions are left out, and Holm's correction covers the kinds. Both
        methods are chosen on the same questions that they are tested on.
        """
        tests = {}
        for kind, part in self._parts.items():
            graph, plain = self._best_on(part)
            values = self.ranks.values[graph][part], self.ranks.values[plain][part]
            if part.sum() >= FEW and (test := paired(METRIC, graph, plain, *values)) is not None:
                tests[kind] = test
        return dict(zip(tests, corrected(tests.values()), strict=True))

    def _kinds(self) -> Iterator[Kind]:
        """Yield each kind with the best method of both sides."""
        for kind, part in self._parts.items():
            graph, plain = self._best_on(part)
            shares = [float(self.ranks.values[one][part].mean()) for one in (plain, graph)]
            difference = "too few to compare"
            if kind in self.by_kind:
                test = self.by_kind[kind]
                difference = "a difference that chance may explain"
                if test.beyond_chance:
                    difference = f"a difference of {interval(test)}"
                difference = difference if test.difference else "no difference"
            names = self.ranks.names
            words = KIND_WORDS[kind][:1].upper() + KIND_WORDS[kind][1:]
            yield Kind(
                words,
                int(part.sum()),
                ABOUT[kind],
                names[plain],
                shares[0],
                names[graph],
                shares[1],
                difference,
            )


def _words(kind: str, count: int) -> str:
    """Return the name of a kind for a number of questions."""
    words = KIND_WORDS.get(kind, kind)
    first, _, rest = words.partition(" ")
    one = words.removesuffix("s") if first != "questions" else f"question {rest}"
    return one if count == 1 else words


def _made(advice: Advice, asked: int) -> Iterator[str]:
    """Yield sentences on the numbers of questions made and asked, and on failed candidates."""
    total = sum(advice.counts.values())
    if not total:
        return
    counts = ", ".join(
        f"{count:,} {_words(kind, count)}" for kind, count in advice.counts.items() if count
    )
    yield (
        f"{total:,} {'question was' if total == 1 else 'questions were'} made ({counts}), and "
        f"{asked:,} asked of every method."
    )
    if advice.graphs:
        yield f"The graphs: {'; '.join(advice.graphs)}."
    yield from advice.notes
    yield from left_out(advice.left)
