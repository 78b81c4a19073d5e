"""Search in the vectors of a graph while they are still being encoded.

The search covers the saved blocks and the block that this process is encoding.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from core.errors import HopscopeError, StoreError
from core.graph.store import Graph
from core.indexes.index_storage import write_if_possible
from core.indexes.vector_blocks import (
    BLOCK_TEXTS,
    NO_VECTORS,
    BlockTexts,
    BlockVectors,
    ItemKind,
    VectorBlocks,
    block_file,
    count_items,
    text_keys,
    texts_of_items,
)
from core.indexes.vectors import (
    VectorIndex,
    build_vectors,
    open_vectors,
    vector_folder,
    vector_index,
)
from core.io import digests
from core.models.base import Encoder
from core.models.scorers import is_streamed
from core.runtime.jobs import JOB_CANCELLED, JOB_FAILED, Job
from core.runtime.meter import count_time
from core.runtime.turn import pass_turn
from core.watch import NO_WATCH, Watch


@dataclass(frozen=True)
class PartialIndexDefaults:
    """Times and sizes by which a question searches vectors that are still being encoded."""

    min_wait_seconds: float = 3.0  # before a search of the vectors encoded so far
    max_wait_seconds: float = 20.0  # remaining seconds for which a question waits for all vectors
    min_searched_vectors: int = 128  # unless max_wait_seconds have passed
    max_encoded_items: int = 256  # items without vectors that are encoded for one question
    progress_seconds: float = 0.2  # between two checks of the progress


PARTIAL_INDEX = PartialIndexDefaults()
# File next to the blocks with the vectors of the block that was unfinished when encoding stopped.
UNFINISHED_BLOCK_FILE = "at-work.npz"
ITEM_WORDS = {
    "nodes": "entities",
    "chunks": "passages",
    "communities": "community reports",
    "relation-names": "relations",
}


@dataclass
class BlockInProgress:
    """Block that this process is encoding: its number, and its vectors by text."""

    number: int = -1
    vectors: dict[str, np.ndarray] = field(default_factory=dict)


_blocks_in_progress: dict[Path, BlockInProgress] = {}  # by the folder of the vectors


def build_searchable_vectors(
    graph: Graph, encoder: Encoder, item_kind: ItemKind, watch: Watch = NO_WATCH
) -> VectorIndex:
    """Build the vectors of a graph so that they can be searched meanwhile.

    If it is stopped, the vectors of the unfinished block are saved as well.

    Parameters
    ----------
    encoder : the encoder; with one that streams its vectors, texts become searchable one by one,
        with others block by block.
    item_kind : kind of the items.
    watch : receives the progress; what it raises stops the work.

    Returns
    -------
    The finished index, opened from its files.

    Raises
    ------
    BadInput, StoreError : as `build_vectors` raises.
    """
    folder = vector_folder(graph, encoder, item_kind)

    saved_vectors = _read_unfinished(folder)

    def encode(blocks: Iterable[BlockTexts], report: Callable[[int], None]) -> BlockVectors:
        for number, block_texts in blocks:
            known_vectors = {}
            if saved_vectors:
                known_vectors = {
                    text: saved_vectors[key]
                    for text, key in zip(block_texts, _hash_texts(block_texts))
                    if key in saved_vectors
                }
            progress = _blocks_in_progress[folder] = BlockInProgress(number, dict(known_vectors))

            # The block is a default value, since the loop goes on to the next one.
            def receive(
                texts: list[str], vectors: np.ndarray, block: BlockInProgress = progress
            ) -> None:
                block.vectors |= zip(texts, vectors.astype(np.float16))
                report(len(block.vectors))

            missing = [text for text in block_texts if text not in known_vectors]
            vectors = NO_VECTORS
            if missing and is_streamed(encoder):
                vectors = encoder.encode(missing, watch, receive)
            elif missing:
                vectors = encoder.encode(missing, watch)
            if known_vectors:
                all_vectors = known_vectors | dict(zip(missing, vectors.astype(np.float16)))
                vectors = np.stack([all_vectors[text] for text in block_texts])
            yield number, vectors

    try:
        return build_vectors(graph, encoder, item_kind, watch, encode=encode)
    finally:
        _save_unfinished(folder, _blocks_in_progress.pop(folder, BlockInProgress()))


def _hash_texts(texts: Sequence[str]) -> list[bytes]:
    return [row.tobytes() for row in text_keys(texts)]


def _read_unfinished(folder: Path) -> dict[bytes, np.ndarray]:
    """Return the saved vectors of an unfinished block, by the keys of their texts.

    The result is empty if they cannot be read.
    """
    try:
        digests.check_appended_digest(folder / UNFINISHED_BLOCK_FILE)
        with np.load(folder / UNFINISHED_BLOCK_FILE) as arrays:
            return dict(zip([row.tobytes() for row in arrays["keys"]], arrays["vectors"]))
    except (OSError, ValueError, EOFError, KeyError, BadZipFile):
        return {}


def _save_unfinished(folder: Path, block: BlockInProgress) -> None:
    """Save the vectors of an unfinished block, or remove them once all are finished."""
    if open_vectors(folder) is not None:
        with suppress(OSError):
            (folder / UNFINISHED_BLOCK_FILE).unlink(missing_ok=True)
    elif block.vectors and not block_file(folder, block.number).exists():
        rows = dict(block.vectors)
        vectors = np.stack(list(rows.values()))
        write_if_possible(
            folder / UNFINISHED_BLOCK_FILE,
            lambda stream: np.savez(stream, keys=text_keys(list(rows)), vectors=vectors),
        )


@dataclass(frozen=True, eq=False)
class PartialVectors:
    """Vectors of the items encoded so far, of `total` items.

    `items` is int64 and ascending. The arrays of `parts` together are float16 [items, d]. `source`
    is empty, as in a `VectorIndex` whose vectors this program made.
    """

    item_kind: ItemKind
    total: int
    items: np.ndarray
    parts: tuple[np.ndarray, ...]
    source: str = ""

    def __len__(self) -> int:
        return len(self.items)

    @property
    def encoded_share_text(self) -> str:
        """Share of the items that is encoded, as a text.

        An example is "31 % of the passages so far".
        """
        share = 100 * len(self) // max(1, self.total)
        noun = ITEM_WORDS.get(self.item_kind, self.item_kind)
        return f"{share or 'less than 1'} % of the {noun} so far"

    @property
    def approximation_note(self) -> str:
        """Always empty, as the search is exact. See `VectorIndex.approximation_note`."""
        return ""

    def nearest(
        self, vector: np.ndarray, k: int, excluded: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest items by an exact search, like `VectorIndex.nearest`.

        Parameters
        ----------
        vector : unit vector, float [d].
        k : largest number of items.
        excluded : items that are left out, int64.

        Returns
        -------
        Items int64 and cosines float64, ordered by (-cosine, item).

        Raises
        ------
        BadParameter : the vector has another dimension.
        """
        # An index without content makes the check with the same message.
        VectorIndex(None, {"dimension": self.parts[0].shape[1]}).check_dimension(vector)
        query = np.asarray(vector, np.float32)
        products = np.concatenate([part.astype(np.float32) @ query for part in self.parts])
        cosines = np.round(products.astype(np.float64), 6)
        is_allowed = (
            np.ones(len(self), bool) if excluded is None else ~np.isin(self.items, excluded)
        )
        items, cosines = self.items[is_allowed], cosines[is_allowed]
        order = np.lexsort((items, -cosines))[:k]
        return items[order], cosines[order]


