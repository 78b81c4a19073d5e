"""HNSW indexes of an earlier graph content, extended instead of built anew.

New vectors are linked into the index. Removed ones are masked.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from core.indexes.index_parts import extend_saved_index, index_files
from core.indexes.vector_blocks import DONE_FILE, KEYS_FILE, VectorBlocks, earlier_folders
from core.io import digests

# Item at each position of the index; saved only if positions and items differ.
ORDER_FILE = "order.npy"
# Largest share of new positions, and of masked ones, in an extended index. With more, the index is
# built anew.
MAX_CHANGED_SHARE = 0.1


@dataclass(frozen=True, eq=False)
class PositionMap:
    """Mapping between the positions of an index and the items.

    `items` is int64 and holds the item at each position, -1 if the item was removed. Every item has
    exactly one position. `n_added` counts the items that were added since the whole index was
    built.

    >>> import numpy as np
    >>> from core.indexes.index_extension import PositionMap
    >>> order = PositionMap(np.array([1, -1, 0]))
    >>> order.positions_of(np.array([0, 1])).tolist(), order.n_masked, order.has_item.tolist()
    ([2, 0], 1, [True, False, True])
    """

    items: np.ndarray
    n_added: int = 0

    @cached_property
    def has_item(self) -> np.ndarray:
        """Boolean mask of the positions that have an item."""
        return self.items >= 0

    @property
    def n_masked(self) -> int:
        """Number of positions without an item."""
        return len(self.items) - int(self.has_item.sum())

    @cached_property
    def _positions(self) -> np.ndarray:
        positions = np.empty(int(self.has_item.sum()), np.int64)
        positions[self.items[self.has_item]] = np.flatnonzero(self.has_item)
        return positions

    def positions_of(self, items: np.ndarray) -> np.ndarray:
        """Return the positions of items, int64."""
        return self._positions[items]

    def first_items(self, positions: np.ndarray, n: int) -> np.ndarray:
        """Return the items at the first `n` occupied positions of each row.

        Parameters
        ----------
        positions : positions in the index, int64 [rows, m]; -1 for none.
        n : number of items of each row.

        Returns
        -------
        int64 [rows, n], padded with -1 if a row has fewer.
        """
        items = np.where(positions >= 0, self.items[positions], -1)
        occupied_first = np.argsort(items < 0, axis=1, kind="stable")
        return np.take_along_axis(items, occupied_first, axis=1)[:, :n]


def extend_index(blocks: VectorBlocks, kind: str, width: int) -> tuple[Any, PositionMap] | None:
    """Extend an earlier faiss index by the new vectors of `blocks`.

    The earlier index belongs to an earlier content of the graph. Vectors that the earlier index
    already has keep their links. The result therefore differs from an index built anew, and its
    recall has to be measured again.

    Parameters
    ----------
    blocks : the vectors of the present content, with the keys of their texts on disk.
    kind : the kind of index, as the factory of faiss names it. Only an index of this kind is
        extended.
    width : the dimension of the vectors.

    Returns
    -------
    The index and the order of its items, or None if no earlier index has most of the vectors.
    """
    if not (blocks.folder / KEYS_FILE).exists():
        return None
    keys = np.load(blocks.folder / KEYS_FILE)
    for folder in earlier_folders(blocks.folder, blocks.graph):
        earlier_index = _load_order(folder, kind, width)
        if earlier_index is None:
            continue
        old_order, parts = earlier_index
        # Positions of the earlier index get their new items, -1 where the vector is gone. The new
        # vectors take the positions behind them.
        new_item_of = match_keys(np.load(folder / KEYS_FILE), keys)
        items = np.full(len(old_order.items), -1, np.int64)
        items[old_order.has_item] = new_item_of[old_order.items[old_order.has_item]]
        added = np.setdiff1d(np.arange(len(keys)), items[items >= 0], assume_unique=True)
        order = PositionMap(np.concatenate([items, added]), old_order.n_added + len(added))
        if max(order.n_added, order.n_masked) > MAX_CHANGED_SHARE * len(order.items):
            continue
        try:
            vectors = np.empty((0, width), np.float32)
            if len(added):
                vectors = np.ascontiguousarray(blocks.vectors_of(added), np.float32)
            return extend_saved_index(folder, parts, blocks.folder, vectors), order
        except RuntimeError:  # damaged, which an index of an earlier version without digest hides
            continue
    return None


def match_keys(keys: np.ndarray, new_keys: np.ndarray) -> np.ndarray:
    """Match each earlier key with the item that has the same key now.

    Equal keys are matched one to one.

    Parameters
    ----------
    keys : keys of the earlier items, uint64 [m, 2].
    new_keys : keys of the items, uint64 [n, 2].

    Returns
    -------
    The item of each earlier key, int64 [m]; -1 if no item has the key.

    Examples
    --------
    >>> import numpy as np
    >>> from core.indexes.index_extension import match_keys
    >>> key = lambda *numbers: np.array([(one, 0) for one in numbers], np.uint64)
    >>> match_keys(key(7, 5, 7, 9), key(5, 7, 8)).tolist()
    [1, 0, -1, -1]
    """
    all_keys = np.concatenate([keys, new_keys])
    order = np.lexsort((all_keys[:, 1], all_keys[:, 0]))
    starts_group = np.ones(len(order), bool)
    starts_group[1:] = (np.diff(all_keys[order], axis=0) != 0).any(axis=1)
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(starts_group)
    earlier_ids, current_ids = (
        _entry_ids(part, len(all_keys) + 1) for part in (group[: len(keys)], group[len(keys) :])
    )
    _, rows, items = np.intersect1d(
        earlier_ids, current_ids, assume_unique=True, return_indices=True
    )
    item_of_key = np.full(len(keys), -1, np.int64)
    item_of_key[rows] = items
    return item_of_key


def _entry_ids(groups: np.ndarray, max_entries: int) -> np.ndarray:
    """Number each entry by its group and its occurrence within the group."""
    order = np.argsort(groups, kind="stable")
    is_first = np.ones(len(order), bool)
    is_first[1:] = np.diff(groups[order]) != 0
    starts = np.flatnonzero(is_first)
    occurrences = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    numbers = np.empty(len(order), np.int64)
    numbers[order] = groups[order] * max_entries + occurrences
    return numbers


def read_order(folder: Path, facts: dict[str, Any]) -> PositionMap | None:
    """Read the order of the items that is saved next to an index.

    Parameters
    ----------
    folder : folder of the index.
    facts : the saved facts of the index.

    Returns
    -------
    The order; None if item `i` is at position `i` for all items.

    Raises
    ------
    ValueError, OSError : the order is damaged.
    """
    if "places" not in facts:
        return None
    digests.check_appended_digest(folder / ORDER_FILE)
    return PositionMap(np.load(folder / ORDER_FILE), int(facts["added"]))


def _load_order(folder: Path, kind: str, width: int) -> tuple[PositionMap, int] | None:
    """Return the order and the number of parts of the index in a folder.

    The result is None if the folder has no sound index of this kind and dimension.
    """
    try:
        facts = digests.check_own_digest(json.loads((folder / DONE_FILE).read_text("utf-8")))
        if facts["kind"] != kind or facts["dimension"] != width:
            return None
        digests.check_appended_digest(folder / KEYS_FILE)
        parts = int(facts.get("parts", 0))
        for file in index_files(folder, parts):
            digests.check_appended_digest(file)
        return read_order(folder, facts) or PositionMap(np.arange(facts["items"])), parts
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
