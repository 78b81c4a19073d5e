"""A small overview of a graph, to be drawn.

It consists of the entities with the highest degrees, entities that connect them, and further
neighbours for variety.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.graph.algorithms.neighbourhood import induced_edges

# Numbers of drawn entities: those with the highest degrees, those that connect them, and in total.
HUBS, JOINTS, ROOM = (8, 16, 42)
# Number of a hub's steps per direction that are searched for connecting entities.
MAX_HUB_STEPS = 20_000
# Number of triples above which a sample gives the highest degrees, since counting would read the
# whole graph.
MAX_COUNTED_TRIPLES = 20_000_000
# Size of this sample: number of positions in the graph, and number of triple ends read at each.
SAMPLE_BLOCKS, SAMPLE_BLOCK_TRIPLES = 256, 64
# Number of candidates for connecting entities.
MAX_JOINT_CANDIDATES = 2_000
# Number of examples of a relation, or of triples of an entity, that suffice.
MAX_EXAMPLES = 3
# Largest number of drawn links per entity. Of a denser graph, `MAX_EXAMPLES` triples of each entity
# are drawn.
MAX_LINKS_PER_NODE = 2.5


@dataclass(frozen=True)
class Overview:
    """Nodes to draw in three groups, each best first, and the triples between them.

    The triples are ascending. `whole` is True if this is the whole graph.
    """

    hubs: tuple[int, ...]
    joints: tuple[int, ...]
    further: tuple[int, ...]
    edges: tuple[int, ...]
    whole: bool = False


def overview(graph: Any) -> Overview:
    """Choose the nodes and triples that show a graph best.

    These are the entities with the highest degrees, the entities that are adjacent to most of them,
    and neighbours of the latter by relations that do not occur yet. A graph of at most `ROOM` nodes
    is drawn whole. Only a bounded part of the graph is read: at most `MAX_HUB_STEPS` steps of a
    node in each direction.

    >>> from core.graph.algorithms.overview import overview
    >>> found = overview(toy)
    >>> toy.names(found.hubs), found.edges, found.whole
    (['A', 'C', 'D', 'B', 'E'], (0, 1, 2, 3, 4, 5, 6), True)
    """
    hubs = busiest_nodes(graph, HUBS)
    if graph.n_nodes <= ROOM:
        return _whole(graph, hubs)
    near = [_steps(graph, hub) for hub in hubs]
    joints = _joints(hubs, near)
    steps = [_steps(graph, joint) for joint in joints]
    further = _further({*hubs, *joints}, steps, ROOM - len(hubs) - len(joints))
    drawn = np.array(sorted({*hubs, *joints, *further}), np.int64)
    edges = np.unique(
        np.concatenate(
            [found[np.isin(nodes, drawn)] for nodes, found, _ in (*near, *steps)] or [drawn[:0]]
        )
    )
    return Overview(
        tuple(hubs),
        tuple(joints),
        tuple(further),
        _thin_edges(graph, (*hubs, *joints, *further), edges),
    )


def busiest_nodes(graph: Any, count: int) -> list[int]:
    """Return the nodes with the highest degrees, ordered by (-degree, id).

    Of a very large graph, a sample of its triples is used, in which hubs occur often.

    Parameters
    ----------
    count : number of nodes.

    Returns
    -------
    At most `count` node ids.

    Examples
    --------
    >>> from core.graph.algorithms.overview import busiest_nodes
    >>> toy.names(busiest_nodes(toy, 3))  # A and C have 4 edges each, D 3 with its loop twice
    ['A', 'C', 'D']
    """
    if graph.n_edges <= MAX_COUNTED_TRIPLES:
        return list(graph.shape().busiest[:count])
    starts = np.random.default_rng(0).integers(
        0, graph.n_edges - SAMPLE_BLOCK_TRIPLES, SAMPLE_BLOCKS
    )
    places = (np.sort(starts)[:, None] + np.arange(SAMPLE_BLOCK_TRIPLES)).ravel()
    nodes, times = np.unique(
        np.concatenate([graph.tails[places], graph.in_heads[places]]), return_counts=True
    )
    often = nodes[np.argsort(-times, kind="stable")[: count * 8]].astype(np.int64)
    degrees = graph.degrees(often)
    return often[np.lexsort((often, -degrees))][:count].tolist()


def _whole(graph: Any, hubs: list[int]) -> Overview:
    others = tuple(node for node in range(graph.n_nodes) if node not in hubs)
    edges = induced_edges(graph, np.arange(graph.n_nodes))
    return Overview(tuple(hubs), others, (), _thin_edges(graph, (*hubs, *others), edges), True)


def _thin_edges(graph: Any, nodes: tuple[int, ...], edges: np.ndarray) -> tuple[int, ...]:
    """Thin out the edges if they connect more than `MAX_LINKS_PER_NODE` pairs per node.

    Then `MAX_EXAMPLES` edges of each node stay, those of the relations drawn least so far first.
    The result is ascending.
    """
    heads, relations, tails = (ids.tolist() for ids in graph.triples(edges))
    pairs = [(min(ends), max(ends)) for ends in zip(heads, tails)]
    if len(set(pairs)) <= MAX_LINKS_PER_NODE * len(nodes):
        return tuple(edges.tolist())
    positions_at: dict[int, list[int]] = {node: [] for node in nodes}
    for edge_position, (low, high) in enumerate(pairs):
        if low != high:
            positions_at[low].append(edge_position)
            positions_at[high].append(edge_position)
    chosen: set[int] = set()
    joined: set[tuple[int, int]] = set()
    seen: Counter[int] = Counter()
    for node in nodes:
        for _ in range(MAX_EXAMPLES):
            fit = (place for place in positions_at[node] if pairs[place] not in joined)
            next_ = min(fit, key=lambda place: (seen[relations[place]], place), default=None)
            if next_ is not None:
                chosen.add(int(edges[next_]))
                joined.add(pairs[next_])
                seen[relations[next_]] += 1
    return tuple(sorted(chosen))


def _steps(graph: Any, node: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (neighbours, edges, relations) of a node, int64.

    At most the first `MAX_HUB_STEPS` steps in each direction are read.
    """
    out = np.arange(
        graph.out_indptr[node],
        min(graph.out_indptr[node + 1], graph.out_indptr[node] + MAX_HUB_STEPS),
    )
    into = slice(
        int(graph.in_indptr[node]),
        int(min(graph.in_indptr[node + 1], graph.in_indptr[node] + MAX_HUB_STEPS)),
    )
    edges = np.concatenate([out, graph.in_edges[into]]).astype(np.int64)
    nodes = np.concatenate([graph.tails[out], graph.in_heads[into]]).astype(np.int64)
    return nodes, edges, graph.relations[edges].astype(np.int64)


