"""Encoding of the texts of a build, each only once.

Vectors are saved in the same file as those of questions.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.builds.base import BuildContext
from core.indexes.vector_blocks import (
    NO_VECTORS,
    BlockTexts,
    BlockVectors,
    EncodeBlocks,
    encode_over_workers,
)
from core.io.home import home_folder
from core.io.rows import RowFile, Schema, select_by_keys
from core.models.encoders.saved_vectors import SavedVectors, SavingEncoder, vector_file
from core.models.scorers import encode_with_progress
from core.runtime.cluster import Workers

SCALED_ROWS = 8192  # vectors converted to float32 in one batch
ENCODE_BATCH_TEXTS = 500  # texts encoded before they are saved: lost if the process is killed
FORMER_VECTORS_FILE = "vectors.sqlite"  # file in which earlier versions saved the vectors of builds
FORMER_SCHEMA = Schema(
    "the vectors",
    ("create table vectors (key blob primary key, vector blob not null) without rowid",),
    is_recomputable=True,
)


@dataclass(frozen=True, eq=False)
class UnitRows:
    """Half-precision vectors that are read as float32 unit vectors.

    Rows are scaled when they are read. Very many vectors thus need no second copy in memory.
    """

    vectors: np.ndarray  # float16 [n, d]
    norms: np.ndarray  # float32 [n]

    @classmethod
    def from_vectors(cls, vectors: np.ndarray) -> UnitRows:
        """Wrap vectors, float16 [n, d], and compute their norms."""
        blocks = (
            vectors[first : first + SCALED_ROWS].astype(np.float32)
            for first in range(0, len(vectors), SCALED_ROWS)
        )
        norms = [np.maximum(np.linalg.norm(block, axis=1), 1e-12) for block in blocks]
        return cls(vectors, np.concatenate([np.empty(0, np.float32), *norms]))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array: number of rows, and of dimensions."""
        return self.vectors.shape

    def __len__(self) -> int:
        return len(self.vectors)

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        """Return some rows as unit vectors, float32 [rows, d]."""
        return self.vectors[rows].astype(np.float32) / self.norms[rows, None]


def encode_unit_vectors(texts: Sequence[str], encoder: str, ctx: BuildContext) -> np.ndarray:
    """Return unit vectors of texts, encoding those that are not saved.

    Parameters
    ----------
    texts : any number of texts, n.
    encoder : role or name of the encoder.
    ctx : the models and the report of the build.

    Returns
    -------
    float32 [n, d], in the order of `texts`.

    Raises
    ------
    StoreError, BadParameter, ModelUnavailable : as `encode_half_vectors` raises.
    """
    rows = UnitRows.from_vectors(encode_half_vectors(texts, encoder, ctx))
    vectors = np.empty(rows.shape, np.float32)
    for first in range(0, len(rows), SCALED_ROWS):
        vectors[first : first + SCALED_ROWS] = rows[first : first + SCALED_ROWS]
    return vectors


