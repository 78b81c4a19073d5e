"""A graph of neighbours (HNSW) of an earlier content that is added to: new vectors are linked into it, removed ones are masked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from core.indexes.encoded import DONE, KEYS, Blocks, earlier_folders
from core.indexes.parts import added_to, files
from core.io import digests

ORDER = "order.npy"  # which item lies at each place of the index, where these are not the same
MOST = 0.1  # the share of places that may be new, and that may be masked; beyond it the index is made anew


@dataclass(frozen=True, eq=False)
class Order:
    """Which item lies at each place of an index, int64, -1 at one whose item was removed; every item lies at one place. `added` counts
    those that were added since the index was made as a whole.

    >>> import numpy as np
    >>> from core.indexes.appended import Order
    >>> order = Order(np.array([1, -1, 0]))
    >>> order.places(np.array([0, 1])).tolist(), order.masked, order.there.tolist()
    ([2, 0], 1, [True, False, True])
    """

    items: np.ndarray
    added: int = 0

    @cached_property
    def there(self) -> np.ndarray:
        """Whether a place has an item, bool."""
        return self.items >= 0

    @property
    def masked(self) -> int:
        """How many places have none."""
        return len(self.items) - int(self.there.sum())

    @cached_property
    def _places(self) -> np.ndarray:
        places = np.empty(int(self.there.sum()), np.int64)
        places[self.items[self.there]] = np.flatnonzero(self.there)
        return places

    def places(self, items: np.ndarray) -> np.ndarray:
        """Where items lie, int64."""
        return self._places[items]

    def first(self, places: np.ndarray, n: int) -> np.ndarray:
        """The items at the first `n` places that have one, of each row, int64 [rows, n]; -1 where a row has fewer."""
        found = np.where(places >= 0, self.items[places], -1)
        return np.take_along_axis(found, np.argsort(found < 0, axis=1, kind="stable"), axis=1)[
            :, :n
        ]


def grown(blocks: Blocks, kind: str, width: int) -> tuple[Any, Order] | None:
    """The faiss index of an earlier content of the graph with the vectors of these blocks, and their order, where most of them are in it;
    else None.

    Those that it has keep their links, so that it is not the index that one made anew would be: its recall is to be measured again.
    """
    if not (blocks.folder / KEYS).exists():
        return None
    new = np.load(blocks.folder / KEYS)
    for folder in earlier_folders(blocks.folder, blocks.graph):
        known = _before(folder, kind, width)
        if known is None:
            continue
        before, parts = known
        items = np.full(len(before.items), -1, np.int64)
        items[before.there] = matched(np.load(folder / KEYS), new)[before.items[before.there]]
        fresh = np.setdiff1d(np.arange(len(new)), items[items >= 0], assume_unique=True)
        order = Order(np.concatenate([items, fresh]), before.added + len(fresh))
        if max(order.added, order.masked) > MOST * len(order.items):
            continue
        try:
            if len(fresh):
                new_ones = np.ascontiguousarray(blocks.rows(fresh), np.float32)
            else:
                new_ones = np.empty((0, width), np.float32)
            return added_to(folder, parts, blocks.folder, new_ones), order
        except RuntimeError:  # of an earlier version, without a digest, and damaged
            continue
    return None


def matched(before: np.ndarray, now: np.ndarray) -> np.ndarray:
    """For each key of an earlier content the item that has it now, int64, -1 where none has; of equal ones each has another.

    >>> import numpy as np
    >>> from core.indexes.appended import matched
    >>> key = lambda *numbers: np.array([(one, 0) for one in numbers], np.uint64)
    >>> matched(key(7, 5, 7, 9), key(5, 7, 8)).tolist()
    [1, 0, -1, -1]
    """
    both = np.concatenate([before, now])
    order = np.lexsort((both[:, 1], both[:, 0]))
    new = np.ones(len(order), bool)
    new[1:] = (np.diff(both[order], axis=0) != 0).any(axis=1)
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(new)
    known, asked = (
        _numbered(part, len(both) + 1) for part in (group[: len(before)], group[len(before) :])
    )
    _, old, item = np.intersect1d(known, asked, assume_unique=True, return_indices=True)
    found = np.full(len(before), -1, np.int64)
    found[old] = item
    return found


def _numbered(groups: np.ndarray, room: int) -> np.ndarray:
    """Another number for each, by its group and how many of that came before."""
    order = np.argsort(groups, kind="stable")
    first = np.ones(len(order), bool)
    first[1:] = np.diff(groups[order]) != 0
    starts = np.flatnonzero(first)
    times = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    numbers = np.empty(len(order), np.int64)
    numbers[order] = groups[order] * room + times
    return numbers


def order_in(folder: Path, facts: dict[str, Any]) -> Order | None:
    """The order that lies beside an index; None where items lie in their own. Raises ValueError and OSError where it is damaged."""
    if "places" not in facts:
        return None
    digests.check_sealed(folder / ORDER)
    return Order(np.load(folder / ORDER), int(facts["added"]))


def _before(folder: Path, kind: str, width: int) -> tuple[Order, int] | None:
    """The order of the index in a folder, and its number of parts; None where there is none of this kind that is sound."""
    try:
        facts = digests.check_marked(json.loads((folder / DONE).read_text("utf-8")))
        if facts["kind"] != kind or facts["dimension"] != width:
            return None
        digests.check_sealed(folder / KEYS)
        parts = int(facts.get("parts", 0))
        for file in files(folder, parts):
            digests.check_sealed(file)
        return order_in(folder, facts) or Order(np.arange(facts["items"])), parts
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
