"""Communities of a graph, detected once and saved next to it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from core.graph.algorithms.igraph_library import community_mark
from core.graph.algorithms.leiden import MAX_CLUSTER_NODES, NodeCommunities, detect_communities
from core.graph.store import Graph
from core.indexes.index_storage import index_folder, write_atomically, write_if_possible
from core.io import digests
from core.runtime.meter import count_time
from core.watch import NO_WATCH, Watch

MAX_COMMUNITY_NODES = 10  # the value of Microsoft's GraphRAG


def pagerank_clusters(graph: Graph, watch: Watch = NO_WATCH) -> NodeCommunities:
    """Return the communities of at most `MAX_CLUSTER_NODES` nodes for PageRank inside clusters.

    Parameters
    ----------
    watch : may raise RunCancelled.

    Returns
    -------
    The communities, kept in memory with the graph.

    Raises
    ------
    BadInput : the graph is too large for the free memory.
    StoreError : they cannot be saved although saving is possible in general.
    """
    return graph.derived.get_or_make(
        "clusters", None, lambda: load_communities(graph, MAX_CLUSTER_NODES, watch)
    )


@count_time("preparation", "Communities of the graph")
def load_communities(
    graph: Graph, max_size: int = MAX_COMMUNITY_NODES, watch: Watch = NO_WATCH
) -> NodeCommunities:
    """Return the graph's communities, detected first if they are not saved yet.

    The same graph has the same communities in every process.

    Parameters
    ----------
    max_size : number of nodes above which a community is split again.
    watch : may raise RunCancelled.

    Returns
    -------
    The communities.

    Raises
    ------
    BadInput : the graph is too large for the free memory.
    StoreError : they cannot be saved although saving is possible in general.
    """
    result = saved_communities(graph, max_size)
    if result is None:
        labels = detect_communities(graph, max_size, watch)
        write_if_possible(_file(graph, max_size), lambda stream: np.save(stream, labels))
        result = NodeCommunities(labels)
    return result


def saved_communities(graph: Graph, max_size: int = MAX_COMMUNITY_NODES) -> NodeCommunities | None:
    """Return the saved communities of the graph.

    Parameters
    ----------
    max_size : number of nodes above which a community is split again.

    Returns
    -------
    None if none of this size are saved.
    """
    labels = _read(_file(graph, max_size), graph.n_nodes)
    return None if labels is None else NodeCommunities(labels)


def prepare_communities(graph: Graph, max_size: int, watch: Watch = NO_WATCH) -> NodeCommunities:
    """Detect the graph's communities anew, and then replace the saved ones.

    Parameters
    ----------
    max_size : number of nodes above which a community is split again.
    watch : what it raises stops the work.

    Returns
    -------
    The communities.

    Raises
    ------
    BadInput : the graph is too large for the free memory.
    StoreError : they cannot be saved.
    """
    labels = detect_communities(graph, max_size, watch)
    write_atomically(_file(graph, max_size), lambda stream: np.save(stream, labels))
    return NodeCommunities(labels)


def file_name(max_size: int) -> str:
    """Return the name of the file of communities, which tells whether igraph is installed."""
    return f"communities-{max_size}{community_mark()}.npy"


def _file(graph: Graph, max_size: int) -> Path:
    return index_folder(graph) / file_name(max_size)


def _read(file, n_nodes: int) -> np.ndarray | None:
    """Return the array saved in `file`, or None if it is missing or damaged."""
    try:
        digests.check_appended_digest(file)
        labels = np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    fits = (
        labels.shape == (n_nodes,)
        and labels.dtype == np.int32
        and (not n_nodes or labels.min() >= 0)
    )
    return labels if fits else None
