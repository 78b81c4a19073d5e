"""Chunks of documents that were cut before: of a corpus that has changed only what is new is cut."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import numpy as np

from core.corpus.corpus import Corpus
from core.corpus.document import Document
from core.errors import StoreError
from core.graph.columns import Table
from core.graph.store import Graph
from core.io import digests

FILE = "documents.npz"  # beside a graph: of which documents its chunks are
# documents to the chunks of each by itself, in their order
Cutter = Callable[[Iterable[Document]], Table]


@dataclass(frozen=True, eq=False)
class Cuts:
    """The chunks of some documents: those of a document follow each other in `chunks`, as many as `counts` says (int64 [documents]);
    `keys` are the first half of the documents' digests, uint64 [documents, 2]."""

    keys: np.ndarray
    counts: np.ndarray
    chunks: Table

    def rows(self, keys: np.ndarray) -> np.ndarray:
        """For each key its document's row, or -1, int64."""
        if not len(self.keys):
            return np.full(len(keys), -1, np.int64)
        order = np.argsort(self.keys[:, 0], kind="stable")
        at = order[np.minimum(np.searchsorted(self.keys[order, 0], keys[:, 0]), len(order) - 1)]
        return np.where((self.keys[at] == keys).all(axis=1), at, -1)


def recut(corpus: Corpus, cut: Cutter, before: Cuts | None) -> tuple[Cuts, int]:
    """The chunks of all documents of a corpus, as `cut` makes them of the documents, and how many of these it was given: those whose
    chunks are not in `before`, which the same cutter made.

    >>> from core.corpus.chunks import as_given
    >>> from core.corpus.recut import recut
    >>> from core.corpus import open_corpus
    >>> book = open_corpus("christmas-carol")
    >>> whole, fresh = recut(book, as_given, None)
    >>> again, none = recut(book, as_given, whole)
    >>> (fresh == len(book), none, again.chunks.digest == whole.chunks.digest)
    (True, 0, True)
    """
    import pyarrow as pa

    keys = keys_of(corpus)
    known = before.rows(keys) if before is not None else np.full(len(keys), -1, np.int64)
    new = np.flatnonzero(known < 0)
    ids = list(corpus.ids) if len(new) == len(keys) else corpus.table.texts("id", new)
    fresh = cut(corpus.at(row) for row in new.tolist())
    counts = np.zeros(len(keys), np.int64)
    counts[new] = _counted(fresh, ids)
    if before is None or len(new) == len(keys):
        return Cuts(keys, counts, fresh), len(new)
    old = known >= 0
    counts[old] = before.counts[known[old]]
    # of each document's chunks, in the chunks before with the fresh ones behind them
    first = np.zeros(len(keys), np.int64)
    first[old] = (np.cumsum(before.counts) - before.counts)[known[old]]
    first[new] = len(before.chunks) + np.cumsum(counts[new]) - counts[new]
    rows = np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
    both = pa.concat_tables([before.chunks.arrow.select(list(fresh.names)), fresh.arrow])
    return Cuts(keys, counts, Table(both.take(rows).combine_chunks())), len(new)


def keys_of(corpus: Corpus) -> np.ndarray:
    """The first half of the digest of each document, uint64 [documents, 2]."""
    halves = bytes.fromhex("".join(digest[:32] for digest in corpus.table.texts("digest")))
    return np.frombuffer(halves, "<u8").reshape(-1, 2)


@dataclass
class Recut:
    """Where a build finds chunks that were cut before, and what it cut: `folders` of graphs, the first that fits is taken; without any,
    all is cut and nothing remembered."""

    folders: tuple[Path, ...] = ()
    cutter: str = ""
    cuts: Cuts | None = field(default=None, repr=False)

    def chunks(self, corpus: Corpus, cutter: str, cut: Cutter) -> tuple[Table, int]:
        """The chunks of a corpus by the cutter of a name, and how many documents were cut for it."""
        if not self.folders:
            return cut(corpus), len(corpus)
        before = next(
            (found for folder in self.folders if (found := saved(folder, cutter)) is not None), None
        )
        self.cutter, (self.cuts, fresh) = cutter, recut(corpus, cut, before)
        return self.cuts.chunks, fresh

    def written(self, graph: Graph) -> Callable[[IO[bytes]], None] | None:
        """Writes of which documents the chunks of a graph are, to be put beside it as `FILE`; None where it has other chunks."""
        chunks, cuts = graph.columns.chunks, self.cuts
        if cuts is None or chunks is None or len(chunks) != len(cuts.chunks):
            return None
        facts = json.dumps({"graph": graph.digest, "cutter": self.cutter})
        return lambda stream: np.savez(
            stream, keys=cuts.keys, counts=cuts.counts, facts=np.array(facts)
        )


def saved(folder: Path, cutter: str) -> Cuts | None:
    """The chunks that the graph in a folder has of its documents, by this cutter; None where it has others, or they cannot be read."""
    try:
        digests.check_sealed(folder / FILE)
        with np.load(folder / FILE) as known:
            facts, keys, counts = json.loads(str(known["facts"])), known["keys"], known["counts"]
        if facts["cutter"] != cutter:
            return None
        graph = Graph.open(folder)
        chunks = graph.columns.chunks
    except (OSError, ValueError, EOFError, KeyError, TypeError, StoreError):
        return None
    fits = (
        chunks is not None
        and graph.digest == facts["graph"]
        and len(chunks) == counts.sum()
        and len(keys) == len(counts)
    )
    return Cuts(keys, counts, chunks) if fits and chunks is not None else None


def _counted(chunks: Table, ids: list[str]) -> np.ndarray:
    """How many chunks each document has, by their ids, in the order of both."""
    import pyarrow as pa
    import pyarrow.compute as pc

    number = pc.index_in(
        chunks.arrow.column("document"), value_set=pa.array(ids, pa.large_string())
    ).to_numpy()
    return np.bincount(number, minlength=len(ids))