class BuildVectors:
    """Saved vectors of the texts that one encoder has encoded, float16.

    Vectors that an earlier version saved in a separate file for builds are found too.

    Parameters
    ----------
    name : role or name of the encoder.
    ctx : the models of the build.

    Raises
    ------
    StoreError : the file cannot be read or written, also by the methods.
    BadParameter, ModelUnavailable : there is no such encoder, or it cannot be used.
    """

    def __init__(self, name: str, ctx: BuildContext):
        self._signature = ctx.models.signature(name)
        encoder = ctx.models.encoder(name)
        disk_vectors = encoder.open_saved_vectors() if isinstance(encoder, SavingEncoder) else None
        self._saves_itself = disk_vectors is not None
        self._store = disk_vectors or SavedVectors(vector_file(), self._signature)

    def find(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """Return the saved vectors of texts, by text; those without one are left out."""
        vectors = {text: vector for text, (vector, _) in self._store.find(texts).items()}
        former_vectors = self._find_former([text for text in texts if text not in vectors])
        self.save(former_vectors, 0.0)  # in the present file; encoding took no time now
        return vectors | former_vectors

    def save(self, vectors: Mapping[str, np.ndarray], seconds: float) -> None:
        """Save vectors, unless the encoder saves them itself.

        Parameters
        ----------
        vectors : the vector of each text.
        seconds : time that encoding all of them took, from which the encoder's speed is known.
        """
        if not self._saves_itself:
            self._store.save(vectors, seconds)

    def _find_former(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """Return the vectors of texts that an earlier version saved, by text."""
        rows = RowFile(home_folder() / FORMER_VECTORS_FILE, FORMER_SCHEMA)
        if not texts or not rows.file.exists():
            return {}
        keys = {_former_key(self._signature, text): text for text in texts}
        with rows.open_for_reading() as database:
            return {
                keys[key]: np.frombuffer(data, np.float16)
                for key, data in select_by_keys(database, "vectors", ("key", "vector"), keys)
            }


def encode_half_vectors(
    texts: Sequence[str],
    encoder: str,
    ctx: BuildContext,
    on_progress: Callable[[int], None] = lambda encoded: None,
) -> np.ndarray:
    """Return vectors of texts in half precision, encoding those that are not saved.

    Parameters
    ----------
    texts : any number of texts, n.
    encoder : the name or role of the encoder.
    ctx : the models, the report and the watch of the build.
    on_progress : called with the number of vectors that are ready so far.

    Returns
    -------
    float16 [n, d], in the order of `texts`.

    Raises
    ------
    StoreError, BadParameter, ModelUnavailable, and what `ctx.watch` raises.
    """
    if not texts:
        return np.empty((0, 0), np.float16)
    store = BuildVectors(encoder, ctx)
    vectors = np.empty((0, 0), np.float16)
    for first in range(0, len(texts), ENCODE_BATCH_TEXTS):
        batch = texts[first : first + ENCODE_BATCH_TEXTS]
        distinct = list(dict.fromkeys(batch))
        vector_of_text = store.find(distinct)
        missing = [text for text in distinct if text not in vector_of_text]
        if missing:
            ctx.watch.check()
            ctx.report.new_texts += len(missing)
            start, n_ready = time.monotonic(), first + len(vector_of_text)

            # The default value binds the present number, which the next batch changes.
            def report(done: int, n_ready: int = n_ready) -> None:
                on_progress(n_ready + done)

            encoded = encode_with_progress(ctx.models.encoder(encoder), missing, ctx.watch, report)
            new_vectors = dict(zip(missing, np.asarray(encoded, np.float16)))
            store.save(new_vectors, time.monotonic() - start)
            vector_of_text |= new_vectors
        if not first:  # The dimensions are known from the first batch.
            vectors = np.empty((len(texts), len(vector_of_text[batch[0]])), np.float16)
        vectors[first : first + len(batch)] = [vector_of_text[text] for text in batch]
    return vectors


def encoder_over_workers(workers: Workers, encoder: str, ctx: BuildContext) -> EncodeBlocks:
    """Return an encoding function that works like `encode_half_vectors` over worker processes.

    Texts without a saved vector are encoded by the workers. The vectors are the same in all
    processes.

    Parameters
    ----------
    workers : the processes.
    encoder : role or name of the encoder.
    ctx : the models and the report of the build.

    Returns
    -------
    A function for `VectorBlocks.encode_missing`, which raises HopscopeError if a worker dies
    repeatedly.

    Raises
    ------
    StoreError, BadParameter, ModelUnavailable : as `encode_half_vectors` raises.
    """
    store = BuildVectors(encoder, ctx)

    def encode(blocks: Iterable[BlockTexts], report: Callable[[int], None]) -> BlockVectors:
        # Of each block that the workers have: its texts, the saved vectors, the texts without one.
        waiting: dict[int, tuple[list[str], dict[str, np.ndarray], list[str]]] = {}

        def missing_texts() -> Iterator[BlockTexts]:
            """Yield the texts of each block that workers have to encode."""
            for number, block_texts in blocks:
                distinct = list(dict.fromkeys(block_texts))
                vector_of_text = store.find(distinct)
                missing = [text for text in distinct if text not in vector_of_text]
                ctx.report.new_texts += len(missing)
                waiting[number] = block_texts, vector_of_text, missing
                yield number, missing

        start = time.monotonic()
        encode_missing = encode_over_workers(workers, encoder, ctx.watch)
        for number, vectors in encode_missing(missing_texts(), report):
            block_texts, vector_of_text, missing = waiting.pop(number)
            new_vectors = dict(zip(missing, np.asarray(vectors, np.float16)))
            store.save(new_vectors, time.monotonic() - start)
            vector_of_text |= new_vectors
            rows = [vector_of_text[text] for text in block_texts]
            yield number, np.stack(rows) if rows else NO_VECTORS
            start = time.monotonic()

    return encode


def _former_key(signature: str, text: str) -> bytes:
    """Return the key of a text in the file of earlier versions."""
    return hashlib.sha256(f"{signature}\n{text}".encode("utf-8", "surrogatepass")).digest()
