"""A draft: bricks in a row, which need not make a line yet. A brick is an operator with its parameters, or holds rows of bricks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import Any

from core.drafts.vocabulary import RETRIEVAL, Vocabulary, vocabulary_of
from core.errors import BadParameter
from core.lines import OperatorLine
from core.operators.branch import DECIDES, Branch
from core.operators.combinator import Combinator, combined
from core.parameters import make, parameters, values

OTHERWISE = "otherwise"  # the arm of a branch for all other questions
OPEN = "..."  # how a text writes a row that holds no brick yet
Bricks = tuple["Brick", ...]


@dataclass(frozen=True)
class Brick:
    """One step of a draft. `key` stays the same wherever the brick is moved; `arms` are the rows that a loop, a branch or a union holds."""

    key: int
    cls: type[Any]
    given: Mapping[str, Any] = field(default_factory=dict)
    arms: Mapping[str, Bricks] = field(default_factory=dict)

    @cached_property
    def _made(self) -> tuple[Any, str]:
        """The operator and no word, or None and why it cannot be made yet."""
        try:
            return self._make(), ""
        except BadParameter as error:
            return None, str(error)

    def _make(self) -> Any:
        arms = {name: operators_of(row) for name, row in self.arms.items()}
        if issubclass(self.cls, Branch):
            numbered = tuple((int(name), arm) for name, arm in arms.items() if name != OTHERWISE)
            return Branch(self.given["on"], numbered, arms[OTHERWISE])
        if issubclass(self.cls, Combinator):
            return combined(self.cls, arms, self.given)
        return make(self.cls, self.given)

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
        """The stage of its operator; of a branch that is not complete yet that of a search."""
        return self.operator.stage if self.operator is not None else "retrieve"

    @property
    def text(self) -> str:
        """Its canonical text, with `...` for rows that hold no brick yet."""
        if not self.arms:
            return repr(make(self.cls, self.given))
        rows = {
            name: " >> ".join(brick.text for brick in row) or OPEN
            for name, row in self.arms.items()
        }
        if issubclass(self.cls, Branch):
            numbered = ", ".join(
                f"{name}: {row}" for name, row in rows.items() if name != OTHERWISE
            )
            return (
                f"Branch(on={self.given['on']!r}, arms={{{numbered}}}, otherwise={rows[OTHERWISE]})"
            )
        changed = [
            f"{p.name}={given!r}"
            for p in parameters(self.cls)
            if (given := self.given.get(p.name, p.default)) != p.default
        ]
        return f"{self.cls.__name__}({', '.join([*(f'{name}={row}' for name, row in rows.items()), *changed])})"

    def each(self) -> Iterator[Brick]:
        """This brick and all that it holds."""
        yield self
        for row in self.arms.values():
            for brick in row:
                yield from brick.each()


def operators_of(row: Iterable[Brick]) -> tuple[Any, ...]:
    """The operators of bricks. Raises BadParameter where one is none yet."""
    found = []
    for brick in row:
        if brick.operator is None:
            raise BadParameter(brick.lacks)
        found.append(brick.operator)
    return tuple(found)


def brick_of(operator: Any, keys: Iterator[int]) -> Brick:
    """An operator as a brick, with the next of `keys`, and so what it holds."""
    key = next(keys)
    row = lambda arm: tuple(brick_of(one, keys) for one in arm)
    if isinstance(operator, Branch):
        arms = {str(number): row(arm) for number, arm in operator.arms} | {
            OTHERWISE: row(operator.otherwise)
        }
        return Brick(key, Branch, {"on": operator.on}, arms)
    if isinstance(operator, Combinator):
        return Brick(
            key,
            type(operator),
            values(operator),
            {name: row(getattr(operator, name)) for name in operator.lines},
        )
    brick = Brick(key, type(operator), values(operator))
    brick.__dict__["_made"] = operator, ""  # it need not be made again
    return brick


_usual: dict[type[Any], Any] = {}


def usual(cls: type[Any]) -> Any:
    """The operator with its defaults, made once."""
    if cls not in _usual:
        _usual[cls] = cls()
    return _usual[cls]


def new_brick(cls: type[Any], keys: Iterator[int]) -> Brick:
    """An operator with its defaults as a brick; a branch with two rows that hold nothing yet."""
    if issubclass(cls, Branch):
        return Brick(next(keys), Branch, {"on": DECIDES[0]}, {"1": (), OTHERWISE: ()})
    return brick_of(usual(cls), keys)


@dataclass(frozen=True)
class Draft:
    """Bricks in a row; `following` is the key that the next new brick gets, `vocabulary` what bricks there may be."""

    bricks: Bricks = ()
    following: int = 1
    vocabulary: Vocabulary = RETRIEVAL

    @classmethod
    def of(cls, line: Iterable[Any]) -> Draft:
        """A line as a draft."""
        keys = count(1)
        return cls(
            tuple(brick_of(operator, keys) for operator in line), next(keys), vocabulary_of(line)
        )

    def each(self) -> Iterator[Brick]:
        """Every brick, those inside others too."""
        for brick in self.bricks:
            yield from brick.each()

    def find(self, key: int) -> Brick | None:
        """The brick of that key, wherever it is."""
        return next((brick for brick in self.each() if brick.key == key), None)

    @property
    def text(self) -> str:
        """Its canonical text, as `core.drafts.text.parse_draft` reads it; of a complete draft that of its line."""
        return " >> ".join(brick.text for brick in self.bricks)

    def line(self) -> OperatorLine[Any]:
        """The line that it makes. Raises BadParameter where it is empty or cannot be run."""
        if not self.bricks:
            raise BadParameter("The line is empty; add a first step, or start from a method.")
        return self.vocabulary.line(operators_of(self.bricks))

    def complete(self) -> Any:
        """The line that it makes; None where it cannot be run yet."""
        try:
            return self.line()
        except BadParameter:
            return None


def recounted(brick: Brick, keys: Iterator[int]) -> Brick:
    """The same brick with new keys, as a copy of it has."""
    key = next(keys)
    return replace(
        brick,
        key=key,
        arms={name: tuple(recounted(one, keys) for one in row) for name, row in brick.arms.items()},
    )
