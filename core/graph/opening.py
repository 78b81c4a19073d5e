"""A graph opened from its folder, whatever kind of store lies there."""

from __future__ import annotations

from pathlib import Path as FilePath

from core.graph.protocol import KnowledgeGraph
from core.graph.store import Graph, read_meta


def open_store(folder: str | FilePath) -> KnowledgeGraph:
    """The graph stored in `folder`, as arrays or in a database. Raises StoreError where it is absent, damaged or of another version."""
    if read_meta(FilePath(folder)).get("store", "arrays") == "arrays":
        return Graph.open(folder)
    from core.graph.database import DatabaseGraph

    return DatabaseGraph.open(folder)
