"""Opening of graphs by subprocesses for long work."""

from __future__ import annotations

from pathlib import Path as FilePath

from core.errors import StoreError
from core.graph.protocol import KnowledgeGraph
from core.graph.store import Graph

# Number of triples from which on long work is done in a subprocess.
SUBPROCESS_TRIPLES = 500_000


def open_with_digest(folder: FilePath, digest: str) -> Graph:
    """Open the graph in `folder`, which must have this digest.

    Raises
    ------
    StoreError
        As `Graph.open`, or if the graph has been rebuilt since.
    """
    graph = Graph.open(folder)
    if graph.digest != digest:
        raise StoreError(f"The graph in {folder} was built anew just now; open it again.")
    return graph


def needs_subprocess(graph: KnowledgeGraph) -> bool:
    """Return whether long work is done in a subprocess, as on large stored graphs."""
    return graph.n_edges > SUBPROCESS_TRIPLES and graph.folder is not None
