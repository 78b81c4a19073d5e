"""How little two lines of operators may differ, so that one is named after the other."""

from __future__ import annotations

from core.operators.base import Line
from core.parameters import values

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
    if [type(one) for one in (*line, *line.parts())] != [type(one) for one in (*other, *other.parts())]:
        return ()
    changes = dict[str, None]()
    for one, two in (*zip(line, other), *zip(line.parts(), other.parts())):
        before = values(one)
        changed = {name: value for name, value in values(two).items() if before.get(name) != value}
        changes |= dict.fromkeys(f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}" for name, value in changed.items())
    return tuple(changes) if len(changes) <= SAID else ()
