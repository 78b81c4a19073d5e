"""Parsing of a line's text as Python expressions, `A(x=1) >> B()`, without evaluation."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from core.errors import BadParameter


def split_steps(tree: ast.expr) -> tuple[ast.expr, ...]:
    """Return the operands of the expression `a >> b >> c`, in order.

    >>> import ast
    >>> from core.lines.text import split_steps
    >>> [ast.unparse(call) for call in split_steps(ast.parse("A(x=1) >> B()", mode="eval").body)]
    ['A(x=1)', 'B()']
    """
    parts: list[ast.expr] = []
    while isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.RShift):
        parts.append(tree.right)
        tree = tree.left
    return (tree, *reversed(parts))


def parse_call(call: ast.expr) -> tuple[str, dict[str, ast.expr]] | None:
    """Return the name and the arguments of a call.

    The values of the arguments are returned unevaluated. The result is None for a positional
    argument, and for any expression but a call. Raises BadParameter for an argument that occurs
    twice.
    """
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args):
        return None
    arguments: dict[str, ast.expr] = {}
    for keyword in call.keywords:
        if keyword.arg in arguments:
            raise BadParameter(f"{call.func.id}: “{keyword.arg}” is given twice.")
        # `**x` has no name; a check of the names rejects it later
        arguments[keyword.arg or "**"] = keyword.value
    return call.func.id, arguments


def literal_values(name: str, arguments: Mapping[str, ast.expr]) -> dict[str, Any]:
    """Return the values of arguments, which must be literals.

    Raises BadParameter for any other expression; `name` is that of the operator, for the message.
    The types are checked later, by the grammar: None, lists and dictionaries are literals, too.

    >>> import ast
    >>> from core.lines.text import parse_call, literal_values
    >>> literal_values(*parse_call(ast.parse("A(x=1)", mode="eval").body))
    {'x': 1}
    """
    values_by_name: dict[str, Any] = {}
    for key, expression in arguments.items():
        try:
            values_by_name[key] = value = ast.literal_eval(expression)
            str(value).encode("utf-8")  # fails for half a surrogate pair, which is no text
        except (ValueError, TypeError, RecursionError, MemoryError):
            raise BadParameter(
                f"{name}: the value of “{key}” must be a number, a text, True or False."
            ) from None
    return values_by_name


def split_at_commas(text: str) -> list[str]:
    """Split a text at the commas outside brackets and quotes.

    In quotes, a backslash makes the next letter one of the text.

    >>> from core.lines.text import split_at_commas
    >>> split_at_commas("A(x=1, y=',') >> B(), c")
    ["A(x=1, y=',') >> B()", 'c']
    """
    pieces, depth, quote = [""], 0, ""
    is_escaped = False
    for letter in text:
        if is_escaped:
            is_escaped = False
        elif quote and letter == "\\":
            is_escaped = True
        elif quote or letter in "\"'":
            # the first quote opens a text, and only the same quote closes it
            quote = (quote or letter) if letter != quote else ""
        else:
            depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth and not quote:
            pieces.append("")
        else:
            pieces[-1] += letter
    return [part.strip() for part in pieces if part.strip()]
