"""The triples read last from a database, which has no index on its relationships: asked for again, they need no query."""

from __future__ import annotations

import threading

import numpy as np

HELD = 2_000_000  # triples
PARTS = 16  # lists that are looked through before they are made one

Part = tuple[
    np.ndarray, np.ndarray, np.ndarray, np.ndarray
]  # edges (ascending, unique), heads, relations, tails


class Seen:
    """Edge -> (head, relation, tail) for the edges seen last. Threads may share it."""

    def __init__(self) -> None:
        self._parts: tuple[Part, ...] = ()
        self._lock = threading.Lock()

    def add(
        self, edges: np.ndarray, heads: np.ndarray, relations: np.ndarray, tails: np.ndarray
    ) -> None:
        """Take in some edges, in any order."""
        if not len(edges):
            return
        with self._lock:
            parts = (*self._parts, _part(edges, heads, relations, tails))
            if len(parts) > PARTS:
                parts = (_part(*map(np.concatenate, zip(*parts))),)
            while len(parts) > 1 and sum(len(part[0]) for part in parts) > HELD:
                parts = parts[1:]
            self._parts = parts if len(parts[0][0]) <= HELD else ()

    def find(
        self, edges: np.ndarray
    ) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """(which of the edges are known, their heads, relations and tails, int64; what is not known stays open)."""
        known = np.zeros(len(edges), bool)
        columns = (
            np.zeros(len(edges), np.int64),
            np.zeros(len(edges), np.int64),
            np.zeros(len(edges), np.int64),
        )
        for ids, *values in reversed(self._parts):
            if known.all():
                break
            at = np.minimum(np.searchsorted(ids, edges), len(ids) - 1)
            here = ~known & (ids[at] == edges)
            for column, value in zip(columns, values):
                column[here] = value[at[here]]
            known |= here
        return known, columns


def _part(edges: np.ndarray, *columns: np.ndarray) -> Part:
    ids, first = np.unique(edges, return_index=True)
    return ids, *(column[first] for column in columns)  # type: ignore[return-value]
