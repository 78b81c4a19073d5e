"""Positions of nodes in drawings of graphs: near to their neighbours, or in columns by hops."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from core.graph.algorithms.igraph_library import has_igraph, seed_igraph

# Number of candidate positions per ring around the neighbours of a new node.
RING_POSITIONS = 20
# Radii of these rings, in units of the desired distance between nodes.
RING_RADII = (0.7, 1.0, 1.5, 2.2, 3.2)
# Width of the margins in which no new node is put, as a share of the picture.
SIDE_MARGIN = 0.03
# Distance between the first two columns, in units of the other distances. It is smaller, because no
# labels are drawn between these columns.
FIRST_COLUMN_GAP = 0.5

Position = tuple[float, float]


def node_positions(
    nodes: Sequence[int],
    edges: Sequence[tuple[int, int]],
    fixed: Mapping[int, Position] | None = None,
    seed: int = 0,
) -> dict[int, Position]:
    """Return coordinates in 0..1 for each node, near to its neighbours.

    The layout is Kamada-Kawai, or Fruchterman-Reingold if the graph is not connected and igraph is
    installed.

    Parameters
    ----------
    nodes : node ids.
    edges : pairs of node ids.
    fixed : positions of nodes that are not moved. Without any, all nodes are laid out; else the
        other nodes are put into the gaps near to their neighbours.
    seed : seed of the random numbers of the layout.

    Returns
    -------
    (x, y) by node.

    Examples
    --------
    >>> from core.graph.algorithms.layout import node_positions
    >>> node_positions([7, 8], [(7, 8)], fixed={7: (0.5, 0.5), 8: (0.1, 0.9)})
    {7: (0.5, 0.5), 8: (0.1, 0.9)}
    >>> sorted(node_positions([7, 8, 9], [(7, 8), (8, 9)])) # every node has a position
    [7, 8, 9]
    """
    if not nodes:
        return {}
    positions = {node: fixed[node] for node in nodes if node in fixed} if fixed else {}
    if positions:
        return _place_new_nodes(nodes, edges, positions)
    index = {node: i for i, node in enumerate(nodes)}
    pairs = sorted({(min(index[a], index[b]), max(index[a], index[b])) for a, b in edges if a != b})
    xy = kamada_kawai(len(nodes), pairs, seed, forces_if_unconnected=True)
    extent = xy.max(0) - xy.min(0)
    xy = np.where(extent < 1e-9, 0.5, (xy - xy.min(0)) / np.maximum(extent, 1e-9))
    xy = _repel(xy, 0.62 / math.sqrt(len(nodes)))
    return {node: (round(float(x), 4), round(float(y), 4)) for node, (x, y) in zip(nodes, xy)}


def kamada_kawai(
    n: int, pairs: Sequence[tuple[int, int]], seed: int = 0, forces_if_unconnected: bool = False
) -> np.ndarray:
    """Return coordinates of nodes by Kamada-Kawai, float64 [n, 2], in any unit.

    networkx computes them if igraph is not installed.

    Parameters
    ----------
    n : number of nodes, at least 1.
    pairs : edges between nodes 0 to n - 1.
    seed : seed of igraph's random numbers.
    forces_if_unconnected : let igraph lay out a graph that is not connected by Fruchterman-Reingold.
    """
    if not has_igraph():
        return _kamada_kawai_by_networkx(n, pairs)
    import igraph

    graph = igraph.Graph(n, pairs)
    with seed_igraph(seed):
        if forces_if_unconnected and not graph.is_connected():
            layout = graph.layout_fruchterman_reingold(grid=False)
        else:
            layout = graph.layout_kamada_kawai()
    return np.asarray(layout.coords)


def _kamada_kawai_by_networkx(n: int, pairs: Sequence[tuple[int, int]]) -> np.ndarray:
    """Return the layout of networkx; nothing is random."""
    import networkx

    graph = networkx.empty_graph(n)
    graph.add_edges_from(pairs)
    distances = dict(networkx.all_pairs_shortest_path_length(graph))
    # Nodes that no path joins: one step further apart than those that the longest path joins.
    unconnected = 1 + max(max(row.values()) for row in distances.values())
    filled = {node: dict.fromkeys(graph, unconnected) | row for node, row in distances.items()}
    places = networkx.kamada_kawai_layout(graph, dist=filled)
    return np.array([places[node] for node in range(n)])


def _repel(xy: np.ndarray, limit: float) -> np.ndarray:
    """Move points apart that are nearer to each other than `limit`, within 0..1.

    It stops after 40 rounds, also if some points are still near to each other.
    """
    xy = xy.copy()
    for _ in range(40):
        gaps = xy[:, None] - xy[None]
        distance = np.linalg.norm(gaps, axis=2)
        np.fill_diagonal(distance, 1)
        close = distance < limit
        if not close.any():
            break
        # Points at the same position are moved in opposite directions, by their order.
        push = np.where(
            distance[..., None] > 1e-6,
            gaps / np.maximum(distance, 1e-6)[..., None],
            np.sign(np.subtract.outer(np.arange(len(xy)), np.arange(len(xy))))[..., None],
        )
        xy = np.clip(xy + (push * np.where(close, limit - distance, 0)[..., None]).sum(1) / 3, 0, 1)
    return xy


def _place_new_nodes(
    nodes: Sequence[int], edges: Sequence[tuple[int, int]], positions: dict[int, Position]
) -> dict[int, Position]:
    """Add positions of the nodes without one, those with the most placed neighbours first."""
    neighbours_of = neighbours(edges)
    positions, spacing = dict(positions), 0.8 / math.sqrt(max(len(nodes), 4))

    def placed_neighbours(node: int) -> list[Position]:
        return [positions[other] for other in neighbours_of.get(node, ()) if other in positions]

    waiting = [node for node in nodes if node not in positions]
    while waiting:
        node = max(waiting, key=lambda node: len(placed_neighbours(node)))
        waiting.remove(node)
        anchors = np.array(placed_neighbours(node))
        positions[node] = _free_position(anchors, np.array(list(positions.values())), spacing)
    return {node: positions[node] for node in nodes}


def _free_position(anchors: np.ndarray, occupied: np.ndarray, spacing: float) -> Position:
    """Return the best candidate position near the anchors, the placed neighbours.

    It is the least crowded one by the `occupied` positions, with a lower weight for its distance
    from the anchors.
    """
    turns = np.arange(RING_POSITIONS) * (2 * np.pi / RING_POSITIONS)
    directions = np.stack([np.cos(turns), np.sin(turns)], 1)
    middle = anchors.mean(0) if len(anchors) else np.array([0.5, 0.5])
    rings = [middle[None], *(middle + directions * spacing * ring for ring in RING_RADII)]
    candidates = np.clip(np.concatenate(rings), SIDE_MARGIN, 1 - SIDE_MARGIN)
    distance = np.linalg.norm(candidates[:, None] - occupied[None], axis=2)
    crowding = (np.maximum(0, spacing - distance) ** 2).sum(1) / spacing**2
    anchor_distance = 0
    if len(anchors):
        gaps = candidates[:, None] - anchors[None]
        anchor_distance = np.linalg.norm(gaps, axis=2).mean(1) / spacing
    x, y = candidates[int(np.argmin(np.round(4 * crowding + 0.25 * anchor_distance, 9)))]
    return round(float(x), 4), round(float(y), 4)


def layered_positions(
    nodes: Sequence[int], edges: Sequence[tuple[int, int]], seeds: Iterable[int]
) -> dict[int, Position]:
    """Return coordinates for a few nodes, in columns by hops from seeds.

    The coordinates are in 0..1. The order in each column is chosen for few edge crossings. Nodes
    that are not connected to a seed are in the last column.

    Parameters
    ----------
    nodes : node ids.
    edges : pairs of node ids.
    seeds : nodes of the first column. If none of them is in `nodes`, the first node is used.

    Returns
    -------
    (x, y) by node; x grows with the hops.

    Examples
    --------
    >>> from core.graph.algorithms.layout import layered_positions
    >>> layered_positions([0, 1, 2], [(0, 1), (1, 2)], [0])
    {0: (0.0, 0.5), 1: (0.3333, 0.5), 2: (1.0, 0.5)}
    """
    neighbours_of = neighbours(edges)
    input_order = {node: i for i, node in enumerate(nodes)}
    columns = _columns_by_hops(nodes, neighbours_of, seeds)
    heights = _sort_columns(columns, neighbours_of, input_order)
    offsets = [0.0 if i == 0 else i - 1 + FIRST_COLUMN_GAP for i in range(len(columns))]
    width = offsets[-1] or 1
    positions = dict[int, Position]()
    for x, column in zip(offsets, columns):
        for node in column:
            positions[node] = (round(x / width, 4), round(heights[node], 4))
    return positions


def _columns_by_hops(
    nodes: Sequence[int], neighbours_of: Mapping[int, Sequence[int]], seeds: Iterable[int]
) -> list[list[int]]:
    """Group nodes in columns by their hops from the seeds.

    Each column is in the order of `nodes`. Nodes out of reach are added to the last column. If only
    the first column is filled, they form a second one.
    """
    chosen_seeds = set(seeds)
    columns = [[node for node in nodes if node in chosen_seeds] or list(nodes[:1])]
    waiting = [node for node in nodes if node not in columns[0]]
    while True:
        reached = _neighbours_of_all(columns[-1], neighbours_of)
        column = [node for node in waiting if node in reached]
        if not column:
            break
        columns.append(column)
        waiting = [node for node in waiting if node not in reached]
    if len(columns) > 1:
        columns[-1].extend(waiting)
    elif waiting:
        columns.append(waiting)
    return columns


def _neighbours_of_all(
    nodes: Sequence[int], neighbours_of: Mapping[int, Sequence[int]]
) -> set[int]:
    """Return the nodes next to at least one of the given ones."""
    reached = set[int]()
    for node in nodes:
        reached.update(neighbours_of.get(node, ()))
    return reached


def _sort_columns(
    columns: Sequence[list[int]],
    neighbours_of: Mapping[int, Sequence[int]],
    input_order: Mapping[int, int],
) -> dict[int, float]:
    """Sort each column in place by the mean heights of neighbours.

    All heights are returned, in 0..1. Eight sweeps alternate between right to left and left to
    right.
    """
    heights = dict[int, float]()
    for column in columns:
        heights |= _even_heights(column)

    def preferred_rank(node: int) -> tuple[float, int]:
        values = [heights[other] for other in neighbours_of.get(node, ()) if other in heights]
        return round(float(np.mean(values or [heights[node]])), 6), input_order[node]

    for sweep in range(8):
        for column in columns if sweep % 2 else reversed(columns):
            column.sort(key=preferred_rank)
            heights |= _even_heights(column)
    return heights


def _even_heights(column: Sequence[int]) -> dict[int, float]:
    """Return heights that distribute the nodes of a column evenly.

    The heights are in 0..1 and follow the order of the nodes.
    """
    return {node: (i + 0.5) / len(column) for i, node in enumerate(column)}


def neighbours(edges: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    """Return the neighbours of each node, without repeats.

    >>> from core.graph.algorithms.layout import neighbours
    >>> neighbours([(0, 1), (2, 1), (1, 0), (2, 2)])
    {0: [1], 1: [0, 2], 2: [1]}
    """
    neighbours_of: dict[int, dict[int, None]] = {}
    for head, tail in edges:
        if head != tail:
            neighbours_of.setdefault(head, {})[tail] = None
            neighbours_of.setdefault(tail, {})[head] = None
    return {node: list(others) for node, others in neighbours_of.items()}
