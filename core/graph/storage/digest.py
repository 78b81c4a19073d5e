"""Digests of a graph's content and of the state of a file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path as FilePath

import numpy as np

from core.errors import BadInput
from core.graph.columns import Columns
from core.graph.storage.write import release
from core.graph.store import ARRAYS, BLOB, VERSION

# Number of values that are added to the digest at a time.
HASHED = 1 << 23


def digest_of(
    arrays: dict[str, np.ndarray], names: np.ndarray, relations: Iterable[str], direction: str
) -> str:
    """Return the SHA-256 of a graph's content, in hex.

    The same triples give the same digest in any process.
    """
    digest = hashlib.sha256(json.dumps([VERSION, direction, list(relations)]).encode())
    for key, values in [*((key, arrays[key]) for key in ARRAYS), (BLOB, names)]:
        digest.update(f"{key} {values.dtype.str} {len(values)}\n".encode())
        for first in range(0, len(values), HASHED):
            digest.update(np.ascontiguousarray(values[first : first + HASHED]).data.cast("B"))
        release(values)
    return digest.hexdigest()


def with_columns(digest: str, columns: Columns) -> str:
    """Return the digest of a graph with tables, given the digest of its triples.

    Without tables, it is that of the triples.
    """
    return hashlib.sha256(f"{digest}\n{columns.digest}".encode()).hexdigest() if columns else digest


def stamp(path: FilePath) -> dict:
    """Return the state of a file.

    It consists of [bytes, time of change in ns] and the SHA-256 of its content.
    """
    try:
        stat = path.stat()
        return {"stamp": [stat.st_size, stat.st_mtime_ns], "digest": file_digest(path)}
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}.") from None


def file_digest(path: FilePath) -> str:
    """Return the SHA-256 of a file's content, in hex."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
