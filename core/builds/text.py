"""Build lines from their canonical text."""

from __future__ import annotations

import ast

from core.builds.base import BuildLine, BuildOperator
from core.builds.registry import OPERATORS
from core.errors import BadParameter, nearest, shorten
from core.lines import calls, named_values
from core.parameters import make


def parse_line(text: str) -> BuildLine:
    """The line whose `repr` is `text`: `TokenChunks(size=300) >> NounPhrases() >> Merge()`.

    Only operator names with literal parameters are read; nothing is evaluated. Raises BadParameter.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise BadParameter(f"“{shorten(text)}” is neither a build nor a line of building operators.") from None
    return BuildLine(tuple(_operator(call) for call in calls(tree)))


def operator_class(name: object, where: str = "") -> type[BuildOperator]:
    """The building operator of that name. Raises BadParameter that names the nearest."""
    if not isinstance(name, str) or name not in OPERATORS:
        raise BadParameter(
            f"{where + ': there' if where else 'There'} is no building operator “{shorten(name)}”.{nearest(str(name), OPERATORS)}"
        )
    return OPERATORS[name]


def _operator(call: ast.expr) -> BuildOperator:
    named = named_values(call)
    if named is None:
        raise BadParameter(f"“{shorten(ast.unparse(call))}” is neither a build nor a building operator with named parameters.")
    name, given = named
    return make(operator_class(name), given)
