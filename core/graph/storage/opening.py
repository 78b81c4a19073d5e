"""Graphs that another process opens for long work."""

from __future__ import annotations

from pathlib import Path as FilePath

from core.errors import StoreError
from core.graph.protocol import KnowledgeGraph
from core.graph.store import Graph

LARGE = 500_000  # triples from which on long work is done in a process of its own


def open_same(folder: FilePath, digest: str) -> Graph:
    """The graph in `folder`, as another process knew it. Raises StoreError as `Graph.open`, and where it was built anew since."""
    graph = Graph.open(folder)
    if graph.digest != digest:
        raise StoreError(f"The graph in {folder} was built anew just now; open it again.")
    return graph


def needs_subprocess(graph: KnowledgeGraph) -> bool:
    """Whether long work on a graph is done in a process of its own: where it is large, and lies in a folder for others to open."""
    return graph.n_edges > LARGE and graph.folder is not None
