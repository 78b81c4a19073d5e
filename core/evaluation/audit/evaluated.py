"""Findings from a finished evaluation, and the order of its methods without suspect questions."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.diagnosis.answer_match import gives_answer
from core.diagnosis.reading import NOTHING
from core.evaluation.audit.findings import Finding
from core.evaluation.metrics.answer_scores import ANSWER_BY_EXCERPT, ScoredAnswer
from core.evaluation.reports.method_names import method_titles
from core.evaluation.reports.ranks import DETECTABLE_STANDARD_ERRORS, Ranks, ranking_metric
from core.evaluation.reports.steps import line_of
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.store import Run, Store, StoredRow
from core.languages.spelling import answer_words, normalize
from core.types import Question

MAX_AGREED_WORDS = 12  # longer answers are not compared
MAX_SHOWN_LETTERS = 80  # of an answer
# Share of questions on which two methods are assumed to differ, if no evaluation shows it.
ASSUMED_DIFFERENT_SHARE = 0.2
ANSWERING_STAGE = "generate"


@dataclass(frozen=True)
class MethodOrder:
    """A method's mean and rank, on all questions and without the suspect ones."""

    method: str
    title: str
    mean: float
    rank: int
    mean_without: float
    rank_without: int


def newest_evaluation(store: Store, set_name: str, questions: Sequence[Question]) -> Run | None:
    """Return the newest finished evaluation of at least two methods on a set. None without one."""
    ids = {question.id for question in questions}
    for run in store.runs():
        if run.spec["set"] == set_name and run.done and run.done + run.failed >= run.total:
            asked = {drawn.question.id for drawn in store.drawn_questions(run.id)}
            if len(run.spec["instances"]) > 1 and asked <= ids:
                return run
    return None


def evaluation_findings(summary: RunSummary) -> Iterator[Finding]:
    """Yield questions that all or no methods get right, and keys that all methods contradict."""
    closed = closed_book_methods(summary.run)
    answers = _answers(summary)
    yield from _agreed_answers(answers)
    yield from _answered_without_context(summary, closed)
    name = ranking_metric(summary)
    methods = [method for method in summary.methods if method not in closed]
    if not name or len(methods) < 2:
        return
    values = np.array([summary.values(method, (name,))[:, 0] for method in methods])
    for column, question in enumerate(summary.questions):
        if np.all(values[:, column] == 0):
            text = f"None of {len(methods)} methods gets it right ({name} 0)."
            yield Finding(question, "never_right", text)
        elif np.all(values[:, column] == 1):
            text = f"All {len(methods)} methods get it right ({name} 1)."
            yield Finding(question, "always_right", text)


def closed_book_methods(run: Run) -> list[str]:
    """Return the ids of the methods of a run that answer without any retrieval."""
    lines = {spec["id"]: line_of(spec["line"]) for spec in run.spec["instances"]}
    closed = []
    for method, line in lines.items():
        stages = [operator.stage for operator in line] if line is not None else []
        if stages and all(stage == ANSWERING_STAGE for stage in stages):
            closed.append(method)
    return closed


def _answers(summary: RunSummary) -> dict[str, list[ScoredAnswer]]:
    """Return the answers to each question, by its id, without the nearest sentences."""
    answers: dict[str, list[ScoredAnswer]] = {}
    for row in summary.rows:
        scored = row.outcome.answer if row.outcome is not None else None
        if scored is not None and scored.by != ANSWER_BY_EXCERPT:
            answers.setdefault(row.question.id, []).append(scored)
    return answers


def _agreed_answers(answers: Mapping[str, Sequence[ScoredAnswer]]) -> Iterator[Finding]:
    for question, scored in answers.items():
        texts = {_comparable(one.text) for one in scored}
        is_wrong = all(not one.found for one in scored)
        if len(scored) > 1 and len(texts) == 1 and is_wrong and texts != {()}:
            answer = " | ".join(filter(None, map(str.strip, scored[0].text.splitlines())))
            if len(answer_words(answer)) <= MAX_AGREED_WORDS:
                text = f"All {len(scored)} methods answer “{answer}”."
                yield Finding(question, "agreed_answer", text, expected=(answer,))


def _comparable(text: str) -> tuple[str, ...]:
    """Return the lines of an answer in a form that is equal for the same answers."""
    return tuple(sorted(filter(None, map(normalize, text.splitlines()))))


