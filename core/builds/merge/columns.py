"""Columns of numbers in which mentions of names are gathered chunk after chunk, in little memory, and put together block after block."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Protocol, Self, TypeVar

import numpy as np

from core.builds.base import BuildContext
from core.builds.extract.extracting import SavedFacts
from core.builds.extract.over_workers import Collector
from core.builds.facts import Facts
from core.graph.columns import Rows

EVERY = 1000  # chunks between two looks at whether somebody cancelled


class Gathered(Collector, Protocol):
    """What is gathered of facts in the order of their chunks; that of later chunks may be included."""

    def include(self, later: Self) -> None:
        """Add all that was gathered of chunks that follow."""


G = TypeVar("G", bound=Gathered)


def gathered(facts: Sequence[Facts], fresh: Callable[[], G], what: str, ctx: BuildContext) -> G:
    """What `fresh()` gathers of all chunks; of saved facts by the workers of the build where it has some, block after block, which gives
    the same."""
    whole = fresh()
    if isinstance(facts, SavedFacts) and ctx.workers is not None:
        for done, block in facts.over_workers(fresh):
            whole.include(block)
            ctx.progress(what, done / len(facts))
        return whole
    for row, one in enumerate(facts):
        if row % EVERY == 0:
            ctx.check()
            ctx.progress(what, row / len(facts))
        whole.add(row, one)
    return whole


class Numbered(dict[str, int]):
    """Different texts, each with its number in the order in which they came.

    >>> from core.builds.merge.columns import Numbered
    >>> one, other = Numbered(), Numbered()
    >>> one.of("a"), one.of("b"), one.of("a"), other.of("c"), other.of("b")
    (0, 1, 0, 0, 1)
    >>> one.include(other).tolist(), list(one)  # what 0, 1 and -1 of the other are here
    ([2, 1, -1], ['a', 'b', 'c'])
    """

    def of(self, text: str) -> int:
        """The number of a text."""
        return self.setdefault(text, len(self))

    def include(self, other: Numbered) -> np.ndarray:
        """The number that each text of the other has here, int32, where it is added if it is not there; last -1, for that of no text."""
        return np.array([*map(self.of, other), -1], np.int32)

    def alphabet(self) -> np.ndarray:
        """The place of each text when they are sorted, int64."""
        words, places = list(self), np.empty(len(self), np.int64)
        places[sorted(range(len(words)), key=words.__getitem__)] = np.arange(len(words))
        return places


class Columns:
    """Columns of numbers that grow row by row, `i` for int32 and `d` for float64."""

    def __init__(self, types: str):
        self._columns = [array(type) for type in types]

    def add(self, *row: float) -> None:
        """Add a row."""
        for column, value in zip(self._columns, row):
            column.append(value)  # type: ignore[arg-type]  # ints where the type is one of ints

    def include(self, other: Columns, *numbers: np.ndarray | None) -> None:
        """Add the rows of the other, in each column the number `numbers[value]` in the place of a value, where these are given."""
        for column, values, new in zip(self._columns, other.arrays(), numbers):
            column.frombytes((values if new is None else new[values]).tobytes())

    def arrays(self) -> tuple[np.ndarray, ...]:
        """The columns, int32 or float64, without a copy; no row can be added while they are there."""
        return tuple(np.frombuffer(column, column.typecode) for column in self._columns)


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


def most_frequent(counted: tuple[np.ndarray, ...], alphabet: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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
