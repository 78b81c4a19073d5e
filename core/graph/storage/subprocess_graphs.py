"""Choice of large graphs for work in subprocesses, and their opening there."""

from __future__ import annotations

from pathlib import Path as FilePath

from core.errors import StoreError
from core.graph.protocol import KnowledgeGraph
from core.graph.store import Graph

# On graphs with more triples, long work such as indexing is done in a subprocess.
SUBPROCESS_TRIPLES = 500_000


def open_with_digest(folder: FilePath, digest: str) -> Graph:
    """Open the graph in `folder` if it has this digest.

    The digest is that of the caller's graph.

    Raises
    ------
    StoreError
        If the graph cannot be opened, or has been rebuilt.
    """
    graph = Graph.open(folder)
    if graph.digest != digest:
        raise StoreError(f"The graph in {folder} was built anew just now; open it again.")
    return graph


def needs_subprocess(graph: KnowledgeGraph) -> bool:
    """Return whether long work on a graph is done in a subprocess.

    The graph must be large, and stored in a folder that the subprocess can open.
    """
    return graph.n_edges > SUBPROCESS_TRIPLES and graph.folder is not None
