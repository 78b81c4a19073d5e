"""Checks that a whole store holds the bytes that were written."""

from __future__ import annotations

import numpy as np

from core.errors import StoreError
from core.graph.degrees import degree_bytes
from core.graph.storage.digest import digest_of, digest_with_columns
from core.graph.store import STORE_ARRAYS, Graph


def verify(graph: Graph) -> None:
    """Read the whole store and raise StoreError unless its bytes are those that were written."""
    arrays = {key: getattr(graph, key) for key in STORE_ARRAYS}
    digest = digest_of(arrays, graph.names_utf8, graph.relation_names, graph.direction)
    if digest_with_columns(digest, graph.columns) != graph.digest:
        raise StoreError(f"The graph “{graph.name}” is damaged; build it again.")
    if not np.array_equal(graph.degree_bytes, degree_bytes(graph.out_indptr, graph.in_indptr)):
        raise StoreError(f"The graph “{graph.name}” is damaged; build it again.")