def _joints(hubs: list[int], near: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> list[int]:
    """Choose nodes adjacent to the hubs, one after the other.

    Each time it is the one whose hubs have the fewest chosen neighbours so far; of several, the one
    with the smallest id.
    """
    hub_neighbours = [np.setdiff1d(nodes, hubs) for nodes, *_ in near]
    nodes, times = (
        np.unique(np.concatenate(hub_neighbours), return_counts=True)
        if hub_neighbours
        else (np.empty(0, np.int64), np.empty(0, np.int64))
    )
    nodes = np.sort(nodes[np.argsort(-times, kind="stable")[:MAX_JOINT_CANDIDATES]])
    if len(nodes):
        linked = np.stack(
            [np.isin(nodes, one, assume_unique=True) for one in hub_neighbours], axis=1
        )
    else:
        linked = np.zeros((0, len(hubs)), bool)
    chosen: list[int] = []
    joined, left = np.zeros(len(hubs)), np.ones(len(nodes), bool)
    while left.any() and len(chosen) < JOINTS:
        gains = np.where(left, linked @ (1 / (1 + joined) ** 2), -1.0)
        best = int(np.argmax(gains))
        left[best] = False
        joined += linked[best]
        chosen.append(int(nodes[best]))
    return chosen


def _further(
    taken: set[int], steps: list[tuple[np.ndarray, np.ndarray, np.ndarray]], room: int
) -> list[int]:
    """Choose neighbours of the connecting entities, one of each in turn.

    The relation drawn least so far comes first, with at most `MAX_EXAMPLES` nodes per relation.
    """
    seen = Counter(
        int(relation)
        for nodes, _, by in steps
        for node, relation in zip(nodes.tolist(), by.tolist())
        if node in taken
    )
    chosen: list[int] = []
    for turn in range(MAX_EXAMPLES):
        for nodes, _, relations in steps:
            fresh = [
                (seen[relation], place)
                for place, (node, relation) in enumerate(
                    zip(nodes.tolist()[:MAX_HUB_STEPS], relations.tolist())
                )
                if node not in taken and seen[relation] < MAX_EXAMPLES * (turn + 1)
            ]
            if fresh and len(chosen) < room:
                step_position = min(fresh)[1]
                chosen.append(int(nodes[step_position]))
                taken.add(int(nodes[step_position]))
                seen[int(relations[step_position])] += 1
    return chosen
