"""Vectors of a graph's nodes, triples, chunks or communities in faiss, for similarity search."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import BadInput, BadParameter, StoreError, with_command
from core.graph.storage.store_files import lock_store
from core.graph.store import Graph
from core.indexes import vector_blocks
from core.indexes.chains import fingerprint
from core.indexes.index_extension import ORDER_FILE, PositionMap, extend_index, read_order
from core.indexes.index_parts import (
    HNSW_BUILD_EF,
    HNSW_LINKS,
    INDEX_FILE,
    SplitIndex,
    index_files,
    open_saved_index,
    save_index,
    search_index,
    set_search_effort,
)
from core.indexes.index_storage import (
    BUILD_LOCK_NAME,
    hold_free_lock,
    index_folder,
    waiting_watch,
    write_atomically,
)
from core.indexes.vector_blocks import (
    DONE_FILE,
    EncodeBlocks,
    ItemKind,
    VectorBlocks,
    count_items,
    encode_here,
    texts_of_items,
)
from core.io import digests
from core.io.durations import duration_text
from core.runtime.meter import add_note, count_time
from core.runtime.slots import hold_lock
from core.watch import NO_WATCH, Watch

VECTORS_VERSION = 1
VECTORS_SHELF = "vectors"  # under this name a graph holds opened indexes in memory
# faiss kinds that compare all vectors exactly, in half and in single precision. Single precision
# comes from earlier versions and is used for edited graphs, whose indexes stay in memory.
EXACT_KIND, FORMER_EXACT_KIND = "SQfp16", "Flat"


class TooManyVectors(BadInput):
    """More items than are encoded without a confirmation."""


@dataclass(frozen=True)
class VectorIndexDefaults:
    """Sizes of vector indexes, and the sample that measures their recall."""

    max_exact_vectors: int = 200_000  # searched exactly: 6 ms and 0.15 GB
    max_whole_index_vectors: int = 1_000_000  # of a single HNSW index; beyond it there are several
    part_vectors: int = 200_000  # of each of several HNSW indexes
    training_vectors: int = 20_000  # from which the quantisation to bytes is learnt
    max_unconfirmed_items: int = 1_000_000  # nodes or triples encoded without a confirmation
    max_items_in_question: int = 100_000  # nodes or triples encoded during a question
    timing_sample_texts: int = 256  # encoded to estimate how long all would take
    recall_queries: int = 64  # query vectors of the measured recall
    recall_nearest: int = 32  # nearest vectors of each query
    cosine_tolerance: float = 0.001  # within which a cosine counts as equal


VECTOR_INDEX = VectorIndexDefaults()


@dataclass(frozen=True, eq=False)
class VectorIndex:
    """Unit vectors in a faiss index.

    Vector `i` belongs to item `i`, or to the item that `order` gives. `facts` is saved with the
    index: its kind, the dimension, the number of items, the seconds of its build, and the numbers
    of encoded and reused vectors. It has a source if another program made the vectors.
    """

    index: Any
    facts: dict[str, Any]
    order: PositionMap | None = None

    def __len__(self) -> int:
        return self.facts["items"]

    @property
    def source(self) -> str:
        """Sentence that names who made the vectors, if not this program; else empty."""
        return self.facts.get("source", "")

    @property
    def is_exact(self) -> bool:
        """True if a search compares all vectors in the precision of the saved blocks."""
        return self.facts["kind"] in (EXACT_KIND, FORMER_EXACT_KIND)

    @property
    def approximation_note(self) -> str:
        """Sentence on how well an approximate search finds the nearest; empty if exact."""
        if self.is_exact:
            return ""
        recall = self.facts.get("recall")
        if recall is None:
            share = "how many of the exact nearest it finds was not measured"
        else:
            share = f"it finds {recall:.2f} of the exact nearest"
        changed = ""
        if self.order is not None and (self.order.n_added or self.order.n_masked):
            changed = (
                f" Since it was made as a whole {self.order.n_added:,} were added to it and "
                f"{self.order.n_masked:,} masked."
            )
        parts = f" in {self.facts['parts']:,} parts" if self.facts.get("parts") else ""
        return (
            f"{len(self):,} vectors are searched by neighbours of neighbours "
            f"({self.facts['kind']}){parts}; {share}.{changed}"
        )

    @property
    def missing_vectors_note(self) -> str:
        """Sentence on how many items the encoder could not read; empty if none."""
        number = self.facts.get("zeros", 0)
        if not number:
            return ""
        return (
            f"{number:,} of {len(self):,} {self.facts['of']} have no vector, as the encoder could "
            "not read them: no question is similar to them. To encode them again, delete the "
            "vectors on the page Indexes."
        )

    def check_dimension(self, vector: np.ndarray) -> None:
        """Raise BadParameter if a vector has another dimension than the indexed ones."""
        if len(vector) != self.facts["dimension"]:
            raise BadParameter(
                "The question and what is searched were read by different encoders; "
                "name the same one for both."
            )

    def vectors_of(self, items: np.ndarray) -> np.ndarray:
        """Return the vectors of some items, float32 [n, d].

        They have the precision of the index.
        """
        if not len(items):
            return np.zeros((0, self.facts["dimension"]), np.float32)
        positions = (
            items if self.order is None else self.order.positions_of(np.asarray(items, np.int64))
        )
        return self.index.reconstruct_batch(np.ascontiguousarray(positions, np.int64))

    def cosines(self, vector: np.ndarray, items: np.ndarray) -> np.ndarray:
        """Return the cosines of some items with a unit vector.

        They are rounded to six digits, like those of `nearest`.

        Parameters
        ----------
        vector : unit vector, float [d].
        items : items, int64 [n].

        Returns
        -------
        float64 [n].

        Raises
        ------
        BadParameter : the vector has another dimension.
        """
        self.check_dimension(vector)
        query = np.ascontiguousarray(vector, np.float32)
        if not self.is_exact or not len(items):
            return np.round((self.vectors_of(items) @ query).astype(np.float64), 6)
        # searched, so that the digits are the same as those of `nearest`
        is_wanted = np.zeros(self.index.ntotal, bool)
        is_wanted[items] = True
        scores, ids = search_index(self.index, query[None], int(is_wanted.sum()), is_wanted)
        score_of_item = np.full(len(is_wanted), np.nan)
        score_of_item[ids[ids >= 0]] = scores[ids >= 0]
        return np.round(score_of_item[items], 6)

    def nearest(
        self, vector: np.ndarray, k: int, excluded: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the `k` items with the largest cosine, or all if there are fewer.

        Cosines that agree to six digits count as equal. More than twice as many items are requested
        from faiss, so that equal ones at the cut are ordered by id.

        Parameters
        ----------
        vector : a unit vector, [d].
        excluded : items that are left out, int64; None for none.

        Returns
        -------
        (ids int64, cosines float64), ordered by (-cosine, id).

        Raises
        ------
        BadParameter : the vector has another dimension.
        """
        self.check_dimension(vector)
        n_asked = min(len(self), 2 * k + 16)
        scores, ids = search_index(
            self.index, np.asarray(vector, np.float32)[None], n_asked, self._position_mask(excluded)
        )
        is_found = ids[0] >= 0  # HNSW may find fewer
        ids = ids[0][is_found].astype(np.int64)
        scores = np.round(scores[0][is_found].astype(np.float64), 6)
        if self.order is not None:
            ids = self.order.items[ids]
        order = np.lexsort((ids, -scores))[:k]
        return ids[order], scores[order]

    def _position_mask(self, excluded: np.ndarray | None) -> np.ndarray | None:
        """Return a boolean mask of the positions to search; None for all."""
        has_masked = self.order is not None and self.order.n_masked > 0
        if not has_masked and (excluded is None or not len(excluded)):
            return None
        mask = (
            np.ones(self.index.ntotal, bool) if self.order is None else self.order.has_item.copy()
        )
        if excluded is not None and len(excluded):
            if self.order is not None:
                excluded = self.order.positions_of(np.asarray(excluded, np.int64))
            mask[excluded] = False
        return mask


