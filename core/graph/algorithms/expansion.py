"""Expansion of a subgraph around given nodes.

Nodes that were not found from the seeds are connected to them, expanded by their neighbours, or
dropped if they are not connected to a seed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.graph.algorithms.neighbourhood import component_labels, nearest_nodes
from core.graph.protocol import KnowledgeGraph
from core.watch import NO_WATCH, Watch

# Number of nodes nearest to the seeds that are searched for connections.
MAX_SEARCHED_NODES = 200_000
OPPOSITE_DIRECTION = {"out": "in", "in": "out", "both": "both"}


def connecting_paths(
    graph: KnowledgeGraph,
    seeds: Sequence[int],
    targets: Sequence[int],
    reach: int,
    direction: str,
    watch: Watch = NO_WATCH,
) -> dict[int, list[int]]:
    """Return a shortest path from a seed to each wanted node within `reach` steps.

    A path is a list of nodes, from the seed on. Of several, the one with the smallest ids counts,
    compared from its end backwards. Only the `MAX_SEARCHED_NODES` nodes nearest to the seeds are
    searched.

    Parameters
    ----------
    seeds : ids of the start nodes.
    targets : node ids to reach.
    reach : largest number of steps.
    direction : follows steps in the direction out, in, both or graph.
    watch : may raise RunCancelled.

    Returns
    -------
    Node ids of the path by wanted node; nodes out of reach are left out.

    Raises
    ------
    BadInput : there is no start node, or one is not in the graph.

    Examples
    --------
    >>> from core.graph.algorithms.expansion import connecting_paths
    >>> connecting_paths(toy, [4], [2], 3, "out")  # E>A>C
    {2: [4, 0, 2]}
    """
    nodes, distances = nearest_nodes(graph, seeds, reach, direction, MAX_SEARCHED_NODES, watch)
    order = np.argsort(nodes, kind="stable")
    nodes, distances = nodes[order], distances[order]
    opposite, paths = OPPOSITE_DIRECTION[graph.resolve(direction)], {}

    def distance(ids: np.ndarray) -> np.ndarray:
        index = np.minimum(np.searchsorted(nodes, ids), len(nodes) - 1)
        return np.where(nodes[index] == ids, distances[index], reach + 1)

    for end in targets:
        watch.check()
        path, steps_left = [int(end)], int(distance(np.array([end]))[0])
        if steps_left > reach:
            continue
        while steps_left:
            steps_left -= 1
            neighbours = graph.steps(path[-1], opposite)[0]
            path.append(int(neighbours[distance(neighbours) == steps_left].min()))
        paths[int(end)] = path[::-1]
    return paths


def expand_nodes(
    graph: KnowledgeGraph,
    start: dict[int, float],
    frontier: dict[int, float],
    hops: int,
    direction: str,
    keep: int,
    watch: Watch = NO_WATCH,
) -> tuple[dict[int, float], bool]:
    """Expand nodes by several hops, best scores first.

    A reached node gets the best score of those in `frontier` from which it is reached in the fewest
    steps. Nodes reached in fewer steps come first, then the order is (-score, id).

    Parameters
    ----------
    start : nodes that the result begins with, and their scores.
    frontier : the nodes among them that are expanded, and their scores.
    hops : largest number of steps.
    direction : follows steps in the direction out, in, both or graph.
    keep : largest number of nodes in the result.
    watch : checked for each expanded node; may raise RunCancelled.

    Returns
    -------
    Nodes with scores, and True if there were more than `keep`.

    Examples
    --------
    >>> from core.graph.algorithms.expansion import expand_nodes
    >>> expand_nodes(toy, {4: 1.0}, {4: 1.0}, 2, "out", 3)  # E, then A, then B; C has no room
    ({4: 1.0, 0: 1.0, 1: 1.0}, True)
    """
    scores, capped = dict(list(start.items())[:keep]), len(start) > keep
    level = {node: score for node, score in frontier.items() if node in scores}
    for _ in range(hops):
        fresh: dict[int, float] = {}
        room_left, worst = keep - len(scores), 0.0
        for node, score in sorted(level.items(), key=lambda pair: (-pair[1], pair[0])):
            watch.check()
            if len(fresh) > room_left and score < worst:
                break  # all that follow are worse than those that already fill the room
            added = 0
            for neighbour in np.unique(graph.steps(node, direction)[0]).tolist():
                if neighbour not in scores and neighbour not in fresh:
                    fresh[neighbour], worst, added = score, score, added + 1
                    if added > room_left:
                        break
        best = sorted(fresh.items(), key=lambda pair: (-pair[1], pair[0]))
        level, capped = dict(best[:room_left]), capped or len(best) > room_left
        scores |= level
    return scores, capped


def mark_connected(
    graph: KnowledgeGraph, nodes: np.ndarray, edges: np.ndarray, seeds: Sequence[int]
) -> np.ndarray:
    """Mark the nodes that `edges` connect to a seed, in either direction.

    Parameters
    ----------
    nodes : node ids, int64 [n] ascending.
    edges : edge ids between these nodes, int64 [m].
    seeds : node ids.

    Returns
    -------
    bool [n].

    Examples
    --------
    >>> from core.graph.algorithms.expansion import mark_connected
    >>> # A>B connects A to B, and nothing connects D
    >>> mark_connected(toy, np.array([0, 1, 3]), np.array([0]), [1]).tolist()
    [True, True, False]
    """
    _, pieces = component_labels(graph, nodes, edges)
    return np.isin(pieces, pieces[np.isin(nodes, np.asarray(seeds, np.int64))])
