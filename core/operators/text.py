"""Operators and lines from their canonical text, as in links and on the command line."""

from __future__ import annotations

import ast

from core.errors import BadParameter, nearest
from core.operators import OPERATORS
from core.operators.base import Line, Operator, make


def parse_line(text: str) -> Line:
    """The line whose `repr` is `text`: `PersonalizedPageRank(keep=500) >> ShortestPaths() >> Answer()`.

    Only operator names with literal parameters are read; nothing is evaluated. Raises BadParameter.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise BadParameter(f"“{text[:80]}” is neither an instance nor a line of operators.") from None
    calls: list[ast.expr] = []
    while isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.RShift):
        calls.append(tree.right)
        tree = tree.left
    calls.append(tree)
    return Line(tuple(_operator(call) for call in reversed(calls)))


def operator_class(name: str, where: str = "") -> type[Operator]:
    """The operator of that name. Raises BadParameter that names the nearest."""
    if name not in OPERATORS:
        raise BadParameter(f"{where + ': ' if where else ''}there is no operator “{name}”.{nearest(name, OPERATORS)}")
    return OPERATORS[name]


def _operator(call: ast.expr) -> Operator:
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args):
        raise BadParameter(f"“{ast.unparse(call)[:80]}” is neither an instance nor an operator with named parameters.")
    given = {}
    for keyword in call.keywords:
        try:
            given[keyword.arg or "**"] = ast.literal_eval(keyword.value)
        except ValueError:
            raise BadParameter(f"{call.func.id}: the value of “{keyword.arg}” must be a number, a text, True or False.") from None
    return make(operator_class(call.func.id), given)