def vector_folder(graph: Graph, encoder, item_kind: ItemKind) -> Path:
    """Return the folder of a graph's vectors by one encoder.

    Parameters
    ----------
    graph : the graph.
    encoder : the encoder; its fingerprint is part of the name.
    item_kind : kind of the items.

    Returns
    -------
    The path; the folder may not exist.
    """
    return index_folder(graph) / f"vectors-{item_kind}-{fingerprint(encoder)}"


@count_time("preparation", "Vectors of the graph")
def vector_index(
    graph: Graph, encoder, item_kind: ItemKind, watch: Watch = NO_WATCH
) -> VectorIndex:
    """Return the vectors of a graph, encoded first if they are missing and few.

    Parameters
    ----------
    graph : the graph.
    encoder : the encoder.
    item_kind : kind of the items.
    watch : receives the progress; what it raises stops the work.

    Returns
    -------
    The index, kept in memory with the graph.

    Raises
    ------
    StoreError : a graph of triples has no vectors and more than
        `VECTOR_INDEX.max_items_in_question` items. The message names the command that encodes them.
    """
    if graph.edited_from is not None:
        return graph.derived.get_or_make(
            "vectors of the rest",
            (fingerprint(encoder), item_kind),
            lambda: _edited_vectors(graph, encoder, item_kind, watch),
        )
    key, shelf = (fingerprint(encoder), item_kind), graph.derived.cache_of(VECTORS_SHELF)
    with hold_lock(shelf.lock, watch):
        index, done = shelf.values.get(key, (None, ""))
        if index is None or not os.path.exists(done):  # may have been deleted since
            index = open_vectors(vector_folder(graph, encoder, item_kind))
            if (
                index is None
                and count_items(graph, item_kind) > VECTOR_INDEX.max_items_in_question
                and not graph.columns.has_texts
            ):
                name = graph.folder or graph.name
                raise StoreError(
                    with_command(
                        f"The {count_items(graph, item_kind):,} {item_kind} of “{graph.name}” have "
                        "no vectors yet. Encode them on the page Indexes.",
                        f"hopscope index vectors --graph {name} --of {item_kind}",
                    )
                )
            index = index or build_vectors(graph, encoder, item_kind, watch)
            done = str(vector_folder(graph, encoder, item_kind) / DONE_FILE)
        shelf.values[key] = index, done
    if index.missing_vectors_note:
        add_note(index.missing_vectors_note)
    return index


