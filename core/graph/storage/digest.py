"""Digests (SHA-256) by which equal graphs and unchanged files are recognised."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path as FilePath

import numpy as np

from core.errors import BadInput
from core.graph.columns import Columns
from core.graph.storage.store_files import release_map
from core.graph.store import NAMES_FILE, STORE_ARRAYS, STORE_VERSION

# Number of values that are hashed at a time.
DIGEST_BATCH_VALUES = 1 << 23


def digest_of(
    arrays: dict[str, np.ndarray], names: np.ndarray, relations: Iterable[str], direction: str
) -> str:
    """Return the SHA-256 of a graph's content, in hex.

    The same triples give the same digest in any process. Memory maps among the arrays are released
    after they are read.

    Parameters
    ----------
    arrays : the arrays in `STORE_ARRAYS`, by name.
    names : uint8, the concatenated names of the nodes.
    relations : names of the relations, by id.
    direction : the graph's default direction.
    """
    digest = hashlib.sha256(json.dumps([STORE_VERSION, direction, list(relations)]).encode())
    for key, values in [*((key, arrays[key]) for key in STORE_ARRAYS), (NAMES_FILE, names)]:
        digest.update(f"{key} {values.dtype.str} {len(values)}\n".encode())
        for first in range(0, len(values), DIGEST_BATCH_VALUES):
            digest.update(
                np.ascontiguousarray(values[first : first + DIGEST_BATCH_VALUES]).data.cast("B")
            )
        release_map(values)
    return digest.hexdigest()


def digest_with_columns(digest: str, columns: Columns) -> str:
    """Return the digest of a graph with tables, given the digest of its triples.

    Without tables, the digest of the triples is returned unchanged.
    """
    if not columns:
        return digest
    return hashlib.sha256(f"{digest}\n{columns.digest}".encode()).hexdigest()


def file_stamp(path: FilePath) -> dict:
    """Return the state of a file, by which a later change is recognised.

    Returns
    -------
    `stamp` is [size in bytes, time of change in ns], and `digest` is the SHA-256 of the content.

    Raises
    ------
    BadInput
        If the file cannot be read.
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