def _answered_without_context(summary: RunSummary, methods: Sequence[str]) -> Iterator[Finding]:
    """Yield a finding on each question of which a language model knows all correct answers.

    It is the answer of a method without retrieval or, if the readers were asked again, the answer
    of a reader that was shown nothing.
    """
    known: dict[str, str] = {}
    for row in summary.rows:
        scored = row.outcome.answer if row.outcome is not None else None
        if row.method in methods and scored is not None and row.outcome is not None:
            if row.outcome.golds and scored.found == row.outcome.golds:
                known.setdefault(row.question.id, scored.text)
        elif _has_known_answers(row, summary):
            known.setdefault(row.question.id, row.readings[NOTHING].answer)
    for question, text in known.items():
        text = f"A language model answers it without any context: “{text[:MAX_SHOWN_LETTERS]}”."
        yield Finding(question, "without_context", text)


def asked_without_context(summary: RunSummary) -> bool:
    """Return whether a language model was asked without context, as a method or again."""
    was_read = summary.run.spec["model"] and any(NOTHING in row.readings for row in summary.rows)
    return bool(was_read or closed_book_methods(summary.run))


def _has_known_answers(row: StoredRow, summary: RunSummary) -> bool:
    """Return whether a language model that was shown nothing gave all correct answers."""
    question, answer = row.question, row.readings.get(NOTHING)
    if not summary.run.spec["model"] or answer is None or not answer.right:
        return False
    return all(
        any(gives_answer(answer.answer, name) for name in question.answer_names(one))
        for one in question.answers
    )


def smallest_difference(summary: RunSummary | None, n_questions: int) -> tuple[float, str]:
    """Return the smallest difference of two methods that a set can show, and its assumption.

    Parameters
    ----------
    summary : an evaluation on the set; None assumes `ASSUMED_DIFFERENT_SHARE`.
    n_questions : number of questions of the set.

    Returns
    -------
    A difference of means that a test at the level of 0.05 finds with a power of 0.8, and how the
        differences per question were found.

    Examples
    --------
    >>> from core.evaluation.audit.evaluated import smallest_difference
    >>> round(smallest_difference(None, 200)[0], 3)
    0.089
    """
    ranked = _ranks(summary)
    if ranked is not None:
        first, second = ranked.top_two
        deviation = ranked.difference_deviation(first, second)
        if deviation:
            names = f"{ranked.names[first]} and {ranked.names[second]}"
            text = f"as {names} differ in evaluation {ranked.summary.run.id}"
            return DETECTABLE_STANDARD_ERRORS * deviation / math.sqrt(n_questions), text
    deviation = math.sqrt(ASSUMED_DIFFERENT_SHARE)
    text = f"if two methods differ on {ASSUMED_DIFFERENT_SHARE:.0%} of the questions"
    return min(1.0, DETECTABLE_STANDARD_ERRORS * deviation / math.sqrt(max(1, n_questions))), text


def method_order(summary: RunSummary, suspect: Collection[str]) -> list[MethodOrder]:
    """Return the methods of an evaluation, best first, with and without suspect questions.

    Parameters
    ----------
    summary : the evaluation.
    suspect : ids of the questions that are left out.

    Returns
    -------
    One entry for each ranked method; empty if nothing can be compared.
    """
    rows = [row for row in summary.rows if row.question.id not in suspect]
    ranked = _ranks(summary)
    if ranked is None or not rows:
        return []
    rest = Ranks(RunSummary(summary.run, rows, summary), ranked.metric)
    titles = method_titles(summary.run)
    means = ranked.means
    means_without = rest.means if rest.values and rest.n else {}
    return [
        MethodOrder(
            method=method,
            title=titles[method],
            mean=means[method],
            rank=_place(method, means),
            mean_without=means_without[method],
            rank_without=_place(method, means_without),
        )
        for method in sorted(means, key=lambda method: -means[method])
        if method in means_without
    ]


def _ranks(summary: RunSummary | None) -> Ranks | None:
    """Return the ranking of an evaluation of at least two methods. None without one."""
    name = ranking_metric(summary) if summary is not None else ""
    if summary is None or not name:
        return None
    ranked = Ranks(summary, name)
    return ranked if len(ranked.values) > 1 and ranked.n else None


def _place(method: str, means: Mapping[str, float]) -> int:
    """Return 1 plus the number of methods with a higher mean."""
    return 1 + sum(mean > means[method] for mean in means.values())
