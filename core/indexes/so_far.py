"""Search in vectors that are still being encoded.

The search covers the saved blocks and the block being encoded in this process.
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
from core.indexes.encoded import (
    BLOCK,
    NONE,
    Blocks,
    Of,
    Texts,
    Vectors,
    block_file,
    count,
    keys,
    texts,
)
from core.indexes.place import keep_if_possible
from core.indexes.vectors import VectorIndex, build, opened, place, vector_index
from core.io import digests
from core.models.base import Encoder
from core.models.scorers import streams
from core.runtime.jobs import CANCELLED, FAILED, Job
from core.runtime.meter import spent
from core.runtime.turn import passed_on
from core.watch import NO_WATCH, Watch

PATIENCE = 3.0  # seconds of waiting after which the vectors encoded so far are searched
WAITED_FOR = 20.0  # remaining seconds for which a question waits for all vectors
FIRST = 128  # fewest vectors to search, unless `WAITED_FOR` seconds have passed
AT_ONCE = 256  # most items that are encoded for one question where their vectors are missing
# File next to the blocks with the vectors of the block that was unfinished when encoding stopped.
LEFT = "at-work.npz"
LOOK = 0.2  # seconds between two checks of the progress
CALLED = {
    "nodes": "entities",
    "chunks": "passages",
    "communities": "community reports",
    "relation-names": "relations",
}


@dataclass
class AtWork:
    """The block being encoded in this process: its number and its vectors so far, by text."""

    number: int = -1
    vectors: dict[str, np.ndarray] = field(default_factory=dict)


_at_work: dict[Path, AtWork] = {}  # by the folder of the vectors


def make(graph: Graph, encoder: Encoder, of: Of, watch: Watch = NO_WATCH) -> VectorIndex:
    """Build the vectors of a graph so that they can be searched meanwhile.

    As `build`, including what it raises. If it is stopped, the vectors of the
    unfinished block are saved as well.
    """
    folder = place(graph, encoder, of)

    left = _left(folder)

    def encode(blocks: Iterable[Texts], advanced: Callable[[int], None]) -> Vectors:
        for number, wanted in blocks:
            known = {}
            if left:
                known = {
                    text: left[key] for text, key in zip(wanted, _keyed(wanted)) if key in left
                }
            now = _at_work[folder] = AtWork(number, dict(known))

            def received(rows: list[str], vectors: np.ndarray, now: AtWork = now) -> None:
                now.vectors |= zip(rows, vectors.astype(np.float16))
                advanced(len(now.vectors))

            missing = [text for text in wanted if text not in known]
            fresh = NONE
            if missing:
                if streams(encoder):
                    fresh = encoder.encode(missing, watch, received)
                else:
                    fresh = encoder.encode(missing, watch)
            if known:
                both = known | dict(zip(missing, fresh.astype(np.float16)))
                fresh = np.stack([both[text] for text in wanted])
            yield number, fresh

    try:
        return build(graph, encoder, of, watch, encode=encode)
    finally:
        _keep_left(folder, _at_work.pop(folder, AtWork()))


def _keyed(wanted: Sequence[str]) -> list[bytes]:
    return [row.tobytes() for row in keys(wanted)]


def _left(folder: Path) -> dict[bytes, np.ndarray]:
    """Return the saved vectors of a block left unfinished, by the keys of their texts.

    Empty where they cannot be read.
    """
    try:
        digests.check_sealed(folder / LEFT)
        with np.load(folder / LEFT) as saved:
            return dict(zip([row.tobytes() for row in saved["keys"]], saved["vectors"]))
    except (OSError, ValueError, EOFError, KeyError, BadZipFile):
        return {}


def _keep_left(folder: Path, at_work: AtWork) -> None:
    """Save the vectors of an unfinished block.

    Once all blocks are finished, the saved ones are removed.
    """
    if opened(folder) is not None:
        with suppress(OSError):
            (folder / LEFT).unlink(missing_ok=True)
    elif at_work.vectors and not block_file(folder, at_work.number).exists():
        rows = dict(at_work.vectors)
        vectors = np.stack(list(rows.values()))
        keep_if_possible(
            folder / LEFT, lambda stream: np.savez(stream, keys=keys(list(rows)), vectors=vectors)
        )


@dataclass(frozen=True, eq=False)
class VectorsSoFar:
    """Vectors of the items encoded so far, of `total` items.

    `items` is int64 and ascending. `parts` together hold float16 [items, d].
    """

    of: Of
    total: int
    items: np.ndarray
    parts: tuple[np.ndarray, ...]
    source: str = ""

    def __len__(self) -> int:
        return len(self.items)

    @property
    def words(self) -> str:
        """Share of the items that is encoded, such as "31 % of the passages so far"."""
        share = 100 * len(self) // max(1, self.total)
        return f"{share or 'less than 1'} % of the {CALLED.get(self.of, self.of)} so far"

    @property
    def approximate(self) -> str:
        """Always empty, as the search is exact. See `VectorIndex.approximate`."""
        return ""

    def nearest(
        self, vector: np.ndarray, k: int, without: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest items by an exact search, like `VectorIndex.nearest`.

        Raises BadParameter for a vector of another dimension.
        """
        VectorIndex(None, {"dimension": self.parts[0].shape[1]}).fits(vector)
        asked = np.asarray(vector, np.float32)
        cosines = np.round(
            np.concatenate([part.astype(np.float32) @ asked for part in self.parts]).astype(
                np.float64
            ),
            6,
        )
        wanted = np.ones(len(self), bool) if without is None else ~np.isin(self.items, without)
        items, cosines = self.items[wanted], cosines[wanted]
        order = np.lexsort((items, -cosines))[:k]
        return items[order], cosines[order]


