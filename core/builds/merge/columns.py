"""Collection of the facts of all chunks in columns, and grouping of their rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Protocol, Self, TypeVar

import numpy as np

from core.builds.base import BuildContext
from core.builds.extract.extractor import SavedFacts
from core.builds.fact_collections import Collector
from core.builds.facts import Facts
from core.graph.columns import IdLists

FACTS_PER_CHECK = 1000  # chunks read between two checks for a cancel


class MergeableCollector(Collector, Protocol):
    """A collection of facts in the order of their chunks, to which later ones can be added."""

    def include(self, other: Self, rows: np.ndarray | None = None) -> None:
        """Add the collection of the chunks that follow.

        Parameters
        ----------
        other : a collection of the same kind, over the chunks that follow.
        rows : int64 [chunks of later], their rows here, if they were numbered from 0 there. None if
            the rows are already those here.
        """


G = TypeVar("G", bound=MergeableCollector)


def collect_all(facts: Sequence[Facts], fresh: partial[G], what: str, ctx: BuildContext) -> G:
    """Collect the facts of all chunks.

    Saved facts are collected by runs of chunks, by the workers of the build where there are any.
    Runs that were collected before are loaded. The result is the same.

    Parameters
    ----------
    fresh : makes an empty collection.
    what : the message of the progress.

    Returns
    -------
    The filled collection.
    """
    collection = fresh()
    if isinstance(facts, SavedFacts):
        for rows, block in facts.gathered(fresh):
            ctx.watch.check()
            collection.include(block, np.arange(rows.start, rows.stop))
            ctx.watch.report(what, rows.stop / len(facts))
        return collection
    for row, chunk_facts in enumerate(facts):
        if row % FACTS_PER_CHECK == 0:
            ctx.watch.check()
            ctx.watch.report(what, row / len(facts))
        collection.add(row, chunk_facts)
    return collection


def group_rows(*columns: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Group rows that are equal in all columns.

    Returns the group of each row, int64, and the values of each group in every column.

    >>> import numpy as np
    >>> from core.builds.merge.columns import group_rows
    >>> number, (ends,) = group_rows(np.array([7, 3, 7]))
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
    columns: tuple[np.ndarray, ...], alphabet: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the most frequent value of each item.

    Parameters
    ----------
    columns : arrays of item, value and count, one entry per row.
    alphabet : the rank of each value; the first one counts among equally frequent values.

    Returns
    -------
    The items in ascending order, and the value of each.
    """
    items, values, times = columns
    number, (things, whats) = group_rows(items, values)
    counts = np.bincount(number, times, len(things))
    order = np.lexsort((alphabet[whats], -counts, things))
    first = np.ones(len(order), bool)
    first[1:] = np.diff(things[order]) != 0
    return things[order[first]], whats[order[first]]


def distinct_values(items: np.ndarray, values: np.ndarray, n: int) -> IdLists:
    """Return the distinct values of each of `n` items, in the order of their first occurrence.

    Parameters
    ----------
    items : int64 [m], the item of each pair, 0 to n - 1.
    values : int64 [m], the value of each pair.
    n : number of items.

    Returns
    -------
    One list of values for each item.
    """
    number, (things, whats) = group_rows(items, values)
    first_row = np.full(len(things), len(items), np.int64)
    np.minimum.at(first_row, number, np.arange(len(items)))
    order = np.lexsort((first_row, things))
    return IdLists(_indptr(things, n), whats[order])


def distinct_rows(items: np.ndarray, rows: np.ndarray, n: int) -> IdLists:
    """Return the distinct rows of each of `n` items, in ascending order.

    Parameters
    ----------
    items : int64 [m], the item of each pair, 0 to n - 1.
    rows : int64 [m], the row of each pair.
    n : number of items.

    Returns
    -------
    One list of rows for each item.
    """
    things, row_of_thing = group_rows(items, rows)[1]
    return IdLists(_indptr(things, n), row_of_thing.astype(np.int64))


def _indptr(things: np.ndarray, n: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(things, minlength=n))]).astype(np.int64)
