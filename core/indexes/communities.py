"""Communities of a graph, detected once and saved next to it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from core.graph.algorithms.leiden import CLUSTER, Communities, detect
from core.graph.store import Graph
from core.indexes.place import index_folder, keep, keep_if_possible
from core.io import digests
from core.runtime.meter import spent
from core.watch import NO_WATCH, Watch

MAX_SIZE = 10  # the value of Microsoft's GraphRAG


def clusters(graph: Graph, watch: Watch = NO_WATCH) -> Communities:
    """Return the communities of at most `CLUSTER` nodes for PageRank inside clusters.

    Raises BadInput and StoreError.
    """
    return graph.derived.once("clusters", None, lambda: communities(graph, CLUSTER, watch))


@spent("preparation", "Communities of the graph")
def communities(graph: Graph, max_size: int = MAX_SIZE, watch: Watch = NO_WATCH) -> Communities:
    """Return the graph's communities, detected first where they are not saved yet.

    The same graph has the same communities in every process. Raises StoreError where they cannot be
    saved although saving is possible in general.
    """
    found = saved(graph, max_size)
    if found is None:
        known = detect(graph, max_size, watch)
        keep_if_possible(_file(graph, max_size), lambda stream: np.save(stream, known))
        found = Communities(known)
    return found


def saved(graph: Graph, max_size: int = MAX_SIZE) -> Communities | None:
    """Return the saved communities of the graph, or None."""
    known = _read(_file(graph, max_size), graph.n_nodes)
    return None if known is None else Communities(known)


def prepare(graph: Graph, max_size: int, watch: Watch = NO_WATCH) -> Communities:
    """Detect the graph's communities anew and save them.

    Communities saved before stay until then. Raises StoreError, and what `watch` raises.
    """
    known = detect(graph, max_size, watch)
    keep(_file(graph, max_size), lambda stream: np.save(stream, known))
    return Communities(known)


def _file(graph: Graph, max_size: int) -> Path:
    return index_folder(graph) / f"communities-{max_size}.npy"


def _read(file, n_nodes: int) -> np.ndarray | None:
    """Return the array saved in `file`, or None where it is missing or damaged."""
    try:
        digests.check_sealed(file)
        known = np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    fits = (
        known.shape == (n_nodes,) and known.dtype == np.int32 and (not n_nodes or known.min() >= 0)
    )
    return known if fits else None
