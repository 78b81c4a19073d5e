"""Vectors of a graph's texts while they are encoded: files of blocks on disk.

Each block is saved as soon as it is encoded. Once an exact index holds all vectors, the blocks are
removed. Texts that an earlier content of the graph had are not encoded again.
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

from core.errors import HopscopeError, damage_error
from core.graph.store import Graph
from core.graph.texts import (
    chunk_label,
    community_label,
    n_chunks,
    n_communities,
    node_labels,
    relation_labels,
)
from core.indexes.index_parts import INDEX_FILE, map_index
from core.indexes.index_storage import write_atomically
from core.io import digests
from core.models.registry import Registry
from core.models.scorers import encode_with_progress
from core.runtime.cluster import LostResult, Workers
from core.watch import NO_WATCH, Watch

ItemKind = Literal["nodes", "triples", "relations", "relation-names", "chunks", "communities"]
BlockTexts = tuple[int, list[str]]  # number of a block, and the texts of it to encode
BlockVectors = Generator[tuple[int, np.ndarray], None, None]  # number of a block, and its vectors
# The callback gets the number of texts of the present block that are encoded so far.
EncodeBlocks = Callable[[Iterable[BlockTexts], Callable[[int], None]], BlockVectors]
BLOCK_TEXTS = 1024  # texts in a block, and the most that are lost if the process is killed
KEYS_FILE, DONE_FILE = "keys.npy", "index.json"
MAX_EARLIER_FOLDERS = 4  # earlier contents of a graph whose vectors are looked up
NO_VECTORS = np.zeros((0, 0), np.float32)


def count_items(graph: Graph, item_kind: ItemKind) -> int:
    """Return the number of items of a kind in a graph.

    Parameters
    ----------
    graph : the graph.
    item_kind : kind of the items.

    Returns
    -------
    The number of nodes, edges, chunks or communities. Triples, relations and relation names are
    counted as edges.
    """
    if item_kind in ("chunks", "communities"):
        return n_chunks(graph) if item_kind == "chunks" else n_communities(graph)
    return graph.n_nodes if item_kind == "nodes" else graph.n_edges


def texts_of_items(
    graph: Graph, item_kind: ItemKind, items: Sequence[int] | np.ndarray
) -> list[str]:
    """Return the texts that are encoded for some items.

    They are the names of nodes, or triples as "A -> r -> B". On a graph made of texts, nodes come
    with their types and descriptions, and `relations` with their ends and descriptions.
    `relation-names` are the names alone. Chunks and communities come with their titles.

    Parameters
    ----------
    graph : the graph.
    item_kind : kind of the items.
    items : ids of nodes or edges, or rows of chunks or communities.

    Returns
    -------
    One text for each item, in their order.

    Notes
    -----
    Triples have the wording of LEGO-GraphRAG. On a graph made of texts, nodes, relations and
    communities are the three indexes of the In-depth Analysis.
    """
    if item_kind == "chunks":
        return [chunk_label(graph, item) for item in items]
    if item_kind == "communities":
        return [community_label(graph, item) for item in items]
    if item_kind in ("relations", "relation-names"):
        return relation_labels(graph, items, item_kind == "relation-names")
    if item_kind == "nodes":
        return node_labels(graph, items)
    return graph.triple_texts(np.asarray(items, np.int64))


def encode_here(encoder, watch: Watch = NO_WATCH) -> EncodeBlocks:
    """Return a function that encodes blocks in this process, one by one.

    Parameters
    ----------
    encoder : the encoder.
    watch : called between batches; may raise RunCancelled.

    Returns
    -------
    A function for `VectorBlocks.encode_missing`.
    """

    def encode(blocks: Iterable[BlockTexts], report: Callable[[int], None]) -> BlockVectors:
        for number, texts in blocks:
            vectors = NO_VECTORS
            if texts:
                vectors = encode_with_progress(encoder, texts, watch, report)
            yield number, vectors

    return encode


def encode_over_workers(workers: Workers, encoder: str, watch: Watch = NO_WATCH) -> EncodeBlocks:
    """Return an encoding function that uses worker processes.

    Parameters
    ----------
    workers : the processes.
    encoder : name of the encoder, which each worker loads.
    watch : may raise RunCancelled.

    Returns
    -------
    A function for `VectorBlocks.encode_missing`, which raises HopscopeError if a worker dies
    repeatedly.
    """

    def encode(blocks: Iterable[BlockTexts], report: Callable[[int], None]) -> BlockVectors:
        for (number, _), vectors in workers.run_each(
            partial(_encode_block, encoder), blocks, watch
        ):
            if isinstance(vectors, LostResult):
                raise HopscopeError(vectors.error)
            yield number, vectors

    return encode


_worker_models = cache(Registry)  # in a worker process: its models


def _encode_block(encoder: str, block: BlockTexts) -> np.ndarray:
    """Encode the texts of a block in a worker process."""
    return _worker_models().encoder(encoder).encode(block[1]) if block[1] else NO_VECTORS


def block_file(folder: Path, number: int) -> Path:
    """Return the file of a block.

    Parameters
    ----------
    folder : folder of the vectors.
    number : number of the block, from 0.

    Returns
    -------
    The path; the file may not exist.
    """
    return folder / f"block-{number:06}.npy"


def exact_index(folder: Path, total: int) -> Any | None:
    """Open the exact faiss index of all vectors.

    Parameters
    ----------
    folder : folder of the vectors.
    total : number of vectors.

    Returns
    -------
    None if there is no sound index of this kind and size.
    """
    try:
        index = map_index(folder / INDEX_FILE)
    except (OSError, ValueError, RuntimeError):
        return None
    return index if index.ntotal == total and not hasattr(index, "hnsw") else None


def read_block(folder: Path, number: int, total: int) -> np.ndarray:
    """Return one block of vectors.

    It is read by memory map, or from the exact index.

    Parameters
    ----------
    folder : folder of the vectors.
    number : number of the block, from 0.
    total : number of vectors of all blocks.

    Returns
    -------
    float16 [rows, d].

    Raises
    ------
    StoreError : the block and the exact index are damaged.
    """
    file, first = block_file(folder, number), number * BLOCK_TEXTS
    try:
        digests.check_appended_digest(file)
        return np.load(file, mmap_mode="r")
    except (OSError, ValueError, EOFError) as error:
        index = exact_index(folder, total)
        if index is None:
            raise damage_error(
                f"{file} is", error, "delete it and build the vectors again"
            ) from None
    return index.reconstruct_n(first, min(BLOCK_TEXTS, total - first)).astype(np.float16)


@dataclass(eq=False)
class VectorBlocks:
    """Blocks of `BLOCK_TEXTS` vectors in `folder`, float16 [rows, d].

    Vector `i` belongs to item `i`. The files of the blocks are removed once an exact index holds
    the vectors, which are then read from it.

    `custom_texts` holds texts that are encoded instead of the graph's own; an empty one stands for
    the graph's own text. `n_encoded` counts the vectors that `encode_missing` encoded, `n_reused`
    those that it took from an earlier content of the graph.
    """

    graph: Graph
    item_kind: ItemKind
    folder: Path
    n_encoded: int = 0
    n_reused: int = 0
    custom_texts: Sequence[str] = ()

    @property
    def label(self) -> str:
        """Name of the encoded items, for progress messages."""
        return self.item_kind

    def total(self) -> int:
        """Return the number of items."""
        return count_items(self.graph, self.item_kind)

    def texts_of(self, items: Sequence[int]) -> list[str]:
        """Return the texts that are encoded for these items."""
        if not self.custom_texts:
            return texts_of_items(self.graph, self.item_kind, items)
        unworded = [item for item in items if not self.custom_texts[item]]
        own_texts = {}
        if unworded:
            own_texts = dict(zip(unworded, texts_of_items(self.graph, self.item_kind, unworded)))
        return [own_texts.get(item, self.custom_texts[item]) for item in items]

    def __len__(self) -> int:
        return -(-self.total() // BLOCK_TEXTS)

    def items(self, number: int) -> range:
        """Return the items of a block."""
        return range(number * BLOCK_TEXTS, min(self.total(), (number + 1) * BLOCK_TEXTS))

    def read(self, number: int) -> np.ndarray:
        """Return the vectors of a block. Raises StoreError if they are damaged."""
        return read_block(self.folder, number, self.total())

    def vectors_of(self, items: np.ndarray) -> np.ndarray:
        """Return the vectors of some items, float16 [n, d]. Raises StoreError as `read`.

        `items` is ascending, as the vectors are read block by block.
        """
        numbers, rows = np.divmod(items, BLOCK_TEXTS)
        return np.concatenate(
            [self.read(number)[rows[numbers == number]] for number in np.unique(numbers).tolist()]
        )

    def count_zeros(self) -> int:
        """Count the zero vectors, which stand for texts that the encoder could not read."""
        return sum(int((~self.read(number).any(axis=1)).sum()) for number in range(len(self)))

    def missing_blocks(self) -> list[int]:
        """Return the numbers of the blocks that are not encoded yet."""
        absent = [
            number for number in range(len(self)) if not block_file(self.folder, number).exists()
        ]
        return [] if absent and exact_index(self.folder, self.total()) is not None else absent

    def remove_files(self) -> None:
        """Remove the files of the blocks, whose vectors an exact index now holds."""
        for number in range(len(self)):
            with suppress(OSError):  # On Windows a file stays while another process reads it.
                block_file(self.folder, number).unlink(missing_ok=True)

    def encode_missing(self, encode: EncodeBlocks, watch: Watch = NO_WATCH) -> None:
        """Encode the missing blocks, and save each when it is complete.

        The keys of all texts are saved first, for later contents of the graph. A text with a vector
        in an earlier content is not encoded again, even if that content was encoded only in part.

        Parameters
        ----------
        encode : gives the vectors of the texts of each block.
        watch : receives the progress; what it raises stops the work.

        Raises
        ------
        StoreError : a block cannot be written or read.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        block_keys = [text_keys(self.texts_of(self.items(number))) for number in range(len(self))]
        write_atomically(
            self.folder / KEYS_FILE, lambda stream: np.save(stream, np.concatenate(block_keys))
        )
        missing, total = self.missing_blocks(), self.total()
        # by block, from its dispatch to its result: rows of its texts in the earlier vectors
        earlier_rows: dict[int, np.ndarray] = {}
        share = 1 - len(missing) / len(self)
        earlier_vectors = EarlierVectors.open_earlier(self.folder, self.graph)

        def missing_texts() -> Iterator[BlockTexts]:
            for number in missing:
                watch.check()
                rows = earlier_rows[number] = earlier_vectors.find_rows(block_keys[number])
                items = self.items(number)
                yield number, self.texts_of([items[i] for i in np.flatnonzero(rows < 0).tolist()])

        def report_progress(n_encoded: int) -> None:
            done = min(total, round(share * total) + n_encoded)
            watch.report(f"Encoding {self.label}: {done:,} of {total:,}", done / total)

        with closing(encode(missing_texts(), report_progress)) as results:
            for done, (number, vectors) in enumerate(results, 1):
                block = earlier_vectors.fill_block(earlier_rows.pop(number), vectors)
                write_atomically(block_file(self.folder, number), partial(np.save, arr=block))
                self.n_encoded += len(vectors)
                self.n_reused += len(block) - len(vectors)
                share = 1 - (len(missing) - done) / len(self)
                watch.report(f"Encoding {self.label}: {round(share * total):,} of {total:,}", share)


