"""Neighbourhoods of nodes: nearest nodes, induced edges and connected components."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from core.errors import BadInput
from core.graph.protocol import KnowledgeGraph
from core.graph.store import Graph
from core.types import Subgraph
from core.watch import NO_WATCH, Watch

# Codes of the directions in the compiled loops, which call the code `mask`.
DIRECTION_CODES = {"out": 1, "in": 2, "both": 3}


def seed_array(graph: KnowledgeGraph, seeds: Iterable[int]) -> np.ndarray:
    """Return the seeds as an array, checked to be nodes of the graph.

    Parameters
    ----------
    seeds : node ids.

    Returns
    -------
    int64, in the order of `seeds` and with repeats.

    Raises
    ------
    BadInput
        If there are none, or one is not a node of the graph.

    Examples
    --------
    >>> from core.graph.algorithms.neighbourhood import seed_array
    >>> seed_array(toy, [2, 0, 2]).tolist()
    [2, 0, 2]
    """
    nodes = [int(seed) for seed in seeds]
    if not nodes:
        raise BadInput("There is no start node; name at least one entity of the graph.")
    for node in nodes:
        if not 0 <= node < graph.n_nodes:
            raise BadInput(
                f"There is no node {node}; the graph “{graph.name}” has nodes 0 to "
                f"{graph.n_nodes - 1}."
            )
    return np.array(nodes, np.int64)


def walk_arguments(
    graph: KnowledgeGraph, direction: str
) -> tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the arguments for compiled functions that walk a graph.

    Parameters
    ----------
    direction : out, in, both or graph.

    Returns
    -------
    (mask, out_indptr, tails, in_indptr, in_heads); the code of the direction, and the arrays of
        `KnowledgeGraph.adjacency`.

    Raises
    ------
    BadParameter : the direction is unknown.

    Examples
    --------
    >>> from core.graph.algorithms.neighbourhood import walk_arguments
    >>> mask, out_indptr, *_ = walk_arguments(toy, "both")
    >>> mask, out_indptr.tolist()
    (3, [0, 2, 3, 5, 6, 7])
    """
    return DIRECTION_CODES[graph.resolve(direction)], *graph.adjacency()


def nearest_nodes(
    graph: KnowledgeGraph,
    seeds: Iterable[int],
    hops: int,
    direction: str = "graph",
    keep: int | None = None,
    watch: Watch = NO_WATCH,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes within `hops` steps of the seeds, and their distances.

    The search is breadth-first and the seeds are included.

    Parameters
    ----------
    seeds : ids of the start nodes.
    hops : largest distance.
    direction : direction of the steps: out, in, both or graph.
    keep : largest number of nodes, seeds included; the nearest are returned. None for all.
    watch : checked before each hop; may raise RunCancelled.

    Returns
    -------
    Node ids and distances, both int64, ordered by (distance, id).

    Raises
    ------
    BadInput : there is no start node, or one is not in the graph.

    Examples
    --------
    >>> from core.graph.algorithms.neighbourhood import nearest_nodes
    >>> nodes, hops = nearest_nodes(toy, [4], 2, "out")  # E>A, then A>B and A>C
    >>> toy.names(nodes), hops.tolist()
    (['E', 'A', 'B', 'C'], [0, 1, 2, 2])
    """
    from core.graph.algorithms.traversal import next_level  # imports numba

    seeds = np.unique(seed_array(graph, seeds))
    keep = graph.n_nodes if keep is None else max(0, min(keep, graph.n_nodes))
    reached = np.empty(keep, np.int64)
    distance = np.zeros(keep, np.int64)
    seen = np.zeros(graph.n_nodes, bool)
    start, end = 0, min(keep, len(seeds))
    reached[:end], seen[seeds] = seeds[:end], True
    arguments = walk_arguments(graph, direction)
    for hop in range(1, hops + 1):
        watch.check()
        start, end = end, next_level(reached, start, end, seen, *arguments)
        distance[start:end] = hop
        if start == end or end == keep:
            break
    return reached[:end].copy(), distance[:end].copy()


def induced_edges(graph: KnowledgeGraph, nodes: Iterable[int]) -> np.ndarray:
    """Return the edges that have both ends among some nodes.

    Parameters
    ----------
    nodes : node ids; repeats count once.

    Returns
    -------
    Edge ids, int64 ascending.

    Examples
    --------
    >>> from core.graph.algorithms.neighbourhood import induced_edges
    >>> toy.triple_texts(induced_edges(toy, [0, 2, 3]))
    ['A -> r1 -> C', 'C -> r3 -> A', 'C -> r4 -> D', 'D -> r6 -> D']
    """
    from core.graph.algorithms.traversal import count_edges_among  # imports numba

    nodes = np.unique(np.asarray(nodes if isinstance(nodes, np.ndarray) else list(nodes), np.int64))
    assert isinstance(graph, Graph)
    indptr, relations, tails = map(np.asarray, (graph.out_indptr, graph.relations, graph.tails))
    n_edges = count_edges_among(nodes, indptr, relations, tails, np.empty(0, np.int64), False)
    edges = np.empty(n_edges, np.int64)
    count_edges_among(nodes, indptr, relations, tails, edges, True)
    return edges


def connected_components(graph: KnowledgeGraph, subgraph: Subgraph) -> int:
    """Return the number of weakly connected components of a subgraph, including single nodes.

    Parameters
    ----------
    subgraph : nodes, ascending, and edges between them.

    Returns
    -------
    The number; 0 for a subgraph without nodes.

    Examples
    --------
    >>> from core.graph.algorithms.neighbourhood import connected_components
    >>> from core.types import Subgraph
    >>> connected_components(toy, Subgraph(np.array([0, 1, 3]), np.array([0])))  # A>B, and D alone
    2
    """
    return int(component_labels(graph, subgraph.nodes, subgraph.edges)[0])


def component_labels(
    graph: KnowledgeGraph, nodes: np.ndarray, edges: np.ndarray
) -> tuple[int, np.ndarray]:
    """Return the weakly connected components that `edges` form among `nodes`.

    Parameters
    ----------
    nodes : node ids, int64 [n] ascending.
    edges : edge ids between these nodes, int64 [m].

    Returns
    -------
    The number of components, and the component of each node, from 0.

    Examples
    --------
    >>> from core.graph.algorithms.neighbourhood import component_labels
    >>> count, labels = component_labels(toy, np.array([0, 1, 3]), np.array([0]))
    >>> count, labels.tolist()
    (2, [0, 0, 1])
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components as find_components

    heads, _, tails = graph.triples(np.asarray(edges, np.int64))
    indices = np.searchsorted(nodes, heads), np.searchsorted(nodes, tails)
    matrix = coo_matrix((np.ones(len(heads), bool), indices), (len(nodes), len(nodes)))
    return find_components(matrix, directed=False)
