"""Ranks of the correct answers in a ranking."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class GoldRanks:
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


def gold_ranks(held: Iterable[Iterable[int]], answers: int) -> GoldRanks:
    """Return the ranks of known answers in a ranking.

    Parameters
    ----------
    held : for each item of the ranking, best first, the indexes of the known answers that it
        contains.
    answers : number of known answers.

    Returns
    -------
    Ranks from 1.

    Examples
    --------
    >>> from core.evaluation.metrics.ranking import gold_ranks
    >>> gold_ranks([[], [0], [0, 1]], 3)
    GoldRanks(count=3, relevant=(2, 3), first=(2, 3, None))
    """
    first: list[int | None] = [None] * answers
    relevant, rank = [], 0
    for rank, answers_held in enumerate(held, 1):
        if answers_held:
            relevant.append(rank)
        for i in answers_held:
            first[i] = first[i] or rank
    return GoldRanks(rank, tuple(relevant), tuple(first))
