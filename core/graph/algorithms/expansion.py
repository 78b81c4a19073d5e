"""Expansion of a subgraph by connecting paths and neighbours.

The module also finds the parts of a subgraph without a seed.
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
    """Return a shortest path from a seed to each target node within `reach` steps.

    A path is a list of nodes, the seed first. Of several shortest paths, the one with the smallest
    ids is returned; ids are compared from the target back to the seed. Only the
    `MAX_SEARCHED_NODES` nodes nearest to the seeds are searched.

    Parameters
    ----------
    seeds : ids of the start nodes.
    targets : node ids to reach.
    reach : largest number of steps.
    direction : direction of the steps: out, in, both or graph.
    watch : may raise RunCancelled.

    Returns
    -------
    The node ids of the path by target; targets out of reach are left out.

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

    def distances_of(ids: np.ndarray) -> np.ndarray:
        """Return the distances of nodes from the seeds.

        The distance is `reach` + 1 for nodes that were not found.
        """
        index = np.minimum(np.searchsorted(nodes, ids), len(nodes) - 1)
        return np.where(nodes[index] == ids, distances[index], reach + 1)

    for target in targets:
        watch.check()
        path, steps_left = [int(target)], int(distances_of(np.array([target]))[0])
        if steps_left > reach:
            continue
        while steps_left:
            steps_left -= 1
            neighbours = graph.steps(path[-1], opposite)[0]
            path.append(int(neighbours[distances_of(neighbours) == steps_left].min()))
        paths[int(target)] = path[::-1]
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

    A new node gets a score of `frontier`: the best score of the frontier nodes that reach it in the
    fewest steps. The result is ordered by (steps, -score, id), after the nodes of `start`.

    Parameters
    ----------
    start : nodes at the beginning of the result, and their scores.
    frontier : the nodes among them that are expanded, and their scores.
    hops : largest number of steps.
    direction : direction of the steps: out, in, both or graph.
    keep : largest number of nodes in the result.
    watch : checked for each expanded node; may raise RunCancelled.

    Returns
    -------
    The nodes with their scores, and True if nodes were left out because there were more than
    `keep`.

    Examples
    --------
    >>> from core.graph.algorithms.expansion import expand_nodes
    >>> expand_nodes(toy, {4: 1.0}, {4: 1.0}, 2, "out", 3)  # E, then A, then B; C would be the 4th
    ({4: 1.0, 0: 1.0, 1: 1.0}, True)
    """
    scores, is_capped = dict(list(start.items())[:keep]), len(start) > keep
    level = {node: score for node, score in frontier.items() if node in scores}
    for _ in range(hops):
        new_nodes: dict[int, float] = {}
        # `worst` is the lowest score of the new nodes, since the level is visited best score first.
        limit, worst = keep - len(scores), 0.0
        for node, score in _sort_by_score(level):
            watch.check()
            if len(new_nodes) > limit and score < worst:
                break  # there are too many new nodes already, and all further ones score lower
            added = 0
            for neighbour in np.unique(graph.steps(node, direction)[0]).tolist():
                if neighbour not in scores and neighbour not in new_nodes:
                    new_nodes[neighbour] = worst = score
                    added += 1
                    if added > limit:  # one more than fits, so that the result is marked as capped
                        break
        best = _sort_by_score(new_nodes)
        level, is_capped = dict(best[:limit]), is_capped or len(best) > limit
        scores |= level
    return scores, is_capped


def _sort_by_score(scores: dict[int, float]) -> list[tuple[int, float]]:
    """Return (node, score) pairs, ordered by (-score, node)."""
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


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