def _edited_vectors(graph: Graph, encoder, item_kind: ItemKind, watch: Watch) -> VectorIndex:
    """Return the vectors of an edited graph, without saving them.

    They are taken from the original graph. Only items whose text the edit has changed are encoded.
    """
    import faiss

    origin = graph.edited_from
    rows, is_new = {
        "nodes": (origin.nodes, origin.new_nodes),
        "chunks": (origin.chunks, ()),
        "communities": (origin.communities, ()),
    }.get(item_kind, (origin.edges, origin.new_edges))
    vectors = vector_index(origin.graph, encoder, item_kind, watch).vectors_of(rows)
    new = np.flatnonzero(is_new)
    if len(new):
        vectors[new] = encoder.encode(texts_of_items(graph, item_kind, new), watch)
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors, np.float32))
    facts = {
        "of": item_kind,
        "kind": FORMER_EXACT_KIND,
        "items": index.ntotal,
        "dimension": index.d,
        "encoded": len(new),
    }
    return VectorIndex(index, facts | {"reused": index.ntotal - len(new)})


def build_vectors(
    graph: Graph,
    encoder,
    item_kind: ItemKind,
    watch: Watch = NO_WATCH,
    limit: int = VECTOR_INDEX.max_unconfirmed_items,
    encode: EncodeBlocks | None = None,
    custom_texts: Sequence[str] = (),
    source: str = "",
) -> VectorIndex:
    """Encode the vectors of a graph that are not finished yet.

    Blocks are saved one by one, and a later call continues with the missing ones. The saved bytes
    depend neither on the process that encodes nor on the order.

    Parameters
    ----------
    item_kind : kind of the items.
    limit : the largest number of items.
    encode : gives the vectors of blocks of texts; by default it encodes them in this process.
    custom_texts : texts of items that are encoded instead of the graph's own.
    source : who made the vectors, as a sentence, if not this program.

    Returns
    -------
    The index, opened from its files.

    Raises
    ------
    BadInput : there are no items.
    TooManyVectors : there are more than `limit` items.
    StoreError : the vectors cannot be saved.
    """
    folder = vector_folder(graph, encoder, item_kind)
    with lock_store(folder / BUILD_LOCK_NAME, True, waiting_watch(watch)):
        blocks = VectorBlocks(graph, item_kind, folder, custom_texts=custom_texts)
        ready = open_vectors(folder)
        if ready is not None:
            if ready.is_exact:  # blocks left by an earlier version or a killed process
                blocks.remove_files()
            return ready
        if not count_items(graph, item_kind):
            raise BadInput(f"“{graph.name}” has no {item_kind} to encode.")
        if count_items(graph, item_kind) > limit:
            raise TooManyVectors(limit_message(graph, encoder, item_kind, limit))
        facts = {"of": item_kind} | ({"source": source} if source else {})
        return finish_vectors(blocks, encode or encode_here(encoder, watch), facts, watch)


