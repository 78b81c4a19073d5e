"""Lines of operators as data: what the lines that ask a graph and those that build one have in common."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

from core.errors import BadParameter, nearest
from core.parameters import Declared

O = TypeVar("O", bound=Declared)  # noqa: E741


@dataclass(frozen=True, repr=False)
class OperatorLine(Generic[O]):
    """Operators one after the other. `repr` is their canonical text. Raises BadParameter where one cannot follow those before it."""

    operators: tuple[O, ...] = ()

    def __post_init__(self) -> None:
        for position in range(len(self.operators)):
            if reason := self.unfit_at(position):
                raise BadParameter(reason)

    @abstractmethod
    def unfit_at(self, position: int) -> str | None:
        """Why the operator at a position cannot follow those before it, in a sentence; None where it can."""

    def __rshift__(self, other: O | OperatorLine[O]) -> Self:
        return type(self)(
            self.operators + (other.operators if isinstance(other, OperatorLine) else (other,))
        )

    def __iter__(self) -> Iterator[Any]:
        return iter(self.operators)

    def __len__(self) -> int:
        return len(self.operators)

    def __repr__(self) -> str:
        return " >> ".join(map(repr, self.operators))


def calls(tree: ast.expr) -> tuple[ast.expr, ...]:
    """The parts of the expression `a >> b >> c`, in their order.

    >>> import ast
    >>> from core.lines import calls
    >>> [ast.unparse(call) for call in calls(ast.parse("A(x=1) >> B()", mode="eval").body)]
    ['A(x=1)', 'B()']
    """
    found: list[ast.expr] = []
    while isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.RShift):
        found.append(tree.right)
        tree = tree.left
    return (tree, *reversed(found))


def named_values(call: ast.expr) -> tuple[str, dict[str, Any]] | None:
    """The name that is called and its named values, which must be literals: nothing is evaluated. None for another expression.

    Raises BadParameter for a value that is no literal.

    >>> import ast
    >>> from core.lines import named_values
    >>> named_values(ast.parse("A(x=1)", mode="eval").body)
    ('A', {'x': 1})
    """
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args):
        return None
    given: dict[str, Any] = {}
    for keyword in call.keywords:
        if keyword.arg in given:
            raise BadParameter(f"{call.func.id}: “{keyword.arg}” is given twice.")
        try:
            given[keyword.arg or "**"] = value = ast.literal_eval(keyword.value)
            str(value).encode("utf-8")  # half a character of another encoding is no text
        except (ValueError, TypeError, RecursionError, MemoryError):
            raise BadParameter(
                f"{call.func.id}: the value of “{keyword.arg}” must be a number, a text, True or False."
            ) from None
    return call.func.id, given


def split(text: str) -> list[str]:
    """The parts of `text` between the commas outside brackets and quotes.

    >>> from core.lines import split
    >>> split("A(x=1, y=',') >> B(), c")
    ["A(x=1, y=',') >> B()", 'c']
    """
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if quote or letter in "\"'":
            quote = quote or letter if letter != quote else ""
        else:
            depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def check_row(row: Any, fields: Sequence[str], where: str) -> None:
    """Raises BadParameter unless a TOML row is a table of known keys with a title and a line."""
    if not isinstance(row, Mapping):
        raise BadParameter(f"{where}: a table was expected.")
    for field in row:
        if field not in fields:
            raise BadParameter(f"{where}: unknown key “{field}”.{nearest(field, fields)}")
    for field in ("title", "line"):
        if field not in row:
            raise BadParameter(f"{where}: “{field}” is missing.")


def stage_of(step: Any, stages: Sequence[str], where: str) -> str:
    """The one stage that an entry of a row's line names, which an operator's parameter may be called as. Raises BadParameter where it
    names none, or several."""
    named = [stage for stage in stages if isinstance(step, Mapping) and stage in step]
    if len(named) > 1:  # a name is a text, such as of a reader; how much is read is a number
        named = [stage for stage in named if isinstance(step[stage], str)]
    if len(named) != 1:
        raise BadParameter(f"{where}: name one stage ({', '.join(stages)}) and its operator.")
    return named[0]
