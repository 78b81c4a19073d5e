"""Vectors that builds need, kept in SQLite by encoder and text, so that no text is encoded twice."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from contextlib import closing

import numpy as np

from core.builds.base import BuildContext
from core.errors import StoreError
from core.io.home import home
from core.io.sqlite import WAIT, opened, with_table

AT_ONCE = 500  # texts looked up, or encoded, together; what a kill costs at most
TABLE = "create table if not exists vectors (key blob primary key, vector blob not null) without rowid"


def encoded(texts: Sequence[str], encoder: str, ctx: BuildContext) -> np.ndarray:
    """float32 [n, d]: unit vectors by the encoder of a name or role, as they are kept or encoded now. Raises as `halves`."""
    vectors = halves(texts, encoder, ctx).astype(np.float32)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def halves(texts: Sequence[str], encoder: str, ctx: BuildContext) -> np.ndarray:
    """float16 [n, d]: vectors by the encoder of a name or role in half precision, as they are kept or encoded now.

    Raises StoreError, BadParameter, ModelUnavailable, and what `ctx.check` raises.
    """
    signature, file = ctx.models.signature(encoder), home() / "vectors.sqlite"
    keys = [hashlib.sha256(f"{signature}\n{text}".encode()).digest() for text in texts]
    found: dict[bytes, np.ndarray] = {}
    try:
        with closing(opened(file, with_table(TABLE, ahead=True), timeout=WAIT)) as base:
            for first in range(0, len(keys), AT_ONCE):
                part = dict(zip(keys[first : first + AT_ONCE], texts[first : first + AT_ONCE]))
                asked = f"select key, vector from vectors where key in ({','.join('?' * len(part))})"
                found |= {key: np.frombuffer(data, np.float16) for key, data in base.execute(asked, list(part))}
                missing = [key for key in part if key not in found]
                if missing:
                    ctx.check()
                    ctx.report.fresh += len(missing)
                    made = np.asarray(ctx.models.encoder(encoder).encode([part[key] for key in missing], ctx.check), np.float16)
                    rows = [(key, vector.tobytes()) for key, vector in zip(missing, made) if base.saves]
                    with base:
                        base.executemany("insert or replace into vectors values (?, ?)", rows)
                    found |= dict(zip(missing, made))
    except sqlite3.Error as error:
        raise StoreError(f"The vectors in {file} cannot be used ({error}); remove that file to start anew.") from None
    return np.array([found[key] for key in keys], np.float16).reshape(len(keys), -1)
