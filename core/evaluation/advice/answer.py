"""Answer to “do I need a graph?” in sentences.

It is made from the rows of an evaluation. The best methods with and without a graph are compared
over all questions and by kind of question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from core.evaluation.reports.export import format_share
from core.evaluation.reports.ranks import MIN_RANKED_QUESTIONS, Ranks
from core.evaluation.reports.recommendation import format_interval, recommendation
from core.evaluation.reports.summary import RunSummary

ADVICE_METRIC = "passage_recall@4"  # share of gold passages among the first four
# Values of `AdviceAnswer.needed`. Partly: a graph helps with some kinds of questions, but not over
# all. Open: there are too few questions to tell.
ANSWER_NO = "no"
ANSWER_PARTLY = "partly"
ANSWER_YES = "yes"
ANSWER_OPEN = "open"
# For each kind of question, the reason why it favours some methods.
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

    Parameters
    ----------
    name : name of the kind.
    number : number of questions of the kind.
    favours : which methods the kind favours, and why.
    plain, graph : names of the best methods without and with a graph.
    plain_share, graph_share : their mean shares of gold passages among the first four.
    difference : result of the test of the two methods, in words.
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
    needed : whether a graph is needed: no, partly, yes or open.
    headline : the answer in one sentence.
    kinds : the kinds of questions.
    details : sentences of the recommendation.
    caveats : sentences on the limits of what the questions show.
    made : sentences on the numbers of questions made and rejected.
    shares : mean share of gold passages among the first four, by method id, over the `asked`
        questions that all methods were asked. Empty if there are too few.
    names : names of the methods by id. Empty if there are too few questions.
    asked : number of questions that all methods were asked. 0 if there are too few.
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
    ranks = Ranks(summary, summary.fitting_metric(ADVICE_METRIC))
    return _GraphComparison(summary, ranks).answer(advice)


@dataclass(frozen=True, eq=False)
class _GraphComparison:
    """Comparison of the methods without a graph and those with one."""

    summary: RunSummary
    ranks: Ranks

    def answer(self, advice: Advice) -> AdviceAnswer:
        """Return the answer, which is open if there are too few questions or methods."""
        are_all_by_model = bool(advice.graphs) and all(advice.graphs.values())
        caveat = MADE_QUESTIONS_CAVEAT if are_all_by_model else RULE_GRAPH_CAVEAT
        caveats = (MADE_QUESTIONS_NOTE, caveat)
        count = self.ranks.n if self.ranks.values else 0
        made_sentences = tuple(_question_sentences(advice, count))
        method_count = len(METHODS_WITHOUT_GRAPH) + len(METHODS_WITH_GRAPH)
        if len(self.ranks.values) < method_count or count < MIN_RANKED_QUESTIONS:
            few_text = (
                f"{count:,} questions that all methods were asked are too few to say whether a "
                "graph is needed."
            )
            return AdviceAnswer(ANSWER_OPEN, few_text, (), (), caveats, made_sentences)
        report = recommendation(self.summary)
        sentences = (report.headline, *report.details) if report else ()
        verdict, headline = self._headline()
        return AdviceAnswer(
            verdict,
            headline,
            kinds=tuple(self._compare_kinds()),
            details=tuple(one for one in sentences if one != MADE_QUESTIONS_NOTE),
            caveats=caveats,
            made=made_sentences,
            shares=self.ranks.means,
            names={method: str(self.ranks.names[method]) for method in self.ranks.means},
            asked=self.ranks.n,
        )

    def _headline(self) -> tuple[str, str]:
        """Return the answer (`ANSWER_YES`, `ANSWER_PARTLY` or `ANSWER_NO`) and its sentence."""
        plain = self._best_method(METHODS_WITHOUT_GRAPH)
        names = self.ranks.names
        better_methods = [
            method
            for method in METHODS_WITH_GRAPH
            if self.ranks.test(method, plain).is_significantly_above
        ]
        if better_methods:
            graph = self._best_method(better_methods)
            test = self.ranks.test(graph, plain)
            return (
                ANSWER_YES,
                f"A graph helps here: {names[graph]} is better than {names[plain]}, the best "
                f"without a graph, by {format_interval(test)}.",
            )
        if all(
            self.ranks.test(plain, method).is_significantly_above for method in METHODS_WITH_GRAPH
        ):
            overall = f"{names[plain]} is significantly better than every method with one"
        else:
            overall = f"no method with one is significantly better than {names[plain]}"
        parts = [
            f"{KIND_WORDS[kind]} ({names[test.a]} by {format_interval(test)})"
            for kind, test in self.by_kind.items()
            if test.is_significantly_above
        ]
        if parts:
            return (
                ANSWER_PARTLY,
                f"A graph helps with some questions: {', '.join(parts)}. "
                f"Over all of them {overall}.",
            )
        return ANSWER_NO, f"No graph is needed for questions like these: {overall}."

    def _best_method(self, methods: Sequence[str]) -> str:
        """Return the method with the highest mean over all questions."""
        return max(methods, key=lambda method: self.ranks.means[method])

    def _best_on(self, mask: np.ndarray) -> tuple[str, str]:
        """Return the best methods with and without a graph.

        The best are those with the highest mean on the masked questions.
        """
        means = {method: values[mask].mean() for method, values in self.ranks.values.items()}
        graph = max(METHODS_WITH_GRAPH, key=lambda method: means[method])
        plain = max(METHODS_WITHOUT_GRAPH, key=lambda method: means[method])
        return graph, plain

    @cached_property
    def _masks(self) -> dict[str, np.ndarray]:
        """Mask of each kind's questions that all methods were asked, bool [questions].

        Kinds without such questions are left out.
        """
        kind_by_id = {row.question.id: kind_of(row.question) for row in self.summary.rows}
        kinds = np.array([kind_by_id[question] for question in self.summary.questions])
        masks = {kind: (kinds == kind) & self.ranks.common_mask for kind in KIND_WORDS}
        return {kind: mask for kind, mask in masks.items() if mask.any()}

    @cached_property
    def by_kind(self) -> dict[str, PairedTest]:
        """Test of the best methods with and without a graph, for each kind.

        Kinds with too few questions are left out. P-values have Holm's correction over the kinds.
        Both methods are chosen on the questions that they are tested on.
        """
        tests = {}
        for kind, mask in self._masks.items():
            if mask.sum() < MIN_RANKED_QUESTIONS:
                continue
            graph, plain = self._best_on(mask)
            values = self.ranks.values[graph][mask], self.ranks.values[plain][mask]
            tests[kind] = paired_test(ADVICE_METRIC, graph, plain, *values)
        return dict(zip(tests, holm_corrected(tests.values()), strict=True))

    def _compare_kinds(self) -> Iterator[QuestionKindComparison]:
        """Yield each kind with the best method of both sides."""
        names = self.ranks.names
        for kind, mask in self._masks.items():
            graph, plain = self._best_on(mask)
            yield QuestionKindComparison(
                KIND_WORDS[kind][:1].upper() + KIND_WORDS[kind][1:],
                int(mask.sum()),
                FAVOURED_METHODS[kind],
                plain=names[plain],
                plain_share=float(self.ranks.values[plain][mask].mean()),
                graph=names[graph],
                graph_share=float(self.ranks.values[graph][mask].mean()),
                difference=_difference_text(self.by_kind.get(kind)),
            )


def _difference_text(test: PairedTest | None) -> str:
    if test is None:
        return "too few to compare"
    if not test.difference:
        return "no difference"
    if test.is_significant:
        return f"a difference of {format_interval(test)}"
    return "no significant difference"


def _kind_words(kind: str, count: int) -> str:
    """Return the name of a kind for a number of questions."""
    words = KIND_WORDS.get(kind, kind)
    if count != 1:
        return words
    first, _, rest = words.partition(" ")
    return f"question {rest}" if first == "questions" else words.removesuffix("s")


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
