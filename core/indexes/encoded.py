"""Vectors of a graph's texts, saved on disk in blocks.

Each block is saved as soon as it is encoded. Once an exact index holds all vectors, the blocks are
removed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from core.errors import HopscopeError, damage
from core.graph.store import Graph
from core.graph.texts import (
    chunk_label,
    community_label,
    n_chunks,
    n_communities,
    node_labels,
    relation_labels,
)
from core.indexes.parts import INDEX, mapped
from core.indexes.place import keep
from core.io import digests
from core.models.registry import Registry
from core.models.scorers import encoded_telling
from core.runtime.cluster import Lost, Workers
from core.watch import NO_WATCH, Watch

Of = Literal["nodes", "triples", "relations", "relation-names", "chunks", "communities"]
Texts = tuple[int, list[str]]  # number of a block, and the texts of it to encode
Vectors = Generator[tuple[int, np.ndarray], None, None]  # number of a block, and its vectors
# The callback is called with the number of texts of the present block that are encoded so far.
Encode = Callable[[Iterable[Texts], Callable[[int], None]], Vectors]
BLOCK = 1024  # texts in a block, the most work that is lost when the process is killed
KEYS, DONE = "keys.npy", "index.json"
EARLIER = 4  # earlier contents of a graph whose vectors are looked up
NONE = np.zeros((0, 0), np.float32)


def count(graph: Graph, of: Of) -> int:
    """Return the number of nodes, triples, chunks or communities of the graph."""
    if of in ("chunks", "communities"):
        return n_chunks(graph) if of == "chunks" else n_communities(graph)
    return graph.n_nodes if of == "nodes" else graph.n_edges


def texts(graph: Graph, of: Of, items: Sequence[int] | np.ndarray) -> list[str]:
    """Return the texts that are encoded for some items.

    They are the names of nodes, or triples as "A -> r -> B" (the wording of LEGO-GraphRAG).

    On a graph made of texts, nodes come with their types and descriptions, and `relations` with
    their ends and descriptions. `relation-names` are the names alone. Chunks and communities come
    with their titles (the three indexes of the in-depth analysis).
    """
    if of == "chunks":
        return [chunk_label(graph, item) for item in items]
    if of == "communities":
        return [community_label(graph, item) for item in items]
    if of in ("relations", "relation-names"):
        return relation_labels(graph, items, of == "relation-names")
    if of == "nodes":
        return node_labels(graph, items)
    return graph.triple_texts(np.asarray(items, np.int64))


def here(encoder, watch: Watch = NO_WATCH) -> Encode:
    """Return an encoding function that works in this process, one block after the other."""

    def encode(blocks: Iterable[Texts], advanced: Callable[[int], None]) -> Vectors:
        for number, wanted in blocks:
            yield number, encoded_telling(encoder, wanted, watch, advanced) if wanted else NONE

    return encode


def spread(workers: Workers, encoder: str, watch: Watch = NO_WATCH) -> Encode:
    """Return an encoding function that uses worker processes.

    Each worker loads the encoder of that name. Raises HopscopeError where a worker dies repeatedly.
    """

    def encode(blocks: Iterable[Texts], advanced: Callable[[int], None]) -> Vectors:
        for (number, _), vectors in workers.each(partial(_encoded, encoder), blocks, watch):
            if isinstance(vectors, Lost):
                raise HopscopeError(vectors.error)
            yield number, vectors

    return encode


_models = cache(Registry)  # in a worker process: its models


def _encoded(encoder: str, block: Texts) -> np.ndarray:
    """Encode the texts of a block in a worker process."""
    return _models().encoder(encoder).encode(block[1]) if block[1] else NONE


def block_file(folder: Path, number: int) -> Path:
    """Return the file of a block."""
    return folder / f"block-{number:06}.npy"


def exact_index(folder: Path, total: int) -> Any | None:
    """Open the exact faiss index of all `total` vectors.

    None where there is no sound index of this kind.
    """
    try:
        index = mapped(folder / INDEX)
    except (OSError, ValueError, RuntimeError):
        return None
    return index if index.ntotal == total and not hasattr(index, "hnsw") else None


def read_block(folder: Path, number: int, total: int) -> np.ndarray:
    """Return one block of `total` vectors, float16 [rows, d].

    It is read by memory map, or from the exact index. Raises StoreError where both are damaged.
    """
    file, first = block_file(folder, number), number * BLOCK
    try:
        digests.check_sealed(file)
        return np.load(file, mmap_mode="r")
    except (OSError, ValueError, EOFError) as error:
        index = exact_index(folder, total)
        if index is None:
            raise damage(f"{file} is", error, "delete it and build the vectors again") from None
    return index.reconstruct_n(first, min(BLOCK, total - first)).astype(np.float16)


@dataclass(eq=False)
class Blocks:
    """Blocks of `BLOCK` vectors in `folder`, float16 [rows, d].

    Vector `i` belongs to item `i`. The files of the blocks are removed once an exact index holds
    the vectors, which are then read from it.

    `worded` holds texts that are encoded instead of the graph's own; an empty one stands for the
    graph's own text. `encoded` counts the vectors that `complete` encoded, `reused` those that it
    took from an earlier content of the graph.
    """

    graph: Graph
    of: Of
    folder: Path
    encoded: int = 0
    reused: int = 0
    worded: Sequence[str] = ()

    @property
    def label(self) -> str:
        """Name of the encoded items, for progress messages."""
        return self.of

    def total(self) -> int:
        """Return the number of items."""
        return count(self.graph, self.of)

    def texts_of(self, items: Sequence[int]) -> list[str]:
        """Return the texts that are encoded for these items."""
        if not self.worded:
            return texts(self.graph, self.of, items)
        own = [item for item in items if not self.worded[item]]
        known = dict(zip(own, texts(self.graph, self.of, own))) if own else {}
        return [known.get(item, self.worded[item]) for item in items]

    def __len__(self) -> int:
        return -(-self.total() // BLOCK)

    def items(self, number: int) -> range:
        """Return the items of a block."""
        return range(number * BLOCK, min(self.total(), (number + 1) * BLOCK))

    def read(self, number: int) -> np.ndarray:
        """Return the vectors of a block. Raises StoreError where they are damaged."""
        return read_block(self.folder, number, self.total())

    def rows(self, items: np.ndarray) -> np.ndarray:
        """Return the vectors of some items, in ascending order, float16 [n, d].

        Raises StoreError as `read`.
        """
        numbers = np.unique(items // BLOCK).tolist()
        return np.concatenate(
            [self.read(number)[items[items // BLOCK == number] % BLOCK] for number in numbers]
        )

    def count_zeros(self) -> int:
        """Count the zero vectors, which stand for texts that the encoder could not read."""
        return sum(int((~self.read(number).any(axis=1)).sum()) for number in range(len(self)))

    def missing(self) -> list[int]:
        """Return the blocks that are not encoded yet."""
        absent = [
            number for number in range(len(self)) if not block_file(self.folder, number).exists()
        ]
        return [] if absent and exact_index(self.folder, self.total()) is not None else absent

    def remove_files(self) -> None:
        """Remove the files of the blocks, whose vectors an exact index now holds."""
        for number in range(len(self)):
            with suppress(OSError):  # On Windows a file stays while another process reads it.
                block_file(self.folder, number).unlink(missing_ok=True)

    def complete(self, encode: Encode, watch: Watch = NO_WATCH) -> None:
        """Encode the missing blocks, and save each as it is done.

        The keys of all texts are saved first, for the next content of the graph. A text that an
        earlier content has a vector for is not encoded again, even if that content was encoded only
        in part. Raises StoreError, and what
        `watch` and `encode` raise.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        every = [keys(self.texts_of(self.items(number))) for number in range(len(self))]
        keep(self.folder / KEYS, lambda stream: np.save(stream, np.concatenate(every)))
        missing, waiting, total = self.missing(), {}, self.total()
        share = 1 - len(missing) / len(self)
        earlier = Earlier.beside(self.folder, self.graph)

        def wanted() -> Iterator[Texts]:
            for number in missing:
                watch.check()
                rows = waiting[number] = earlier.rows(every[number])
                yield (
                    number,
                    self.texts_of(
                        [self.items(number)[i] for i in np.flatnonzero(rows < 0).tolist()]
                    ),
                )

        def advanced(encoded: int) -> None:
            done = min(total, round(share * total) + encoded)
            watch.report(f"Encoding {self.label}: {done:,} of {total:,}", done / total)

        with closing(encode(wanted(), advanced)) as found:
            for done, (number, vectors) in enumerate(found, 1):
                block = earlier.filled(waiting.pop(number), vectors)
                keep(block_file(self.folder, number), partial(np.save, arr=block))
                self.encoded, self.reused = (
                    self.encoded + len(vectors),
                    self.reused + len(block) - len(vectors),
                )
                share = 1 - (len(missing) - done) / len(self)
                watch.report(f"Encoding {self.label}: {round(share * total):,} of {total:,}", share)


