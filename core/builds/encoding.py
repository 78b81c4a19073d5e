"""Vectors of the texts of a build, saved together with those of questions.

No text is encoded twice.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.builds.base import BuildContext
from core.indexes.encoded import NONE, Encode, Texts, Vectors, spread
from core.io.home import home
from core.io.rows import RowFile, Schema, by_key
from core.models.encoders.saved_vectors import SavedVectors, SavingEncoder, vector_file
from core.models.scorers import encoded_telling
from core.runtime.cluster import Workers

SCALED_ROWS = 8192  # vectors scaled in one batch
# texts looked up or encoded in one batch, the most work lost when the process is killed
BATCH_TEXTS = 500
FORMER = "vectors.sqlite"  # file in which earlier versions saved the vectors of builds
FORMER_SCHEMA = Schema(
    "the vectors",
    ("create table vectors (key blob primary key, vector blob not null) without rowid",),
    again=True,
)


@dataclass(frozen=True, eq=False)
class UnitRows:
    """Half-precision vectors that are read as float32 unit vectors.

    They take a third of the memory, which matters for very many vectors.
    """

    vectors: np.ndarray  # float16 [n, d]
    norms: np.ndarray  # float32 [n]

    @classmethod
    def of(cls, vectors: np.ndarray) -> UnitRows:
        """Wrap vectors and compute their norms."""
        blocks = (
            vectors[first : first + SCALED_ROWS].astype(np.float32)
            for first in range(0, len(vectors), SCALED_ROWS)
        )
        norms = [np.maximum(np.linalg.norm(block, axis=1), 1e-12) for block in blocks]
        return cls(vectors, np.concatenate([np.empty(0, np.float32), *norms]))

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows, and numbers in each."""
        return self.vectors.shape

    def __len__(self) -> int:
        return len(self.vectors)

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        return self.vectors[rows].astype(np.float32) / self.norms[rows, None]


def encoded(texts: Sequence[str], encoder: str, ctx: BuildContext) -> np.ndarray:
    """Return unit vectors of texts, float32 [n, d], saved ones or encoded now.

    `encoder` is the name or role of the encoder. Raises as `halves`.
    """
    rows = UnitRows.of(halves(texts, encoder, ctx))
    whole = np.empty(rows.shape, np.float32)
    for first in range(0, len(rows), SCALED_ROWS):
        whole[first : first + SCALED_ROWS] = rows[first : first + SCALED_ROWS]
    return whole


class BuildVectors:
    """Saved vectors of one encoder: float16, found and saved by text.

    Vectors that an earlier version saved in a separate file for builds are found too.

    Raises
    ------
    StoreError, BadParameter, ModelUnavailable
    """

    def __init__(self, name: str, ctx: BuildContext):
        self._signature = ctx.models.signature(name)
        encoder = ctx.models.encoder(name)
        own = encoder.on_disk() if isinstance(encoder, SavingEncoder) else None
        self._saves_itself = own is not None
        self._saved = own or SavedVectors(vector_file(), self._signature)

    def find(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """Return the saved vectors of these texts."""
        found = {text: vector for text, (vector, _) in self._saved.find(texts).items()}
        former = self._former([text for text in texts if text not in found])
        self.save(former, 0.0)
        return found | former

    def save(self, vectors: Mapping[str, np.ndarray], seconds: float) -> None:
        """Save vectors that took `seconds` to encode, unless the encoder saves them itself."""
        if not self._saves_itself:
            self._saved.save(vectors, seconds)

    def _former(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        rows = RowFile(home() / FORMER, FORMER_SCHEMA)
        if not texts or not rows.file.exists():
            return {}
        keys = {_former_key(self._signature, text): text for text in texts}
        with rows.reading() as base:
            return {
                keys[key]: np.frombuffer(data, np.float16)
                for key, data in by_key(base, "vectors", ("key", "vector"), keys)
            }


def halves(
    texts: Sequence[str],
    encoder: str,
    ctx: BuildContext,
    advanced: Callable[[int], None] = lambda encoded: None,
) -> np.ndarray:
    """Return vectors of texts in half precision, float16 [n, d], saved ones or encoded now.

    Parameters
    ----------
    encoder : the name or role of the encoder.
    advanced : is called with the number of vectors that are ready so far.

    Raises
    ------
    StoreError, BadParameter, ModelUnavailable, and what `ctx.watch` raises.
    """
    if not texts:
        return np.empty((0, 0), np.float16)
    saved, whole = BuildVectors(encoder, ctx), np.empty((0, 0), np.float16)
    for first in range(0, len(texts), BATCH_TEXTS):
        batch = texts[first : first + BATCH_TEXTS]
        distinct = list(dict.fromkeys(batch))
        found = saved.find(distinct)
        missing = [text for text in distinct if text not in found]
        if missing:
            ctx.watch.check()
            ctx.report.fresh += len(missing)
            before, start = first + len(found), time.monotonic()
            so_far = lambda done, before=before: advanced(before + done)
            made = encoded_telling(ctx.models.encoder(encoder), missing, ctx.watch, so_far)
            fresh = dict(zip(missing, np.asarray(made, np.float16)))
            saved.save(fresh, time.monotonic() - start)
            found |= fresh
        if not first:
            whole = np.empty((len(texts), len(found[batch[0]])), np.float16)
        whole[first : first + len(batch)] = [found[text] for text in batch]
    return whole


def halves_over(workers: Workers, encoder: str, ctx: BuildContext) -> Encode:
    """Return an encoding function that works like `halves` over worker processes.

    Texts without a saved vector are encoded by the workers. The vectors are the same wherever they
    are encoded. Raises as `halves`, and HopscopeError where a worker dies repeatedly.
    """
    saved = BuildVectors(encoder, ctx)

    def encode(blocks: Iterable[Texts], advanced: Callable[[int], None]) -> Vectors:
        waiting: dict[int, tuple[list[str], dict[str, np.ndarray], list[str]]] = {}

        def missing() -> Iterator[Texts]:
            for number, wanted in blocks:
                distinct = list(dict.fromkeys(wanted))
                found = saved.find(distinct)
                lacking = [text for text in distinct if text not in found]
                ctx.report.fresh += len(lacking)
                waiting[number] = wanted, found, lacking
                yield number, lacking

        start = time.monotonic()
        for number, vectors in spread(workers, encoder, ctx.watch)(missing(), advanced):
            wanted, found, lacking = waiting.pop(number)
            fresh = dict(zip(lacking, np.asarray(vectors, np.float16)))
            saved.save(fresh, time.monotonic() - start)
            found |= fresh
            yield number, np.stack([found[text] for text in wanted]) if wanted else NONE
            start = time.monotonic()

    return encode


def _former_key(signature: str, text: str) -> bytes:
    return hashlib.sha256(f"{signature}\n{text}".encode("utf-8", "surrogatepass")).digest()
