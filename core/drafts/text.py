"""A draft from its canonical text, in which rows that hold no brick yet are written `...`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import count

from core.drafts.brick import OTHERWISE, Brick, Bricks, Draft, brick_of
from core.drafts.vocabulary import RETRIEVAL, Vocabulary
from core.errors import BadParameter
from core.lines import calls, named_values
from core.operators.base import Operator
from core.operators.branch import DECIDES, Branch
from core.operators.combinator import Combinator
from core.operators.loop import Loop
from core.operators.text import read_operator
from core.operators.union import Union
from core.parameters import make, parameters

HOLDERS: dict[str, type[Combinator]] = {cls.__name__: cls for cls in (Loop, Union)}


def parse_draft(text: str, vocabulary: Vocabulary = RETRIEVAL) -> Draft:
    """The draft whose `text` it is: a line, which need not be one that can be run. Raises BadParameter for what is no line at all.

    >>> from core.drafts.text import parse_draft
    >>> parse_draft("Rank(keep=8) >> Loop(body=..., budget=9)").text
    'Rank(keep=8) >> Loop(body=..., budget=9)'
    """
    if not text.strip():
        return Draft(vocabulary=vocabulary)
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise BadParameter(
            "This cannot be read as a line: Operator(parameter=value) >> Operator() …"
        ) from None
    keys = count(1)
    if vocabulary is not RETRIEVAL:
        return Draft(
            tuple(brick_of(vocabulary.read(call), keys) for call in calls(tree)),
            next(keys),
            vocabulary,
        )
    return Draft(_row(tree, keys), next(keys))


def _row(tree: ast.expr, keys: Iterator[int]) -> Bricks:
    if isinstance(tree, ast.Constant) and tree.value is Ellipsis:
        return ()
    return tuple(_brick(call, keys) for call in calls(tree))


def _brick(call: ast.expr, keys: Iterator[int]) -> Brick:
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args:
        given = {keyword.arg or "**": keyword.value for keyword in call.keywords}
        if call.func.id == Branch.__name__:
            return _branch(given, keys)
        if call.func.id in HOLDERS:
            return _holder(HOLDERS[call.func.id], call.func, given, keys)
    return brick_of(read_operator(call), keys)


def _branch(given: dict[str, ast.expr], keys: Iterator[int]) -> Brick:
    key = next(keys)
    on, arms, otherwise = (given.get(name) for name in ("on", "arms", OTHERWISE))
    fits = (
        len(given) == 3
        and isinstance(on, ast.Constant)
        and on.value in DECIDES
        and isinstance(arms, ast.Dict)
    )
    if not fits or otherwise is None or not all(_whole(number) for number in arms.keys):  # type: ignore[union-attr]
        raise BadParameter(
            "A branch is written Branch(on='hops', arms={1: ..., 2: ...}, otherwise=...)."
        )
    rows = {str(number.value): _row(arm, keys) for number, arm in zip(arms.keys, arms.values)}  # type: ignore[union-attr]
    return Brick(key, Branch, {"on": on.value}, {**rows, OTHERWISE: _row(otherwise, keys)})  # type: ignore[union-attr]


def _whole(number: ast.expr | None) -> bool:
    return isinstance(number, ast.Constant) and type(number.value) is int and number.value >= 0


def _holder(
    cls: type[Combinator], name: ast.expr, given: dict[str, ast.expr], keys: Iterator[int]
) -> Brick:
    key = next(keys)
    usual: Operator = cls()
    rows = {
        arm: _row(given.pop(arm), keys)
        if arm in given
        else tuple(brick_of(one, keys) for one in getattr(usual, arm))
        for arm in cls.lines
    }
    named = named_values(
        ast.Call(name, [], [ast.keyword(arg, value) for arg, value in given.items()])
    )
    settings = named[1] if named else {}
    checked = make(cls, settings)  # by its usual rows; raises for a parameter that it does not have
    return Brick(key, cls, {p.name: getattr(checked, p.name) for p in parameters(cls)}, rows)
