"""Lines with operators changed wherever they occur: at the top, in loops, in unions and in the arms of branches."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from core.operators.base import Line, Operator
from core.operators.combinator import Combinator

Change = Callable[[Operator], Operator]


def changed(line: Line, change: Change) -> Line:
    """The line with `change` applied to every operator, to those inside another one before that. Raises BadParameter.

    >>> from core.operators.everywhere import changed
    >>> from core.operators.texts.sparse import SparseNodes
    >>> from core.operators.text import parse_line
    >>> change = lambda one: SparseNodes(keep=3) if isinstance(one, SparseNodes) else one
    >>> changed(parse_line("EmbedQuery() >> (VectorNodes() | SparseNodes()) >> SparseNodes()"), change)
    EmbedQuery() >> Union(first=VectorNodes(), second=SparseNodes(keep=3)) >> SparseNodes(keep=3)
    """
    return Line(_each(line.operators, change))


def everywhere(line: Line) -> Iterator[Operator]:
    """Every operator of a line, those inside another one before that."""
    found: list[Operator] = []

    def take(operator: Operator) -> Operator:
        found.append(operator)
        return operator

    changed(line, take)
    return iter(found)


def _each(operators: tuple[Operator, ...], change: Change) -> tuple[Operator, ...]:
    return tuple(change(_inside(operator, change)) for operator in operators)


def _inside(operator: Operator, change: Change) -> Operator:
    return (
        operator.changed(lambda arm: _each(arm, change))
        if isinstance(operator, Combinator)
        else operator
    )
