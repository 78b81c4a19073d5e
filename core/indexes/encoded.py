"""The vectors of a graph's texts on disk: in blocks, each kept as it is done, until an exact index holds them all."""

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
Texts = tuple[int, list[str]]  # a block's number, and what of it is to be encoded
Vectors = Generator[tuple[int, np.ndarray], None, None]  # of a block of that number
# told of a block how many of its texts are encoded so far
Encode = Callable[[Iterable[Texts], Callable[[int], None]], Vectors]
BLOCK = 1024  # texts; what a kill costs at most
KEYS, DONE = "keys.npy", "index.json"
EARLIER = 4  # earlier contents of a graph that are looked through
NONE = np.zeros((0, 0), np.float32)


def count(graph: Graph, of: Of) -> int:
    """How many nodes, triples, chunks or communities the graph has."""
    if of in ("chunks", "communities"):
        return n_chunks(graph) if of == "chunks" else n_communities(graph)
    return graph.n_nodes if of == "nodes" else graph.n_edges


def texts(graph: Graph, of: Of, items: Sequence[int] | np.ndarray) -> list[str]:
    """What is encoded: the names of nodes, or triples as `A -> r -> B` (LEGO-GraphRAG's words for them).

    On a graph made of texts nodes with their types and descriptions, `relations` with their ends and descriptions (`relation-names`:
    their names alone), chunks and communities with their titles (the in-depth analysis' three indexes).
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
    """Encodes in this process, one block after the other."""

    def encode(blocks: Iterable[Texts], advanced: Callable[[int], None]) -> Vectors:
        for number, wanted in blocks:
            yield number, encoded_telling(encoder, wanted, watch, advanced) if wanted else NONE

    return encode


def spread(workers: Workers, encoder: str, watch: Watch = NO_WATCH) -> Encode:
    """Encodes over worker processes, each with the encoder of that name. Raises HopscopeError where one dies again and again."""

    def encode(blocks: Iterable[Texts], advanced: Callable[[int], None]) -> Vectors:
        for (number, _), vectors in workers.each(partial(_encoded, encoder), blocks, watch):
            if isinstance(vectors, Lost):
                raise HopscopeError(vectors.error)
            yield number, vectors

    return encode


_models = cache(Registry)  # in a worker: those of its process


def _encoded(encoder: str, block: Texts) -> np.ndarray:
    """In a worker: the vectors of a block's texts."""
    return _models().encoder(encoder).encode(block[1]) if block[1] else NONE


def block_file(folder: Path, number: int) -> Path:
    """Where a block lies."""
    return folder / f"block-{number:06}.npy"


def exact_index(folder: Path, total: int) -> Any | None:
    """The faiss index of all `total` vectors as they were encoded; None where there is no sound one."""
    try:
        index = mapped(folder / INDEX)
    except (OSError, ValueError, RuntimeError):
        return None
    return index if index.ntotal == total and not hasattr(index, "hnsw") else None


