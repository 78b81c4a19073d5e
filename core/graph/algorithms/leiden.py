"""Flat communities of a graph: Leiden, run again inside communities that are too large."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import BadInput
from core.graph.algorithms.igraph_library import seed_igraph, uses_igraph
from core.graph.columns import row_offsets
from core.graph.storage.subprocess_graphs import needs_subprocess, open_with_digest
from core.graph.store import Graph
from core.io.files import size_text
from core.runtime.memory import free_memory
from core.runtime.subprocess_worker import in_subprocess
from core.watch import NO_WATCH, Watch

if TYPE_CHECKING:
    from core.graph.large import Links

LEIDEN_SEED = 0
# Number of nodes above which a cluster is split again, so that PageRank inside the clusters of a
# question's seeds stays fast.
MAX_CLUSTER_NODES = 100_000
# Largest number of edges that igraph clusters; it takes about 200 bytes per edge. Larger graphs are
# clustered by `core.graph.large.array_leiden`.
LEIDEN_IGRAPH_EDGES = 20_000_000
# Measured memory in bytes per edge of `core.graph.large.array_leiden`.
LEIDEN_EDGE_BYTES = 100


@dataclass(frozen=True, eq=False)
class NodeCommunities:
    """Disjoint communities that cover all nodes of a graph, numbered by their smallest node.

    `community_of[v]` is the community of node `v`.
    """

    community_of: np.ndarray  # int32 [n]

    def __len__(self) -> int:
        return len(self._starts) - 1

    def members(self, community: int) -> np.ndarray:
        """Return the nodes of a community, int64, ascending."""
        return self._order[self._starts[community] : self._starts[community + 1]]

    def sizes(self) -> np.ndarray:
        """Return the number of members of each community, int64."""
        return np.diff(self._starts)

    def digest(self, community: int) -> str:
        """Return the SHA-256 of a community's members, in hex."""
        return hashlib.sha256(self.members(community).astype("<i8").tobytes()).hexdigest()

    @cached_property
    def _order(self) -> np.ndarray:
        return np.argsort(self.community_of, kind="stable").astype(np.int64)

    @cached_property
    def _starts(self) -> np.ndarray:
        return row_offsets(np.bincount(self.community_of))


def detect_clusters(graph: Graph, watch: Watch = NO_WATCH) -> NodeCommunities:
    """Detect communities; those of more than `MAX_CLUSTER_NODES` nodes are split again.

    Parameters
    ----------
    watch : may raise RunCancelled.

    Returns
    -------
    The communities, with their members.

    Raises
    ------
    BadInput : the graph is too large for the free memory.

    Examples
    --------
    >>> from core.graph.algorithms.leiden import detect_clusters
    >>> found = detect_clusters(toy)
    >>> # each node is in one community
    >>> sorted(node for group in range(len(found)) for node in found.members(group).tolist())
    [0, 1, 2, 3, 4]
    """
    return NodeCommunities(detect_communities(graph, MAX_CLUSTER_NODES, watch))


def detect_communities(graph: Graph, max_size: int, watch: Watch = NO_WATCH) -> np.ndarray:
    """Detect the communities of a graph.

    The method is Leiden for modularity on the undirected graph, in which each parallel edge counts.
    Each community of more than `max_size` nodes is split again by Leiden on its induced subgraph,
    until it is small enough or Leiden does not split it. Microsoft's GraphRAG clusters only the
    largest connected component; here every node belongs to a community.

    Graphs of up to `LEIDEN_IGRAPH_EDGES` edges are clustered by igraph, if it is installed, and
    others by `core.graph.large.array_leiden`. A large graph is clustered in a subprocess, because
    igraph holds Python's global lock while it runs.

    Parameters
    ----------
    max_size : number of nodes above which a community is split again.
    watch : may raise RunCancelled.

    Returns
    -------
    The community of each node, int32 [n]; communities are numbered by their smallest node.

    Raises
    ------
    BadInput : the graph is too large for the free memory.
    """
    refusal = clustering_refusal(graph)
    if refusal:
        raise BadInput(refusal)
    if needs_subprocess(graph):
        return in_subprocess(
            _cluster_in_subprocess, graph.folder, graph.digest, max_size, watch=watch
        )
    return _cluster_graph(graph, max_size, watch)


