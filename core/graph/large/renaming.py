"""Readable names for RDF terms, without holding all terms in memory.

The names are the same as those of `core.graph.readers.naming`. Most readable ends belong to one
term only. Terms that share one, and terms that could share a longer name with them, are named one
by one in their order.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.graph.large.journal import Journal, get, put
from core.graph.large.name_files import NameFiles
from core.graph.readers.blocks import bytes_of
from core.graph.readers.naming import Namer
from core.graph.readers.ntriples import candidates, term_of
from core.graph.readers.termkernels import readable
from core.graph.readers.textkernels import gather, hash_parts
from core.watch import NO_WATCH, Watch

# Number of terms processed at a time.
CHUNK = 1 << 20


def rename(
    journal: Journal,
    data: np.ndarray,
    offsets: np.ndarray,
    names: NameFiles,
    seed: int,
    watch: Watch = NO_WATCH,
) -> None:
    """Write the names of all terms, in their order."""
    put(
        journal.spill("ends-hashed"),
        np.concatenate(
            [hashes for *_, hashes in _readable(data, offsets, seed, watch)]
            or [np.empty(0, np.uint64)]
        ),
    )
    called = _contested(get(journal.spill("ends-hashed"), np.uint64), data, offsets, seed, watch)
    for first, text, starts, lengths, _ in _readable(data, offsets, seed, watch):
        mine = (
            [term for term in range(first, first + len(starts)) if term in called] if called else []
        )
        if mine:
            more, sizes = bytes_of([called[term] for term in mine])
            places = np.array(mine) - first
            starts[places], lengths[places] = len(text) + np.cumsum(sizes) - sizes, sizes
            text = np.concatenate([text, more])
        out = np.empty(int(lengths.sum()), np.uint8)
        gather(text, starts, lengths, out)
        names.add(out, lengths)


def _readable(
    data: np.ndarray, offsets: np.ndarray, seed: int, watch: Watch = NO_WATCH
) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield the readable ends of the terms, chunk by chunk.

    Each chunk consists of the number of its first term, bytes, and for each term the start and
    length of its readable end in these bytes and its hash.
    """
    count = len(offsets) - 1
    for first in range(0, count, CHUNK):
        watch.check()
        cuts = np.asarray(offsets[first : first + CHUNK + 1])
        text = np.array(data[cuts[0] : cuts[-1]])
        cuts = cuts - cuts[0]
        starts, lengths = np.empty(len(cuts) - 1, np.int64), np.empty(len(cuts) - 1, np.int64)
        readable(text, cuts, starts, lengths)
        other = np.flatnonzero(lengths < 0)
        if len(other):
            renamed = [
                candidates(term_of(text[cuts[term] : cuts[term + 1]].tobytes().decode("utf-8")))[0]
                for term in other.tolist()
            ]
            more, sizes = bytes_of(renamed)
            starts[other], lengths[other] = len(text) + np.cumsum(sizes) - sizes, sizes
            text = np.concatenate([text, more])
        hashes = np.empty(len(starts), np.uint64)
        hash_parts(text, starts, lengths, np.uint64(seed), hashes)
        yield first, text, starts, lengths, hashes


def _contested(
    hashes: np.ndarray, data: np.ndarray, offsets: np.ndarray, seed: int, watch: Watch = NO_WATCH
) -> dict[int, str]:
    """Return the names of the terms that share a readable end with another term."""
    ordered = np.sort(hashes)
    wanted = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    del ordered
    texts: dict[int, tuple[str, tuple[str, ...]]] = {}
    while True:
        fresh = [
            term for term in np.flatnonzero(np.isin(hashes, wanted)).tolist() if term not in texts
        ]
        if not fresh:
            break
        watch.check()
        longer = []
        for term in fresh:
            token = bytes(data[offsets[term] : offsets[term + 1]]).decode("utf-8")
            texts[term] = (token, candidates(term_of(token)))
            longer += [*texts[term][1][1:], f"{texts[term][1][-1]} (2)"]
        text, sizes = bytes_of(longer)
        found = np.empty(len(longer), np.uint64)
        hash_parts(text, np.cumsum(sizes) - sizes, sizes, np.uint64(seed), found)
        wanted = np.unique(np.concatenate([wanted, found]))
    namer = Namer()
    return {term: namer.name(*texts[term]) for term in sorted(texts)}
