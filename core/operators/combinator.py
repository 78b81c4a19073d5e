"""Base class of operators that hold lines: loops, branches and unions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from core.environment import Environment
from core.errors import BadParameter
from core.lines.holder import Holder, row_text
from core.operators.base import Operator
from core.parameters import parameter_values

Arm = tuple[Operator, ...]


class Combinator(Holder, Operator):
    """An operator made of lines of operators."""

    inside: ClassVar[bool] = True  # True if another combinator may hold it

    def every_arm(self) -> tuple[Arm, ...]:
        """Return its lines, in order."""
        return tuple(self.rows().values())

    def admits(self, operator: Operator) -> bool:
        """Return whether it may hold an operator."""
        return operator.stage not in ("generate", "graph") and not (
            isinstance(operator, Combinator) and not operator.inside
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
                operators += operator.parts()  # an operator may hold others itself
        return tuple(operators)

    def stamp(self, graph: Any, environment: Environment) -> str:
        return " ".join(operator.stamp(graph, environment) for operator in self.parts())


def arm_words(arm: Arm) -> str:
    """Return a few words for a line within another operator."""
    return ", then ".join(operator.words() for operator in arm)


def arm_plain_words(arm: Arm) -> str:
    """Return everyday words for a line within another operator."""
    return " and ".join(words for operator in arm if (words := operator.plain_words()))