def finish_vectors(
    blocks: VectorBlocks, encode: EncodeBlocks, facts: dict[str, Any], watch: Watch = NO_WATCH
) -> VectorIndex:
    """Encode the missing blocks and return the index of all.

    The caller holds the lock of the folder.

    Parameters
    ----------
    blocks : the blocks, of which some may be saved.
    encode : gives the vectors of the texts of each block.
    facts : saved with the counts and the kind of the index.
    watch : receives the progress; what it raises stops the work.

    Returns
    -------
    The index, opened from its files.
    """
    start = time.monotonic()
    watch.report(
        f"Encoding {blocks.label}: {blocks.total():,} in all",
        1 - len(blocks.missing_blocks()) / len(blocks),
    )
    blocks.encode_missing(encode, watch)
    watch.report("Making the vectors searchable")
    index, kind, order = build_search_index(blocks, watch)
    facts |= _save_search_index(index, order, blocks.folder)
    facts = {
        "version": VECTORS_VERSION,
        **facts,
        "kind": kind,
        "items": blocks.total(),
        "dimension": index.d,
    }
    if kind != EXACT_KIND:
        facts["recall"] = recall_of(index, blocks, watch, order)
    if zeros := blocks.count_zeros():
        facts["zeros"] = zeros
    facts |= {
        "encoded": blocks.n_encoded,
        "reused": blocks.n_reused,
        "seconds": round(time.monotonic() - start, 1),
    }
    write_atomically(
        blocks.folder / DONE_FILE,
        lambda stream: stream.write(json.dumps(digests.with_digest(facts)).encode()),
    )
    ready = open_vectors(blocks.folder)
    if ready is None:
        return VectorIndex(index, facts, order)
    if ready.is_exact:
        blocks.remove_files()
    return ready


def _save_search_index(index: Any, order: PositionMap | None, folder: Path) -> dict[str, Any]:
    """Save an index and its order, and return the facts to record about them."""
    facts: dict[str, Any] = {}
    if order is not None:
        write_atomically(folder / ORDER_FILE, lambda stream: np.save(stream, order.items))
        facts |= {"places": index.ntotal, "added": order.n_added}
    if isinstance(index, SplitIndex):  # its parts are saved already
        facts |= {"parts": len(index.parts)}
    else:
        save_index(index, folder / INDEX_FILE)
    return facts


def open_vectors(folder: Path) -> VectorIndex | None:
    """Open the finished vectors in a folder by memory map; None without sound ones."""
    try:
        facts = digests.check_own_digest(json.loads((folder / DONE_FILE).read_text("utf-8")))
        index = open_saved_index(folder, int(facts.get("parts", 0)))
        order = read_order(folder, facts)
    except (OSError, ValueError, RuntimeError, AttributeError, TypeError):
        return None
    n_positions = index.ntotal if order is None else len(order.items)
    fits = (
        facts.get("version") == VECTORS_VERSION
        and index.d == facts.get("dimension")
        and index.ntotal == facts.get("places", facts.get("items")) == n_positions
    )
    return VectorIndex(index, facts, order) if fits else None