def partial_vectors(graph: Graph, encoder: Encoder, item_kind: ItemKind) -> PartialVectors:
    """Return the vectors that are encoded so far.

    They are the readable saved blocks, and the block in progress in this process.

    Parameters
    ----------
    encoder : the encoder; its fingerprint is part of the folder's name.
    item_kind : kind of the items.

    Returns
    -------
    The vectors, in memory or mapped from their files.
    """
    folder = vector_folder(graph, encoder, item_kind)
    in_progress = _blocks_in_progress.get(folder, BlockInProgress())
    blocks = VectorBlocks(graph, item_kind, folder)
    items, parts = list[np.ndarray](), list[np.ndarray]()
    missing = set(blocks.missing_blocks())
    for number in range(len(blocks)):
        rows = np.arange(blocks.items(number).start, blocks.items(number).stop)
        if number not in missing:
            with suppress(StoreError):  # reported by the job that encodes them
                parts.append(blocks.read(number))
                items.append(rows)
        elif number == in_progress.number:
            vector_of_text = dict(in_progress.vectors)
            encoded_rows = [
                (row, vector_of_text[text])
                for row, text in zip(rows.tolist(), blocks.texts_of(blocks.items(number)))
                if text in vector_of_text
            ]
            if encoded_rows:
                items.append(np.array([row for row, _ in encoded_rows], np.int64))
                parts.append(np.stack([vector for _, vector in encoded_rows]))
    return PartialVectors(
        item_kind, blocks.total(), np.concatenate([*items, np.empty(0, np.int64)]), tuple(parts)
    )