@dataclass(frozen=True, eq=False)
class VectorSource:
    """Vectors of one content of a graph, found by the keys of the texts.

    `keys` are those of the encoded texts, sorted by their first half. `rows` holds the row of each.
    """

    folder: Path
    keys: np.ndarray  # uint64 [n, 2]
    rows: np.ndarray  # int64 [n]
    total: int  # number of texts of the content, encoded or not

    def find(self, keys: np.ndarray) -> np.ndarray:
        """Return the row of each key, int64, or -1 if it is missing."""
        positions = np.minimum(np.searchsorted(self.keys[:, 0], keys[:, 0]), len(self.keys) - 1)
        return np.where((self.keys[positions] == keys).all(axis=1), self.rows[positions], -1)


@dataclass(frozen=True, eq=False)
class EarlierVectors:
    """Vectors of earlier contents of a graph.

    Row numbers continue from one source to the next.
    """

    sources: tuple[VectorSource, ...]
    _blocks: dict[Path, np.ndarray] = field(default_factory=dict)

    @classmethod
    def open_earlier(cls, folder: Path, graph: Graph | None = None) -> EarlierVectors:
        """Open the vectors of other contents of a graph, as `earlier_folders` finds them.

        Parameters
        ----------
        folder : folder of the vectors of the present content.
        graph : a graph made of documents also uses the vectors of sibling graphs; None without
            these.

        Returns
        -------
        The vectors, without those that are damaged.
        """
        sources = []
        for source_folder in earlier_folders(folder, graph):
            try:
                digests.check_appended_digest(source_folder / KEYS_FILE)
                keys = np.load(source_folder / KEYS_FILE)
            except (OSError, ValueError, EOFError):  # damaged: the texts are encoded anew
                continue
            is_whole = exact_index(source_folder, len(keys)) is not None
            numbers = range(-(-len(keys) // BLOCK_TEXTS))
            is_encoded = [
                is_whole or block_file(source_folder, number).exists() for number in numbers
            ]
            encoded = np.repeat(is_encoded, BLOCK_TEXTS)[: len(keys)]
            order = np.argsort(keys[:, 0], kind="stable")
            order = order[encoded[order]]
            if len(order):
                sources.append(VectorSource(source_folder, keys[order], order, len(keys)))
        return cls(tuple(sources))

    def find_rows(self, keys: np.ndarray) -> np.ndarray:
        """Return the row of each key over all sources, int64; -1 if missing."""
        result, start = np.full(len(keys), -1, np.int64), 0
        for source in self.sources:
            source_rows = source.find(keys)
            result = np.where((result < 0) & (source_rows >= 0), start + source_rows, result)
            start += source.total
        return result

    def fill_block(self, rows: np.ndarray, new_vectors: np.ndarray) -> np.ndarray:
        """Combine earlier and new vectors into one block.

        Parameters
        ----------
        rows : rows of the earlier vectors, int64 [n]; -1 for a new one.
        new_vectors : the new vectors in order, float [m, d].

        Returns
        -------
        float16 [n, d].
        """
        earlier_vectors = np.empty((0, new_vectors.shape[1]), np.float16)
        earlier_rows = np.flatnonzero(rows >= 0)
        if len(earlier_rows):
            earlier_vectors = self._vectors(rows[earlier_rows])
        block = np.empty((len(rows), earlier_vectors.shape[1]), np.float16)
        block[earlier_rows] = earlier_vectors
        if len(new_vectors):
            block[rows < 0] = new_vectors
        return block

    def _vectors(self, rows: np.ndarray) -> np.ndarray:
        """Return the vectors of these rows, float16 [n, d], reading each block once."""
        starts = np.cumsum([0, *(source.total for source in self.sources)])
        sources = np.searchsorted(starts, rows, "right") - 1
        blocks, offset = np.divmod(rows - starts[sources], BLOCK_TEXTS)
        # Each column of `files` is the number of a source and of one of its blocks.
        files, file_of_row = np.unique(np.stack([sources, blocks]), axis=1, return_inverse=True)
        parts = [self._block(self.sources[source], block) for source, block in files.T.tolist()]
        vectors = np.empty((len(rows), parts[0].shape[1]), np.float16)
        for file_number, part in enumerate(parts):
            file_rows = np.flatnonzero(file_of_row == file_number)
            vectors[file_rows] = part[offset[file_rows]]
        return vectors

    def _block(self, source: VectorSource, number: int) -> np.ndarray:
        file = block_file(source.folder, number)
        if file not in self._blocks:
            self._blocks[file] = read_block(source.folder, number, source.total)
        return self._blocks[file]


def earlier_folders(folder: Path, graph: Graph | None = None) -> list[Path]:
    """Return the folders with vectors of other contents of the graph, newest first.

    For a graph made of documents they include those of the sibling graphs in the same parent
    folder, which have many texts in common.

    Parameters
    ----------
    folder : folder of the vectors of the present content.
    graph : the graph, for its siblings; None without these.

    Returns
    -------
    At most `MAX_EARLIER_FOLDERS` folders.
    """
    # `folder` is GRAPH/indexes/DIGEST/NAME, with a digest of the content. Siblings differ in GRAPH.
    indexes = folder.parent.parent
    key_files = list(indexes.glob(f"*/{folder.name}/{KEYS_FILE}"))
    if graph is not None and graph.columns.has_texts:
        key_files += indexes.parent.parent.glob(f"*/{indexes.name}/*/{folder.name}/{KEYS_FILE}")
    folders = {file.parent for file in key_files if file.parent != folder}
    return sorted(folders, key=lambda other: (-(other / KEYS_FILE).stat().st_mtime_ns, str(other)))[
        :MAX_EARLIER_FOLDERS
    ]


def text_keys(texts: Sequence[str]) -> np.ndarray:
    """Return the keys of texts: a 128-bit hash of each, uint64 [n, 2]."""
    data = b"".join(
        hashlib.blake2b(text.encode("utf-8"), digest_size=16).digest() for text in texts
    )
    return np.frombuffer(data, "<u8").reshape(-1, 2)