def vector_coverage(graph: Graph, encoder, item_kind: ItemKind) -> tuple[int, int]:
    """Return how many items are encoded, and how many there are.

    The two are equal only once the index is finished as well.

    Parameters
    ----------
    graph : the graph.
    encoder : the encoder; its fingerprint is part of the folder's name.
    item_kind : kind of the items.

    Returns
    -------
    Number of encoded items, and of all.
    """
    folder, total = vector_folder(graph, encoder, item_kind), count_items(graph, item_kind)
    if (folder / DONE_FILE).exists() and open_vectors(folder) is not None:
        return total, total
    blocks = VectorBlocks(graph, item_kind, folder)
    return min(
        total - 1, (len(blocks) - len(blocks.missing_blocks())) * vector_blocks.BLOCK_TEXTS
    ), total


def delete_vectors(folder: Path) -> None:
    """Remove the vectors in a folder, finished or not. Raises StoreError."""
    try:
        (folder / DONE_FILE).unlink(missing_ok=True)
        shutil.rmtree(folder)
    except OSError as error:
        raise StoreError(
            f"The vectors in {folder} cannot be removed: {error.strerror or error}."
        ) from None


def forget_vectors(graph: Graph) -> None:
    """Release the graph's vectors from memory. Raises StoreError while a question encodes them."""
    shelf = graph.derived.cache_of(VECTORS_SHELF)
    with hold_free_lock(shelf.lock, "The vectors"):
        shelf.values.clear()


def faiss_kind(items: int) -> str:
    """Return the kind of index for a number of vectors.

    It is named as by faiss's factory. Up to `VECTOR_INDEX.max_exact_vectors` vectors it is an exact
    search in half precision, above an HNSW index over bytes.

    Measured on 133,582 triples of the movie graph with 60 questions: HNSW finds 0.98 of the exact
    best 32 (cosines within 0.001 count as equal). An inverted file over bytes finds 0.73, with 64
    of 1,460 lists searched.
    """
    return EXACT_KIND if items <= VECTOR_INDEX.max_exact_vectors else f"HNSW{HNSW_LINKS}_SQ8"


def build_search_index(
    blocks: VectorBlocks, watch: Watch = NO_WATCH, kind: str = ""
) -> tuple[Any, str, PositionMap | None]:
    """Build a faiss index of the blocks' vectors for inner products.

    It is built by one thread, because several threads link an HNSW index differently each time.

    Parameters
    ----------
    kind : the kind of index; chosen by the number of vectors by default.

    Returns
    -------
    The index, its kind, and the order of its items. The order is None unless the index of an
    earlier content was extended (see `extend_index`).
    """
    import faiss

    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        return _make_index(faiss, blocks, watch, kind)
    finally:
        faiss.omp_set_num_threads(threads)


