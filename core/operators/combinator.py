"""Base class of operators made of lines of operators: loops, branches and unions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from core.environment import Environment
from core.errors import BadParameter
from core.lines.holder import Holder, row_text
from core.operators.base import Operator, missing_fields
from core.parameters import parameter_values

Arm = tuple[Operator, ...]


class Combinator(Holder, Operator):
    """An operator made of lines of operators, its arms."""

    inside: ClassVar[bool] = True  # True if it may be in an arm of another combinator

    def every_arm(self) -> tuple[Arm, ...]:
        """Return its arms, in order."""
        return tuple(self.rows().values())

    def fields_read_by_arms(self) -> list[str]:
        """Return the fields of a state that its arms read before they write them."""
        fields: dict[str, None] = {}
        for arm in self.every_arm():
            fields |= dict.fromkeys(missing_fields(arm))
        return list(fields)

    def admits(self, operator: Operator) -> bool:
        """Return whether an operator may be in one of its arms."""
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
                operators += operator.parts()  # the operator may be a combinator too
        return tuple(operators)

    def stamp(self, graph: Any, environment: Environment) -> str:
        return " ".join(operator.stamp(graph, environment) for operator in self.parts())


def written_fields(arm: Arm) -> tuple[str, ...]:
    """Return the fields of a state that an arm writes, in the order of writing."""
    fields: dict[str, None] = {}
    for operator in arm:
        fields |= dict.fromkeys(operator.writes)
    return tuple(fields)


def arm_words(arm: Arm) -> str:
    """Return a few words for an arm of another operator."""
    return ", then ".join(operator.words() for operator in arm)


def arm_plain_words(arm: Arm) -> str:
    """Return an everyday description of an arm of another operator."""
    return " and ".join(filter(None, (operator.plain_words() for operator in arm)))
