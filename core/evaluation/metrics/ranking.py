"""Ranks of the correct answers in a ranking."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Ranked:
    """Positions of the known answers in a ranking, counted from 1.

    `count` is the length of the ranking. `relevant` holds the ranks of the items that contain at
    least one known answer. `first` holds, for each known answer, the rank of the first item that
    contains it, or None.
    """

    count: int
    relevant: tuple[int, ...]
    first: tuple[int | None, ...]

    def last(self, k: int | None) -> int:
        """Return the last rank that counts at cut-off k.

        Ranks beyond the items that were kept never count.
        """
        return self.count if k is None else min(k, self.count)


def ranked(held: Iterable[Iterable[int]], answers: int) -> Ranked:
    """Return the ranks of known answers in a ranking.

    Parameters
    ----------
    held : for each item of the ranking, best first, the indexes of the known answers that it
        contains.
    answers : number of known answers.

    Examples
    --------
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