def _make_index(
    faiss, blocks: VectorBlocks, watch: Watch, kind: str
) -> tuple[Any, str, PositionMap | None]:
    items, width = blocks.items(len(blocks) - 1).stop, blocks.read(0).shape[1]
    kind = kind or faiss_kind(items)
    if kind != EXACT_KIND and (extension := extend_index(blocks, kind, width)) is not None:
        return set_search_effort(extension[0]), kind, extension[1]
    index = faiss.index_factory(width, kind, faiss.METRIC_INNER_PRODUCT)
    if kind.startswith("HNSW"):
        index.hnsw.efConstruction = HNSW_BUILD_EF
    if not index.is_trained:
        step = max(1, items // VECTOR_INDEX.training_vectors)
        sample = np.concatenate([blocks.read(number)[::step] for number in range(len(blocks))])
        index.train(sample.astype(np.float32))
    if kind != EXACT_KIND and items > VECTOR_INDEX.max_whole_index_vectors:
        return _build_parts(faiss, blocks, watch, index), kind, None
    return set_search_effort(_fill_index(index, blocks, range(len(blocks)), watch)), kind, None


def _fill_index(index, blocks: VectorBlocks, numbers: Iterable[int], watch: Watch = NO_WATCH):
    for number in numbers:
        watch.check()
        index.add(np.ascontiguousarray(blocks.read(number), np.float32))
    return index


def _build_parts(faiss, blocks: VectorBlocks, watch: Watch, empty) -> SplitIndex:
    """Build an index in parts of about `VECTOR_INDEX.part_vectors` vectors.

    Each part is saved as soon as it is built and then mapped, so memory holds only one of them.
    """
    n_parts = -(-blocks.items(len(blocks) - 1).stop // VECTOR_INDEX.part_vectors)
    blocks_of_parts = np.array_split(np.arange(len(blocks)), n_parts)
    for numbers, file in zip(blocks_of_parts, index_files(blocks.folder, n_parts)):
        save_index(_fill_index(faiss.clone_index(empty), blocks, numbers.tolist(), watch), file)
    return open_saved_index(blocks.folder, n_parts)


def recall_of(
    index: Any, blocks: VectorBlocks, watch: Watch = NO_WATCH, order: PositionMap | None = None
) -> float:
    """Return the share of the exact nearest vectors that an index finds.

    Some of the index's own vectors are the queries. A vector whose cosine is at most
    `VECTOR_INDEX.cosine_tolerance` below that of the last of the nearest counts as found.

    Parameters
    ----------
    index : the faiss index or `SplitIndex`.
    blocks : the vectors by which it is measured.
    watch : checked for each block; may raise RunCancelled.
    order : the items at the positions of the index; None if they are the same.

    Returns
    -------
    A share from 0 to 1, with three digits.
    """
    items = blocks.items(len(blocks) - 1).stop
    n_nearest = min(VECTOR_INDEX.recall_nearest, items)
    n_queries = min(VECTOR_INDEX.recall_queries, items)
    rows = np.unique(np.linspace(0, items - 1, n_queries).astype(np.int64))
    queries = blocks.vectors_of(rows).astype(np.float32)
    if order is None:
        neighbours = index.search(queries, n_nearest)[1]
    else:
        positions = index.search(queries, n_nearest + min(order.n_masked, 2 * n_nearest))[1]
        neighbours = order.first_items(positions, n_nearest)
    # of each query: the cosines of its exact nearest vectors, and of those that the index found
    best = np.full((len(rows), n_nearest), -np.inf, np.float32)
    found = np.full((len(rows), n_nearest), -np.inf, np.float32)
    for number in range(len(blocks)):
        watch.check()
        cosines = queries @ blocks.read(number).astype(np.float32).T
        merged = np.concatenate([best, cosines], axis=1)
        best = -np.partition(-merged, n_nearest - 1, axis=1)[:, :n_nearest]
        for row in range(len(rows)):
            offsets = neighbours[row] - blocks.items(number).start
            hits = np.flatnonzero((offsets >= 0) & (offsets < cosines.shape[1]))
            found[row, hits] = cosines[row, offsets[hits]]
    last = best.min(axis=1, keepdims=True)
    return round(float((found >= last - VECTOR_INDEX.cosine_tolerance).mean()), 3)


def limit_message(graph: Graph, encoder, item_kind: ItemKind, limit: int) -> str:
    """Return the message for more items than are encoded without a confirmation.

    The time is estimated from a sample encoded here.

    Parameters
    ----------
    graph : the graph.
    encoder : the encoder.
    item_kind : kind of the items.
    limit : the largest number of items that is encoded without a confirmation.

    Returns
    -------
    A sentence with the time and the size on disk, and the command with a higher limit.
    """
    items = count_items(graph, item_kind)
    rows = np.linspace(0, items - 1, VECTOR_INDEX.timing_sample_texts).astype(np.int64)
    sample = texts_of_items(graph, item_kind, rows)
    encoder.encode(sample[:1])
    start = time.perf_counter()
    width = encoder.encode(sample).shape[1]
    rate = VECTOR_INDEX.timing_sample_texts / max(1e-9, time.perf_counter() - start)
    # Bytes per component: two in the exact index. An HNSW index takes one, and the blocks, which
    # are kept with it, take two.
    width *= 2 if faiss_kind(items) == EXACT_KIND else 3
    size = items * width / (1 << 30)
    sentence = (
        f"“{graph.name}” has {items:,} {item_kind}, more than the limit of {limit:,}: at "
        f"{rate:,.0f} texts a second, encoding them takes about {duration_text(items / rate)} on "
        f"this computer and {size:,.1f} GB of disk."
    )
    command = f"hopscope index vectors --graph {graph.folder or graph.name} --of {item_kind}"
    return with_command(sentence, f"{command} --limit {items}")
