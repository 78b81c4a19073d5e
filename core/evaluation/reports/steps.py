"""Effect of each step: paired differences of lines that differ in one step.

Both lines of a pair ran on the same questions of the same run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from core.errors import BadInput, BadParameter
from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.statistics import Paired, corrected, paired
from core.evaluation.reports.flow import FAILED, PASSAGES, RIGHT, endings, measure
from core.evaluation.reports.summary import Summary
from core.lines.difference import changed_values, differing
from core.operators import EmbedQuery
from core.operators.base import Line, Operator
from core.operators.combinator import Arm, Combinator
from core.operators.retrieve.external import OwnDocuments, OwnRetriever
from core.operators.retrieve.filed import FileAnswer, FileDocuments, FilePaths
from core.operators.text import parse_line
from core.parameters import parameters, values

# An operator and its replacement; None on one side if the operator was added or removed.
Step = tuple[Operator | None, Operator | None]


@dataclass(frozen=True)
class StepWorth:
    """Effect of a step.

    `test` is the difference in the share of correct questions with and without the step. It is
    averaged, question by question, over `pairs` of instances (without, with) that differ only in
    this step. `cost` is the mean difference in tokens or seconds.
    """

    words: str
    pairs: tuple[tuple[str, str], ...]
    test: Paired
    cost: float | None = None


def worth(summary: Summary) -> list[StepWorth]:
    """Return the effect of each step in which any two lines differ, largest first.

    Holm's correction covers all steps. The result is empty if no two lines differ in one step or if
    no correct answers are known. Adaptations, programs of the user and runs from files are left
    out.
    """
    lines = {
        one["id"]: line
        for one in summary.run.spec["instances"]
        if (line := line_of(one["line"])) is not None
    }
    chosen = [
        one
        for one, line in lines.items()
        if one not in summary.adapted and not any(map(brought, line))
    ]
    found: dict[tuple[str, str], tuple[Step, list[tuple[str, str]]]] = {}
    for a, b in combinations(chosen, 2):
        step = one_step(lines[a], lines[b])
        if step is not None:
            turned, pair = (
                ((step[1], step[0]), (b, a)) if _backwards(step, found) else (step, (a, b))
            )
            found.setdefault(_key(turned), (turned, []))[1].append(pair)
    by = measure(summary, chosen) if found else ""
    if not by:
        return []
    values = {one: _shares(summary, one, by) for one in chosen}
    name = cost_of(summary)
    costs = {one: summary.values(one, (name,))[:, 0] for one in chosen}
    worths = []
    for step, pairs in found.values():
        without, added = _averaged(values, pairs)
        if (test := paired(by, "with", "without", added, without)) is not None:
            cheap, dear = _averaged(costs, pairs)
            gap = dear - cheap
            worths.append(
                StepWorth(
                    words(step),
                    tuple(pairs),
                    test,
                    None if np.isnan(gap).all() else float(np.nanmean(gap)),
                )
            )
    tests = corrected(one.test for one in worths)
    worths = [replace(one, test=test) for one, test in zip(worths, tests, strict=True)]
    return sorted(worths, key=lambda one: (-one.test.difference, one.words))


def brought(operator: Operator) -> bool:
    """Return whether an operator passes on results of a user's program or file.

    Nothing is known about the inner steps of such an operator.
    """
    return isinstance(
        operator, OwnRetriever | OwnDocuments | FileDocuments | FilePaths | FileAnswer
    )


def cost_of(summary: Summary) -> str:
    """Return the metric of cost: tokens if a language model answers, else seconds."""
    return "tokens" if summary.run.spec["model"] else "seconds"


def counted(by: str) -> str:
    """Return a description of the questions that the shares count."""
    if by == PASSAGES:
        return "questions of which all gold passages come through"
    return f"questions that are right ({metric(by).name})"


def one_step(line: Line, other: Line) -> Step | None:
    """Return the one step in which two lines differ, None if they differ in none or several.

    The step is replaced, added or removed, possibly inside unions and loops. Embedding the question
    (`EmbedQuery`) is not a step of its own.

    >>> from core.evaluation.reports.steps import one_step
    >>> from core.operators.text import parse_line
    >>> one_step(parse_line("SparseChunks()"), parse_line("SparseChunks(keep=8)"))
    (SparseChunks(), SparseChunks(keep=8))
    >>> one_step(parse_line("SparseChunks()"), parse_line("SparseChunks() >> AnswerFromTables()"))
    (None, AnswerFromTables())
    """
    bare = lambda one: tuple(
        operator for operator in one.operators if not isinstance(operator, EmbedQuery)
    )
    return _differing(line.operators, other.operators) or _differing(bare(line), bare(other))


def _differing(a: Arm, b: Arm) -> Step | None:
    _, left, right = differing(a, b)
    if max(len(left), len(right)) != 1:
        return None
    step = (left[0] if left else None, right[0] if right else None)
    return _inside(*step) or step


def _inside(one: Operator | None, other: Operator | None) -> Step | None:
    """Return the one step in which two combinators of the same type differ.

    All else of them must be equal.
    """
    if not isinstance(one, Combinator) or type(one) is not type(other):
        return None
    arms = [(a, b) for a, b in zip(one.every_arm(), other.every_arm()) if repr(a) != repr(b)]
    return _differing(*arms[0]) if values(one) == values(other) and len(arms) == 1 else None


def words(step: Step) -> str:
    """Return a step as a text.

    Examples are `8 chunks by BM25 in place of 4 chunks by BM25` and `with best 5 by BM25`.

    >>> from core.evaluation.reports.steps import words
    >>> from core.operators import Rank, SparseChunks
    >>> words((SparseChunks(), SparseChunks(keep=8))), words((None, Rank(keep=5, model="bm25")))
    ('8 chunks by BM25 in place of 4', 'with best 5 by BM25')
    """
    before, after = step
    if before is None or after is None:
        return f"with {_words(after or before)}"
    old, new = _words(before), _words(after)
    if old == new:  # the operators differ only in parameters that the words omit
        labels = {p.name: p.label.lower() for p in parameters(type(after))}
        settings = [
            f"{labels[name]} {value} in place of {past}"
            for name, (past, value) in changed_values(before, after).items()
        ]
        return (
            f"{new}, {' and '.join(settings)}" if settings else f"{after!r} in place of {before!r}"
        )
    first, _, rest = old.partition(" ")
    number, _, same = new.partition(" ")
    return f"{new} in place of {first if rest == same and first != number else old}"


def _words(operator: Operator | None) -> str:
    assert operator is not None  # a step has at least one operator
    return operator.words()


def line_of(text: str) -> Line | None:
    """Return the parsed line, None if it has operators that no longer exist."""
    try:
        return parse_line(text)
    except (BadInput, BadParameter):
        return None


def _key(step: Step) -> tuple[str, str]:
    return repr(step[0]), repr(step[1])


def _backwards(step: Step, found: dict) -> bool:
    """Return whether a step must be reversed.

    Steps go from without to with an operator, and from the smaller to the larger number. Else they
    go in the direction found first.
    """
    before, after = step
    if after is None or _key((after, before)) in found:
        return True
    if before is None or type(before) is not type(after):
        return False
    changed = list(changed_values(before, after).values())
    numbers = all(isinstance(one, int | float) for pair in changed for one in pair)
    return len(changed) == 1 and numbers and changed[0][0] > changed[0][1]


def _shares(summary: Summary, instance: str, by: str) -> np.ndarray:
    """Return 1 for each correct question, 0 for each other one and NaN if unknown.

    The result is float64 [questions].
    """
    ends = endings(summary, instance, by)
    if not set(ends.values()) - {FAILED}:
        # An instance that answered no question has no figures.
        return np.full(len(summary.questions), np.nan)
    return np.array(
        [
            np.nan if question not in ends else float(ends[question] == RIGHT)
            for question in summary.questions
        ]
    )


def _averaged(
    values: dict[str, np.ndarray], pairs: Sequence[tuple[str, str]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of the first and of the second members of pairs, averaged over pairs.

    Each result has one value per question. A pair counts at a question if both members have a
    value.
    """
    both = np.array([[values[a], values[b]] for a, b in pairs])  # shape [pairs, 2, questions]
    there = ~np.isnan(both).any(1)
    counts = there.sum(0)
    with np.errstate(invalid="ignore"):
        first, second = (np.where(there, both[:, side], 0.0).sum(0) / counts for side in (0, 1))
    return first, second
