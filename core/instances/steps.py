"""One entry of an instance's line as a file has it: an operator with its parameters, a branch, a loop or a union of such."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.errors import BadParameter
from core.lines import stage_of
from core.operators.base import STAGES, Operator
from core.operators.branch import Branch
from core.operators.combinator import combined
from core.operators.loop import Loop
from core.operators.text import operator_class
from core.operators.union import Union
from core.parameters import make, values

ELSE = "else"


def row_of(operator: Operator) -> dict[str, Any]:
    """The entry of a row's line that reads back as an operator."""
    if isinstance(operator, Branch):
        arms = {str(key): arm for key, arm in operator.arms} | {ELSE: operator.otherwise}
        return {
            "branch": operator.on,
            **{key: [row_of(inner) for inner in arm] for key, arm in arms.items()},
        }
    if isinstance(operator, Union):
        return {
            "union": [[row_of(inner) for inner in arm] for arm in operator.every_arm()],
            **values(operator),
        }
    if isinstance(operator, Loop):
        return {"loop": [row_of(inner) for inner in operator.body], **values(operator)}
    return {operator.stage: type(operator).__name__, **values(operator)}


def _branch(step: Mapping[str, Any], where: str) -> Branch:
    """`{ branch = "hops", 1 = [...], 2 = [...], else = [...] }`: what the question's value of `hops` decides."""
    arms = {key: arm for key, arm in step.items() if key != "branch"}
    for key, arm in arms.items():
        if key != ELSE and not key.isdecimal():
            raise BadParameter(
                f"{where}: an arm of a branch is named by a whole number or “{ELSE}”, not “{key}”."
            )
        if not isinstance(arm, list):
            raise BadParameter(f"{where}: the arm “{key}” must be a list of operators.")
    built = {
        key: tuple(
            operator_of(one, f"{where}, arm {key}, operator {i}") for i, one in enumerate(arm, 1)
        )
        for key, arm in arms.items()
    }
    try:
        return Branch(
            step["branch"],
            tuple((int(key), arm) for key, arm in built.items() if key != ELSE),
            built.get(ELSE, ()),
        )
    except BadParameter as error:
        raise BadParameter(f"{where}: {error}") from None


def _loop(step: Mapping[str, Any], where: str) -> Loop:
    """`{ loop = [...], budget = 100 }`: what is repeated until so many nodes are found."""
    if not isinstance(step["loop"], list):
        raise BadParameter(f"{where}: “loop” must be a list of operators.")
    body = tuple(
        operator_of(one, f"{where}, loop, operator {i}") for i, one in enumerate(step["loop"], 1)
    )
    return combined(
        Loop, {"body": body}, {key: value for key, value in step.items() if key != "loop"}, where
    )


def _union(step: Mapping[str, Any], where: str) -> Union:
    """`{ union = [[...], [...]], order = "score" }`: two lines of which the hits are brought together."""
    lines = step["union"]
    if (
        not isinstance(lines, list)
        or len(lines) != 2
        or not all(isinstance(line, list) for line in lines)
    ):
        raise BadParameter(f"{where}: “union” must be two lists of operators.")
    first, second = (
        tuple(operator_of(one, f"{where}, union, line {n}") for one in line)
        for n, line in enumerate(lines, 1)
    )
    return combined(
        Union,
        {"first": first, "second": second},
        {key: value for key, value in step.items() if key != "union"},
        where,
    )


def operator_of(step: Any, where: str) -> Operator:
    """The operator that an entry tells. Raises BadParameter that says where."""
    if isinstance(step, Mapping) and "union" in step:
        return _union(step, where)
    if isinstance(step, Mapping) and "branch" in step:
        return _branch(step, where)
    if isinstance(step, Mapping) and "loop" in step:
        return _loop(step, where)
    stage = stage_of(step, STAGES, where)
    cls = operator_class(step[stage], where)
    if cls.stage != stage:
        raise BadParameter(
            f"{where}: {cls.__name__} belongs to the stage “{cls.stage}”, not “{stage}”."
        )
    return make(cls, {key: value for key, value in step.items() if key != stage}, where)
