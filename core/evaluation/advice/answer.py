"""Answer to “do I need a graph?” in sentences made from the rows of its evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from core.evaluation.advice.advice_state import Advice
from core.evaluation.advice.plan import METHODS_WITH_GRAPH, METHODS_WITHOUT_GRAPH
from core.evaluation.metrics.statistics import PairedTest, holm_corrected, paired_test
from core.evaluation.questions.name_questions import (
    BRIDGE_KIND,
    CLOZE_KIND,
    KIND_WORDS,
    MADE_QUESTIONS_NOTE,
    SHARED_KIND,
    kind_of,
    rejection_sentences,
)
from core.evaluation.reports.ranks import MIN_RANKED_QUESTIONS, Ranks
from core.evaluation.reports.recommendation import format_interval, format_share, recommendation
from core.evaluation.reports.summary import RunSummary

ADVICE_METRIC = "passage_recall@4"
ANSWER_NO, ANSWER_PARTLY, ANSWER_YES, ANSWER_OPEN = "no", "partly", "yes", "open"
FAVOURED_METHODS = {
    "written": "a language model wrote them from one passage each, often in its words",
    CLOZE_KIND: "they repeat a sentence, which favours search by words",
    SHARED_KIND: "they give two names, which favours search by words and by names",
    BRIDGE_KIND: "they leave out the name that leads to the second passage, which favours graphs",
}
RULE_GRAPH_CAVEAT = (
    "A graph that a language model builds, and questions that people ask, may give another answer."
)
MADE_QUESTIONS_CAVEAT = "Questions that people ask may give another answer."


@dataclass(frozen=True)
class QuestionKindComparison:
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
            f"{self.plain} {format_share(self.plain_share)} without a graph, {self.graph} "
            f"{format_share(self.graph_share)} with one"
        )
        return f"{self.name} ({self.number:,}; {self.favours}): {shares}; {self.difference}."


@dataclass(frozen=True)
class AdviceAnswer:
    """Answer to “do I need a graph?”.

    Parameters
    ----------
    needed : no, partly, yes or open.
    headline : the answer in one sentence.
    kinds : the kinds of questions.
    details : sentences of the recommendation.
    caveats : sentences on what the questions can and cannot show.
    made : sentences on how many questions were made and left out.
    shares : share of gold passages among the first four, by method, over the `asked` questions
        that all methods were asked. Empty if there are too few.
    names : names of the methods. Empty if there are too few questions.
    """

    needed: str
    headline: str
    kinds: tuple[QuestionKindComparison, ...] = ()
    details: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    shares: Mapping[str, float] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    asked: int = 0


def answer(summary: RunSummary, advice: Advice) -> AdviceAnswer:
    """Return the answer that the rows so far allow.

    Parameters
    ----------
    summary : figures of the evaluation, finished or not.
    advice : the saved state of the work.

    Returns
    -------
    Sentences with the recommendation; the answer is open if the rows do not decide.
    """
    return _GraphComparison(summary, Ranks(summary, summary.fitting(ADVICE_METRIC))).answer(advice)


@dataclass(frozen=True, eq=False)
class _GraphComparison:
    """Comparison of the methods without a graph and those with one."""

    summary: RunSummary
    ranks: Ranks

    def answer(self, advice: Advice) -> AdviceAnswer:
        caveats = (
            MADE_QUESTIONS_NOTE,
            MADE_QUESTIONS_CAVEAT
            if advice.graphs and all(advice.graphs.values())
            else RULE_GRAPH_CAVEAT,
        )
        made_sentences = tuple(
            _question_sentences(advice, self.ranks.n if self.ranks.values else 0)
        )
        if (
            len(self.ranks.values) < len(METHODS_WITHOUT_GRAPH + METHODS_WITH_GRAPH)
            or self.ranks.n < MIN_RANKED_QUESTIONS
        ):
            count = self.ranks.n if self.ranks.values else 0
            few_text = (
                f"{count:,} questions that all methods were asked are too few to say whether a "
                "graph is needed."
            )
            return AdviceAnswer(ANSWER_OPEN, few_text, (), (), caveats, made_sentences)
        report = recommendation(self.summary)
        details = (
            tuple(one for one in (report.headline, *report.details) if one != MADE_QUESTIONS_NOTE)
            if report
            else ()
        )
        verdict, headline = self._headline()
        names = {one: str(self.ranks.names[one]) for one in self.ranks.means}
        return AdviceAnswer(
            verdict,
            headline,
            tuple(self._compare_kinds()),
            details,
            caveats,
            made_sentences,
            self.ranks.means,
            names,
            self.ranks.n,
        )

    def _headline(self) -> tuple[str, str]:
        plain = self._best_method(METHODS_WITHOUT_GRAPH)
        graph = self._best_method(METHODS_WITH_GRAPH)
        test = self.ranks.test(graph, plain)
        names = self.ranks.names
        graphs_ahead = [
            one
            for one in METHODS_WITH_GRAPH
            if self.ranks.test(one, plain).beyond_chance
            and self.ranks.means[one] > self.ranks.means[plain]
        ]
        if graphs_ahead:
            return (
                ANSWER_YES,
                f"A graph helps here: {names[graph]} is better than {names[plain]}, the best "
                f"without a graph, by {format_interval(test)}.",
            )
        kinds_ahead = [(kind, one) for kind, one in self.by_kind.items() if one.ahead]
        behind = all(self.ranks.test(plain, one).ahead for one in METHODS_WITH_GRAPH)
        if behind:
            overall = f"{names[plain]} is significantly better than every method with one"
        else:
            overall = f"no method with one is significantly better than {names[plain]}"
        if kinds_ahead:
            parts = ", ".join(
                f"{KIND_WORDS[kind]} ({names[one.a]} by {format_interval(one)})"
                for kind, one in kinds_ahead
            )
            return (
                ANSWER_PARTLY,
                f"A graph helps with some questions: {parts}. Over all of them {overall}.",
            )
        return ANSWER_NO, f"No graph is needed for questions like these: {overall}."

    def _best_method(self, methods: tuple[str, ...]) -> str:
        return max(methods, key=lambda one: self.ranks.means[one])

    def _best_on(self, part: np.ndarray) -> tuple[str, str]:
        """Return the best methods with and without a graph, by their mean on some questions."""
        graph, plain = (
            max(methods, key=lambda one: self.ranks.values[one][part].mean())
            for methods in (METHODS_WITH_GRAPH, METHODS_WITHOUT_GRAPH)
        )
        return graph, plain

    @cached_property
    def _masks(self) -> dict[str, np.ndarray]:
        """Mask of the common questions of each kind, bool [questions]."""
        kind_by_id = {row.question.id: kind_of(row.question) for row in self.summary.rows}
        kinds = np.array([kind_by_id[question] for question in self.summary.questions])
        return {
            kind: part for kind in KIND_WORDS if (part := (kinds == kind) & self.ranks.common).any()
        }

    @cached_property
    def by_kind(self) -> dict[str, PairedTest]:
        """Test of the best method with a graph against the best without, for each kind.

        Kinds with too few questions are left out, and Holm's correction covers the kinds. Both
        methods are chosen on the same questions that they are tested on.
        """
        tests = {}
        for kind, part in self._masks.items():
            graph, plain = self._best_on(part)
            values = self.ranks.values[graph][part], self.ranks.values[plain][part]
            if (
                part.sum() >= MIN_RANKED_QUESTIONS
                and (test := paired_test(ADVICE_METRIC, graph, plain, *values)) is not None
            ):
                tests[kind] = test
        return dict(zip(tests, holm_corrected(tests.values()), strict=True))

    def _compare_kinds(self) -> Iterator[QuestionKindComparison]:
        """Yield each kind with the best method of both sides."""
        for kind, part in self._masks.items():
            graph, plain = self._best_on(part)
            shares = [float(self.ranks.values[one][part].mean()) for one in (plain, graph)]
            difference = "too few to compare"
            if kind in self.by_kind:
                test = self.by_kind[kind]
                difference = "no significant difference"
                if test.beyond_chance:
                    difference = f"a difference of {format_interval(test)}"
                difference = difference if test.difference else "no difference"
            names = self.ranks.names
            words = KIND_WORDS[kind][:1].upper() + KIND_WORDS[kind][1:]
            yield QuestionKindComparison(
                words,
                int(part.sum()),
                FAVOURED_METHODS[kind],
                names[plain],
                shares[0],
                names[graph],
                shares[1],
                difference,
            )


def _kind_words(kind: str, count: int) -> str:
    """Return the name of a kind for a number of questions."""
    words = KIND_WORDS.get(kind, kind)
    first, _, rest = words.partition(" ")
    one = words.removesuffix("s") if first != "questions" else f"question {rest}"
    return one if count == 1 else words


def _question_sentences(advice: Advice, asked_count: int) -> Iterator[str]:
    """Yield sentences on the numbers of questions made and asked, and on failed candidates."""
    total = sum(advice.counts.values())
    if not total:
        return
    counts = ", ".join(
        f"{count:,} {_kind_words(kind, count)}" for kind, count in advice.counts.items() if count
    )
    yield (
        f"{total:,} {'question was' if total == 1 else 'questions were'} made ({counts}), and "
        f"{asked_count:,} asked of every method."
    )
    if advice.graphs:
        yield f"The graphs: {'; '.join(advice.graphs)}."
    yield from advice.notes
    yield from rejection_sentences(advice.left)