def clustering_refusal(graph: Graph) -> str:
    """Return the reason why a graph cannot be clustered.

    Clustering may need more than the free memory. The reason is empty if the graph can be
    clustered.

    >>> from core.graph.algorithms.leiden import clustering_refusal
    >>> clustering_refusal(toy)
    ''
    """
    need, free = LEIDEN_EDGE_BYTES * graph.n_edges, free_memory()
    if graph.n_edges <= LEIDEN_IGRAPH_EDGES or need <= free:
        return ""
    shortage = f"that needs about {size_text(need)} of memory, and {size_text(free)} are free"
    return f"{graph.n_edges:,} triples are too many to be clustered here: {shortage}."


def _cluster_in_subprocess(
    folder: Path, digest: str, max_size: int, watch: Watch = NO_WATCH
) -> np.ndarray:
    """Open a graph and cluster it; the subprocess runs this."""
    return _cluster_graph(open_with_digest(folder, digest), max_size, watch)


def _cluster_graph(graph: Graph, max_size: int, watch: Watch = NO_WATCH) -> np.ndarray:
    watch.report("Finding communities", 0.0)
    # (node ids of a community; graph that contains it; its positions in that graph, None for all).
    waiting: list[tuple[np.ndarray, Any, np.ndarray | None]] = [
        (np.arange(graph.n_nodes), _whole_graph(graph), None)
    ]
    community_of, settled = np.empty(graph.n_nodes, np.int64), 0
    while waiting:
        watch.check()
        nodes, part, positions_in_part = waiting.pop()
        if positions_in_part is not None:
            part = _induce_subgraph(part, positions_in_part)
        groups = NodeCommunities(
            part.communities(watch) if isinstance(part, _ArrayGraph) else _cluster_igraph(part)
        )
        for number in range(len(groups)):
            members = groups.members(number)
            if len(groups) > 1 and len(members) > max_size:
                waiting.append((nodes[members], part, members))
            else:
                community_of[nodes[members]] = nodes[members].min()
                settled += len(members)
        watch.report(
            f"Finding communities: {settled:,} of {graph.n_nodes:,} entities",
            settled / max(1, graph.n_nodes),
        )
    return np.unique(community_of, return_inverse=True)[1].astype(np.int32)


def _whole_graph(graph: Graph) -> Any:
    """Return a graph for clustering: an igraph graph, or else an `_ArrayGraph`."""
    if not uses_igraph(graph.n_edges, LEIDEN_IGRAPH_EDGES):
        from core.graph.large import Links

        return _ArrayGraph(Links(*graph.adjacency()))
    import igraph

    out_indptr, tails, _, _ = graph.adjacency()
    heads = np.repeat(np.arange(graph.n_nodes), np.diff(out_indptr))
    edges = np.column_stack([heads, tails]).astype(np.int64)
    return igraph.Graph(n=graph.n_nodes, edges=edges)


@dataclass(frozen=True, eq=False)
class _ArrayGraph:
    """A graph that is too large for igraph, or any graph if igraph is not installed."""

    links: Links

    @cached_property
    def rows(self) -> np.ndarray:
        """Work array of `inner_edges`, which holds -1 for each node between calls."""
        return np.full(self.links.n_nodes, -1, np.int32)

    def communities(self, watch: Watch = NO_WATCH) -> np.ndarray:
        """Return the community of each node."""
        from core.graph.large import leiden

        return leiden(self.links, watch)

    def induced(self, positions: np.ndarray) -> Any:
        """Return the subgraph on the nodes at these positions, as `_whole_graph` does."""
        from core.graph.large import inner_edges, make_links

        edges = inner_edges(self.links, positions, self.rows)
        if not uses_igraph(len(edges), LEIDEN_IGRAPH_EDGES):
            return _ArrayGraph(make_links(len(positions), edges))
        import igraph

        return igraph.Graph(n=len(positions), edges=edges)


def _induce_subgraph(part: Any, positions: np.ndarray) -> Any:
    """Return the subgraph on the nodes at these positions."""
    if isinstance(part, _ArrayGraph):
        return part.induced(positions)
    return part.induced_subgraph(positions.tolist())


def _cluster_igraph(part: Any) -> np.ndarray:
    """Return the Leiden cluster of each vertex, with a fixed seed."""
    with seed_igraph(LEIDEN_SEED):
        clusters = part.community_leiden(objective_function="modularity", n_iterations=2)
    return np.asarray(clusters.membership, np.int64)
