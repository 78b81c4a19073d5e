"""External sorting of the edges of a store, by head and by tail.

Edges are first written to spill files by range of head ids. Then each range is sorted in memory and
appended to the store. While this is done, edges are written to further spill files by range of tail
ids, which are sorted in the same way.

- A block is the triples that are read, numbered and spilled together.
- A range is 2^width consecutive ids of heads, or of tails; `range_index` is its number.
- The `starts` of ranges are the position of each in a spill file, and then the end of the last.
- A piece is the part of a range of heads that is sorted at once, and then spilled by tail.
"""

from __future__ import annotations

from collections.abc import Mapping

import numba
import numpy as np

from core.errors import BadInput
from core.graph.large.journal import GrowingArray, Journal, read_array, write_array

# Spill file with the offset of each head's edges. They are stored later, with the offsets by tail.
OUT_STARTS_FILE = "starts-out"
# Memory per edge while a range is sorted.
OUT_EDGE_BYTES = 64  # of heads
IN_EDGE_BYTES = 16  # of tails
# Largest number of nodes, whose ids are int32, and of relations, whose names are kept in memory.
MAX_NODES = np.iinfo(np.int32).max
MAX_RELATIONS = 1 << 24


def _range_width(nodes: int, parts: int) -> int:
    """Return the width of ranges that divide node ids into about `parts` parts.

    `1 << width` is the largest power of two that is at most nodes / parts. If `parts` is 1, a
    single range has all ids.
    """
    width = max(1, nodes // parts).bit_length()
    return width if parts == 1 else width - 1


class TripleCodec:
    """Packing of triples into 64-bit keys that sort by (head, relation, tail).

    Heads are divided into `n_ranges` ranges of `1 << width` ids (`_range_width`). A key holds the
    position of the head in its range. `width` is chosen so that the edges of an average range fit
    into `memory` bytes.
    """

    def __init__(self, nodes: int, relations: int, triples: int, memory: int):
        self.tail_bits = max(1, (nodes - 1).bit_length())
        self.relation_bits = max(1, (relations - 1).bit_length())
        self.nodes = nodes
        parts = max(1, -(-triples * OUT_EDGE_BYTES // max(1, memory)))
        max_width = 63 - self.tail_bits - self.relation_bits
        self.width = max(0, min(max_width, _range_width(nodes, parts)))
        self.n_ranges = ((nodes - 1) >> self.width) + 1

    def spill(
        self,
        journal: Journal,
        block: int,
        heads: np.ndarray,
        relations: np.ndarray,
        tails: np.ndarray,
    ) -> None:
        """Write the triples of a block, ordered by range of heads, to spill files.

        `keys-BLOCK` holds their keys, uint64, and `ranges-BLOCK` the start of each range in it and
        the end of the last, int64.
        """
        keys = np.empty(len(heads), np.uint64)
        starts = np.zeros(self.n_ranges + 1, np.int64)
        _scatter_keys(
            heads, relations, tails, self.width, self.relation_bits, self.tail_bits, keys, starts
        )
        write_array(journal.spill_file(f"keys-{block}"), keys)
        write_array(journal.spill_file(f"ranges-{block}"), starts)

    def unpack(self, keys: np.ndarray, index: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the heads, relations and tails of the keys of the range `index`, int32."""
        tails = (keys & np.uint64((1 << self.tail_bits) - 1)).astype(np.int32)
        relations = (
            (keys >> np.uint64(self.tail_bits)) & np.uint64((1 << self.relation_bits) - 1)
        ).astype(np.int32)
        heads = (keys >> np.uint64(self.tail_bits + self.relation_bits)).astype(np.int64)
        return (heads + (index << self.width)).astype(np.int32), relations, tails


@numba.njit(cache=True)
def _scatter_keys(heads, relations, tails, width, relation_bits, tail_bits, keys, starts):
    """Write the keys of triples to `keys`, by range of heads.

    The start of each range is written to `starts`.
    """
    for edge in range(len(heads)):
        starts[(heads[edge] >> width) + 1] += 1
    for range_index in range(1, len(starts)):
        starts[range_index] += starts[range_index - 1]
    fill = starts[:-1].copy()
    low = (np.int64(1) << width) - 1
    for edge in range(len(heads)):
        range_index = heads[edge] >> width
        key = np.uint64(np.int64(heads[edge]) & low) << np.uint64(relation_bits + tail_bits)
        key |= np.uint64(relations[edge]) << np.uint64(tail_bits)
        keys[fill[range_index]] = key | np.uint64(tails[edge])
        fill[range_index] += 1


def sort_range(
    journal: Journal,
    codec: TripleCodec,
    range_index: int,
    blocks: int,
    columns: dict[str, GrowingArray],
    inward: InwardEdges,
    memory: int,
) -> None:
    """Sort one range's triples, and append them to the store's columns.

    A range is a range of heads. Equal triples are stored once. `blocks` is the number of blocks.
    `columns` are heads, relations, tails and `starts`, to which the offset behind the edges of each
    head is added; the caller has written the leading 0. The edges are also given to `inward`. After
    a stop, a range can be sorted again, because the columns are opened with the lengths that the
    journal recorded.
    """
    block_spans = [
        read_array(journal.spill_file(f"ranges-{block}"), np.int64, range_index, 2).tolist()
        for block in range(blocks)
    ]
    total = sum(end - start for start, end in block_spans)
    limit = max(1, memory // OUT_EDGE_BYTES)
    bounds = _piece_bounds(journal, block_spans, total, limit)
    first_head = range_index << codec.width
    counts = np.zeros(min(1 << codec.width, codec.nodes - first_head), np.int64)
    start = columns["tails"].length
    for low, high in zip(bounds, bounds[1:]):
        key_bounds = (low, high) if len(bounds) > 2 else None
        keys = _sort_distinct(_read_keys(journal, block_spans, key_bounds))
        heads, relations, tails = codec.unpack(keys, range_index)
        inward.spill(journal, heads, tails, columns["tails"].length)
        counts += np.bincount(heads - np.int32(first_head), minlength=len(counts))
        columns["heads"].add(heads)
        columns["relations"].add(relations)
        columns["tails"].add(tails)
    columns["starts"].add(start + np.cumsum(counts))


def _sort_distinct(keys: np.ndarray) -> np.ndarray:
    """Sort keys in place, and return them without repetitions."""
    keys.sort()
    return keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys


def _read_keys(journal: Journal, block_spans: list, bounds: tuple[int, int] | None) -> np.ndarray:
    """Return the keys of one range from all blocks.

    `block_spans` holds the start and end of the range in each block. With `bounds`, only the keys
    from the first bound to below the second are returned.
    """
    range_keys = []
    for block, (start, end) in enumerate(block_spans):
        keys = read_array(journal.spill_file(f"keys-{block}"), np.uint64, start, end - start)
        if bounds is not None:
            keys = _sort_distinct(keys[(keys >= bounds[0]) & (keys < bounds[1])])
        range_keys.append(keys)
    return np.concatenate(range_keys) if range_keys else np.empty(0, np.uint64)


def _piece_bounds(journal: Journal, block_spans: list, total: int, limit: int) -> list:
    """Return keys that divide a range into pieces of at most about `limit` edges.

    `total` is the number of edges of the range. If it is small enough, the range is one piece. Else
    the keys are quantiles of a sample of at most about 100,000 edges.
    """
    everything = [np.uint64(0), np.uint64(1) << np.uint64(63)]
    if total <= limit:
        return everything
    step = max(1, total // 100_000)
    sample = np.sort(
        np.concatenate(
            [
                read_array(journal.spill_file(f"keys-{b}"), np.uint64, start, end - start)[::step]
                for b, (start, end) in enumerate(block_spans)
            ]
        )
    )
    n_pieces = -(-2 * total // limit)  # twice as many as needed, because quantiles are inexact
    inner = np.unique(sample[np.arange(1, n_pieces) * len(sample) // n_pieces])
    return [everything[0], *inner[inner > 0], everything[1]]


class InwardEdges:
    """External sorting of the edges by their tails.

    `spill` takes pieces of edges sorted by heads, and writes each piece by range of tails.
    `fill_range` then fills the arrays of the store, range by range. `n_pieces` counts the pieces.

    Parameters
    ----------
    nodes, triples : their numbers.
    memory : bytes for sorting an average range.
    pieces : number of pieces that were spilled before the build was resumed.
    """

    def __init__(self, nodes: int, triples: int, memory: int, pieces: int = 0):
        parts = max(1, -(-triples * IN_EDGE_BYTES // max(1, memory)))
        self.nodes, self.n_pieces = nodes, pieces
        self.width = _range_width(nodes, parts)
        self.n_ranges = ((nodes - 1) >> self.width) + 1

    def spill(self, journal: Journal, heads: np.ndarray, tails: np.ndarray, start: int) -> None:
        """Write a piece of edges with consecutive ids from `start` on to spill files.

        `in-PIECE` holds rows of (edge, head, tail) by range of tails, uint32 [edges, 4]; an edge id
        takes two columns. `incuts-PIECE` holds the start of each range.
        """
        rows = np.empty((len(heads), 4), np.uint32)
        starts = np.zeros(self.n_ranges + 1, np.int64)
        _scatter_tails(heads, tails, start, self.width, rows, starts)
        write_array(journal.spill_file(f"in-{self.n_pieces}"), rows.reshape(-1))
        write_array(journal.spill_file(f"incuts-{self.n_pieces}"), starts)
        self.n_pieces += 1

    def fill_range(
        self, journal: Journal, range_index: int, columns: Mapping[str, np.ndarray]
    ) -> None:
        """Fill one range of tails in the store's arrays `offsets`, `in_edges` and `in_heads`.

        Ranges must be filled in turn, because each begins at the last offset of the one before.
        """
        first = range_index << self.width
        last = min(self.nodes, first + (1 << self.width))
        offsets = columns["offsets"]
        counts = np.zeros(last - first, np.int64)
        for rows in self._read_pieces(journal, range_index):
            _count_tails(rows, first, counts)
        start = int(offsets[first, 1])
        offsets[first + 1 : last + 1, 0] = read_array(
            journal.spill_file(OUT_STARTS_FILE), np.int64, first + 1, last - first
        )
        offsets[first + 1 : last + 1, 1] = start + np.cumsum(counts)
        fill = start + np.cumsum(counts) - counts
        for rows in self._read_pieces(journal, range_index):
            _fill_edges(rows, first, fill, columns["in_edges"], columns["in_heads"])

    def _read_pieces(self, journal: Journal, range_index: int):
        """Yield the rows of one range of tails from each piece."""
        for piece in range(self.n_pieces):
            start, end = read_array(
                journal.spill_file(f"incuts-{piece}"), np.int64, range_index, 2
            ).tolist()
            if end > start:
                yield read_array(
                    journal.spill_file(f"in-{piece}"), np.uint32, 4 * start, 4 * (end - start)
                ).reshape(-1, 4)


@numba.njit(cache=True)
def _scatter_tails(heads, tails, start, width, rows, starts):
    """Write edges to `rows`, by range of tails.

    The start of each range is written to `starts`.
    """
    for edge in range(len(tails)):
        starts[(tails[edge] >> width) + 1] += 1
    for range_index in range(1, len(starts)):
        starts[range_index] += starts[range_index - 1]
    fill = starts[:-1].copy()
    for edge in range(len(tails)):
        range_index = tails[edge] >> width
        row, edge_id = fill[range_index], start + edge
        rows[row, 0] = np.uint32(edge_id & 0xFFFFFFFF)
        rows[row, 1] = np.uint32(edge_id >> 32)
        rows[row, 2] = np.uint32(heads[edge])
        rows[row, 3] = np.uint32(tails[edge])
        fill[range_index] += 1


@numba.njit(cache=True)
def _count_tails(rows, first_node, counts):
    for row in range(len(rows)):
        counts[np.int64(rows[row, 3]) - first_node] += 1


@numba.njit(cache=True)
def _fill_edges(rows, first_node, fill, in_edges, in_heads):
    for row in range(len(rows)):
        tail = np.int64(rows[row, 3]) - first_node
        slot = fill[tail]
        in_edges[slot] = np.int64(rows[row, 0]) | (np.int64(rows[row, 1]) << 32)
        in_heads[slot] = rows[row, 2]
        fill[tail] += 1


def check_counts(nodes: int, relations: int, triples: int) -> None:
    """Raise BadInput unless a store can hold these counts.

    There must be triples, and no more nodes or relations than a store can hold.
    """
    if not triples:
        raise BadInput("There are no triples to build a graph from.")
    if nodes > MAX_NODES:
        raise BadInput(f"{nodes:,} nodes are more than a store can hold ({MAX_NODES:,}).")
    if relations > MAX_RELATIONS:
        raise BadInput(
            f"{relations:,} relations are more than a store can hold ({MAX_RELATIONS:,})."
        )
