"""One line of several methods: their common steps, a branch that holds the rest, the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import BadInput, BadParameter
from core.evaluation.metrics.outcome import FILE_OPERATORS
from core.operators.base import Line, Operator
from core.operators.branch import Branch
from core.operators.route import KeepResults, PredictArm

UNNAMED_RULE = "rule-000000000000"  # stands for a rule that is not learned yet


@dataclass(frozen=True)
class JointLine:
    """Several methods as one line: `prefix >> PredictArm >> Branch of arms >> answer`."""

    prefix: tuple[Operator, ...]
    arms: tuple[tuple[Operator, ...], ...]
    answer: tuple[Operator, ...]

    def with_rule(self, name: str) -> Line:
        """Return the line with a saved rule; the first arm is the branch's `otherwise`."""
        first, *others = self.arms
        branch = Branch("arm", tuple(enumerate(others, 1)), first)
        return Line((*self.prefix, PredictArm(name), branch, *self.answer))


def join_lines(lines: Sequence[Line]) -> JointLine:
    """Return several lines as one.

    Raises BadInput with the reason if they cannot be arms of a branch.

    >>> from core.evaluation.routing.joint_line import join_lines
    >>> from core.operators.text import parse_line
    >>> texts = "EgoNetwork() >> ShortestPaths()", "EgoNetwork() >> ShortestPaths() >> Rank()"
    >>> join_lines([parse_line(text) for text in texts]).with_rule("toys-0123456789ab")
    EgoNetwork() >> ShortestPaths() >> PredictArm(rule='toys-0123456789ab') >> Branch(on='arm', ...
    """
    rows = [tuple(one for one in line if one.stage != "generate") for line in lines]
    answers = {tuple(one for one in line if one.stage == "generate") for line in lines}
    if len(answers) > 1:
        raise BadInput("these methods answer by different last steps, which no branch can hold")
    if any(type(one).__name__ in FILE_OPERATORS for row in rows for one in row):
        raise BadInput("a finished run from a file has no answer to other questions")
    shared = _count_shared(rows)
    arms = tuple(row[shared:] or (KeepResults(),) for row in rows)  # an arm needs a step
    joint = JointLine(rows[0][:shared], arms, *answers)
    try:
        joint.with_rule(UNNAMED_RULE)
    except BadParameter as error:
        raise BadInput(f"a branch cannot hold them: {error}") from None
    return joint


def _count_shared(rows: Sequence[tuple[Operator, ...]]) -> int:
    """Return how many first steps all rows share; a branch is not shared."""
    count = 0
    for first, *others in zip(*rows, strict=False):
        if isinstance(first, Branch) or any(other != first for other in others):
            break
        count += 1
    return count
