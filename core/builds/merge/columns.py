"""Collection of the facts of all chunks in columns of numbers. Their rows can be grouped."""

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

FACTS_PER_CHECK = 1000  # chunks collected between two checks for cancelling


class MergeableCollector(Collector, Protocol):
    """A collection of facts to which a later one can be added.

    The later one is that of the chunks that follow.
    """

    def include(self, other: Self, rows: np.ndarray | None = None) -> None:
        """Add the collection of the chunks that follow.

        Parameters
        ----------
        other : a collection of the same kind, over the chunks that follow.
        rows : int64 [chunks of other], the new row of each chunk. None if `other` already has the
            new rows.
        """


G = TypeVar("G", bound=MergeableCollector)


def collect_all(
    facts: Sequence[Facts], make_empty: partial[G], message: str, ctx: BuildContext
) -> G:
    """Collect the facts of all chunks.

    Saved facts are collected by runs of chunks, by the workers of the build if it has any. Runs
    that were collected before are loaded. The result is the same as without runs.

    Parameters
    ----------
    facts : the facts of each chunk.
    make_empty : makes an empty collection.
    message : the message of the progress.
    ctx : the watch and the workers of the build.

    Returns
    -------
    The filled collection.
    """
    collection = make_empty()
    if isinstance(facts, SavedFacts):
        for rows, part in facts.collect_runs(make_empty):
            ctx.watch.check()
            collection.include(part, np.arange(rows.start, rows.stop))
            ctx.watch.report(message, rows.stop / len(facts))
        return collection
    for row, chunk_facts in enumerate(facts):
        if row % FACTS_PER_CHECK == 0:
            ctx.watch.check()
            ctx.watch.report(message, row / len(facts))
        collection.add(row, chunk_facts)
    return collection


def group_rows(*columns: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Group rows that are equal in all columns.

    Returns the group of each row, int64, and the values of each group in every column. Groups
    ascend by their values.

    >>> import numpy as np
    >>> from core.builds.merge.columns import group_rows
    >>> group, (values,) = group_rows(np.array([7, 3, 7]))
    >>> group.tolist(), values.tolist()
    ([1, 0, 1], [3, 7])
    """
    order = np.lexsort(columns[::-1])
    begins_group = np.zeros(len(order), bool)
    for column in columns:
        begins_group[1:] |= np.diff(column[order]) != 0
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(begins_group)  # The first row is not counted, so groups start at 0.
    begins_group[:1] = True
    return group, tuple(column[order[begins_group]] for column in columns)


def most_frequent(
    columns: tuple[np.ndarray, ...], rank_of_value: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the most frequent value of each item.

    Parameters
    ----------
    columns : arrays of item, value and count, one entry per row.
    rank_of_value : decides between equally frequent values of an item: the lowest rank wins.

    Returns
    -------
    The items in ascending order, and the value of each.
    """
    items, values, times = columns
    group, (group_items, group_values) = group_rows(items, values)
    counts = np.bincount(group, times, len(group_items))
    order = np.lexsort((rank_of_value[group_values], -counts, group_items))
    is_first = np.ones(len(order), bool)
    is_first[1:] = np.diff(group_items[order]) != 0
    best = order[is_first]
    return group_items[best], group_values[best]


def distinct_values(items: np.ndarray, values: np.ndarray, n: int) -> IdLists:
    """Return the distinct values of each of `n` items.

    The values are in the order of their first occurrence.

    Parameters
    ----------
    items : int64 [m], the item of each pair, 0 to n - 1.
    values : int64 [m], the value of each pair.
    n : number of items.

    Returns
    -------
    One list of values for each item.
    """
    group, (group_items, group_values) = group_rows(items, values)
    first_row = np.full(len(group_items), len(items), np.int64)
    np.minimum.at(first_row, group, np.arange(len(items)))
    order = np.lexsort((first_row, group_items))
    return IdLists(_indptr(group_items, n), group_values[order])


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
    group_items, group_values = group_rows(items, rows)[1]
    return IdLists(_indptr(group_items, n), group_values.astype(np.int64))


def _indptr(items: np.ndarray, n: int) -> np.ndarray:
    """Return the offsets at which each item's values begin and end. The result is int64 [n + 1]."""
    return np.concatenate([[0], np.cumsum(np.bincount(items, minlength=n))]).astype(np.int64)