def available_vectors(
    graph: Graph,
    encoder: Encoder,
    item_kind: ItemKind,
    start_job: Callable[[], Job],
    watch: Watch = NO_WATCH,
) -> VectorIndex | PartialVectors:
    """Return all vectors, or those encoded so far.

    All are returned if they are or will soon be ready.

    Parameters
    ----------
    start_job : starts the job that encodes the vectors, or returns the running one. The job
        continues after this call.
    watch : receives the progress; what it raises stops the waiting.

    Returns
    -------
    The finished index, or the vectors that are encoded so far.

    Raises
    ------
    HopscopeError : the job failed.
    StoreError : the job was cancelled.
    """
    if (
        graph.edited_from is not None
        or count_items(graph, item_kind) <= BLOCK_TEXTS
        or open_vectors(vector_folder(graph, encoder, item_kind)) is not None
    ):
        return vector_index(graph, encoder, item_kind, watch)
    job, start = start_job(), time.monotonic()
    n_before = len(partial_vectors(graph, encoder, item_kind))
    with count_time("preparation", "Vectors of the graph"), pass_turn(waits=True):
        while not job.wait(PARTIAL_INDEX.progress_seconds):
            watch.check()
            watch.report(job.text, job.fraction)
            seconds = time.monotonic() - start
            if seconds >= PARTIAL_INDEX.min_wait_seconds:
                partial = partial_vectors(graph, encoder, item_kind)
                if _is_enough(partial, n_before, seconds):
                    return partial
    if job.status == JOB_FAILED:
        raise HopscopeError(job.error or "The vectors could not be made.")
    if job.status == JOB_CANCELLED:
        raise StoreError(
            f"The vectors of the {ITEM_WORDS.get(item_kind, item_kind)} are not all there, as "
            "making them was cancelled. Ask again to go on."
        )
    return vector_index(graph, encoder, item_kind, watch)


def _is_enough(partial: PartialVectors, n_before: int, seconds: float) -> bool:
    """Return whether to search these vectors instead of waiting for the rest.

    `n_before` of them were encoded when the wait began, `seconds` ago.
    """
    n_encoded, max_wait = len(partial), PARTIAL_INDEX.max_wait_seconds
    seconds_left = (partial.total - n_encoded) * seconds / max(1e-9, n_encoded - n_before)
    is_many = n_encoded >= PARTIAL_INDEX.min_searched_vectors
    # After a long wait any vectors are enough.
    return seconds_left > max_wait and (is_many or (n_encoded > 0 and seconds >= max_wait))


def direct_cosines(
    graph: Graph,
    encoder: Encoder,
    item_kind: ItemKind,
    vector: np.ndarray,
    items: np.ndarray,
    watch: Watch = NO_WATCH,
) -> np.ndarray | None:
    """Encode a few items, and return their cosines with a unit vector.

    It serves a question that need not wait for the vectors of all items. The cosines have the
    precision of saved vectors.

    Parameters
    ----------
    vector : the unit vector of the question, [d].
    items : at most `PARTIAL_INDEX.max_encoded_items` items; more give None.

    Returns
    -------
    float64 [n]; None for too many items, an edited graph, or if all vectors are saved.
    """
    if (
        len(items) > PARTIAL_INDEX.max_encoded_items
        or graph.edited_from is not None
        or open_vectors(vector_folder(graph, encoder, item_kind)) is not None
    ):
        return None
    vectors = encoder.encode(texts_of_items(graph, item_kind, items), watch)
    saved_vectors = vectors.astype(np.float16).astype(np.float32)
    return np.round((saved_vectors @ np.asarray(vector, np.float32)).astype(np.float64), 6)
