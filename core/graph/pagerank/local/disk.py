"""Read-ahead of a graph's pages from the disk, before a search accesses them.

A graph that is larger than memory, or was just opened, is read page by page when a search accesses
it, and the search waits for each page. This module requests the pages of all nodes that come next,
so that the disk reads them in parallel. It does nothing on Windows, which does not report how many
pages a process has waited for (major page faults).
"""

from __future__ import annotations

import ctypes
import mmap
import sys

import numpy as np

from core.graph.pagerank.problem import Adjacency
from core.graph.store import row_entries

if sys.platform != "win32":
    import resource

DISK_PAGE_BYTES = mmap.PAGESIZE
# Number of pages that a search may wait for before pages are read ahead.
MIN_WAITED_PAGES = 24
# Smallest size in bytes of an adjacency array for which waits are counted.
MEASURED_ARRAY_BYTES = 1 << 28
# True if the operating system reports waits and accepts requests to read ahead.
CAN_READ_AHEAD = sys.platform != "win32"

if CAN_READ_AHEAD:
    _madvise = ctypes.CDLL(None).madvise
    _madvise.argtypes = (ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int)


class DiskReadAhead:
    """Read-ahead of one search, which starts once the search has waited for the disk.

    `is_measured` is False if the graph is too small, or the system lacks the calls.
    """

    def __init__(self, links: Adjacency):
        self.links, self._has_waited = links, False
        # By the first page of an array: bool for each page, True if it was requested before.
        self._requested_pages: dict[int, np.ndarray] = {}
        self.is_measured = (
            CAN_READ_AHEAD
            and max(links.tails.nbytes, links.in_heads.nbytes) >= MEASURED_ARRAY_BYTES
        )
        self._first_count = _count_waits() if self.is_measured else 0

    def has_waited(self) -> bool:
        """Return whether this search has waited for more than `MIN_WAITED_PAGES` pages."""
        if self.is_measured and not self._has_waited:
            self._has_waited = _count_waits() - self._first_count > MIN_WAITED_PAGES
        return self._has_waited

    def read_offsets(self, nodes: np.ndarray) -> None:
        """Read ahead the CSR offsets of some nodes."""
        self._read(self.links.out_indptr, nodes)
        self._read(self.links.in_indptr, nodes)

    def read_rows(self, nodes: np.ndarray, limit: int) -> int:
        """Read ahead the steps of some nodes, at most `limit` per node and direction.

        Returns the number of all steps of the nodes, also of those that were not read.
        """
        self.read_offsets(nodes)
        mask, out_indptr, tails, in_indptr, in_heads = self.links[:5]
        out, into = (indptr[nodes + 1] - indptr[nodes] for indptr in (out_indptr, in_indptr))
        for side, array, starts, counts in (
            (1, tails, out_indptr[nodes], out),
            (2, in_heads, in_indptr[nodes], into),
        ):
            if mask & side:
                counts = np.minimum(counts, limit)
                self._read(array, _page_positions(starts, counts, array.itemsize))
        return int((out.sum() if mask & 1 else 0) + (into.sum() if mask & 2 else 0))

    def read_neighbourhoods(self, nodes: np.ndarray, limit: int, few: int) -> None:
        """Read ahead the steps of some nodes and of their small neighbours.

        Small neighbours have 2 to `few` steps. Their steps are read only if degrees are
        known, and only for nodes of at most `limit` steps.
        """
        self.read_rows(nodes, limit)
        if len(self.links.degree_bytes):
            neighbours = self._neighbours(nodes, limit)
            degrees = self.links.degree_bytes[neighbours]
            self.read_rows(neighbours[(1 < degrees) & (degrees <= few)], few)

    def _read(self, array: np.ndarray, positions: np.ndarray) -> None:
        """Request the pages of some positions of an array, without waiting for them.

        A page that was requested before is skipped.
        """
        base, offset = divmod(array.ctypes.data, DISK_PAGE_BYTES)
        if base not in self._requested_pages:
            self._requested_pages[base] = np.zeros(
                (offset + len(array) * array.strides[0]) // DISK_PAGE_BYTES + 1, bool
            )
        is_requested = self._requested_pages[base]
        pages = (offset + positions.astype(np.int64) * array.strides[0]) // DISK_PAGE_BYTES
        pages = np.unique(pages[~is_requested[pages]])
        is_requested[pages] = True
        if sys.platform != "win32":
            for page in pages.tolist():
                _madvise((base + page) * DISK_PAGE_BYTES, DISK_PAGE_BYTES, mmap.MADV_WILLNEED)

    def _neighbours(self, nodes: np.ndarray, limit: int) -> np.ndarray:
        """Return the neighbours, ascending, of the nodes that have at most `limit` steps."""
        mask, out_indptr, tails, in_indptr, in_heads = self.links[:5]
        sides = [(out_indptr, tails)] * (mask & 1) + [(in_indptr, in_heads)] * (mask >> 1)
        n_steps = sum(indptr[nodes + 1] - indptr[nodes] for indptr, _ in sides)
        small_nodes = nodes[n_steps <= limit]
        parts = [neighbours[row_entries(indptr, small_nodes)[1]] for indptr, neighbours in sides]
        return np.unique(np.concatenate(parts))


def _count_waits() -> int:
    """Return the number of pages that this thread has waited for (major page faults).

    On systems that count only by process, such as macOS, it is the number of this process.
    """
    if sys.platform != "win32":
        who = getattr(resource, "RUSAGE_THREAD", resource.RUSAGE_SELF)
        return resource.getrusage(who).ru_majflt
    return 0


def _page_positions(starts: np.ndarray, counts: np.ndarray, size: int) -> np.ndarray:
    """Return at least one position on each page of some rows of an array.

    A row is given by its start and its number of values. A value has `size` bytes.
    """
    starts, counts = starts[counts > 0], counts[counts > 0]
    step = DISK_PAGE_BYTES // size
    pages = (counts - 1) // step + 2  # including the last position
    page = np.arange(pages.sum()) - np.repeat(np.cumsum(pages) - pages, pages)
    return np.minimum(np.repeat(starts, pages) + page * step, np.repeat(starts + counts - 1, pages))
