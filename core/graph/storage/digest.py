"""What tells one graph's content, or one state of a file, from another."""

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

HASHED = 1 << 23  # values put into the digest at a time


def digest_of(
    arrays: dict[str, np.ndarray], names: np.ndarray, relations: Iterable[str], direction: str
) -> str:
    """The sha256 of a graph's content in hex; the same triples give the same digest in any process."""
    digest = hashlib.sha256(json.dumps([VERSION, direction, list(relations)]).encode())
    for key, values in [*((key, arrays[key]) for key in ARRAYS), (BLOB, names)]:
        digest.update(f"{key} {values.dtype.str} {len(values)}\n".encode())
        for first in range(0, len(values), HASHED):
            digest.update(np.ascontiguousarray(values[first : first + HASHED]).data.cast("B"))
        release(values)
    return digest.hexdigest()


def with_columns(digest: str, columns: Columns) -> str:
    """The digest of a graph whose triples have that digest and that carries these tables; of a graph of triples its own."""
    return hashlib.sha256(f"{digest}\n{columns.digest}".encode()).hexdigest() if columns else digest


def stamp(path: FilePath) -> dict:
    """What tells one state of a file from another: [bytes, time of change in ns] and the sha256 of its content."""
    try:
        stat = path.stat()
        return {"stamp": [stat.st_size, stat.st_mtime_ns], "digest": file_digest(path)}
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}.") from None


def file_digest(path: FilePath) -> str:
    """The sha256 of a file's content in hex."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
