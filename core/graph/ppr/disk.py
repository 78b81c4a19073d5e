"""Reading from the disk what a search is about to walk, many pages at once.

A graph larger than memory, or one just opened, is read page by page as a search meets it, and each page is waited for. Here
many threads ask for the pages of all nodes that are next, so that the disk serves them side by side.
"""

from __future__ import annotations

import resource
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np
from numba import njit

from core.graph.ppr.problem import Links

THREADS, PAGE = 48, 4096  # of reading; bytes
FEW = 24  # pages that a search may have waited for before it has them read ahead
LARGE = 1 << 28  # bytes of an array from which on this is looked at


class Disk:
    """Whether a search waits for the disk, and the reading ahead."""

    def __init__(self, links: Links):
        self.links, self.waiting = links, False
        self.mapped = max(links.tails.nbytes, links.in_heads.nbytes) >= LARGE
        self._from = _waited() if self.mapped else 0

    def waits(self) -> bool:
        """Whether this thread has waited for more than a few pages since the search began."""
        self.waiting = self.waiting or (self.mapped and _waited() - self._from > FEW)
        return self.waiting

    def degrees(self, nodes: np.ndarray) -> None:
        """Read what tells how many steps some nodes have."""
        if len(self.links.degree_bytes):
            _read((self.links.degree_bytes, nodes))
        else:
            self.offsets(nodes)

    def offsets(self, nodes: np.ndarray) -> None:
        """Read where the steps of some nodes lie."""
        _read((self.links.out_indptr, nodes), (self.links.in_indptr, nodes))

    def rows(self, nodes: np.ndarray, most: int) -> int:
        """Read the steps of some nodes, of each `most` at most in either way; gives how many steps they have in all."""
        self.offsets(nodes)
        way, out_indptr, tails, in_indptr, in_heads = self.links[:5]
        out, into = (indptr[nodes + 1] - indptr[nodes] for indptr in (out_indptr, in_indptr))
        ahead = [(tails, out_indptr[nodes], out)] if way & 1 else []
        ahead += [(in_heads, in_indptr[nodes], into)] if way & 2 else []
        _read(*((array, _pages(starts, np.minimum(counts, most), array.itemsize)) for array, starts, counts in ahead))
        return int((out.sum() if way & 1 else 0) + (into.sum() if way & 2 else 0))

    def around(self, nodes: np.ndarray, most: int, few: int) -> None:
        """Read the steps of some nodes, of those of `most` at most how many steps their neighbours have, and the same of neighbours of
        `few` steps at most."""
        self.rows(nodes, most)
        if len(self.links.degree_bytes):
            ends = self._ends(nodes, most)
            self.degrees(ends)
            near = ends[self.links.degree_bytes[ends] <= few]
            self.rows(near, few)
            self.degrees(self._ends(near, few))

    def _ends(self, nodes: np.ndarray, most: int) -> np.ndarray:
        """Where the steps of the nodes of `most` steps at most lead, ascending."""
        way, out_indptr, tails, in_indptr, in_heads = self.links[:5]
        sides = [(out_indptr, tails)] * (way & 1) + [(in_indptr, in_heads)] * (way >> 1)
        counts = [indptr[nodes + 1] - indptr[nodes] for indptr, _ in sides]
        fits = sum(counts) <= most
        return np.unique(np.concatenate([ends[_places(indptr[nodes[fits]], count[fits])] for (indptr, ends), count in zip(sides, counts)]))


def _places(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """All places of some rows."""
    return np.arange(counts.sum()) + np.repeat(starts - (np.cumsum(counts) - counts), counts)


def _waited() -> int:
    """The pages that this thread has waited for."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_majflt


def _pages(starts: np.ndarray, counts: np.ndarray, size: int) -> np.ndarray:
    """A place on each page of some rows."""
    starts, counts = starts[counts > 0], counts[counts > 0]
    step = PAGE // size
    many = (counts - 1) // step + 2  # the last place too
    within = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
    return np.minimum(np.repeat(starts, many) + within * step, np.repeat(starts + counts - 1, many))


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="disk")


def _read(*wanted: tuple[np.ndarray, np.ndarray]) -> None:
    """Touch the places of some arrays, each page once."""
    parts = []
    for array, places in wanted:
        places = places[np.unique(places // (PAGE // array.itemsize), return_index=True)[1]]
        parts += [(array, part) for part in np.array_split(places, THREADS) if len(part)]
    list(_pool().map(lambda part: _touch(*part), parts))


@njit(cache=True, nogil=True)
def _touch(array, places):
    seen = 0
    for place in places:
        seen += array[place]
    return seen
