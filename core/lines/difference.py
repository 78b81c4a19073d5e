"""Differences of two lines of operators: the steps, the settings, and words for both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.errors import shorten
from core.lines.line import OperatorLine
from core.parameters import VALUE_LETTERS, Declared, parameters, value_words, values

SAID = 3  # most settings in a name


def differing(
    before: Sequence[Any], now: Sequence[Any]
) -> tuple[int, Sequence[Any], Sequence[Any]]:
    """Return the position where two rows begin to differ, and the differing part of each."""
    old, new = list(map(repr, before)), list(map(repr, now))
    room = min(len(old), len(new))
    start = next((i for i in range(room) if old[i] != new[i]), room)
    room -= start
    end = next((i for i in range(room) if old[-1 - i] != new[-1 - i]), room)
    return start, before[start : len(old) - end], now[start : len(new) - end]


def changed_values(before: Declared, now: Declared) -> dict[str, tuple[Any, Any]]:
    """Return the parameters that differ between two operators of a class, with both values."""
    old, new = values(before), values(now)
    return {name: (old.get(name), new[name]) for name in new if old.get(name) != new[name]}


def differing_step(line: OperatorLine[Any], other: OperatorLine[Any]) -> int | None:
    """Return the only position at which two lines differ.

    Returns None if they differ at several positions or have a single operator.
    """
    start, old, new = differing(line.operators, other.operators)
    return start if len(line) > 1 and (len(old), len(new)) == (1, 1) else None


def changed_settings(line: OperatorLine[Any], other: OperatorLine[Any]) -> tuple[str, ...]:
    """Return the settings in which a line differs from another, each once.

    The result is empty if operators differ, or more than a few settings.

    >>> from core.lines.difference import changed_settings
    >>> from core.operators.text import parse_line
    >>> line = "SparseNodes() >> GraphRerank(alpha={}) >> DocumentsOfNodes(keep={})"
    >>> changed_settings(parse_line(line.format(0.2, 10)), parse_line(line.format(0.4, 20)))
    ('alpha 0.4', 'keep 20')
    """
    old, new = (*line, *line.everywhere()), (*other, *other.everywhere())
    if [*map(type, old)] != [*map(type, new)]:
        return ()
    changes = dict[str, None]()
    for before, now in zip(old, new):
        changed = changed_values(before, now).items()
        changes |= dict.fromkeys(f"{name} {_said(value)}" for name, (_, value) in changed)
    return tuple(changes) if len(changes) <= SAID else ()


def change_words(before: OperatorLine[Any], now: OperatorLine[Any]) -> str:
    """Return words for the change from the first line to the second; empty if they are equal.

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
    _, old, new = differing(before.operators, now.operators)
    if not new:
        return f"without {_titles(old)}" if old else ""
    if not old:
        return f"with {_titles(new)}"
    if sorted(map(repr, old)) == sorted(map(repr, new)):
        return "in another order"
    if [*map(type, old)] == [*map(type, new)]:
        return "; ".join(
            _setting_words(*both) for both in zip(old, new) if repr(both[0]) != repr(both[1])
        )
    return f"{_titles(old)} → {_titles(new)}"


def _said(value: Any) -> str:
    """Return a value for a name, on one line; a long text is shortened."""
    return f"{value:g}" if isinstance(value, float) else shorten(value, VALUE_LETTERS)


def _setting_words(before: Declared, now: Declared) -> str:
    """Return the changed settings of one operator: `Rank: keep 32 → 8`."""
    labels = {p.name: f"{p.label[:1].lower()}{p.label[1:]}" for p in parameters(type(now))}
    changed = [
        f"{labels[name]} {value_words(old)} → {value_words(new)}"
        for name, (old, new) in changed_values(before, now).items()
    ]
    return f"{_titles([now])}: {', '.join(changed) or 'changed inside'}"


def title_of(operator: Any) -> str:
    """Return the title of an operator as a heading."""
    return f"{operator.title[:1].upper()}{operator.title[1:]}"


def _titles(operators: Sequence[Any]) -> str:
    return ", ".join(map(title_of, operators))
