"""Vectors of what a graph holds (nodes, triples, chunks, communities) in faiss: which are nearest to a question."""

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

from core.errors import BadInput, BadParameter, StoreError
from core.graph.storage.write import locked
from core.graph.store import Graph
from core.indexes import encoded
from core.indexes.appended import ORDER, Order, grown, order_in
from core.indexes.chains import fingerprint
from core.indexes.encoded import DONE, Blocks, Encode, Of, count, here, texts
from core.indexes.parts import BUILDING, INDEX, LINKS, Parts, files, read, save, search, tuned
from core.indexes.place import AT_WORK, busy_elsewhere, free, index_folder, keep
from core.io import digests
from core.io.durations import span
from core.runtime.meter import spent, tell
from core.runtime.places import waiting
from core.watch import NO_WATCH, Watch

VERSION = 1
SHELF = "vectors"  # where opened ones are kept on their graph
EXACT, FORMER_EXACT = "SQfp16", "Flat"  # searches of all vectors, in half and in single precision
FLAT_UP_TO = 200_000  # vectors that are all looked at: 6 ms and 0.15 GB
# vectors from which several graphs of neighbours are made, and about how many each then has
MANY, PART = (1_000_000, 200_000)
TRAINED = 20_000  # vectors from which the steps of its bytes are learnt
LIMIT = 1_000_000  # nodes or triples that are encoded without being asked twice
MAX_ITEMS_IN_QUESTION = 100_000  # nodes or triples that are encoded within a question
SAMPLE = 256  # texts encoded to tell how long all would take
# of a recall: vectors that are asked for, their nearest, and by how much cosines may differ
ASKED, WANTED, EQUAL = (64, 32, 0.001)


