"""A ranking against what is known to be right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Ranked:
    """A ranking against the known answers: its length, the places (from 1) of the items that hold any of them, and for
    each answer the place of the first item that holds it, or None."""

    count: int
    relevant: tuple[int, ...]
    first: tuple[int | None, ...]

    def last(self, k: int | None) -> int:
        """The last place that counts with a cut-off at k: places behind what was kept never do."""
        return self.count if k is None else min(k, self.count)


def ranked(held: Iterable[Iterable[int]], answers: int) -> Ranked:
    """The ranking whose items hold these of so many known answers, item by item.

    >>> from core.evaluation.metrics.ranking import ranked
    >>> ranked([[], [0], [0, 1]], 3)
    Ranked(count=3, relevant=(2, 3), first=(2, 3, None))
    """
    first: list[int | None] = [None] * answers
    relevant, place = [], 0
    for place, found in enumerate(held, 1):
        if found:
            relevant.append(place)
        for i in found:
            first[i] = first[i] or place
    return Ranked(place, tuple(relevant), tuple(first))
