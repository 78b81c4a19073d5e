"""Reuse of the chunks of an earlier build.

Only new or changed documents are cut. A document is recognised by the digest of its content. The
chunks are those of a saved graph, next to which `CHUNKED_DOCUMENTS_FILE` records the documents that
they belong to.
"""

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

CHUNKED_DOCUMENTS_FILE = "documents.npz"  # in a graph's folder: the documents of its chunks
# Returns the chunks of documents in the order of the documents. The chunks of a document must not
# depend on other documents, else they could not be reused.
Cutter = Callable[[Iterable[Document]], Table]


@dataclass(frozen=True, eq=False)
class DocumentChunks:
    """The chunks of some documents.

    Parameters
    ----------
    keys : the documents' keys, as `document_keys` returns them, uint64 [documents, 2].
    counts : number of chunks of each document, int64 [documents].
    chunks : the chunks, in the order of the documents.
    """

    keys: np.ndarray
    counts: np.ndarray
    chunks: Table

    def rows_of(self, keys: np.ndarray) -> np.ndarray:
        """Return the row of each key, int64; -1 if it has none."""
        if not len(self.keys):
            return np.full(len(keys), -1, np.int64)
        order = np.argsort(self.keys[:, 0], kind="stable")
        # The first 64 bits find the candidate, and all 128 bits confirm it.
        slots = np.searchsorted(self.keys[order, 0], keys[:, 0])
        rows = order[np.minimum(slots, len(order) - 1)]
        return np.where((self.keys[rows] == keys).all(axis=1), rows, -1)


def reuse_chunks(
    corpus: Corpus, cut: Cutter, previous: DocumentChunks | None
) -> tuple[DocumentChunks, int]:
    """Return the chunks of a corpus, cutting only documents without earlier chunks.

    Parameters
    ----------
    corpus : the corpus.
    cut : cuts documents into a table of chunks.
    previous : chunks of an earlier state of the corpus by the same cutter; None to cut all
        documents.

    Returns
    -------
    The chunks by document, and the number of documents that were cut.

    Examples
    --------
    >>> from core.corpus.chunks import documents_as_chunks
    >>> from core.corpus.chunk_reuse import reuse_chunks
    >>> from core.corpus import open_corpus
    >>> book = open_corpus("christmas-carol")
    >>> first, n_cut = reuse_chunks(book, documents_as_chunks, None)
    >>> n_cut == len(book)
    True
    >>> second, n_cut = reuse_chunks(book, documents_as_chunks, first)
    >>> n_cut, second.chunks.digest == first.chunks.digest
    (0, True)
    """
    import pyarrow as pa

    keys = document_keys(corpus)
    old_rows = previous.rows_of(keys) if previous is not None else np.full(len(keys), -1, np.int64)
    new = np.flatnonzero(old_rows < 0)
    ids = list(corpus.ids) if len(new) == len(keys) else corpus.table.texts("id", new)
    new_chunks = cut(corpus.document_at(row) for row in new.tolist())
    counts = np.zeros(len(keys), np.int64)
    counts[new] = _count_chunks(new_chunks, ids)
    if previous is None or len(new) == len(keys):
        return DocumentChunks(keys, counts, new_chunks), len(new)
    old = old_rows >= 0
    counts[old] = previous.counts[old_rows[old]]
    # The old chunks are joined with the new ones, and then brought into the order of the documents.
    # `first` is the row of each document's first chunk in the joined table.
    first = np.zeros(len(keys), np.int64)
    first[old] = (np.cumsum(previous.counts) - previous.counts)[old_rows[old]]
    first[new] = len(previous.chunks) + np.cumsum(counts[new]) - counts[new]
    starts = np.cumsum(counts) - counts  # row of each document's first chunk in the result
    rows = np.repeat(first - starts, counts) + np.arange(counts.sum())
    old_chunks = previous.chunks.arrow.select(list(new_chunks.names))
    chunks = pa.concat_tables([old_chunks, new_chunks.arrow])
    return DocumentChunks(keys, counts, Table(chunks.take(rows).combine_chunks())), len(new)


