"""How two lines of operators differ: little enough that one is named after the other, and in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.errors import shorten
from core.lines import OperatorLine
from core.operators.base import Line
from core.parameters import VALUE_LETTERS, Declared, parameters, value_words, values

SAID = 3  # settings that a name may hold


def differing_step(line: Line, other: Line) -> int | None:
    """The one position at which two lines of several operators differ; None where they differ in none or more."""
    places = [i for i, (a, b) in enumerate(zip(line, other)) if repr(a) != repr(b)]
    return places[0] if len(line) == len(other) > 1 and len(places) == 1 else None


def changed_settings(line: Line, other: Line) -> tuple[str, ...]:
    """The settings of the second line that differ from the first's, each said once; none where operators differ, or more than a few.

    >>> from core.instances.difference import changed_settings
    >>> from core.operators.text import parse_line
    >>> line = "SparseNodes() >> GraphRerank(alpha={}) >> DocumentsOfNodes(keep={})"
    >>> changed_settings(parse_line(line.format(0.2, 10)), parse_line(line.format(0.4, 20)))
    ('alpha 0.4', 'keep 20')
    """
    if [type(one) for one in (*line, *line.parts())] != [
        type(one) for one in (*other, *other.parts())
    ]:
        return ()
    changes = dict[str, None]()
    for one, two in (*zip(line, other), *zip(line.parts(), other.parts())):
        before = values(one)
        changed = {name: value for name, value in values(two).items() if before.get(name) != value}
        changes |= dict.fromkeys(f"{name} {_said(value)}" for name, value in changed.items())
    return tuple(changes) if len(changes) <= SAID else ()


def change_words(before: OperatorLine[Any], now: OperatorLine[Any]) -> str:
    """How the second line differs from the first, as a person says it; empty where it does not.

    >>> from core.instances.difference import change_words
    >>> from core.operators.text import parse_line
    >>> line = parse_line("EgoNetwork() >> ShortestPaths() >> Rank()")
    >>> change_words(line, parse_line("EgoNetwork() >> ShortestPaths() >> Rank(keep=8)"))
    'Rank: keep 32 → 8'
    >>> change_words(line, parse_line("EgoNetwork() >> SimplePaths() >> Rank()"))
    'Shortest paths → Complete paths'
    >>> change_words(line, parse_line("EgoNetwork() >> ShortestPaths()")), change_words(line, line)
    ('without Rank', '')
    """
    old, new = list(before), list(now)
    while old and new and repr(old[0]) == repr(new[0]):
        old, new = old[1:], new[1:]
    while old and new and repr(old[-1]) == repr(new[-1]):
        old, new = old[:-1], new[:-1]
    if not new:
        return f"without {_titles(old)}" if old else ""
    if not old:
        return f"with {_titles(new)}"
    if sorted(map(repr, old)) == sorted(map(repr, new)):
        return "in another order"
    if [type(one) for one in old] == [type(one) for one in new]:
        return "; ".join(
            _setting_words(*both) for both in zip(old, new) if repr(both[0]) != repr(both[1])
        )
    return f"{_titles(old)} → {_titles(new)}"


def _said(value: Any) -> str:
    """A value in a name: a number or a word as it is, of a long text its beginning on one line."""
    return f"{value:g}" if isinstance(value, float) else shorten(value, VALUE_LETTERS)


def _setting_words(before: Declared, now: Declared) -> str:
    """The settings of one operator that differ: `Rank: keep 32 → 8`."""
    given, changed = values(now), []
    for parameter in parameters(type(now)):
        old, new = values(before)[parameter.name], given[parameter.name]
        if old != new:
            changed.append(
                f"{parameter.label[:1].lower()}{parameter.label[1:]} {value_words(old)} → {value_words(new)}"
            )
    return f"{_titles([now])}: {', '.join(changed) or 'changed inside'}"


def _titles(operators: Sequence[Any]) -> str:
    return ", ".join(f"{one.title[:1].upper()}{one.title[1:]}" for one in operators)
