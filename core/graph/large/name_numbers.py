"""Numbering of names by first appearance, without holding all names in memory.

A name is identified by a hash of 96 bits: 64 bits, and 32 bits of a second hash. The seed is secret
and differs per build, so nobody can construct colliding names; by chance, two of a hundred million
names collide with probability 1e-13.

Each block has a list of its distinct names. The position of a name in a block is its position in
the concatenated lists of all blocks, so a name has a position for each block that contains it. The
hashes are divided into parts that fit into memory. A part has all positions of its names, and finds
the first position of each name. The number of a name is the count of first positions before its
own. The final ids of nodes follow the order of the names.

Spill files of a block
----------------------
codes-BLOCK : code of the name of each head and tail, int32 [2 * triples]; a code is the position of
    a distinct name in the block.
bytes-BLOCK, sizes-BLOCK : the distinct names by code.
order-BLOCK, cuts-BLOCK : codes ordered by part of the hash, and the start of each part.
hash-BLOCK, more-BLOCK : the two hashes of each name, ordered by part.
first-BLOCK : first position of each name, ordered by part; written by `resolve_names`.
"""

from __future__ import annotations

import numba
import numpy as np

from core.graph.columns import row_offsets
from core.graph.large.journal import Journal, read_array, write_array
from core.graph.readers.blocks import Block
from core.graph.readers.text_loops import codes_of, copy_parts

# Memory in bytes per name of a block while its part is resolved: hashes, positions, results and the
# hash table.
RECORD_BYTES = 64


def spill_names(journal: Journal, number: int, block: Block, parts: int, seed: int) -> int:
    """Write the names of a block's heads and tails to spill files.

    `number` is the number of the block, `parts` the number of parts of the hashes, a power of two.
    Returns the number of distinct names.
    """
    # Every third piece of text is a head, a relation or a tail; the relations are left out.
    starts = block.starts.reshape(-1, 3)[:, ::2].ravel()
    lengths = block.lengths.reshape(-1, 3)[:, ::2].ravel()
    codes, first, hashes, second_hashes = _code_names(block.data, starts, lengths, seed)
    sizes = lengths[first]
    out = np.empty(int(sizes.sum()), np.uint8)
    copy_parts(block.data, starts[first], sizes, out)
    if parts > 1:
        part_of = (hashes >> np.uint64(65 - parts.bit_length())).astype(np.int64)
    else:
        part_of = np.zeros(len(hashes), np.int64)
    order = np.argsort(part_of, kind="stable").astype(np.int32)
    cuts = row_offsets(np.bincount(part_of, minlength=parts))
    for key, values in (
        ("codes", codes),
        ("bytes", out),
        ("sizes", sizes.astype(np.int32)),
        ("order", order),
        ("cuts", cuts),
    ):
        write_array(journal.spill_file(f"{key}-{number}"), values)
    write_array(journal.spill_file(f"hash-{number}"), hashes[order])
    write_array(journal.spill_file(f"more-{number}"), second_hashes[order])
    return len(order)


def code_relations(block: Block, seed: int) -> tuple[np.ndarray, list[str]]:
    """Return the code of each triple's relation in a block.

    The second result holds the relations by code. Codes are numbers from 0, in the order of first
    appearance.
    """
    starts, lengths = block.starts[1::3].copy(), block.lengths[1::3].copy()
    codes, first, _, _ = _code_names(block.data, starts, lengths, seed)
    return codes, [
        block.data[starts[row] : starts[row] + lengths[row]].tobytes().decode("utf-8")
        for row in first.tolist()
    ]


