"""Ranks of known answers or gold items in a ranking.

All ranking metrics are based on them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class GoldRanks:
    """Positions of the known answers in a ranking, counted from 1.

    `count` is the length of the ranking. `relevant` holds the ascending ranks of the items that
    contain at least one known answer. `first` holds, for each known answer, the rank of the first
    item that contains it, or None. In rankings of chunks and nodes, both may have ranks beyond
    `count`: those of items that the method ranked but did not select. Such ranks are not scored.
    The field names are those of saved runs.
    """

    count: int
    relevant: tuple[int, ...]
    first: tuple[int | None, ...]

    def last_counted_rank(self, k: int | None) -> int:
        """Return the last rank that counts at cut-off k; None stands for no cut-off."""
        return self.count if k is None else min(k, self.count)

    def count_found(self, k: int | None) -> int:
        """Return how many known answers the items up to cut-off k contain."""
        return sum(rank is not None and rank <= self.last_counted_rank(k) for rank in self.first)


def gold_ranks(answers_by_item: Iterable[Iterable[int]], n_answers: int) -> GoldRanks:
    """Return the ranks of known answers in a ranking.

    Parameters
    ----------
    answers_by_item : for each item of the ranking, best first, the indexes of the known answers
        that it contains.
    n_answers : number of known answers.

    Returns
    -------
    Ranks from 1.

    Examples
    --------
    >>> from core.evaluation.metrics.ranking import gold_ranks
    >>> gold_ranks([[], [0], [0, 1]], 3)
    GoldRanks(count=3, relevant=(2, 3), first=(2, 3, None))
    """
    first: list[int | None] = [None] * n_answers
    relevant = []
    count = 0
    for count, answers in enumerate(answers_by_item, 1):
        if answers:
            relevant.append(count)
        for answer in answers:
            first[answer] = first[answer] or count
    return GoldRanks(count, tuple(relevant), tuple(first))