@dataclass(frozen=True, eq=False)
class VectorIndex:
    """Unit vectors in faiss, vector `i` that of item `i`, or as `order` says. `facts` has kind, dimension, items, seconds, encoded, reused,
    and the source where others made them."""

    index: Any
    facts: dict[str, Any]
    order: Order | None = None

    def __len__(self) -> int:
        return self.facts["items"]

    @property
    def source(self) -> str:
        """Who made the vectors, where it was not this program, as a sentence; else empty."""
        return self.facts.get("source", "")

    @property
    def exact(self) -> bool:
        """Whether a search looks at all vectors, as they were encoded."""
        return self.facts["kind"] in (EXACT, FORMER_EXACT)

    @property
    def approximate(self) -> str:
        """How well it finds the nearest, as a sentence, where not all vectors are looked at; else empty."""
        if self.exact:
            return ""
        recall = self.facts.get("recall")
        if recall is None:
            share = "how many of the exact nearest it finds was not measured"
        else:
            share = f"it finds {recall:.2f} of the exact nearest"
        added, masked = (self.order.added, self.order.masked) if self.order is not None else (0, 0)
        changed = ""
        if added or masked:
            changed = (
                f" Since it was made as a whole {added:,} were added to it and {masked:,} masked."
            )
        parts = f" in {self.facts['parts']:,} parts" if self.facts.get("parts") else ""
        return f"{len(self):,} vectors are searched by neighbours of neighbours ({self.facts['kind']}){parts}; {share}.{changed}"

    @property
    def missing_vectors(self) -> str:
        """How many items the encoder had no vector for, as a sentence; else empty."""
        number = self.facts.get("zeros", 0)
        if not number:
            return ""
        return (
            f"{number:,} of {len(self):,} {self.facts['of']} have no vector, as the encoder could not read them: "
            "no question is similar to them. To encode them again, delete the vectors on the page Indexes."
        )

    def fits(self, vector: np.ndarray) -> None:
        """Raises BadParameter where a vector has another dimension than those that are searched."""
        if len(vector) != self.facts["dimension"]:
            raise BadParameter(
                "The question and what is searched were read by different encoders; name the same one for both."
            )

    def of(self, items: np.ndarray) -> np.ndarray:
        """float32 [n, d]: the vectors of some items, as exactly as they are searched."""
        if not len(items):
            return np.zeros((0, self.facts["dimension"]), np.float32)
        places = items if self.order is None else self.order.places(np.asarray(items, np.int64))
        return self.index.reconstruct_batch(np.ascontiguousarray(places, np.int64))

    def cosines(self, vector: np.ndarray, items: np.ndarray) -> np.ndarray:
        """float64 [n]: the cosines of some items with a unit vector, to six digits as `nearest` gives them. Raises BadParameter."""
        self.fits(vector)
        asked = np.ascontiguousarray(vector, np.float32)
        if not self.exact or not len(items):
            return np.round((self.of(items) @ asked).astype(np.float64), 6)
        there = np.zeros(self.index.ntotal, bool)
        there[items] = True
        scores, ids = search(self.index, asked[None], int(there.sum()), there)
        found = np.full(len(there), np.nan)
        found[ids[ids >= 0]] = scores[ids >= 0]
        return np.round(found[items], 6)

    def nearest(
        self, vector: np.ndarray, k: int, without: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The `k` items of largest cosine, fewer where there are fewer: (ids int64, cosines float64) by (-cosine, id), none of those in
        `without` among them.

        Cosines that agree to six digits are equal. Twice as many are asked for, so that equals at the cut are told apart by id.
        Raises BadParameter for a vector of another dimension.
        """
        self.fits(vector)
        asked = min(len(self), 2 * k + 16)
        scores, ids = search(
            self.index, np.asarray(vector, np.float32)[None], asked, self._there(without)
        )
        there = ids[0] >= 0  # HNSW may find fewer
        ids, scores = (
            ids[0][there].astype(np.int64),
            np.round(scores[0][there].astype(np.float64), 6),
        )
        if self.order is not None:
            ids = self.order.items[ids]
        order = np.lexsort((ids, -scores))[:k]
        return ids[order], scores[order]

    def _there(self, without: np.ndarray | None) -> np.ndarray | None:
        """Whether what lies at a place may be a hit, bool; None where all may."""
        masked = self.order is not None and self.order.masked > 0
        if not masked and (without is None or not len(without)):
            return None
        there = np.ones(self.index.ntotal, bool) if self.order is None else self.order.there.copy()
        if without is not None and len(without):
            there[
                without if self.order is None else self.order.places(np.asarray(without, np.int64))
            ] = False
        return there


def place(graph: Graph, encoder, of: Of) -> Path:
    """The folder of the vectors of what this graph holds by this encoder. Raises StoreError."""
    return index_folder(graph) / f"vectors-{of}-{fingerprint(encoder)}"


@spent("preparation", "Vectors of the graph")
def vector_index(graph: Graph, encoder, of: Of, watch: Watch = NO_WATCH) -> VectorIndex:
    """The vectors, encoded first where there are none yet and few are wanted.

    Raises StoreError where there are none and more than `MAX_ITEMS_IN_QUESTION` are wanted of a graph of triples, with the command that
    prepares them.
    """
    if graph.edited_from is not None:
        return graph.derived.once(
            "vectors of the rest",
            (fingerprint(encoder), of),
            lambda: _of_rest(graph, encoder, of, watch),
        )
    key, shelf = (fingerprint(encoder), of), graph.derived.shelf(SHELF)
    with waiting(shelf.lock, watch):
        index, done = shelf.values.get(key, (None, ""))
        if index is None or not os.path.exists(done):  # may have been deleted since
            index = opened(place(graph, encoder, of))
            if (
                index is None
                and count(graph, of) > MAX_ITEMS_IN_QUESTION
                and not graph.columns.of_texts
            ):
                name = graph.folder or graph.name
                raise StoreError(
                    f"The {count(graph, of):,} {of} of “{graph.name}” have no vectors yet; encode them on the page Indexes, or with: "
                    f"python -m core index vectors --graph {name} --of {of}"
                )
            index = index or build(graph, encoder, of, watch)
            done = str(place(graph, encoder, of) / DONE)
        shelf.values[key] = index, done
    if index.missing_vectors:
        tell(index.missing_vectors)
    return index


def _of_rest(graph: Graph, encoder, of: Of, watch: Watch = NO_WATCH) -> VectorIndex:
    """The vectors of an edited graph: those of the graph that it comes from, and of what reads otherwise new ones; nothing is saved."""
    import faiss

    known = graph.edited_from
    rows = {"nodes": known.nodes, "chunks": known.chunks, "communities": known.communities}.get(
        of, known.edges
    )
    vectors = vector_index(known.graph, encoder, of, watch).of(rows)
    new = np.flatnonzero(
        {"nodes": known.new_nodes, "chunks": (), "communities": ()}.get(of, known.new_edges)
    )
    if len(new):
        vectors[new] = encoder.encode(texts(graph, of, new), watch)
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors, np.float32))
    facts = {
        "of": of,
        "kind": FORMER_EXACT,
        "items": index.ntotal,
        "dimension": index.d,
        "encoded": len(new),
    }
    return VectorIndex(index, facts | {"reused": index.ntotal - len(new)})


def build(
    graph: Graph,
    encoder,
    of: Of,
    watch: Watch = NO_WATCH,
    limit: int = LIMIT,
    encode: Encode | None = None,
    worded: Sequence[str] = (),
    source: str = "",
) -> VectorIndex:
    """The vectors, made where they are not finished; what is done goes to disk block by block and is taken up again.

    `encode` encodes blocks elsewhere than here. `worded` are texts of items that are encoded rather than the graph's own, and `source`
    says who made their vectors. The same bytes whoever encodes, in whatever order. Raises BadInput where there are more
    than `limit` of them, or none, and StoreError.
    """
    folder = place(graph, encoder, of)
    with locked(folder / AT_WORK, True, busy_elsewhere(watch)):
        blocks = Blocks(graph, of, folder, worded=worded)
        ready = opened(folder)
        if ready is not None:
            if ready.exact:  # blocks that an earlier version or a kill left
                blocks.remove_files()
            return ready
        if not count(graph, of):
            raise BadInput(f"“{graph.name}” has no {of} to encode.")
        if count(graph, of) > limit:
            raise BadInput(too_many(graph, encoder, of, limit))
        facts = {"of": of} | ({"source": source} if source else {})
        return finished(blocks, encode or here(encoder, watch), facts, watch)


def finished(
    blocks: Blocks, encode: Encode, facts: dict[str, Any], watch: Watch = NO_WATCH
) -> VectorIndex:
    """The index of blocks, those encoded that are missing; `facts` are kept with what is counted. The caller holds the folder's lock."""
    start = time.monotonic()
    watch.report(
        f"Encoding {blocks.label}: {blocks.total():,} in all",
        1 - len(blocks.missing()) / len(blocks),
    )
    blocks.complete(encode, watch)
    watch.report("Making the vectors searchable")
    index, kind, order = searchable(blocks, watch)
    facts |= _saved_search(index, order, blocks.folder)
    facts = {
        "version": VERSION,
        **facts,
        "kind": kind,
        "items": blocks.total(),
        "dimension": index.d,
    }
    if kind != EXACT:
        facts["recall"] = recall_of(index, blocks, watch, order)
    if zeros := blocks.count_zeros():
        facts["zeros"] = zeros
    facts |= {
        "encoded": blocks.encoded,
        "reused": blocks.reused,
        "seconds": round(time.monotonic() - start, 1),
    }
    keep(
        blocks.folder / DONE,
        lambda stream: stream.write(json.dumps(digests.marked(facts)).encode()),
    )
    ready = opened(blocks.folder)
    if ready is None:
        return VectorIndex(index, facts, order)
    if ready.exact:
        blocks.remove_files()
    return ready


def _saved_search(index: Any, order: Order | None, folder: Path) -> dict[str, Any]:
    """Save an index and its order in a folder; the facts that they add to the record."""
    facts: dict[str, Any] = {}
    if order is not None:
        keep(folder / ORDER, lambda stream: np.save(stream, order.items))
        facts |= {"places": index.ntotal, "added": order.added}
    if isinstance(index, Parts):  # which were saved one by one
        facts |= {"parts": len(index.parts)}
    else:
        save(index, folder / INDEX)
    return facts


def opened(folder: Path) -> VectorIndex | None:
    """The finished vectors in a folder, by memory map; None where there are none or they are damaged."""
    try:
        facts = digests.check_marked(json.loads((folder / DONE).read_text("utf-8")))
        index = read(folder, int(facts.get("parts", 0)))
        order = order_in(folder, facts)
    except (OSError, ValueError, RuntimeError, AttributeError, TypeError):
        return None
    fits = facts.get("version") == VERSION and index.d == facts.get("dimension")
    fits = fits and index.ntotal == facts.get("places", facts.get("items")) == (
        index.ntotal if order is None else len(order.items)
    )
    return VectorIndex(index, facts, order) if fits else None


def coverage(graph: Graph, encoder, of: Of) -> tuple[int, int]:
    """How many nodes or triples are encoded, and how many there are; all only once the index is finished too."""
    folder, total = place(graph, encoder, of), count(graph, of)
    if (folder / DONE).exists() and opened(folder) is not None:
        return total, total
    blocks = Blocks(graph, of, folder)
    return min(total - 1, (len(blocks) - len(blocks.missing())) * encoded.BLOCK), total


def delete(folder: Path) -> None:
    """Remove the vectors in a folder, finished or not. Raises StoreError."""
    try:
        (folder / DONE).unlink(missing_ok=True)
        shutil.rmtree(folder)
    except OSError as error:
        raise StoreError(
            f"The vectors in {folder} cannot be removed: {error.strerror or error}."
        ) from None


def forget(graph: Graph) -> None:
    """Let go of the graph's vectors in memory. Raises StoreError while they are encoded by a question."""
    shelf = graph.derived.shelf(SHELF)
    with free(shelf.lock, "The vectors"):
        shelf.values.clear()


def kind_for(items: int) -> str:
    """The faiss index for so many vectors, as its factory names it: exact search in half precision, then a graph of neighbours over bytes.

    On 133,582 triples of the movie graph and 60 questions, that graph finds 0.98 of the exact best 32 (cosines within 0.001 being
    equal), an inverted file over bytes 0.73 with 64 of 1,460 lists looked into.
    """
    return EXACT if items <= FLAT_UP_TO else f"HNSW{LINKS}_SQ8"


def searchable(
    blocks: Blocks, watch: Watch = NO_WATCH, kind: str = ""
) -> tuple[Any, str, Order | None]:
    """A faiss index of the blocks' vectors for inner products, its kind (default: by their number), and the order of the items in it where
    it is one of an earlier content that was added to (`core.indexes.appended`).

    Made by one thread, since more would link an HNSW graph differently each time.
    """
    import faiss

    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        return _searchable(faiss, blocks, watch, kind)
    finally:
        faiss.omp_set_num_threads(threads)


def _searchable(faiss, blocks: Blocks, watch: Watch, kind: str) -> tuple[Any, str, Order | None]:
    items, width = blocks.items(len(blocks) - 1).stop, blocks.read(0).shape[1]
    kind = kind or kind_for(items)
    if kind != EXACT and (added_to := grown(blocks, kind, width)) is not None:
        return tuned(added_to[0]), kind, added_to[1]
    index = faiss.index_factory(width, kind, faiss.METRIC_INNER_PRODUCT)
    if kind.startswith("HNSW"):
        index.hnsw.efConstruction = BUILDING
    if not index.is_trained:
        step = max(1, items // TRAINED)
        index.train(
            np.concatenate([blocks.read(number)[::step] for number in range(len(blocks))]).astype(
                np.float32
            )
        )
    if kind != EXACT and items > MANY:
        return _in_parts(faiss, blocks, watch, index), kind, None
    return tuned(_filled(index, blocks, range(len(blocks)), watch)), kind, None


def _filled(index, blocks: Blocks, numbers: Iterable[int], watch: Watch = NO_WATCH):
    for number in numbers:
        watch.check()
        index.add(np.ascontiguousarray(blocks.read(number), np.float32))
    return index


def _in_parts(faiss, blocks: Blocks, watch: Watch, empty) -> Parts:
    """The blocks in parts of about `PART` vectors, each saved as it is made and then mapped, so that memory holds one of them."""
    wanted = -(-blocks.items(len(blocks) - 1).stop // PART)
    for numbers, file in zip(
        np.array_split(np.arange(len(blocks)), wanted), files(blocks.folder, wanted)
    ):
        save(_filled(faiss.clone_index(empty), blocks, numbers.tolist(), watch), file)
    return read(blocks.folder, wanted)


def recall_of(
    index: Any, blocks: Blocks, watch: Watch = NO_WATCH, order: Order | None = None
) -> float:
    """The share that an index finds of the exact `WANTED` nearest of some of its own vectors; those within `EQUAL` of the last count as
    found."""
    items = blocks.items(len(blocks) - 1).stop
    wanted = min(WANTED, items)
    rows = np.unique(np.linspace(0, items - 1, min(ASKED, items)).astype(np.int64))
    asked = np.stack(
        [blocks.read(row // encoded.BLOCK)[row % encoded.BLOCK] for row in rows.tolist()]
    ).astype(np.float32)
    found = index.search(
        asked, wanted if order is None else wanted + min(order.masked, 2 * wanted)
    )[1]
    found = found if order is None else order.first(found, wanted)
    best, exact = (
        np.full((len(rows), wanted), -np.inf, np.float32),
        np.full((len(rows), wanted), -np.inf, np.float32),
    )
    for number in range(len(blocks)):
        watch.check()
        cosines = asked @ blocks.read(number).astype(np.float32).T
        both = np.concatenate([best, cosines], axis=1)
        best = -np.partition(-both, wanted - 1, axis=1)[:, :wanted]
        for row in range(len(rows)):
            here = found[row] - blocks.items(number).start
            place = np.flatnonzero((here >= 0) & (here < cosines.shape[1]))
            exact[row, place] = cosines[row, here[place]]
    last = best.min(axis=1, keepdims=True)
    return round(float((exact >= last - EQUAL).mean()), 3)


def too_many(graph: Graph, encoder, of: Of, limit: int) -> str:
    """What encoding more than `limit` would cost, from the time that a sample of them takes here."""
    items = count(graph, of)
    sample = texts(graph, of, np.linspace(0, items - 1, SAMPLE).astype(np.int64))
    encoder.encode(sample[:1])
    start = time.perf_counter()
    width = encoder.encode(sample).shape[1]
    rate = SAMPLE / max(1e-9, time.perf_counter() - start)
    width *= 2 if kind_for(items) == EXACT else 3  # bytes: of a graph of neighbours, one more
    size = items * width / (1 << 30)
    return (
        f"“{graph.name}” has {items:,} {of}, more than the limit of {limit:,}: at {rate:,.0f} texts a second, encoding them takes about "
        f"{span(items / rate)} on this computer and {size:,.1f} GB of disk. Say --limit {items} to do it all the same."
    )
