"""Readable names for RDF terms, without holding all terms in memory.

The names are the same as those of `core.graph.readers.unique_names`. The readable end of a term is
the last part of its IRI. Usually one term alone has it, and it is the name of the term. Terms that
share a readable end, and terms whose end equals a longer name of such a term, are named one by one
in their order.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.graph.large.journal import Journal, read_array, write_array
from core.graph.large.name_files import NameFiles
from core.graph.readers.blocks import encode_parts
from core.graph.readers.ntriples import name_candidates, term_of
from core.graph.readers.term_loops import find_readable_ends
from core.graph.readers.text_loops import copy_parts, hash_parts
from core.graph.readers.unique_names import Namer
from core.watch import NO_WATCH, Watch

# Number of terms processed at a time.
TERM_BATCH = 1 << 20


def write_term_names(
    journal: Journal,
    data: np.ndarray,
    offsets: np.ndarray,
    names: NameFiles,
    seed: int,
    watch: Watch = NO_WATCH,
) -> None:
    """Append a readable name for each term to `names`.

    Names are in the order of the terms. Term t is `data[offsets[t]:offsets[t + 1]]` in UTF-8.
    `seed` is the seed of the hashes.
    """
    all_hashes = [hashes for *_, hashes in _find_ends(data, offsets, seed, watch)]
    write_array(
        journal.spill_file("ends-hashed"), np.concatenate([*all_hashes, np.empty(0, np.uint64)])
    )
    del all_hashes
    shared_names = _name_shared_ends(
        read_array(journal.spill_file("ends-hashed"), np.uint64), data, offsets, seed, watch
    )
    for first, text, starts, lengths, _ in _find_ends(data, offsets, seed, watch):
        shared_terms = []
        if shared_names:
            terms = range(first, first + len(starts))
            shared_terms = [term for term in terms if term in shared_names]
        if shared_terms:
            longer_names, sizes = encode_parts([shared_names[term] for term in shared_terms])
            rows = np.array(shared_terms) - first
            starts[rows], lengths[rows] = len(text) + np.cumsum(sizes) - sizes, sizes
            text = np.concatenate([text, longer_names])
        out = np.empty(int(lengths.sum()), np.uint8)
        copy_parts(text, starts, lengths, out)
        names.add(out, lengths)


def _find_ends(
    data: np.ndarray, offsets: np.ndarray, seed: int, watch: Watch = NO_WATCH
) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield the readable ends of the terms, batch by batch.

    A batch is (first, text, starts, lengths, hashes). `first` is the number of its first term.
    `text` has bytes, in which the readable end of each term has a start and a length. `hashes` are
    those of the ends.
    """
    count = len(offsets) - 1
    for first in range(0, count, TERM_BATCH):
        watch.check()
        cuts = np.asarray(offsets[first : first + TERM_BATCH + 1])
        text = np.array(data[cuts[0] : cuts[-1]])
        cuts = cuts - cuts[0]
        starts, lengths = np.empty(len(cuts) - 1, np.int64), np.empty(len(cuts) - 1, np.int64)
        find_readable_ends(text, cuts, starts, lengths)
        # The compiled function does not handle terms with escapes and the like; `name_candidates`
        # does.
        unhandled_terms = np.flatnonzero(lengths < 0)
        if len(unhandled_terms):
            end_names = []
            for term in unhandled_terms.tolist():
                token = text[cuts[term] : cuts[term + 1]].tobytes().decode("utf-8")
                end_names.append(name_candidates(term_of(token))[0])
            end_bytes, sizes = encode_parts(end_names)
            starts[unhandled_terms] = len(text) + np.cumsum(sizes) - sizes
            lengths[unhandled_terms] = sizes
            text = np.concatenate([text, end_bytes])
        hashes = np.empty(len(starts), np.uint64)
        hash_parts(text, starts, lengths, np.uint64(seed), hashes)
        yield first, text, starts, lengths, hashes


def _name_shared_ends(
    hashes: np.ndarray, data: np.ndarray, offsets: np.ndarray, seed: int, watch: Watch = NO_WATCH
) -> dict[int, str]:
    """Return the names of the terms that may share a name.

    The names are given by term. `hashes` are those of the readable ends. All longer names that such
    a term could get are searched among the ends of the other terms, until no further term is found.
    """
    ordered = np.sort(hashes)
    shared_hashes = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    del ordered
    texts: dict[int, tuple[str, tuple[str, ...]]] = {}  # by term: its text and candidate names
    while True:
        fresh = [
            term
            for term in np.flatnonzero(np.isin(hashes, shared_hashes)).tolist()
            if term not in texts
        ]
        if not fresh:
            break
        watch.check()
        longer_names = []
        for term in fresh:
            token = bytes(data[offsets[term] : offsets[term + 1]]).decode("utf-8")
            candidates = name_candidates(term_of(token))
            texts[term] = (token, candidates)
            longer_names += [*candidates[1:], f"{candidates[-1]} (2)"]
        text, sizes = encode_parts(longer_names)
        longer_hashes = np.empty(len(longer_names), np.uint64)
        hash_parts(text, np.cumsum(sizes) - sizes, sizes, np.uint64(seed), longer_hashes)
        shared_hashes = np.unique(np.concatenate([shared_hashes, longer_hashes]))
    namer = Namer()
    return {term: namer.name(*texts[term]) for term in sorted(texts)}
