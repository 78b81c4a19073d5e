"""What operators that are made of lines of operators have in common: loops, branches and unions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self, TypeVar

from core.environment import Environment
from core.errors import BadParameter, nearest
from core.operators.base import Operator
from core.parameters import parameters, values

Arm = tuple[Operator, ...]
C = TypeVar("C", bound="Combinator")


class Combinator(Operator):
    """An operator made of lines of operators."""

    kind: ClassVar[str]  # what messages call it
    lines: ClassVar[tuple[str, ...]] = ()  # the fields that are such lines
    inside: ClassVar[bool] = True  # whether it may be part of another

    def every_arm(self) -> tuple[Arm, ...]:
        """The lines it is made of, in order."""
        return tuple(getattr(self, name) for name in self.lines)

    def admits(self, operator: Operator) -> bool:
        """Whether an operator may be part of it."""
        return operator.stage not in ("generate", "graph") and not (
            isinstance(operator, Combinator) and not operator.inside
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        for operator in self.parts():
            if not self.admits(operator):
                raise BadParameter(f"{type(operator).__name__} cannot stand in {self.kind}.")

    def changed(self, change: Callable[[Arm], Arm]) -> Self:
        """The same with other lines: what `change` makes of each."""
        return replace(self, **{name: change(getattr(self, name)) for name in self.lines})

    def recorded(self) -> Mapping[str, Any]:
        return {**values(self), **{name: arm_text(getattr(self, name)) for name in self.lines}}

    def parts(self) -> Arm:
        return tuple(operator for arm in self.every_arm() for operator in arm)

    def stamp(self, graph: Any, environment: Environment) -> str:
        return " ".join(operator.stamp(graph, environment) for operator in self.parts())

    def __repr__(self) -> str:
        lines = [f"{name}={arm_text(getattr(self, name))}" for name in self.lines]
        changed = [
            f"{p.name}={given!r}"
            for p in parameters(type(self))
            if (given := getattr(self, p.name)) != p.default
        ]
        return f"{type(self).__name__}({', '.join(lines + changed)})"


def combined(
    cls: type[C], lines: Mapping[str, Arm], given: Mapping[str, Any], where: str = ""
) -> C:
    """A combinator of these lines, with named values of its parameters. Raises BadParameter that says where."""
    known, prefix = [parameter.name for parameter in parameters(cls)], f"{where}: " if where else ""
    for key in given:
        if key not in known:
            raise BadParameter(
                f"{prefix}{cls.kind.capitalize()} has no parameter “{key}”.{nearest(key, known)}"
            )
    try:
        return cls(**lines, **given)
    except BadParameter as error:
        raise BadParameter(f"{prefix}{error}") from None


def arm_text(arm: Arm) -> str:
    """The canonical text of a line within another operator."""
    return " >> ".join(map(repr, arm))


def arm_words(arm: Arm) -> str:
    """A line within another operator in a few words."""
    return ", then ".join(operator.words() for operator in arm)


def arm_plain_words(arm: Arm) -> str:
    """What a line within another operator does, in everyday words."""
    return " and ".join(words for operator in arm if (words := operator.plain_words()))