def there(graph: Graph, encoder: Encoder, of: Of) -> VectorsSoFar:
    """Return the vectors encoded so far: readable saved blocks and the block in progress here."""
    folder = place(graph, encoder, of)
    at_work = _at_work.get(folder, AtWork())
    blocks, items, parts = Blocks(graph, of, folder), list[np.ndarray](), list[np.ndarray]()
    missing = set(blocks.missing())
    for number in range(len(blocks)):
        rows = np.arange(blocks.items(number).start, blocks.items(number).stop)
        if number not in missing:
            with suppress(StoreError):  # reported by the job that encodes them
                parts.append(blocks.read(number))
                items.append(rows)
        elif number == at_work.number:
            known = dict(at_work.vectors)
            found = [
                (row, known[text])
                for row, text in zip(rows.tolist(), blocks.texts_of(blocks.items(number)))
                if text in known
            ]
            if found:
                items.append(np.array([row for row, _ in found], np.int64))
                parts.append(np.stack([vector for _, vector in found]))
    return VectorsSoFar(
        of, blocks.total(), np.concatenate([*items, np.empty(0, np.int64)]), tuple(parts)
    )


def searchable_now(
    graph: Graph, encoder: Encoder, of: Of, begin: Callable[[], Job], watch: Watch = NO_WATCH
) -> VectorIndex | VectorsSoFar:
    """Return all vectors if they are ready or soon will be, else those encoded so far.

    What `watch` raises is passed on.

    Parameters
    ----------
    begin : starts the job that encodes the vectors, or returns the running one. The job continues
        after this call.

    Raises
    ------
    HopscopeError : the job failed.
    StoreError : the job was cancelled.
    """
    if (
        graph.edited_from is not None
        or count(graph, of) <= BLOCK
        or opened(place(graph, encoder, of)) is not None
    ):
        return vector_index(graph, encoder, of, watch)
    job, start, before = begin(), time.monotonic(), len(there(graph, encoder, of))
    with spent("preparation", "Vectors of the graph"), passed_on(waits=True):
        while not job.wait(LOOK):
            watch.check()
            watch.report(job.text, job.fraction)
            waited = time.monotonic() - start
            if waited >= PATIENCE:
                found = there(graph, encoder, of)
                left = (found.total - len(found)) * waited / max(1e-9, len(found) - before)
                if left > WAITED_FOR and (
                    len(found) >= FIRST or (len(found) and waited >= WAITED_FOR)
                ):
                    return found
    if job.status == FAILED:
        raise HopscopeError(job.error or "The vectors could not be made.")
    if job.status == CANCELLED:
        raise StoreError(
            f"The vectors of the {CALLED.get(of, of)} are not all there, as making them was "
            "cancelled. Ask again to go on."
        )
    return vector_index(graph, encoder, of, watch)


def cosines_now(
    graph: Graph,
    encoder: Encoder,
    of: Of,
    vector: np.ndarray,
    items: np.ndarray,
    watch: Watch = NO_WATCH,
) -> np.ndarray | None:
    """Return the cosines of a few items with a unit vector, encoding their texts for it.

    The cosines have the precision of saved vectors.

    Parameters
    ----------
    vector : the vector of the question, [d].
    items : at most `AT_ONCE` items; more give None.

    Returns
    -------
    float64 [n], or None where all vectors of the graph are saved or the graph is edited.
    """
    if (
        len(items) > AT_ONCE
        or graph.edited_from is not None
        or opened(place(graph, encoder, of)) is not None
    ):
        return None
    vectors = encoder.encode(texts(graph, of, items), watch).astype(np.float16).astype(np.float32)
    return np.round((vectors @ np.asarray(vector, np.float32)).astype(np.float64), 6)
