"""Base class of operators that contain lines of operators: loops, branches and unions.

Each contained line is an arm: the body of a loop, a case of a branch, or one side of a union.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from core.environment import Environment
from core.errors import BadParameter
from core.lines.holder import Holder, row_text
from core.operators.base import Operator, missing_fields
from core.parameters import parameter_values

Arm = tuple[Operator, ...]  # a contained line of operators


class Combinator(Holder, Operator):
    """An operator that contains lines of operators, its arms."""

    is_nestable: ClassVar[bool] = True  # True if another combinator may contain it

    def every_arm(self) -> tuple[Arm, ...]:
        """Return the arms of the combinator, in order."""
        return tuple(self.rows().values())

    def fields_read_by_arms(self) -> list[str]:
        """Return the state's fields that an arm reads before it writes them."""
        fields: dict[str, None] = {}
        for arm in self.every_arm():
            fields |= dict.fromkeys(missing_fields(arm))
        return list(fields)

    def admits(self, operator: Operator) -> bool:
        """Return whether an arm of this combinator may contain an operator."""
        return operator.stage not in ("generate", "graph") and not (
            isinstance(operator, Combinator) and not operator.is_nestable
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        for arm in self.every_arm():
            for operator in arm:
                if not self.admits(operator):
                    raise BadParameter(f"{type(operator).__name__} cannot stand in {self.kind}.")

    def recorded(self) -> Mapping[str, Any]:
        return {
            **parameter_values(self),
            **{name: row_text(getattr(self, name)) for name in self.lines},
        }

    def parts(self) -> Arm:
        operators: list[Operator] = []
        for arm in self.every_arm():
            for operator in arm:
                operators += operator.parts()  # the operator may be a combinator too
        return tuple(operators)

    def stamp(self, graph: Any, environment: Environment) -> str:
        return " ".join(operator.stamp(graph, environment) for operator in self.parts())


def written_fields(arm: Arm) -> tuple[str, ...]:
    """Return the fields of a state that an arm writes.

    They are in the order of writing.
    """
    fields: dict[str, None] = {}
    for operator in arm:
        fields |= dict.fromkeys(operator.writes)
    return tuple(fields)


def arm_words(arm: Arm) -> str:
    """Return the short names of an arm's operators in a row."""
    return ", then ".join(operator.words() for operator in arm)


def arm_plain_words(arm: Arm) -> str:
    """Return the everyday descriptions of an arm's operators in a row."""
    return " and ".join(filter(None, (operator.plain_words() for operator in arm)))
