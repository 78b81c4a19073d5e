"""Vectors that are searched while they are made: what is encoded so far, in the blocks that are saved and in the one at work."""

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

PATIENCE = 3.0  # seconds after which what is there is searched
WAITED_FOR = 20.0  # seconds that the rest may take for all to be waited for
FIRST = 128  # vectors before which nothing is searched, unless `WAITED_FOR` have passed
AT_ONCE = 256  # items that are encoded for a question where their vectors are not there yet
LEFT = "at-work.npz"  # beside the blocks: what is encoded of the one that was at work when making them was stopped
LOOK = 0.2  # seconds between two looks at how far it is
CALLED = {
    "nodes": "entities",
    "chunks": "passages",
    "communities": "community reports",
    "relation-names": "relations",
}


@dataclass
class AtWork:
    """The block that is being encoded in this process: its number, and the vectors of its texts as they come."""

    number: int = -1
    vectors: dict[str, np.ndarray] = field(default_factory=dict)


_at_work: dict[Path, AtWork] = {}  # by the folder of the vectors


def make(graph: Graph, encoder: Encoder, of: Of, watch: Watch = NO_WATCH) -> VectorIndex:
    """As `core.indexes.vectors.build`, of which all is searched here as it comes; where it is stopped, what is encoded of the block at
    work is kept as well. Raises as that does."""
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
    """The vectors of the block that was at work when this was stopped, by the keys of their texts; none where they cannot be read."""
    try:
        digests.check_sealed(folder / LEFT)
        with np.load(folder / LEFT) as saved:
            return dict(zip([row.tobytes() for row in saved["keys"]], saved["vectors"]))
    except (OSError, ValueError, EOFError, KeyError, BadZipFile):
        return {}


def _keep_left(folder: Path, at_work: AtWork) -> None:
    """Save what is encoded of a block that is not whole; where all blocks are, what was saved so is removed."""
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
    """The vectors of those of `total` items that are encoded: `items` int64, ascending, and float16 [items, d] in parts."""

    of: Of
    total: int
    items: np.ndarray
    parts: tuple[np.ndarray, ...]
    source: str = ""

    def __len__(self) -> int:
        return len(self.items)

    @property
    def words(self) -> str:
        """How much of all it is, as `31 % of the passages so far`."""
        share = 100 * len(self) // max(1, self.total)
        return f"{share or 'less than 1'} % of the {CALLED.get(self.of, self.of)} so far"

    @property
    def approximate(self) -> str:
        """That the search is not exact, as a sentence; empty, as all that is there is looked at."""
        return ""

    def nearest(
        self, vector: np.ndarray, k: int, without: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """As that of all (`VectorIndex.nearest`), by an exact search. Raises BadParameter for a vector of another dimension."""
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
    """What is encoded so far: the saved blocks that can be read, and what has come of the one at work here."""
    folder = place(graph, encoder, of)
    at_work = _at_work.get(folder, AtWork())
    blocks, items, parts = Blocks(graph, of, folder), list[np.ndarray](), list[np.ndarray]()
    missing = set(blocks.missing())
    for number in range(len(blocks)):
        rows = np.arange(blocks.items(number).start, blocks.items(number).stop)
        if number not in missing:
            with suppress(StoreError):  # said by who makes them
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
    """All vectors, where they are there or soon will be, else those that there are so far. `begin` starts the job that makes them, or gives
    the one at work; it goes on after this. Raises HopscopeError where that failed, StoreError where it was cancelled, and what `watch`
    raises."""
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
            f"The vectors of the {CALLED.get(of, of)} are not all there, as making them was cancelled. Ask again to go on."
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
    """float64 [n]: the cosines of a few items with a unit vector, their texts encoded for it where not all vectors of the graph are
    there, with the digits that saved ones have; None for many items, and where all are there."""
    if (
        len(items) > AT_ONCE
        or graph.edited_from is not None
        or opened(place(graph, encoder, of)) is not None
    ):
        return None
    vectors = encoder.encode(texts(graph, of, items), watch).astype(np.float16).astype(np.float32)
    return np.round((vectors @ np.asarray(vector, np.float32)).astype(np.float64), 6)
