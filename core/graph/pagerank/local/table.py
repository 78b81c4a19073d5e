"""Work arrays of a local search: slots for the nodes touched, found by hashing, so that memory follows the touched nodes.

On a graph of a hundred million nodes one array over all nodes is 0.8 GB; a search that touches thirty thousand of them needs
two megabytes here, which also stay in the processor's cache. Arrays are lent from a pool and given back cleared.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numba import njit

from core.graph.degrees import MANY

FIRST = 1 << 14  # slots of new work arrays
# slots of the largest that are kept for the next search, and how many such
LARGEST, SPARE = (1 << 18, 8)
ROOM = 4  # so many times what is needed is made where it is no more than that, since all nodes are hashed again then
# Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4)
MULTIPLIER, LOW = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xFFFFFFFF))

# of `state`: slots in use, the queue's first entry and length, edges walked, what was read ahead
COUNT, HEAD, SIZE, STEPS, SEEN = range(5)
# of `cells`: one cache line holds all that a push asks of a slot
RESIDUAL, LIMIT, ESTIMATE, DEGREE = range(4)


NOBODY = np.empty(0, np.uint8)  # degrees that are not known


class Table(NamedTuple):
    """Slots in the order of first touch.

    A cell's limit is the residual at which its node queues up, infinite while it is queued; its degree is the number of
    steps that its node may take; where that was not looked up, the least that it can be, below zero.
    """

    # uint64 [a power of two, at least twice the slots]: (node + 1) << 32 | slot, 0 where free
    index: np.ndarray  # type: ignore[assignment]  # hides the method of tuples
    place: np.ndarray  # int64 [slots]: where in `index` a slot is entered
    nodes: np.ndarray  # int64 [slots]
    cells: np.ndarray  # float64 [slots, 4]
    queue: np.ndarray  # int64 [slots], a ring
    state: np.ndarray  # int64 [5]


def new_table(slots: int) -> Table:
    """Work arrays with at least so many slots, all free."""
    slots = 1 << max(int(slots) - 1, FIRST - 1).bit_length()
    place, nodes, queue = (np.empty(slots, np.int64) for _ in range(3))
    return Table(
        np.zeros(2 * slots, np.uint64),
        place,
        nodes,
        np.empty((slots, 4)),
        queue,
        np.zeros(5, np.int64),
    )


_lock = threading.Lock()
_spare: list[Table] = []


class Work:
    """Work arrays on loan, replaced by larger ones where a search outgrows them."""

    def __init__(self, table: Table):
        self.table = table

    def grow(self, slots: int) -> None:
        """Moves everything to arrays of at least so many slots."""
        larger = new_table(slots * (ROOM if slots <= LARGEST else 1))
        _move(self.table, larger)
        self.table = larger


@contextmanager
def borrowed():
    """Cleared work arrays (a `Work`), for as long as the block lasts."""
    with _lock:
        table = _spare.pop() if _spare else None
    work = Work(table or new_table(FIRST))
    try:
        yield work
    finally:
        if len(work.table.nodes) <= LARGEST:
            _clear(work.table)
            with _lock:
                if len(_spare) < SPARE:
                    _spare.append(work.table)


@njit(cache=True, nogil=True, inline="always")
def home(index, node):
    """Where in the index a node is looked for first."""
    return (np.uint64(node + 1) * MULTIPLIER) >> np.uint64(24) & np.uint64(len(index) - 1)


@njit(cache=True, nogil=True, inline="always")
def find(index, node):
    """The slot of a node, -1 where it has none."""
    mask, key = np.uint64(len(index) - 1), np.uint64(node + 1)
    at, slot = home(index, node), np.int64(-1)
    while index[at] != 0:
        if index[at] >> np.uint64(32) == key:
            slot = np.int64(index[at] & LOW)
            break
        at = (at + np.uint64(1)) & mask
    return slot


@njit(cache=True, nogil=True, inline="always")
def slot_of(index, place, nodes, cells, state, node, bar, degree_bytes):
    """The slot of a node, a new one where it has none; there must be room.

    Its limit is `bar` x its degree, or x the least that it can be where `degree_bytes` does not tell it.
    """
    mask, key = np.uint64(len(index) - 1), np.uint64(node + 1)
    at, slot = home(index, node), np.int64(-1)
    while index[at] != 0:
        if index[at] >> np.uint64(32) == key:
            slot = np.int64(index[at] & LOW)
            break
        at = (at + np.uint64(1)) & mask
    if slot < 0:
        slot = state[COUNT]
        state[COUNT] = slot + 1
        index[at] = key << np.uint64(32) | np.uint64(slot)
        place[slot], nodes[slot] = at, node
        count = np.int64(degree_bytes[node]) if len(degree_bytes) else -1
        cells[slot, RESIDUAL], cells[slot, ESTIMATE] = 0.0, 0.0
        cells[slot, DEGREE], cells[slot, LIMIT] = (
            count if count < MANY else -count,
            bar * max(1, abs(count)),
        )
    return slot


@njit(cache=True, nogil=True)
def put(table, node, mass):
    """Adds to the residual of a node."""
    slot = slot_of(
        table.index, table.place, table.nodes, table.cells, table.state, node, np.inf, NOBODY
    )
    table.cells[slot, RESIDUAL] += mass


@njit(cache=True, nogil=True)
def _clear(table):
    for slot in range(table.state[COUNT]):
        table.index[table.place[slot]] = 0
    table.state[:] = 0


@njit(cache=True, nogil=True)
def _move(table, larger):
    for slot in range(table.state[COUNT]):
        fresh = slot_of(
            larger.index,
            larger.place,
            larger.nodes,
            larger.cells,
            larger.state,
            table.nodes[slot],
            0.0,
            NOBODY,
        )
        larger.cells[fresh] = table.cells[slot]
    for at in range(table.state[SIZE]):
        larger.queue[at] = table.queue[(table.state[HEAD] + at) & (len(table.queue) - 1)]
    larger.state[SIZE], larger.state[STEPS] = table.state[SIZE], table.state[STEPS]