def document_keys(corpus: Corpus) -> np.ndarray:
    """Return each document's key, uint64 [documents, 2].

    It is the first 128 bits of the document's digest.
    """
    halves = bytes.fromhex("".join(digest[:32] for digest in corpus.table.texts("digest")))
    return np.frombuffer(halves, "<u8").reshape(-1, 2)


@dataclass
class ChunkReuse:
    """The chunks that a build can reuse, and those that it cut.

    Parameters
    ----------
    folders : folders of graphs, of which the first with chunks by the same cutter is used. If
        empty, all documents are cut and nothing is recorded.
    cutter : name of the cutter that was used, with its parameters; empty before `cut_chunks`.
    document_chunks : the chunks of the corpus; None before `cut_chunks`, or without `folders`.
    """

    folders: tuple[Path, ...] = ()
    cutter: str = ""
    document_chunks: DocumentChunks | None = field(default=None, repr=False)

    def cut_chunks(self, corpus: Corpus, cutter: str, cut: Cutter) -> tuple[Table, int]:
        """Return the chunks of a corpus, and the number of documents that were cut.

        Parameters
        ----------
        corpus : the corpus.
        cutter : name of the cutter, with its parameters.
        cut : cuts documents into a table of chunks.

        Returns
        -------
        The chunks, and the number of documents that were cut.
        """
        if not self.folders:
            return cut(corpus), len(corpus)
        saved = (read_saved_chunks(folder, cutter) for folder in self.folders)
        previous = next((chunks for chunks in saved if chunks is not None), None)
        self.cutter = cutter
        self.document_chunks, n_cut = reuse_chunks(corpus, cut, previous)
        return self.document_chunks.chunks, n_cut

    def record_writer(self, graph: Graph) -> Callable[[IO[bytes]], None] | None:
        """Return a function that writes the documents to which a graph's chunks belong.

        Its output is saved as `CHUNKED_DOCUMENTS_FILE` in the graph's folder. Returns None if no
        chunks were recorded, or the graph has more or fewer.
        """
        chunks, recorded = graph.columns.chunks, self.document_chunks
        if recorded is None or chunks is None or len(chunks) != len(recorded.chunks):
            return None
        facts = json.dumps({"graph": graph.digest, "cutter": self.cutter})
        return lambda stream: np.savez(
            stream, keys=recorded.keys, counts=recorded.counts, facts=np.array(facts)
        )


def read_saved_chunks(folder: Path, cutter: str) -> DocumentChunks | None:
    """Return the chunks of the graph in a folder if this cutter made them.

    Parameters
    ----------
    folder : folder of a graph.
    cutter : name of the cutter, with its parameters.

    Returns
    -------
    The chunks by document; None if another cutter made them, they have changed since, or they
    cannot
        be read.
    """
    try:
        digests.check_appended_digest(folder / CHUNKED_DOCUMENTS_FILE)
        with np.load(folder / CHUNKED_DOCUMENTS_FILE) as saved:
            facts, keys, counts = json.loads(str(saved["facts"])), saved["keys"], saved["counts"]
        if facts["cutter"] != cutter:
            return None
        graph = Graph.open(folder)
        chunks = graph.columns.chunks
    except (OSError, ValueError, EOFError, KeyError, TypeError, StoreError):
        return None
    if chunks is None or graph.digest != facts["graph"]:
        return None
    if len(chunks) != counts.sum() or len(keys) != len(counts):
        return None
    return DocumentChunks(keys, counts, chunks)


def _count_chunks(chunks: Table, ids: list[str]) -> np.ndarray:
    """Return the number of chunks of each document, in the order of `ids`.

    Each chunk must belong to one of these documents.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    value_set = pa.array(ids, pa.large_string())
    positions = pc.index_in(chunks.arrow.column("document"), value_set=value_set)
    return np.bincount(positions.to_numpy(), minlength=len(ids))
