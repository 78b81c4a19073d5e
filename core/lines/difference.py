"""Differences between two lines of operators: differing steps and settings, and words for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.errors import shorten
from core.lines.line import OperatorLine
from core.parameters import (
    MAX_VALUE_CHARACTERS,
    OperatorBase,
    format_value,
    parameter_values,
    parameters,
)

MAX_SETTINGS_NAMED = 3  # settings in the name of a changed method


def differing_parts(
    old: Sequence[Any], new: Sequence[Any]
) -> tuple[int, Sequence[Any], Sequence[Any]]:
    """Return the position and the parts in which two rows differ.

    The position is the one at which they begin to differ. The parts lie between the equal
    beginnings and the equal ends. Equal rows have empty parts.
    """
    old_texts, new_texts = list(map(repr, old)), list(map(repr, new))
    limit = min(len(old_texts), len(new_texts))
    start = next((i for i in range(limit) if old_texts[i] != new_texts[i]), limit)
    limit -= start  # the equal ends must not overlap the equal beginnings
    end = next((i for i in range(limit) if old_texts[-1 - i] != new_texts[-1 - i]), limit)
    return start, old[start : len(old_texts) - end], new[start : len(new_texts) - end]


def changed_values(
    old_operator: OperatorBase, new_operator: OperatorBase
) -> dict[str, tuple[Any, Any]]:
    """Return the values of each parameter in which two operators differ.

    They are the old and the new value. Both are of the same class.
    """
    old, new = parameter_values(old_operator), parameter_values(new_operator)
    return {name: (old.get(name), new[name]) for name in new if old.get(name) != new[name]}


def differing_step(line: OperatorLine[Any], other: OperatorLine[Any]) -> int | None:
    """Return the only position at which two lines differ.

    The result is None if they do not differ in exactly one operator, or if `line` has only one.
    """
    start, old, new = differing_parts(line.operators, other.operators)
    return start if len(line) > 1 and (len(old), len(new)) == (1, 1) else None


def changed_settings(line: OperatorLine[Any], other: OperatorLine[Any]) -> tuple[str, ...]:
    """Return the settings of `other` that differ from those of `line`.

    They are given in words, each once. The result is empty if the classes of operators differ, or
    more than `MAX_SETTINGS_NAMED` settings.

    >>> from core.lines.difference import changed_settings
    >>> from core.operators.text import parse_line
    >>> line = "SparseNodes() >> GraphRerank(alpha={}) >> DocumentsOfNodes(keep={})"
    >>> changed_settings(parse_line(line.format(0.2, 10)), parse_line(line.format(0.4, 20)))
    ('alpha 0.4', 'keep 20')
    """
    # the outer operators too, as `iter_operators` alone does not show which ones are inside others
    old_operators = (*line, *line.iter_operators())
    new_operators = (*other, *other.iter_operators())
    if [*map(type, old_operators)] != [*map(type, new_operators)]:
        return ()
    changes: dict[str, None] = {}
    for old, new in zip(old_operators, new_operators):
        for name, (_, value) in changed_values(old, new).items():
            changes[f"{name} {_short_value(value)}"] = None
    return tuple(changes) if len(changes) <= MAX_SETTINGS_NAMED else ()


def change_words(old: OperatorLine[Any], new: OperatorLine[Any]) -> str:
    """Describe the change from one line to another; empty if the lines are equal.

    >>> from core.lines.difference import change_words
    >>> from core.operators.text import parse_line
    >>> line = parse_line("EgoNetwork() >> ShortestPaths() >> Rank()")
    >>> change_words(line, parse_line("EgoNetwork() >> ShortestPaths() >> Rank(keep=8)"))
    'Rank: keep 32 → 8'
    >>> change_words(line, parse_line("EgoNetwork() >> SimplePaths() >> Rank()"))
    'Shortest paths → Complete paths'
    >>> change_words(line, parse_line("EgoNetwork() >> ShortestPaths()")), change_words(line, line)
    ('without Rank', '')
    """
    _, old_part, new_part = differing_parts(old.operators, new.operators)
    if not new_part:
        return f"without {_titles(old_part)}" if old_part else ""
    if not old_part:
        return f"with {_titles(new_part)}"
    if sorted(map(repr, old_part)) == sorted(map(repr, new_part)):
        return "in another order"
    if [*map(type, old_part)] == [*map(type, new_part)]:
        pairs = zip(old_part, new_part)
        return "; ".join(
            _setting_words(before, after) for before, after in pairs if repr(before) != repr(after)
        )
    return f"{_titles(old_part)} → {_titles(new_part)}"


def _short_value(value: Any) -> str:
    """Return the value of a setting as a short text."""
    return f"{value:g}" if isinstance(value, float) else shorten(value, MAX_VALUE_CHARACTERS)


def _setting_words(old_operator: OperatorBase, new_operator: OperatorBase) -> str:
    """Return the changed settings of one operator: `Rank: keep 32 → 8`."""
    labels = {p.name: f"{p.label[:1].lower()}{p.label[1:]}" for p in parameters(type(new_operator))}
    changed = [
        f"{labels[name]} {format_value(old)} → {format_value(new)}"
        for name, (old, new) in changed_values(old_operator, new_operator).items()
    ]
    return f"{_titles([new_operator])}: {', '.join(changed) or 'changed inside'}"


def title_of(operator: Any) -> str:
    """Return the title of an operator with a capital letter, as a heading."""
    return f"{operator.title[:1].upper()}{operator.title[1:]}"


def _titles(operators: Sequence[Any]) -> str:
    return ", ".join(map(title_of, operators))
