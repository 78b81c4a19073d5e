"""Operators and lines from their canonical text, as in links and on the command line."""

from __future__ import annotations

import ast
from typing import Any

from core.errors import BadParameter, nearest
from core.lines import calls, named_values
from core.operators import OPERATORS
from core.operators.base import Line, Operator
from core.operators.branch import Branch
from core.operators.combinator import Combinator, combined
from core.operators.loop import Loop
from core.operators.union import Union
from core.parameters import make


def parse_line(text: str) -> Line:
    """The line whose `repr` is `text`: `PersonalizedPageRank(keep=500) >> ShortestPaths() >> Answer()`.

    Only operator names with literal parameters are read, and branches, loops and unions (`a | b`) of such; nothing is evaluated. Raises
    BadParameter.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise BadParameter(
            f"“{text[:80]}” is neither an instance nor a line of operators."
        ) from None
    return Line(_operators(tree))


def operator_class(name: str, where: str = "") -> type[Operator]:
    """The operator of that name. Raises BadParameter that names the nearest."""
    if name not in OPERATORS:
        raise BadParameter(
            f"{where + ': there' if where else 'There'} is no operator “{name}”.{nearest(name, OPERATORS)}"
        )
    return OPERATORS[name]


def _operators(tree: ast.expr) -> tuple[Operator, ...]:
    """The operators of `a >> b >> c`."""
    return tuple(read_operator(call) for call in calls(tree))


def _branch(call: ast.Call) -> Branch:
    """`Branch(on='hops', arms={1: A() >> B()}, otherwise=C())`."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    on, arms, otherwise = (given.get(name) for name in ("on", "arms", "otherwise"))
    if (
        len(given) != 3
        or not isinstance(on, ast.Constant)
        or not isinstance(arms, ast.Dict)
        or otherwise is None
    ):
        raise BadParameter(
            "A branch is written Branch(on='hops', arms={1: ..., 2: ...}, otherwise=...)."
        )
    keys: list[Any] = [
        key.value if isinstance(key, ast.Constant) else None for key in arms.keys
    ]  # a branch refuses what does not fit
    place: Any = on.value
    return Branch(
        place,
        tuple((key, _operators(arm)) for key, arm in zip(keys, arms.values)),
        _operators(otherwise),
    )


def _combined(cls: type[Combinator], call: ast.Call) -> Combinator:
    """`Loop(body=A() >> B(), budget=100)`, `Union(first=A() >> B(), second=C(), order='score')`."""
    given = {keyword.arg or "**": keyword.value for keyword in call.keywords}
    lines = {name: _operators(given.pop(name)) for name in cls.lines if name in given}
    named = named_values(
        ast.Call(call.func, [], [ast.keyword(name, value) for name, value in given.items()])
    )
    return combined(cls, lines, named[1] if named else {})


def read_operator(call: ast.expr) -> Operator:
    """The operator that an expression names with its parameters. Raises BadParameter."""
    if isinstance(call, ast.BinOp) and isinstance(call.op, ast.BitOr):
        return Union(_operators(call.left), _operators(call.right))
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args:
        if call.func.id == Branch.__name__:
            return _branch(call)
        for cls in (Loop, Union):
            if call.func.id == cls.__name__:
                return _combined(cls, call)
    named = named_values(call)
    if named is None:
        raise BadParameter(
            f"“{ast.unparse(call)[:80]}” is neither an instance nor an operator with named parameters."
        )
    name, given = named
    return make(operator_class(name), given)
