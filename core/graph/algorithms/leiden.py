"""Communities of a graph by the Leiden algorithm, split until they are small."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import BadInput
from core.graph.algorithms.dice import dice
from core.graph.storage.opening import needs_subprocess, open_same
from core.graph.store import Graph
from core.io.files import size_text
from core.runtime.subprocess_worker import in_subprocess
from core.runtime.weight import free_memory
from core.watch import NO_WATCH, Watch

if TYPE_CHECKING:
    from core.graph.large import Links

SEED = 0
CLUSTER = (
    100_000  # nodes; larger clusters are split again, so that a question's PageRank stays small
)
LARGEST = 20_000_000  # edges that igraph is given, which needs about 200 bytes for each; of a larger graph the arrays are read as they are
BYTES_AN_EDGE = 100  # that the arrays take then, as measured


@dataclass(frozen=True, eq=False)
class Communities:
    """The finest communities of a graph: `of[v]` is that of node `v`. They are numbered by their first member."""

    of: np.ndarray  # int32 [n]

    def __len__(self) -> int:
        return len(self._starts) - 1

    def members(self, community: int) -> np.ndarray:
        """The nodes of a community, int64, ascending."""
        return self._order[self._starts[community] : self._starts[community + 1]]

    def sizes(self) -> np.ndarray:
        """The number of members of each community, int64."""
        return np.diff(self._starts)

    def digest(self, community: int) -> str:
        """The sha256 of a community's members in hex."""
        return hashlib.sha256(self.members(community).astype("<i8").tobytes()).hexdigest()

    @cached_property
    def _order(self) -> np.ndarray:
        return np.argsort(self.of, kind="stable").astype(np.int64)

    @cached_property
    def _starts(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(np.bincount(self.of))]).astype(np.int64)


def clusters(graph: Graph, watch: Watch = NO_WATCH) -> Communities:
    """The communities of at most `CLUSTER` nodes each, found anew. Raises as `detect`.

    >>> from core.graph.algorithms.leiden import clusters
    >>> found = clusters(toy)
    >>> sorted(node for one in range(len(found)) for node in found.members(one).tolist())  # each node is in one community
    [0, 1, 2, 3, 4]
    """
    return Communities(detect(graph, CLUSTER, watch))


def detect(graph: Graph, max_size: int, watch: Watch = NO_WATCH) -> np.ndarray:
    """The community of each node, int32 [n], numbered by first member. Raises BadInput for a graph too large, and what `watch` raises.

    A large graph is clustered in a process of its own: igraph holds the interpreter for as long as it is at it.

    Leiden for modularity on the undirected graph (parallel edges weigh more); each community of more than `max_size`
    nodes is split again by Leiden on the subgraph that it induces, until it is small enough or Leiden leaves it whole.
    Microsoft's GraphRAG clusters only the largest connected component; here every node belongs to a community.

    igraph does it for up to `LARGEST` edges, `core.graph.large.array_leiden` for more.
    """
    refusal = too_large(graph)
    if refusal:
        raise BadInput(refusal)
    if needs_subprocess(graph):
        return in_subprocess(_detected, graph.folder, graph.digest, max_size, watch=watch)
    return _detect(graph, max_size, watch)


def too_large(graph: Graph) -> str:
    """Why the communities of a graph are not found here, for want of memory; empty where they are.

    >>> from core.graph.algorithms.leiden import too_large
    >>> too_large(toy)
    ''
    """
    need, free = BYTES_AN_EDGE * graph.n_edges, free_memory()
    if graph.n_edges <= LARGEST or need <= free:
        return ""
    few = f"that needs about {size_text(need)} of memory, and {size_text(free)} are free"
    return f"{graph.n_edges:,} triples are too many to be clustered here: {few}."


def _detected(folder: Path, digest: str, max_size: int, watch: Watch = NO_WATCH) -> np.ndarray:
    """`_detect`, for a graph that is opened first."""
    graph = open_same(folder, digest)
    assert isinstance(graph, Graph)  # no other is worked on apart
    return _detect(graph, max_size, watch)


def _detect(graph: Graph, max_size: int, watch: Watch = NO_WATCH) -> np.ndarray:
    import igraph

    watch.report("Finding communities", 0.0)
    whole: Any
    if graph.n_edges > LARGEST:
        from core.graph.large import Links

        whole = _Large(Links(*graph.adjacency()))
    else:
        out_indptr, tails, _, _ = graph.adjacency()
        edges = np.column_stack(
            [np.repeat(np.arange(graph.n_nodes), np.diff(out_indptr)), tails]
        ).astype(np.int64)
        whole = igraph.Graph(n=graph.n_nodes, edges=edges)
    everything = np.arange(graph.n_nodes)
    # nodes, and where among those of a graph
    waiting: list[tuple[np.ndarray, Any, np.ndarray | None]] = [(everything, whole, None)]
    found, settled = np.empty(graph.n_nodes, np.int64), 0
    while waiting:
        watch.check()
        nodes, part, among = waiting.pop()
        part = part if among is None else _induced(part, among)
        membership = part.communities(watch) if isinstance(part, _Large) else _leiden(part)
        count = int(membership.max()) + 1 if len(membership) else 0
        for inner in (
            np.split(np.argsort(membership, kind="stable"), np.cumsum(np.bincount(membership))[:-1])
            if count
            else ()
        ):
            if count > 1 and len(inner) > max_size:
                waiting.append((nodes[inner], part, inner))
            else:
                found[nodes[inner]] = nodes[inner].min()
                settled += len(inner)
        watch.report(
            f"Finding communities: {settled:,} of {graph.n_nodes:,} entities",
            settled / max(1, graph.n_nodes),
        )
    return np.unique(found, return_inverse=True)[1].astype(np.int32)


@dataclass(frozen=True, eq=False)
class _Large:
    """A graph of more than `LARGEST` edges; `place` is -1 for each node."""

    links: Links

    @cached_property
    def place(self) -> np.ndarray:
        return np.full(self.links.n_nodes, -1, np.int32)

    def communities(self, watch: Watch = NO_WATCH) -> np.ndarray:
        """The community of each node."""
        from core.graph.large import leiden

        return leiden(self.links, watch)

    def induced(self, among: np.ndarray) -> Any:
        """The subgraph on the nodes at these places: igraph's, where it is small enough for it."""
        import igraph

        from core.graph.large import inner_edges, linked

        edges = inner_edges(self.links, among, self.place)
        if len(edges) <= LARGEST:
            return igraph.Graph(n=len(among), edges=edges)
        return _Large(linked(len(among), edges))


def _induced(part: Any, among: np.ndarray) -> Any:
    """The subgraph on the nodes at these places."""
    return (
        part.induced(among) if isinstance(part, _Large) else part.induced_subgraph(among.tolist())
    )


def _leiden(part) -> np.ndarray:
    """The cluster of each vertex by Leiden with a generator of its own, so that the same part gives the same clusters."""
    with dice(SEED):
        return np.asarray(
            part.community_leiden(objective_function="modularity", n_iterations=2).membership,
            np.int64,
        )
