"""Mentions that are put together: texts and numbers gathered of the facts of all chunks, grouped block after block."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Protocol, Self, TypeVar

import numpy as np

from core.builds.base import BuildContext
from core.builds.extract.extracting import SavedFacts
from core.builds.facts import Facts
from core.builds.gathered import Collector
from core.graph.columns import Rows

EVERY = 1000  # chunks between two looks at whether somebody cancelled


class Gathered(Collector, Protocol):
    """What is gathered of facts in the order of their chunks; that of later chunks may be included."""

    def include(self, later: Self, rows: np.ndarray | None = None) -> None:
        """Add all that was gathered of chunks that follow, of which `rows` are the rows here where they were counted by themselves."""


G = TypeVar("G", bound=Gathered)


def gathered(facts: Sequence[Facts], fresh: partial[G], what: str, ctx: BuildContext) -> G:
    """What `fresh()` gathers of all chunks; of saved facts run after run, by the workers of the build where it has some, and not again of
    runs that were gathered before, which gives the same."""
    whole = fresh()
    if isinstance(facts, SavedFacts):
        for rows, block in facts.gathered(fresh):
            ctx.watch.check()
            whole.include(block, np.arange(rows.start, rows.stop))
            ctx.watch.report(what, rows.stop / len(facts))
        return whole
    for row, one in enumerate(facts):
        if row % EVERY == 0:
            ctx.watch.check()
            ctx.watch.report(what, row / len(facts))
        whole.add(row, one)
    return whole


def grouped(*columns: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """For each row the number of its group, int64, whose rows are the same in all columns, and of each group what it has there.

    >>> import numpy as np
    >>> from core.builds.merge.columns import grouped
    >>> number, (ends,) = grouped(np.array([7, 3, 7]))
    >>> number.tolist(), ends.tolist()
    ([1, 0, 1], [3, 7])
    """
    order = np.lexsort(columns[::-1])
    new = np.zeros(len(order), bool)
    for column in columns:
        new[1:] |= np.diff(column[order]) != 0
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(new)
    new[:1] = True
    return number, tuple(column[order[new]] for column in columns)


def most_frequent(
    counted: tuple[np.ndarray, ...], alphabet: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The things of rows of thing, what was counted of it, and how often: ascending, and of each what was counted most often; of equals
    the first by `alphabet`, the place of each."""
    of, what, times = counted
    number, (things, whats) = grouped(of, what)
    counts = np.bincount(number, times, len(things))
    order = np.lexsort((alphabet[whats], -counts, things))
    first = np.ones(len(order), bool)
    first[1:] = np.diff(things[order]) != 0
    return things[order[first]], whats[order[first]]


def several(of: np.ndarray, what: np.ndarray, n: int) -> Rows:
    """For each of `n` things what was said of it, once, in the order in which it came."""
    number, (things, whats) = grouped(of, what)
    came = np.full(len(things), len(of), np.int64)
    np.minimum.at(came, number, np.arange(len(of)))
    order = np.lexsort((came, things))
    return Rows(_indptr(things, n), whats[order])


def distinct(of: np.ndarray, rows: np.ndarray, n: int) -> Rows:
    """For each of `n` things its rows, ascending."""
    things, found = grouped(of, rows)[1]
    return Rows(_indptr(things, n), found.astype(np.int64))


def _indptr(things: np.ndarray, n: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(things, minlength=n))]).astype(np.int64)
