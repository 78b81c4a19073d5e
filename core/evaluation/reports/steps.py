"""Effect of each step: paired differences of lines that differ in one step.

Both lines of a pair ran on the same questions of the same run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from core.errors import BadInput, BadParameter
from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.statistics import PairedTest, holm_corrected, paired_test
from core.evaluation.reports.flow import (
    END_FAILED,
    END_RIGHT,
    PASSAGE_MEASURE,
    correctness_measure,
    end_stages,
)
from core.evaluation.reports.summary import RunSummary
from core.lines.difference import changed_values, differing_parts
from core.operators import EmbedQuery
from core.operators.base import Line, Operator
from core.operators.combinator import Arm, Combinator
from core.operators.retrieve.file_runs import FileAnswer, FileDocuments, FilePaths
from core.operators.retrieve.own_retriever import OwnDocuments, OwnRetriever
from core.operators.text import parse_line
from core.parameters import parameter_values, parameters

# An operator and its replacement; None on one side if the operator was added or removed.
StepChange = tuple[Operator | None, Operator | None]
# By the key of each step: the step, and the methods without and with it.
StepPairs = dict[tuple[str, str], tuple[StepChange, list[tuple[str, str]]]]


@dataclass(frozen=True)
class StepEffect:
    """Effect of a step.

    `test` is the difference in the share of correct questions with and without the step. It is
    averaged, question by question, over `pairs` of methods (without, with) that differ only in
    this step. `cost` is the mean difference in tokens or seconds.
    """

    words: str
    pairs: tuple[tuple[str, str], ...]
    test: PairedTest
    cost: float | None = None


def step_effects(summary: RunSummary) -> list[StepEffect]:
    """Return the effect of each step in which any two lines differ, largest first.

    Holm's correction covers all steps. The result is empty if no two lines differ in one step or if
    no correct answers are known. Adaptations, programs of the user and runs from files are left
    out.
    """
    lines = _compared_lines(summary)
    pairs_by_step = _pairs_by_step(lines)
    by = correctness_measure(summary, list(lines)) if pairs_by_step else ""
    if not by:
        return []
    values = {one: _shares(summary, one, by) for one in lines}
    name = cost_metric(summary)
    costs = {one: summary.values(one, (name,))[:, 0] for one in lines}
    effects = []
    for step, pairs in pairs_by_step.values():
        without, added = _average(values, pairs)
        test = paired_test(by, "with", "without", added, without)
        if test is not None:
            cost = _mean_gap(*_average(costs, pairs))
            effects.append(StepEffect(step_words(step), tuple(pairs), test, cost))
    tests = holm_corrected(one.test for one in effects)
    effects = [replace(one, test=test) for one, test in zip(effects, tests, strict=True)]
    return sorted(effects, key=lambda one: (-one.test.difference, one.words))


def _compared_lines(summary: RunSummary) -> dict[str, Line]:
    """Return the lines by method, without adaptations, programs of the user and files."""
    lines = {}
    for one in summary.run.spec["instances"]:
        line = line_of(one["line"])
        if line is None or one["id"] in summary.adapted:
            continue
        if not any(map(is_external, line)):
            lines[one["id"]] = line
    return lines


def _pairs_by_step(lines: Mapping[str, Line]) -> StepPairs:
    """Return the pairs of methods (without, with) that differ in one step, by this step."""
    pairs_by_step: StepPairs = {}
    for a, b in combinations(lines, 2):
        step = one_step(lines[a], lines[b])
        if step is None:
            continue
        pair = (a, b)
        if _is_backwards(step, pairs_by_step):
            step = (step[1], step[0])
            pair = (b, a)
        pairs_by_step.setdefault(_key(step), (step, []))[1].append(pair)
    return pairs_by_step


def _mean_gap(cheap: np.ndarray, dear: np.ndarray) -> float | None:
    """Return the mean difference of costs by question; None where none is known."""
    gap = dear - cheap
    return None if np.isnan(gap).all() else float(np.nanmean(gap))


def is_external(operator: Operator) -> bool:
    """Return whether an operator passes on results of a user's program or file.

    Nothing is known about the inner steps of such an operator.
    """
    return isinstance(
        operator, OwnRetriever | OwnDocuments | FileDocuments | FilePaths | FileAnswer
    )


def cost_metric(summary: RunSummary) -> str:
    """Return the metric of cost: tokens if a language model answers, else seconds."""
    return "tokens" if summary.run.spec["model"] else "seconds"


def counted_questions(by: str) -> str:
    """Return a description of the questions that the shares count."""
    if by == PASSAGE_MEASURE:
        return "questions with all evidence found"
    return f"questions that are right ({metric(by).name})"


def one_step(line: Line, other: Line) -> StepChange | None:
    """Return the one step in which two lines differ.

    The step is replaced, added or removed, possibly inside unions and loops. Embedding the question
    (`EmbedQuery`) is not a step of its own.

    Parameters
    ----------
    line, other : the lines.

    Returns
    -------
    The operator in each of them, None where it is missing. None as a whole if they differ in no
        step or in several.

    Examples
    --------
    >>> from core.evaluation.reports.steps import one_step
    >>> from core.operators.text import parse_line
    >>> one_step(parse_line("SparseChunks()"), parse_line("SparseChunks(keep=8)"))
    (SparseChunks(), SparseChunks(keep=8))
    >>> one_step(parse_line("SparseChunks()"), parse_line("SparseChunks() >> AnswerFromTables()"))
    (None, AnswerFromTables())
    """
    steps = lambda one: tuple(
        operator for operator in one.operators if not isinstance(operator, EmbedQuery)
    )
    return _single_difference(line.operators, other.operators) or _single_difference(
        steps(line), steps(other)
    )


def _single_difference(a: Arm, b: Arm) -> StepChange | None:
    _, left, right = differing_parts(a, b)
    if max(len(left), len(right)) != 1:
        return None
    step = (left[0] if left else None, right[0] if right else None)
    return _inner_step(*step) or step


def _inner_step(one: Operator | None, other: Operator | None) -> StepChange | None:
    """Return the one step in which two combinators of the same type differ.

    All else of them must be equal.
    """
    if not isinstance(one, Combinator) or type(one) is not type(other):
        return None
    arms = [(a, b) for a, b in zip(one.every_arm(), other.every_arm()) if repr(a) != repr(b)]
    return (
        _single_difference(*arms[0])
        if parameter_values(one) == parameter_values(other) and len(arms) == 1
        else None
    )


def step_words(step: StepChange) -> str:
    """Return a step as a text.

    Examples are `8 chunks by BM25 in place of 4 chunks by BM25` and `with best 5 by BM25`.

    >>> from core.evaluation.reports.steps import step_words
    >>> from core.operators import Rank, SparseChunks
    >>> step_words((SparseChunks(), SparseChunks(keep=8))), step_words((None, Rank(keep=5, model="bm25")))
    ('8 chunks by BM25 in place of 4', 'with best 5 by BM25')
    """
    old_operator, new_operator = step
    if old_operator is None or new_operator is None:
        return f"with {_operator_words(new_operator or old_operator)}"
    old_words, new_words = _operator_words(old_operator), _operator_words(new_operator)
    if old_words == new_words:  # the operators differ only in parameters that the words omit
        labels = {p.name: p.label.lower() for p in parameters(type(new_operator))}
        settings = [
            f"{labels[name]} {value} in place of {past}"
            for name, (past, value) in changed_values(old_operator, new_operator).items()
        ]
        return (
            f"{new_words}, {' and '.join(settings)}"
            if settings
            else f"{new_operator!r} in place of {old_operator!r}"
        )
    first, _, rest = old_words.partition(" ")
    number, _, same = new_words.partition(" ")
    return f"{new_words} in place of {first if rest == same and first != number else old_words}"


def _operator_words(operator: Operator | None) -> str:
    assert operator is not None  # a step has at least one operator
    return operator.words()


def line_of(text: str) -> Line | None:
    """Return the parsed line, None if it has operators that no longer exist."""
    try:
        return parse_line(text)
    except (BadInput, BadParameter):
        return None


def _key(step: StepChange) -> tuple[str, str]:
    return repr(step[0]), repr(step[1])


def _is_backwards(step: StepChange, pairs_by_step: dict) -> bool:
    """Return whether a step must be reversed.

    Steps go from without to with an operator, and from the smaller to the larger number. Else they
    go in the direction found first.
    """
    old_operator, new_operator = step
    if new_operator is None or _key((new_operator, old_operator)) in pairs_by_step:
        return True
    if old_operator is None or type(old_operator) is not type(new_operator):
        return False
    changed = list(changed_values(old_operator, new_operator).values())
    numbers = all(isinstance(one, int | float) for pair in changed for one in pair)
    return len(changed) == 1 and numbers and changed[0][0] > changed[0][1]


def _shares(summary: RunSummary, method: str, by: str) -> np.ndarray:
    """Return 1 for each correct question, 0 for each other one and NaN if unknown.

    The result is float64 [questions].
    """
    stages = end_stages(summary, method, by)
    if not set(stages.values()) - {END_FAILED}:
        # A method that answered no question has no figures.
        return np.full(len(summary.questions), np.nan)
    return np.array(
        [
            np.nan if question not in stages else float(stages[question] == END_RIGHT)
            for question in summary.questions
        ]
    )


def _average(
    values: dict[str, np.ndarray], pairs: Sequence[tuple[str, str]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of the first and of the second members of pairs, averaged over pairs.

    Each result has one value per question. A pair counts at a question if both members have a
    value.
    """
    pair_values = np.array(
        [[values[a], values[b]] for a, b in pairs]
    )  # shape [pairs, 2, questions]
    has_both = ~np.isnan(pair_values).any(1)
    counts = has_both.sum(0)
    with np.errstate(invalid="ignore"):
        first, second = (
            np.where(has_both, pair_values[:, side], 0.0).sum(0) / counts for side in (0, 1)
        )
    return first, second