def read_new_names(journal: Journal, number: int, base: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (bytes, sizes) of the names that first appear in a block.

    They are in the order of their codes. `number` is the number of the block, `base` the position
    of its first name.
    """
    order = read_array(journal.spill_file(f"order-{number}"), np.int32)
    firsts = read_array(journal.spill_file(f"first-{number}"), np.int64)
    is_new = np.empty(len(order), np.bool_)
    is_new[order] = firsts == base + order
    sizes = read_array(journal.spill_file(f"sizes-{number}"), np.int32).astype(np.int64)
    data = read_array(journal.spill_file(f"bytes-{number}"), np.uint8)
    out = np.empty(int(sizes[is_new].sum()), np.uint8)
    copy_parts(data, (np.cumsum(sizes) - sizes)[is_new], sizes[is_new], out)
    return out, sizes[is_new]


def number_block(
    journal: Journal, number: int, fresh: np.ndarray, base: np.ndarray, name_ids: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids of the heads and of the tails of a block.

    `fresh` marks first positions with one bit each, and `base` is its `cumulate_bits`. `name_ids`
    holds the node id of each name by the number of the name.
    """
    order = read_array(journal.spill_file(f"order-{number}"), np.int32)
    firsts = read_array(journal.spill_file(f"first-{number}"), np.int64)
    ids = np.empty(len(order), np.int32)
    _fill_ids(firsts, order, fresh, base, name_ids, ids)
    codes = read_array(journal.spill_file(f"codes-{number}"), np.int32)
    return ids[codes[::2]], ids[codes[1::2]]


def _code_names(data, starts, lengths, seed) -> tuple[np.ndarray, ...]:
    """Return the code of each name.

    For each distinct name, its first row and both hashes are returned, too.
    """
    count = len(starts)
    table = np.full(1 << max(3, (2 * count - 1).bit_length()), -1, np.int32)
    codes, firsts = np.empty(count, np.int32), np.empty(count, np.int32)
    hashes, second_hashes = np.empty(count, np.uint64), np.empty(count, np.uint32)
    n_names = codes_of(
        data, starts, lengths, np.uint64(seed), table, codes, firsts, hashes, second_hashes
    )
    return codes, firsts[:n_names], hashes[:n_names], second_hashes[:n_names]


def resolve_names(journal: Journal, part: int, counts: list[int], memory: int) -> None:
    """Find the first position of every name in one part of the hashes.

    First positions, int64, are written to `first-BLOCK` for every block, and marked in the file
    `fresh` with one bit each. `counts` are the numbers of distinct names of the blocks. A part that
    takes more than `memory` bytes is resolved in several turns, each of which processes the names
    with some values of the second hash.
    """
    bases = row_offsets(counts)
    cuts = [
        read_array(journal.spill_file(f"cuts-{block}"), np.int64, part, 2)
        for block in range(len(counts))
    ]
    total = int(sum(end - start for start, end in cuts))
    turns = 1 << max(0, (total * RECORD_BYTES // max(1, memory)).bit_length())
    fresh = np.memmap(journal.spill_file("fresh"), np.uint64, "r+")
    for turn in range(turns):
        records = [
            _read_records(journal, block, cuts[block], bases[block], turns, turn)
            for block in range(len(counts))
        ]
        hashes, second_hashes, positions = map(np.concatenate, zip(*(row[:3] for row in records)))
        firsts = np.empty(len(hashes), np.int64)
        table = np.full(1 << max(3, (2 * len(hashes)).bit_length()), -1, np.int32)
        _find_firsts(hashes, second_hashes, positions, table, firsts, fresh)
        start_record = 0
        for block, (_, _, _, in_turn) in enumerate(records):
            start, end = cuts[block].tolist()
            with open(journal.spill_file(f"first-{block}"), "r+b") as stream:
                block_firsts = np.empty(end - start, np.int64)
                if turns > 1:  # keep the first positions that earlier turns have found
                    block_firsts = read_array(
                        journal.spill_file(f"first-{block}"), np.int64, start, end - start
                    )
                size = int(np.count_nonzero(in_turn))
                block_firsts[in_turn] = firsts[start_record : start_record + size]
                start_record += size
                stream.seek(8 * start)
                stream.write(block_firsts.data.cast("B") if len(block_firsts) else b"")
    fresh.flush()


def _read_records(
    journal: Journal, block: int, bounds: np.ndarray, base: int, turns: int, turn: int
) -> tuple[np.ndarray, ...]:
    """Return the names of a block that belong to a part and a turn.

    `bounds` are the start and end of the part in the files of the block.

    Returns
    -------
    The hashes, second hashes and positions of the names, and a mask over the names of the part that
    marks them.
    """
    start, size = int(bounds[0]), int(bounds[1] - bounds[0])
    hashes = read_array(journal.spill_file(f"hash-{block}"), np.uint64, start, size)
    second_hashes = read_array(journal.spill_file(f"more-{block}"), np.uint32, start, size)
    positions = (
        read_array(journal.spill_file(f"order-{block}"), np.int32, start, size).astype(np.int64)
        + base
    )
    in_turn = (second_hashes & np.uint32(turns - 1)) == turn
    if turns == 1:  # masking would copy the arrays
        return hashes, second_hashes, positions, in_turn
    return hashes[in_turn], second_hashes[in_turn], positions[in_turn], in_turn


@numba.njit(cache=True)
def _find_firsts(hashes, second_hashes, positions, table, firsts, fresh):
    """Write the first position of each record's name to `firsts`.

    The position is marked in `fresh`. A record is a name of a block. Records are ordered by
    position, so the first record of a name has its first position. `table` is a hash table of
    records, -1 for free entries.
    """
    mask = np.int64(len(table) - 1)
    for record in range(len(hashes)):
        slot = np.int64((hashes[record] * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & mask
        while True:
            other = table[slot]
            if other < 0:
                table[slot], firsts[record] = record, positions[record]
                fresh[positions[record] >> 6] |= np.uint64(1) << np.uint64(positions[record] & 63)
                break
            if hashes[other] == hashes[record] and second_hashes[other] == second_hashes[record]:
                firsts[record] = firsts[other]
                break
            slot = (slot + 1) & mask


@numba.njit(cache=True)
def _count_bits(word):
    """Return the number of bits that are set in a uint64 (population count)."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@numba.njit(cache=True)
def cumulate_bits(fresh):
    """Return the number of bits set before each word of `fresh`.

    The last value is the number of all bits set.
    """
    before = np.zeros(len(fresh) + 1, np.int64)
    for word in range(len(fresh)):
        before[word + 1] = before[word] + _count_bits(fresh[word])
    return before


@numba.njit(cache=True)
def _fill_ids(firsts, order, fresh, base, name_ids, ids):
    """Write the node id of each of a block's names to `ids`.

    Ids are written by the code of the name.
    """
    for record in range(len(firsts)):
        position = firsts[record]
        below = fresh[position >> 6] & ((np.uint64(1) << np.uint64(position & 63)) - np.uint64(1))
        ids[order[record]] = name_ids[base[position >> 6] + _count_bits(below)]
