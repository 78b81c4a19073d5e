"""A graph opened from its folder, whatever kind of store lies there."""

from __future__ import annotations

from pathlib import Path as FilePath

from core.errors import StoreError
from core.graph.protocol import KnowledgeGraph
from core.graph.storage.database import DatabaseGraph
from core.graph.store import Graph, read_meta

LARGE = 500_000  # triples from which on long work is done in a process of its own


def open_store(folder: str | FilePath) -> KnowledgeGraph:
    """The graph stored in `folder`, as arrays or in a database. Raises StoreError where it is absent, damaged or of another version."""
    if read_meta(FilePath(folder)).get("store", "arrays") == "arrays":
        return Graph.open(folder)
    return DatabaseGraph.open(folder)


def open_same(folder: FilePath, digest: str) -> KnowledgeGraph:
    """The graph in `folder`, as another process knew it. Raises StoreError as `open_store`, and where it was built anew since."""
    graph = open_store(folder)
    if graph.digest != digest:
        raise StoreError(f"The graph in {folder} was built anew just now; open it again.")
    return graph


def needs_subprocess(graph: KnowledgeGraph) -> bool:
    """Whether long work on a graph is done in a process of its own: where it is large, and lies in a folder for others to open."""
    return graph.n_edges > LARGE and isinstance(graph, Graph) and graph.folder is not None
