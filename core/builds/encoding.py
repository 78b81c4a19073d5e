"""Vectors that builds need, kept in SQLite by encoder and text, so that no text is encoded twice."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from core.builds.base import BuildContext
from core.indexes.encoded import NONE, Encode, Texts, Vectors, spread
from core.io.home import home
from core.io.rows import RowFile, Schema, by_key
from core.models.scorers import encoded_telling
from core.runtime.cluster import Workers

SCALED_ROWS = 8192  # vectors scaled together
BATCH_TEXTS = 500  # texts looked up, or encoded, together; what a kill costs at most
SCHEMA = Schema(
    "the vectors",
    ("create table vectors (key blob primary key, vector blob not null) without rowid",),
    again=True,
)


@dataclass(frozen=True, eq=False)
class UnitRows:
    """Vectors of half precision that are read as unit vectors, float32, so that very many take a third of the memory."""

    vectors: np.ndarray  # float16 [n, d]
    norms: np.ndarray  # float32 [n]

    @classmethod
    def of(cls, vectors: np.ndarray) -> UnitRows:
        """Those of some vectors."""
        blocks = (
            vectors[first : first + SCALED_ROWS].astype(np.float32)
            for first in range(0, len(vectors), SCALED_ROWS)
        )
        norms = [np.maximum(np.linalg.norm(block, axis=1), 1e-12) for block in blocks]
        return cls(vectors, np.concatenate([np.empty(0, np.float32), *norms]))

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows, and numbers in each."""
        return self.vectors.shape

    def __len__(self) -> int:
        return len(self.vectors)

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        return self.vectors[rows].astype(np.float32) / self.norms[rows, None]


def encoded(texts: Sequence[str], encoder: str, ctx: BuildContext) -> np.ndarray:
    """float32 [n, d]: unit vectors by the encoder of a name or role, as they are kept or encoded now. Raises as `halves`."""
    rows = UnitRows.of(halves(texts, encoder, ctx))
    whole = np.empty(rows.shape, np.float32)
    for first in range(0, len(rows), SCALED_ROWS):
        whole[first : first + SCALED_ROWS] = rows[first : first + SCALED_ROWS]
    return whole


def halves(
    texts: Sequence[str],
    encoder: str,
    ctx: BuildContext,
    advanced: Callable[[int], None] = lambda encoded: None,
) -> np.ndarray:
    """float16 [n, d]: vectors by the encoder of a name or role in half precision, as they are kept or encoded now; `advanced` is called
    with how many there are so far.

    Raises StoreError, BadParameter, ModelUnavailable, and what `ctx.watch` raises.
    """
    signature, rows = ctx.models.signature(encoder), RowFile(home() / "vectors.sqlite", SCHEMA)
    whole = np.empty((0, 0), np.float16)
    with rows.reading() as base:
        for first in range(0, len(texts), BATCH_TEXTS):
            batch = texts[first : first + BATCH_TEXTS]
            keys = [_key(signature, text) for text in batch]
            part = dict(zip(keys, batch))
            found = {
                key: np.frombuffer(data, np.float16)
                for key, data in by_key(base, "vectors", ("key", "vector"), part)
            }
            missing = [key for key in part if key not in found]
            if missing:
                ctx.watch.check()
                ctx.report.fresh += len(missing)
                before, wanted = first + len(part) - len(missing), [part[key] for key in missing]
                so_far = lambda encoded, before=before: advanced(before + encoded)
                made = np.asarray(
                    encoded_telling(ctx.models.encoder(encoder), wanted, ctx.watch, so_far),
                    np.float16,
                )
                rows.save(
                    "vectors",
                    ((key, vector.tobytes()) for key, vector in zip(missing, made)),
                    database=base,
                )
                found |= dict(zip(missing, made))
            if not first:
                whole = np.empty((len(texts), len(found[keys[0]])), np.float16)
            whole[first : first + len(batch)] = [found[key] for key in keys]
    return whole


def halves_over(workers: Workers, encoder: str, ctx: BuildContext) -> Encode:
    """As `halves` of blocks of texts, those that are not saved encoded over worker processes; the same vectors, whoever encodes. Raises as
    that does, and HopscopeError where a worker dies again and again."""
    signature, saved = ctx.models.signature(encoder), RowFile(home() / "vectors.sqlite", SCHEMA)

    def encode(blocks: Iterable[Texts], advanced: Callable[[int], None]) -> Vectors:
        waiting: dict[int, tuple[list[bytes], dict[bytes, np.ndarray], list[bytes]]] = {}

        def missing() -> Iterator[Texts]:
            for number, wanted in blocks:
                texts = {_key(signature, text): text for text in wanted}
                with saved.reading() as base:
                    found = {
                        key: np.frombuffer(data, np.float16)
                        for key, data in by_key(base, "vectors", ("key", "vector"), texts)
                    }
                lacking = [key for key in texts if key not in found]
                ctx.report.fresh += len(lacking)
                waiting[number] = [_key(signature, text) for text in wanted], found, lacking
                yield number, [texts[key] for key in lacking]

        for number, vectors in spread(workers, encoder, ctx.watch)(missing(), advanced):
            keys, found, lacking = waiting.pop(number)
            fresh = dict(zip(lacking, np.asarray(vectors, np.float16)))
            saved.save("vectors", ((key, vector.tobytes()) for key, vector in fresh.items()))
            found |= fresh
            yield number, np.stack([found[key] for key in keys]) if keys else NONE

    return encode


def _key(signature: str, text: str) -> bytes:
    return hashlib.sha256(f"{signature}\n{text}".encode()).digest()
