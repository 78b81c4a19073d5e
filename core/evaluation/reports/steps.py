"""Effect of each step: paired differences of lines that differ in one step.

A line is the sequence of a method's operators; a step is an operator that is added, removed or
replaced. Both lines of a pair ran on the same questions of the same run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from core.errors import BadInput, BadParameter
from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.statistics import PairedTest, holm_corrected, paired_test, run_spread
from core.evaluation.reports.flow import (
    END_FAILED,
    END_RIGHT,
    PASSAGE_MEASURE,
    correctness_measure,
    end_stages,
)
from core.evaluation.reports.summary import RunSummary, mean_of_runs
from core.lines.difference import changed_values, differing_parts
from core.operators import EmbedQuery
from core.operators.base import Line, Operator
from core.operators.combinator import Arm, Combinator
from core.operators.retrieve.file_runs import FileAnswer, FileDocuments, FilePaths
from core.operators.retrieve.own_retriever import OwnDocuments, OwnRetriever
from core.operators.text import parse_line
from core.parameters import parameter_values, parameters

# An operator and its replacement; (None, operator) adds an operator, (operator, None) removes it.
StepChange = tuple[Operator | None, Operator | None]
# By the key of each step (`_key`): the step, and the pairs of methods (without it, with it).
StepPairs = dict[tuple[str, str], tuple[StepChange, list[tuple[str, str]]]]


@dataclass(frozen=True)
class StepEffect:
    """Effect of a step, described by `words`.

    `test` is the paired test of the share of correct questions with the step minus the share
    without it. Both are averaged, question by question, over `pairs` of methods (without, with)
    that differ only in this step. `cost` is the mean difference per question in tokens or seconds
    (`cost_metric`), None if it is unknown. The field names are those of the JSON that the command
    `evaluate` prints.
    """

    words: str
    pairs: tuple[tuple[str, str], ...]
    test: PairedTest
    cost: float | None = None


def step_effects(summary: RunSummary) -> list[StepEffect]:
    """Return the effect of each step in which any two lines differ, largest first.

    Holm's correction covers all steps. The result is empty if no two lines differ in one step, or
    if no correct answers are known. Adaptations, and methods whose results come from a program or
    file of the user, are left out.
    """
    lines = _compared_lines(summary)
    pairs_by_step = _pairs_by_step(lines)
    measure = correctness_measure(summary, list(lines)) if pairs_by_step else ""
    if not measure:
        return []
    values = {method: _right_values(summary, method, measure) for method in lines}
    cost_name = cost_metric(summary)
    costs = {method: summary.values(method, (cost_name,))[:, 0] for method in lines}
    effects = []
    for step, pairs in pairs_by_step.values():
        # Shape [without and with, runs, questions]; a method without repeats has one run.
        runs = max(len(values[method]) for pair in pairs for method in pair)
        sides = np.array([_average(_one_run(values, run), pairs) for run in range(runs)])
        without, with_step = sides.transpose(1, 0, 2)
        spreads = [run_spread(side) for side in (with_step, without)]
        means_with, means_without = mean_of_runs(with_step), mean_of_runs(without)
        test = paired_test(measure, "with", "without", means_with, means_without, spreads=spreads)
        if test is not None:
            cost = _mean_gap(*_average(costs, pairs))
            effects.append(StepEffect(step_words(step), tuple(pairs), test, cost))
    tests = holm_corrected(effect.test for effect in effects)
    effects = [replace(effect, test=test) for effect, test in zip(effects, tests, strict=True)]
    return sorted(effects, key=lambda effect: (-effect.test.difference, effect.words))


def _compared_lines(summary: RunSummary) -> dict[str, Line]:
    """Return the lines by method.

    Adaptations and results of a user's program or file are left out.
    """
    lines = {}
    for spec in summary.run.spec["instances"]:
        line = line_of(spec["line"])
        if line is None or spec["id"] in summary.adapted_names:
            continue
        if not any(map(is_external, line)):
            lines[spec["id"]] = line
    return lines


def _pairs_by_step(lines: Mapping[str, Line]) -> StepPairs:
    """Return the pairs of methods that differ in one step.

    A pair is (without, with). The pairs are grouped by the step.
    """
    pairs_by_step: StepPairs = {}
    for a, b in combinations(lines, 2):
        step = one_step(lines[a], lines[b])
        if step is None:
            continue
        pair = (a, b)
        if _must_reverse(step, pairs_by_step):
            step = (step[1], step[0])
            pair = (b, a)
        pairs_by_step.setdefault(_key(step), (step, []))[1].append(pair)
    return pairs_by_step


def _mean_gap(costs_without: np.ndarray, costs_with: np.ndarray) -> float | None:
    """Return the mean difference of costs per question, None if no cost is known."""
    gap = costs_with - costs_without
    return None if np.isnan(gap).all() else float(np.nanmean(gap))


def is_external(operator: Operator) -> bool:
    """Return whether an operator returns results of a user's program or file.

    The steps that led to such results are unknown.
    """
    return isinstance(
        operator, OwnRetriever | OwnDocuments | FileDocuments | FilePaths | FileAnswer
    )


def cost_metric(summary: RunSummary) -> str:
    """Return the metric of cost: tokens if a language model answers, else seconds."""
    return "tokens" if summary.run.spec["model"] else "seconds"


def counted_questions(measure: str) -> str:
    """Return a description of the questions that count as correct by a measure."""
    if measure == PASSAGE_MEASURE:
        return "questions with all evidence found"
    return f"questions that are right ({metric(measure).describe()['title']})"


def one_step(line: Line, other: Line) -> StepChange | None:
    """Return the one step in which two lines differ.

    The step is replaced, added or removed, possibly inside unions and loops. Embedding the question
    (`EmbedQuery`) does not count as a step if another operator differs too.

    Parameters
    ----------
    line, other : the lines.

    Returns
    -------
    The operator of each line, with None for the line that lacks it. None instead of a pair if the
        lines differ in no step or in several.

    Examples
    --------
    >>> from core.evaluation.reports.steps import one_step
    >>> from core.operators.text import parse_line
    >>> one_step(parse_line("SparseChunks()"), parse_line("SparseChunks(keep=8)"))
    (SparseChunks(), SparseChunks(keep=8))
    >>> one_step(parse_line("SparseChunks()"), parse_line("SparseChunks() >> AnswerFromTables()"))
    (None, AnswerFromTables())
    """
    arms = (line.operators, other.operators)
    return _single_difference(*arms) or _single_difference(*map(_without_embedding, arms))


def _without_embedding(operators: Arm) -> Arm:
    return tuple(operator for operator in operators if not isinstance(operator, EmbedQuery))


def _single_difference(a: Arm, b: Arm) -> StepChange | None:
    """Return the one step in which two sequences of operators differ.

    None if there is not exactly one.
    """
    _, left, right = differing_parts(a, b)
    if max(len(left), len(right)) != 1:
        return None
    step = (left[0] if left else None, right[0] if right else None)
    return _inner_step(*step) or step


def _inner_step(old: Operator | None, new: Operator | None) -> StepChange | None:
    """Return the one step in which two combinators differ.

    The combinators have the same type and parameters.
    """
    if not isinstance(old, Combinator) or type(old) is not type(new):
        return None
    arms = [(a, b) for a, b in zip(old.every_arm(), new.every_arm()) if repr(a) != repr(b)]
    if parameter_values(old) != parameter_values(new) or len(arms) != 1:
        return None
    return _single_difference(*arms[0])


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
            f"{labels[name]} {new} in place of {old}"
            for name, (old, new) in changed_values(old_operator, new_operator).items()
        ]
        if settings:
            return f"{new_words}, {' and '.join(settings)}"
        return f"{new_operator!r} in place of {old_operator!r}"
    old_first_word, _, old_rest = old_words.partition(" ")
    _, _, new_rest = new_words.partition(" ")
    # If only the first word differs, usually a number, it is enough to name the old one.
    return f"{new_words} in place of {old_first_word if old_rest == new_rest else old_words}"


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


def _must_reverse(step: StepChange, pairs_by_step: dict) -> bool:
    """Return whether a step must be reversed, so that each step has one direction.

    A step adds an operator, or raises a number if the operators differ only in one number. Any
    other step has the direction of the first pair that differs in it.
    """
    old_operator, new_operator = step
    if new_operator is None or _key((new_operator, old_operator)) in pairs_by_step:
        return True
    if old_operator is None or type(old_operator) is not type(new_operator):
        return False
    changed = list(changed_values(old_operator, new_operator).values())
    if len(changed) != 1 or not all(isinstance(value, int | float) for value in changed[0]):
        return False
    old_value, new_value = changed[0]
    return old_value > new_value


def _right_values(summary: RunSummary, method: str, measure: str) -> np.ndarray:
    """Return float64 [runs, questions]: 1 if correct, 0 if wrong or failed, NaN if unknown."""
    runs = []
    for run in summary.runs_of(method):
        stages = end_stages(summary, method, measure, run)
        values = {question: float(stage == END_RIGHT) for question, stage in stages.items()}
        if not set(stages.values()) - {END_FAILED}:
            values = {}  # a run that answered no question has no figures
        runs.append([values.get(question, np.nan) for question in summary.questions])
    return np.array(runs)


def _one_run(values: Mapping[str, np.ndarray], run: int) -> dict[str, np.ndarray]:
    """Return the values of each method in one run; those of fewer runs begin again."""
    return {method: runs[run % len(runs)] for method, runs in values.items()}


def _average(
    values: dict[str, np.ndarray], pairs: Sequence[tuple[str, str]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of the members of pairs, averaged over pairs.

    The first result is for the first members, the second for the second members. Each is float64
    [questions]. A pair counts for a question if both members have a value; the result is NaN for a
    question without such a pair.
    """
    # Shape [pairs, 2, questions].
    pair_values = np.array([[values[a], values[b]] for a, b in pairs])
    has_both = ~np.isnan(pair_values).any(1)
    sums = np.where(has_both[:, None], pair_values, 0.0).sum(0)
    with np.errstate(invalid="ignore"):
        first, second = sums / has_both.sum(0)
    return first, second
