"""Base class of lines of operators. Some lines retrieve, and others build graphs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

from core.errors import BadParameter
from core.lines.holder import Holder
from core.parameters import OperatorBase

O = TypeVar("O", bound=OperatorBase)  # noqa: E741


@dataclass(frozen=True, repr=False)
class OperatorLine(Generic[O]):
    """A sequence of operators, each of which can follow those before it.

    Its `repr` is its canonical text. Raises BadParameter for an operator that cannot follow.
    """

    operators: tuple[O, ...] = ()

    def __post_init__(self) -> None:
        for position, operator in enumerate(self.operators):
            if reason := self.misfit_reason(self.operators[:position], operator):
                raise BadParameter(reason)

    @staticmethod
    @abstractmethod
    def misfit_reason(previous: Iterable[Any], operator: Any) -> str | None:
        """Return why an operator cannot follow those before it, or None if it can."""

    def __rshift__(self, other: O | OperatorLine[O]) -> Self:
        operators = other.operators if isinstance(other, OperatorLine) else (other,)
        return type(self)(self.operators + operators)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.operators)

    def __len__(self) -> int:
        return len(self.operators)

    def __repr__(self) -> str:
        return " >> ".join(map(repr, self.operators))

    def with_operator_at(self, position: int, operator: O) -> Self:
        """Return this line with the operator at a position, from 0, replaced."""
        return type(self)((*self.operators[:position], operator, *self.operators[position + 1 :]))

    def without_stage(self, stage: str) -> Self:
        """Return this line without the operators of a stage."""
        return type(self)(tuple(operator for operator in self if operator.stage != stage))

    def iter_operators(self) -> Iterator[Any]:
        """Yield all operators, also those inside others, which come before the outer one."""
        return _every_operator(self.operators)

    def map_operators(self, change: Callable[[Any], Any]) -> Self:
        """Return this line with `change` applied to every operator, to inner ones first.

        Raises BadParameter if an operator cannot follow those before it any more.

        >>> from core.operators.texts.sparse import SparseNodes
        >>> from core.operators.text import parse_line
        >>> line = parse_line("EmbedQuery() >> (VectorNodes() | SparseNodes()) >> SparseNodes()")
        >>> line.map_operators(lambda one: SparseNodes(keep=3) if isinstance(one, SparseNodes) else one)
        EmbedQuery() >> Union(..., second=SparseNodes(keep=3)) >> SparseNodes(keep=3)
        """
        return type(self)(_with_change(self.operators, change))


def _every_operator(operators: Iterable[Any]) -> Iterator[Any]:
    for operator in operators:
        if isinstance(operator, Holder):
            for row in operator.rows().values():
                yield from _every_operator(row)
        yield operator


def _with_change(operators: Iterable[Any], change: Callable[[Any], Any]) -> tuple[Any, ...]:
    changed = []
    for operator in operators:
        if isinstance(operator, Holder):
            rows = {name: _with_change(row, change) for name, row in operator.rows().items()}
            operator = operator.from_rows(rows, operator.settings())
        changed.append(change(operator))
    return tuple(changed)
