"""A line as a tree of bricks: what is read of a text, and what a person puts together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from core.errors import BadParameter
from core.lines.holder import Holder
from core.parameters import make, values

OPEN = "..."  # how a text writes a row that holds no brick yet
Bricks = tuple["Brick", ...]


@dataclass(frozen=True)
class Brick:
    """One step of a line, an operator with its parameters; `arms` are the rows that a holder has.

    `key` stays the same wherever the brick is moved. It may be no operator yet, as an empty loop.
    """

    key: int
    cls: type[Any]
    given: Mapping[str, Any] = field(default_factory=dict)
    arms: Mapping[str, Bricks] = field(default_factory=dict)

    @cached_property
    def _made(self) -> tuple[Any, str]:
        """The operator and no word, or None and why it cannot be made yet."""
        try:
            if not issubclass(self.cls, Holder):
                return make(self.cls, self.given), ""
            arms = {name: operators_of(row) for name, row in self.arms.items()}
            return self.cls.holding(arms, self.given), ""
        except BadParameter as error:
            return None, str(error)

    @property
    def operator(self) -> Any:
        """The operator that this brick is; None where its rows do not make one yet."""
        return self._made[0]

    @property
    def lacks(self) -> str:
        """Why it is no operator yet, in a sentence; empty where it is one."""
        return self._made[1]

    @property
    def stage(self) -> str:
        """The stage of its operator, or of its class where it is none yet."""
        return self.operator.stage if self.operator is not None else stage_of(self.cls)

    @property
    def text(self) -> str:
        """Its canonical text, with `...` for rows that hold no brick yet."""
        if not issubclass(self.cls, Holder):
            return repr(make(self.cls, self.given))
        return self.cls.text(
            {name: bricks_text(row) or OPEN for name, row in self.arms.items()}, self.given
        )

    def each(self) -> Iterator[Brick]:
        """This brick and all that it holds."""
        yield self
        for row in self.arms.values():
            for brick in row:
                yield from brick.each()


def stage_of(cls: type[Any]) -> str:
    """Return the stage of a class of operators; a branch, whose rows decide it, is a search."""
    return cls.stage if isinstance(cls.stage, str) else "retrieve"


def bricks_text(row: Iterable[Brick]) -> str:
    """Return the text of a row of bricks."""
    return " >> ".join(brick.text for brick in row)


def operators_of(row: Iterable[Brick]) -> tuple[Any, ...]:
    """Return the operators of bricks. Raises BadParameter where one is none yet."""
    found = []
    for brick in row:
        if brick.operator is None:
            raise BadParameter(brick.lacks)
        found.append(brick.operator)
    return tuple(found)


def brick_of(operator: Any, keys: Iterator[int]) -> Brick:
    """Return an operator as a brick with the next of `keys`, and so what it holds."""
    key = next(keys)
    if isinstance(operator, Holder):
        arms = {name: bricks_of(row, keys) for name, row in operator.rows().items()}
        return Brick(key, type(operator), operator.settings(), arms)
    brick = Brick(key, type(operator), values(operator))
    brick.__dict__["_made"] = operator, ""  # it need not be made again
    return brick


def bricks_of(row: Iterable[Any], keys: Iterator[int]) -> Bricks:
    """Return operators as bricks."""
    return tuple(brick_of(operator, keys) for operator in row)


_usual: dict[type[Any], Any] = {}


def usual(cls: type[Any]) -> Any:
    """Return the operator with its defaults, made once."""
    if cls not in _usual:
        _usual[cls] = cls()
    return _usual[cls]


def recounted(brick: Brick, keys: Iterator[int]) -> Brick:
    """Return the same brick with new keys, as a copy of it has."""
    key = next(keys)
    return replace(
        brick,
        key=key,
        arms={name: tuple(recounted(one, keys) for one in row) for name, row in brick.arms.items()},
    )