@dataclass(frozen=True, eq=False)
class Source:
    """Vectors of one content of a graph, found by the keys of the texts.

    `keys` holds the keys of the encoded texts, sorted by their first half. `rows` holds the row of
    each.
    """

    folder: Path
    keys: np.ndarray  # uint64 [n, 2]
    rows: np.ndarray  # int64 [n]
    total: int  # number of texts of the content, encoded or not

    def find(self, wanted: np.ndarray) -> np.ndarray:
        """Return the row of each key, int64, or -1 where it is missing."""
        at = np.minimum(np.searchsorted(self.keys[:, 0], wanted[:, 0]), len(self.keys) - 1)
        return np.where((self.keys[at] == wanted).all(axis=1), self.rows[at], -1)


@dataclass(frozen=True, eq=False)
class Earlier:
    """Vectors of earlier contents of a graph.

    Row numbers continue from one source to the next.
    """

    sources: tuple[Source, ...]
    _blocks: dict[Path, np.ndarray] = field(default_factory=dict)

    @classmethod
    def beside(cls, folder: Path, graph: Graph | None = None) -> Earlier:
        """Open the vectors of the folders that `earlier_folders` finds."""
        found = []
        for other in earlier_folders(folder, graph):
            try:
                digests.check_sealed(other / KEYS)
                keys = np.load(other / KEYS)
            except (OSError, ValueError, EOFError):  # damaged: the texts are encoded anew
                continue
            whole = exact_index(other, len(keys)) is not None
            numbers = range(-(-len(keys) // BLOCK))
            there = [whole or block_file(other, number).exists() for number in numbers]
            encoded = np.repeat(there, BLOCK)[: len(keys)]
            order = np.argsort(keys[:, 0], kind="stable")
            order = order[encoded[order]]
            if len(order):
                found.append(Source(other, keys[order], order, len(keys)))
        return cls(tuple(found))

    def rows(self, wanted: np.ndarray) -> np.ndarray:
        """Return the row of each key over all sources, int64, or -1 where it is missing."""
        found, start = np.full(len(wanted), -1, np.int64), 0
        for source in self.sources:
            here = source.find(wanted)
            found = np.where((found < 0) & (here >= 0), start + here, found)
            start += source.total
        return found

    def filled(self, rows: np.ndarray, fresh: np.ndarray) -> np.ndarray:
        """Combine earlier and new vectors into one block, float16 [len(rows), d].

        `rows` are rows of the earlier vectors. The vectors of `fresh` fill the positions of -1 in
        order.
        """
        found, there = np.empty((0, fresh.shape[1]), np.float16), np.flatnonzero(rows >= 0)
        if len(there):
            found = self._vectors(rows[there])
        block = np.empty((len(rows), found.shape[1]), np.float16)
        block[there] = found
        if len(fresh):
            block[rows < 0] = fresh
        return block

    def _vectors(self, rows: np.ndarray) -> np.ndarray:
        """Return the vectors of these rows, float16 [n, d], reading each block once."""
        starts = np.cumsum([0, *(source.total for source in self.sources)])
        number = np.searchsorted(starts, rows, "right") - 1
        block, place = np.divmod(rows - starts[number], BLOCK)
        files, at = np.unique(np.stack([number, block]), axis=1, return_inverse=True)
        parts = [self._block(self.sources[source], one) for source, one in files.T.tolist()]
        found = np.empty((len(rows), parts[0].shape[1]), np.float16)
        for one, part in enumerate(parts):
            here = np.flatnonzero(at == one)
            found[here] = part[place[here]]
        return found

    def _block(self, source: Source, number: int) -> np.ndarray:
        file = block_file(source.folder, number)
        if file not in self._blocks:
            self._blocks[file] = read_block(source.folder, number, source.total)
        return self._blocks[file]


def earlier_folders(folder: Path, graph: Graph | None = None) -> list[Path]:
    """Return the folders with vectors of other contents of the graph, newest first.

    There are at most `EARLIER`. For a graph made of documents they include those of the sibling
    graphs in the same parent folder, which have many texts in common.
    """
    indexes = folder.parent.parent
    places = [*indexes.glob(f"*/{folder.name}/{KEYS}")]
    if graph is not None and graph.columns.of_texts:
        places += indexes.parent.parent.glob(f"*/{indexes.name}/*/{folder.name}/{KEYS}")
    known = {file.parent for file in places if file.parent != folder}
    return sorted(known, key=lambda other: (-(other / KEYS).stat().st_mtime_ns, str(other)))[
        :EARLIER
    ]


def keys(texts: Sequence[str]) -> np.ndarray:
    """Return the keys of texts: a 128-bit hash of each, uint64 [n, 2]."""
    hashed = b"".join(
        hashlib.blake2b(text.encode("utf-8"), digest_size=16).digest() for text in texts
    )
    return np.frombuffer(hashed, "<u8").reshape(-1, 2)
