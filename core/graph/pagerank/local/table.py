"""Hash table of the nodes that a local search visits.

It holds their estimates and residuals. A visited node gets a slot, the number of its row in the
arrays. The slot of a node is found by hashing, so the memory depends on the number of visited nodes
only. On a graph of a hundred million nodes, one array over all nodes takes 0.8 GB. The arrays of a
search that visits thirty thousand of them take two megabytes, which stay in the processor's cache.
Arrays come from a pool of the process and are cleared when they return to it.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numba import njit

from core.graph.degrees import DEGREE_BYTE_CAP

# Number of slots of new work arrays.
FIRST_SLOTS = 1 << 14
# Number of slots of the largest work arrays that return to the pool.
MAX_SPARE_SLOTS = 1 << 18
# Largest number of work arrays in the pool.
MAX_SPARE_TABLES = 8
# Factor by which work arrays up to `MAX_SPARE_SLOTS` slots grow. It is large, because growing
# hashes all nodes again.
SLOT_GROWTH_FACTOR = 4
# Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4)
HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
LOW_32_BITS = np.uint64(0xFFFFFFFF)

# Positions in `state`: number of slots in use, first entry and length of the queue, number of edges
# walked, and a sum of the values that were read ahead, which nothing reads (see `read_ahead`).
SLOT_COUNT, QUEUE_HEAD, QUEUE_SIZE, EDGES_WALKED, READ_AHEAD_SUM = range(5)
# Columns of `cells`. They are in one array so that the cells of a slot share a cache line.
RESIDUAL, QUEUE_LIMIT, ESTIMATE, CELL_DEGREE = range(4)


UNKNOWN_DEGREES = np.empty(0, np.uint8)  # passed as `degree_bytes` if degrees are not known


class SlotTable(NamedTuple):
    """Slots of visited nodes, in the order of the first visit.

    The cells of a slot are its residual, its limit, its estimate and its degree. The limit is the
    residual at which the node is queued, infinite while it is queued. The degree is the number of
    steps from the node. If it was not looked up yet, the cell is minus the least possible degree.
    """

    # uint64 [a power of two, at least twice the slots]: (node + 1) << 32 | slot; 0 for a free
    # entry.
    index: np.ndarray  # type: ignore[assignment]  # hides the method of tuples
    positions: np.ndarray  # int64 [slots]: position of a slot in `index`
    nodes: np.ndarray  # int64 [slots]
    cells: np.ndarray  # float64 [slots, 4]
    queue: np.ndarray  # int64 [slots], a ring buffer of slots
    state: np.ndarray  # int64 [5]


def new_table(slots: int) -> SlotTable:
    """Return work arrays with at least `slots` slots, all free."""
    slots = 1 << max(int(slots) - 1, FIRST_SLOTS - 1).bit_length()
    positions, nodes, queue = (np.empty(slots, np.int64) for _ in range(3))
    return SlotTable(
        np.zeros(2 * slots, np.uint64),
        positions,
        nodes,
        np.empty((slots, 4)),
        queue,
        np.zeros(5, np.int64),
    )


_spare_lock = threading.Lock()
_spare_tables: list[SlotTable] = []


class WorkArrays:
    """Borrowed work arrays, which are replaced by larger ones when they are full."""

    def __init__(self, table: SlotTable):
        self.table = table

    def grow(self, slots: int) -> None:
        """Move the slots and the queue to arrays of at least `slots` slots."""
        larger = new_table(slots * (SLOT_GROWTH_FACTOR if slots <= MAX_SPARE_SLOTS else 1))
        _move(self.table, larger)
        self.table = larger


@contextmanager
def borrow_work():
    """Yield empty work arrays (a `WorkArrays`), which return to the pool after the block."""
    with _spare_lock:
        table = _spare_tables.pop() if _spare_tables else None
    work = WorkArrays(table or new_table(FIRST_SLOTS))
    try:
        yield work
    finally:
        if len(work.table.nodes) <= MAX_SPARE_SLOTS:
            _clear(work.table)
            with _spare_lock:
                if len(_spare_tables) < MAX_SPARE_TABLES:
                    _spare_tables.append(work.table)


@njit(cache=True, nogil=True, inline="always")
def home(index, node):
    """Return the position in `index` at which the search for a node begins."""
    return (np.uint64(node + 1) * HASH_MULTIPLIER) >> np.uint64(24) & np.uint64(len(index) - 1)


@njit(cache=True, nogil=True, inline="always")
def find_slot(index, node):
    """Return the slot of a node, -1 if it has none."""
    mask, key = np.uint64(len(index) - 1), np.uint64(node + 1)
    entry, slot = home(index, node), np.int64(-1)
    while index[entry] != 0:
        if index[entry] >> np.uint64(32) == key:
            slot = np.int64(index[entry] & LOW_32_BITS)
            break
        entry = (entry + np.uint64(1)) & mask
    return slot


@njit(cache=True, nogil=True, inline="always")
def slot_of(index, positions, nodes, cells, state, node, threshold, degree_bytes):
    """Return the slot of a node, and make one if it has none.

    The table must have a free slot. The limit of a new slot is `threshold` x its degree. If
    `degree_bytes` does not contain the degree, the least possible degree is used.
    """
    mask, key = np.uint64(len(index) - 1), np.uint64(node + 1)
    entry, slot = home(index, node), np.int64(-1)
    while index[entry] != 0:
        if index[entry] >> np.uint64(32) == key:
            slot = np.int64(index[entry] & LOW_32_BITS)
            break
        entry = (entry + np.uint64(1)) & mask
    if slot < 0:
        slot = state[SLOT_COUNT]
        state[SLOT_COUNT] = slot + 1
        index[entry] = key << np.uint64(32) | np.uint64(slot)
        positions[slot], nodes[slot] = entry, node
        count = np.int64(degree_bytes[node]) if len(degree_bytes) else -1
        cells[slot, RESIDUAL] = 0.0
        cells[slot, ESTIMATE] = 0.0
        cells[slot, CELL_DEGREE] = count if count < DEGREE_BYTE_CAP else -count
        cells[slot, QUEUE_LIMIT] = threshold * max(1, abs(count))
    return slot


@njit(cache=True, nogil=True)
def add_residual(table, node, mass):
    """Add `mass` to the residual of a node."""
    slot = slot_of(
        table.index,
        table.positions,
        table.nodes,
        table.cells,
        table.state,
        node,
        np.inf,
        UNKNOWN_DEGREES,
    )
    table.cells[slot, RESIDUAL] += mass


@njit(cache=True, nogil=True)
def _clear(table):
    """Free all slots."""
    for slot in range(table.state[SLOT_COUNT]):
        table.index[table.positions[slot]] = 0
    table.state[:] = 0


@njit(cache=True, nogil=True)
def _move(table, larger):
    """Copy the slots and the queue of a table to an empty one."""
    for slot in range(table.state[SLOT_COUNT]):
        new_slot = slot_of(
            larger.index,
            larger.positions,
            larger.nodes,
            larger.cells,
            larger.state,
            table.nodes[slot],
            0.0,
            UNKNOWN_DEGREES,
        )
        larger.cells[new_slot] = table.cells[slot]
    for i in range(table.state[QUEUE_SIZE]):
        larger.queue[i] = table.queue[(table.state[QUEUE_HEAD] + i) & (len(table.queue) - 1)]
    larger.state[QUEUE_SIZE] = table.state[QUEUE_SIZE]
    larger.state[EDGES_WALKED] = table.state[EDGES_WALKED]
