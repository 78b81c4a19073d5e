"""Bricks: the steps of a line as a tree that the Build page edits.

Unlike an operator, a brick may be incomplete, and it keeps its identity when it is moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from core.errors import BadParameter
from core.lines.holder import Holder
from core.parameters import make_operator, parameter_values

OPEN_ROW = "..."  # text of a row without bricks
Bricks = tuple["Brick", ...]  # a row


@dataclass(frozen=True)
class Brick:
    """One step of a line: an operator class with the values of its parameters.

    A brick may be incomplete, such as a loop without steps. It then has no operator yet.

    Attributes
    ----------
    key : number that identifies the brick in its line, also after a move.
    cls : class of the operator.
    given : values of the operator's parameters.
    arms : the rows of bricks inside this one by name, if the class is a `Holder` such as a loop.
    """

    key: int
    cls: type[Any]
    given: Mapping[str, Any] = field(default_factory=dict)
    arms: Mapping[str, Bricks] = field(default_factory=dict)

    @cached_property
    def _operator_or_fault(self) -> tuple[Any, str]:
        """The operator, and the reason why it cannot be made.

        The reason is empty if there is an operator. Otherwise the operator is None.
        """
        try:
            if not issubclass(self.cls, Holder):
                return make_operator(self.cls, self.given), ""
            arms = {name: operators_of(row) for name, row in self.arms.items()}
            return self.cls.from_rows(arms, self.given), ""
        except BadParameter as error:
            return None, str(error)

    @property
    def operator(self) -> Any:
        """The operator of this brick, or None if it is incomplete."""
        return self._operator_or_fault[0]

    @property
    def fault(self) -> str:
        """A sentence on why the brick is incomplete; empty if it is complete."""
        return self._operator_or_fault[1]

    @property
    def stage(self) -> str:
        """The stage of the operator, or of its class if the brick is incomplete."""
        return self.operator.stage if self.operator is not None else stage_of(self.cls)

    @property
    def text(self) -> str:
        """The canonical text of the brick, with `...` for rows without bricks."""
        if not issubclass(self.cls, Holder):
            return repr(make_operator(self.cls, self.given))
        rows = {name: bricks_text(row) or OPEN_ROW for name, row in self.arms.items()}
        return self.cls.text(rows, self.given)

    def iter_bricks(self) -> Iterator[Brick]:
        """Yield this brick and all bricks inside it."""
        yield self
        for row in self.arms.values():
            for brick in row:
                yield from brick.iter_bricks()


def stage_of(cls: type[Any]) -> str:
    """Return the stage of an operator class.

    A branch gets the stage of its rows, and its class has none. Its stage is "retrieve" here.
    """
    return cls.stage if isinstance(cls.stage, str) else "retrieve"


def bricks_text(row: Iterable[Brick]) -> str:
    """Return the text of a row of bricks."""
    return " >> ".join(brick.text for brick in row)


def operators_of(row: Iterable[Brick]) -> tuple[Any, ...]:
    """Return the operators of bricks.

    Raises BadParameter if one is incomplete.
    """
    operators = []
    for brick in row:
        if brick.operator is None:
            raise BadParameter(brick.fault)
        operators.append(brick.operator)
    return tuple(operators)


def brick_of(operator: Any, keys: Iterator[int]) -> Brick:
    """Return the brick of an operator, with bricks of all operators inside it.

    Each brick takes the next of `keys`.
    """
    key = next(keys)
    if isinstance(operator, Holder):
        arms = {name: bricks_of(row, keys) for name, row in operator.rows().items()}
        return Brick(key, type(operator), operator.settings(), arms)
    brick = Brick(key, type(operator), parameter_values(operator))
    brick.__dict__["_operator_or_fault"] = operator, ""  # fills the cached property
    return brick


def bricks_of(row: Iterable[Any], keys: Iterator[int]) -> Bricks:
    """Return the bricks of the operators of a row, as `brick_of` does."""
    return tuple(brick_of(operator, keys) for operator in row)


_default_operators: dict[type[Any], Any] = {}


def default_operator(cls: type[Any]) -> Any:
    """Return the operator of a class with its defaults, made once."""
    if cls not in _default_operators:
        _default_operators[cls] = cls()
    return _default_operators[cls]


def renumber_brick(brick: Brick, keys: Iterator[int]) -> Brick:
    """Return a copy of a brick and all bricks inside it, with new keys."""
    key = next(keys)
    arms = {}
    for name, row in brick.arms.items():
        arms[name] = tuple(renumber_brick(inner, keys) for inner in row)
    return replace(brick, key=key, arms=arms)