def read_block(folder: Path, number: int, total: int) -> np.ndarray:
    """float16 [rows, d]: one block of `total` vectors, by memory map or from their exact index. Raises StoreError."""
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
    """Blocks of `BLOCK` vectors in `folder`, float16 [rows, d]; vector `i` is that of item `i`.

    Their files are removed when an exact index holds the vectors, and then read from that.

    Of items that `worded` has a text of, that one is encoded rather than the graph's own. `encoded` and `reused` count what
    `complete` encoded, and what it found among the vectors of an earlier content of the graph.
    """

    graph: Graph
    of: Of
    folder: Path
    encoded: int = 0
    reused: int = 0
    worded: Sequence[str] = ()

    @property
    def label(self) -> str:
        """What is encoded, in a word."""
        return self.of

    def total(self) -> int:
        """How many items there are."""
        return count(self.graph, self.of)

    def texts_of(self, items: Sequence[int]) -> list[str]:
        """What is encoded of these items."""
        if not self.worded:
            return texts(self.graph, self.of, items)
        own = [item for item in items if not self.worded[item]]
        known = dict(zip(own, texts(self.graph, self.of, own))) if own else {}
        return [known.get(item, self.worded[item]) for item in items]

    def __len__(self) -> int:
        return -(-self.total() // BLOCK)

    def items(self, number: int) -> range:
        """The items of a block."""
        return range(number * BLOCK, min(self.total(), (number + 1) * BLOCK))

    def read(self, number: int) -> np.ndarray:
        """A block's vectors. Raises StoreError where they are damaged."""
        return read_block(self.folder, number, self.total())

    def rows(self, items: np.ndarray) -> np.ndarray:
        """float16 [n, d]: the vectors of some items, ascending. Raises StoreError as `read`."""
        numbers = np.unique(items // BLOCK).tolist()
        return np.concatenate(
            [self.read(number)[items[items // BLOCK == number] % BLOCK] for number in numbers]
        )

    def count_zeros(self) -> int:
        """How many vectors are zeros, as of texts that the encoder could not read."""
        return sum(int((~self.read(number).any(axis=1)).sum()) for number in range(len(self)))

    def missing(self) -> list[int]:
        """The blocks that are not there yet."""
        absent = [
            number for number in range(len(self)) if not block_file(self.folder, number).exists()
        ]
        return [] if absent and exact_index(self.folder, self.total()) is not None else absent

    def remove_files(self) -> None:
        """Remove the blocks, whose vectors an exact index holds by now."""
        for number in range(len(self)):
            with suppress(OSError):  # on Windows, one that another process reads just now
                block_file(self.folder, number).unlink(missing_ok=True)

    def complete(self, encode: Encode, watch: Watch = NO_WATCH) -> None:
        """Keep the keys of all texts, for the graph's next content; then encode the missing blocks and keep each as it comes.

        A text whose vector an earlier content of the graph has is not encoded again, be that content encoded whole or in part. Raises
        StoreError, and what `watch` and `encode` raise.
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
    """The vectors of one content: the keys of those texts that are encoded, ascending by their first half, and the row of each."""

    folder: Path
    keys: np.ndarray  # uint64 [n, 2]
    rows: np.ndarray  # int64 [n]
    total: int  # how many texts the content has

    def find(self, wanted: np.ndarray) -> np.ndarray:
        """For each key its row, or -1, int64."""
        at = np.minimum(np.searchsorted(self.keys[:, 0], wanted[:, 0]), len(self.keys) - 1)
        return np.where((self.keys[at] == wanted).all(axis=1), self.rows[at], -1)


@dataclass(frozen=True, eq=False)
class Earlier:
    """The vectors that earlier contents of a graph have. Row numbers run on from one source to the next."""

    sources: tuple[Source, ...]
    _blocks: dict[Path, np.ndarray] = field(default_factory=dict)

    @classmethod
    def beside(cls, folder: Path, graph: Graph | None = None) -> Earlier:
        """The vectors of the folders that `earlier_folders` finds."""
        found = []
        for other in earlier_folders(folder, graph):
            try:
                digests.check_sealed(other / KEYS)
                keys = np.load(other / KEYS)
            except (OSError, ValueError, EOFError):  # damaged: its texts are encoded anew
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
        """For each key the number of its vector, or -1, int64."""
        found, start = np.full(len(wanted), -1, np.int64), 0
        for source in self.sources:
            here = source.find(wanted)
            found = np.where((found < 0) & (here >= 0), start + here, found)
            start += source.total
        return found

    def filled(self, rows: np.ndarray, fresh: np.ndarray) -> np.ndarray:
        """float16 [len(rows), d]: the vectors of these rows, the `fresh` ones in the places of -1."""
        found, there = np.empty((0, fresh.shape[1]), np.float16), np.flatnonzero(rows >= 0)
        if len(there):
            found = self._vectors(rows[there])
        block = np.empty((len(rows), found.shape[1]), np.float16)
        block[there] = found
        if len(fresh):
            block[rows < 0] = fresh
        return block

    def _vectors(self, rows: np.ndarray) -> np.ndarray:
        """float16 [n, d]: the vectors of these rows, those of a block read together."""
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
    """Folders with vectors of other contents of the graph, the newest first, at most `EARLIER`.

    Those of a graph made of documents include those of the graphs beside it, as these have many
    texts in common.
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
    """The keys of texts: 128 bits of a hash of each, uint64 [n, 2]."""
    hashed = b"".join(
        hashlib.blake2b(text.encode("utf-8"), digest_size=16).digest() for text in texts
    )
    return np.frombuffer(hashed, "<u8").reshape(-1, 2)
