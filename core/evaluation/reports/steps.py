"""What each step is worth: paired differences of the lines of a run that differ in one step, on the same questions."""

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

# the one in whose place the other is; None where one is added or left out
Step = tuple[Operator | None, Operator | None]


@dataclass(frozen=True)
class StepWorth:
    """What a step is worth: `test` is the difference in the share of right questions with the step and without it, averaged over `pairs` of
    instances (without, with) that differ in it alone, question by question. `cost` is the mean difference in tokens or seconds."""

    words: str
    pairs: tuple[tuple[str, str], ...]
    test: Paired
    cost: float | None = None


def worth(summary: Summary) -> list[StepWorth]:
    """The steps in which any two lines of the run differ alone, what is worth most first, with Holm's correction over all of them.

    None where no two lines do, or nothing is known of what is right; adaptations, programs of the user's and runs from files are left out.
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
    """Whether an operator says what a program or a file of the user's found, so that nobody knows what it did."""
    return isinstance(
        operator, OwnRetriever | OwnDocuments | FileDocuments | FilePaths | FileAnswer
    )


def cost_of(summary: Summary) -> str:
    """The metric of cost: tokens where a language model answers, else seconds."""
    return "tokens" if summary.run.spec["model"] else "seconds"


def counted(by: str) -> str:
    """What the differences are shares of."""
    if by == PASSAGES:
        return "questions of which all gold passages come through"
    return f"questions that are right ({metric(by).name})"


def one_step(line: Line, other: Line) -> Step | None:
    """The one step in which two lines differ: put in the other's place, added or left out, inside unions and loops too; None where they
    differ in none or more. What turns the question into a vector is no step of its own.

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
    """The one step in which two combinators of a kind differ, where all else of them is the same."""
    if not isinstance(one, Combinator) or type(one) is not type(other):
        return None
    arms = [(a, b) for a, b in zip(one.every_arm(), other.every_arm()) if repr(a) != repr(b)]
    return _differing(*arms[0]) if values(one) == values(other) and len(arms) == 1 else None


def words(step: Step) -> str:
    """A step in words: `8 chunks by BM25 in place of 4 chunks by BM25`, `with best 5 by BM25`.

    >>> from core.evaluation.reports.steps import words
    >>> from core.operators import Rank, SparseChunks
    >>> words((SparseChunks(), SparseChunks(keep=8))), words((None, Rank(keep=5, model="bm25")))
    ('8 chunks by BM25 in place of 4', 'with best 5 by BM25')
    """
    before, after = step
    if before is None or after is None:
        return f"with {_words(after or before)}"
    old, new = _words(before), _words(after)
    if old == new:  # they differ in what these words leave out
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
    assert operator is not None  # a step has one at least
    return operator.words()


def line_of(text: str) -> Line | None:
    """The line; None where it has operators that are no longer there."""
    try:
        return parse_line(text)
    except (BadInput, BadParameter):
        return None


def _key(step: Step) -> tuple[str, str]:
    return repr(step[0]), repr(step[1])


def _backwards(step: Step, found: dict) -> bool:
    """Whether a step is to be turned round: from with it to without it, from more to fewer, or as it was found before."""
    before, after = step
    if after is None or _key((after, before)) in found:
        return True
    if before is None or type(before) is not type(after):
        return False
    changed = list(changed_values(before, after).values())
    numbers = all(isinstance(one, int | float) for pair in changed for one in pair)
    return len(changed) == 1 and numbers and changed[0][0] > changed[0][1]


def _shares(summary: Summary, instance: str, by: str) -> np.ndarray:
    """float64 [questions], 1 where the question is right and 0 where it is not, NaN where that is not known."""
    ends = endings(summary, instance, by)
    if not set(ends.values()) - {FAILED}:
        return np.full(len(summary.questions), np.nan)  # one that answered none has no figures
    return np.array(
        [
            np.nan if question not in ends else float(ends[question] == RIGHT)
            for question in summary.questions
        ]
    )


def _averaged(
    values: dict[str, np.ndarray], pairs: Sequence[tuple[str, str]]
) -> tuple[np.ndarray, np.ndarray]:
    """The mean over pairs of the values of the first and of the second of each, question by question, where both of a pair have one."""
    both = np.array([[values[a], values[b]] for a, b in pairs])  # [pairs, 2, questions]
    there = ~np.isnan(both).any(1)
    counts = there.sum(0)
    with np.errstate(invalid="ignore"):
        first, second = (np.where(there, both[:, side], 0.0).sum(0) / counts for side in (0, 1))
    return first, second
