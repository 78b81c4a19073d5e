"""A small overview of a graph, to be drawn.

It consists of the entities with the highest degrees, entities that connect them, and further
neighbours for variety.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.graph.algorithms.neighbourhood import induced

# Numbers of drawn entities: those with the highest degrees, those that connect them, and in total.
HUBS, JOINTS, ROOM = (8, 16, 42)
# Number of a hub's steps per direction that are searched for connecting entities.
LOOKED_AT = 20_000
# Number of triples above which a sample gives the highest degrees, since counting would read the
# whole graph.
MANY = 20_000_000
# Size of this sample: number of positions in the graph, and number of triple ends read at each.
BLOCKS, BLOCK = 256, 64
# Number of candidates for connecting entities.
CONSIDERED = 2_000
# Number of examples of a relation, or of triples of an entity, that suffice.
EACH = 3
# Largest number of drawn links per entity. Of a denser graph, `EACH` triples of each entity are
# drawn.
PAIRS = 2.5


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
    is drawn whole. Only a bounded part of the graph is read: at most `LOOKED_AT` steps of a node in
    each direction.

    >>> from core.graph.algorithms.overview import overview
    >>> found = overview(toy)
    >>> toy.names(found.hubs), found.edges, found.whole
    (['A', 'C', 'D', 'B', 'E'], (0, 1, 2, 3, 4, 5, 6), True)
    """
    hubs = busiest(graph, HUBS)
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
        _thinned(graph, (*hubs, *joints, *further), edges),
    )


def busiest(graph: Any, count: int) -> list[int]:
    """Return the nodes with the highest degrees, ordered by (-degree, id).

    Of a very large graph, a sample of its triples is used, in which hubs occur often.

    >>> from core.graph.algorithms.overview import busiest
    >>> toy.names(busiest(toy, 3))  # A and C have 4 edges each, D 3 with its loop twice
    ['A', 'C', 'D']
    """
    if graph.n_edges <= MANY:
        return list(graph.shape().busiest[:count])
    starts = np.random.default_rng(0).integers(0, graph.n_edges - BLOCK, BLOCKS)
    places = (np.sort(starts)[:, None] + np.arange(BLOCK)).ravel()
    nodes, times = np.unique(
        np.concatenate([graph.tails[places], graph.in_heads[places]]), return_counts=True
    )
    often = nodes[np.argsort(-times, kind="stable")[: count * 8]].astype(np.int64)
    degrees = graph.degrees(often)
    return often[np.lexsort((often, -degrees))][:count].tolist()


def _whole(graph: Any, hubs: list[int]) -> Overview:
    others = tuple(node for node in range(graph.n_nodes) if node not in hubs)
    edges = induced(graph, np.arange(graph.n_nodes))
    return Overview(tuple(hubs), others, (), _thinned(graph, (*hubs, *others), edges), True)


def _thinned(graph: Any, nodes: tuple[int, ...], edges: np.ndarray) -> tuple[int, ...]:
    """Thin out the edges if they connect more than `PAIRS` pairs per node.

    Then `EACH` edges of each node stay, those of the relations drawn least so far first. The result
    is ascending.
    """
    heads, relations, tails = (ids.tolist() for ids in graph.triples(edges))
    pairs = [(min(ends), max(ends)) for ends in zip(heads, tails)]
    if len(set(pairs)) <= PAIRS * len(nodes):
        return tuple(edges.tolist())
    at: dict[int, list[int]] = {node: [] for node in nodes}
    for place, (low, high) in enumerate(pairs):
        if low != high:
            at[low].append(place)
            at[high].append(place)
    chosen: set[int] = set()
    joined: set[tuple[int, int]] = set()
    seen: Counter[int] = Counter()
    for node in nodes:
        for _ in range(EACH):
            fit = (place for place in at[node] if pairs[place] not in joined)
            next_ = min(fit, key=lambda place: (seen[relations[place]], place), default=None)
            if next_ is not None:
                chosen.add(int(edges[next_]))
                joined.add(pairs[next_])
                seen[relations[next_]] += 1
    return tuple(sorted(chosen))


def _steps(graph: Any, node: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (neighbours, edges, relations) of a node, int64.

    At most the first `LOOKED_AT` steps in each direction are read.
    """
    out = np.arange(
        graph.out_indptr[node], min(graph.out_indptr[node + 1], graph.out_indptr[node] + LOOKED_AT)
    )
    into = slice(
        int(graph.in_indptr[node]),
        int(min(graph.in_indptr[node + 1], graph.in_indptr[node] + LOOKED_AT)),
    )
    edges = np.concatenate([out, graph.in_edges[into]]).astype(np.int64)
    nodes = np.concatenate([graph.tails[out], graph.in_heads[into]]).astype(np.int64)
    return nodes, edges, graph.relations[edges].astype(np.int64)


def _joints(hubs: list[int], near: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> list[int]:
    """Choose nodes adjacent to the hubs, one after the other.

    Each time it is the one whose hubs have the fewest chosen neighbours so far; of several, the one
    with the smallest id.
    """
    beside = [np.setdiff1d(nodes, hubs) for nodes, *_ in near]
    nodes, times = (
        np.unique(np.concatenate(beside), return_counts=True)
        if beside
        else (np.empty(0, np.int64), np.empty(0, np.int64))
    )
    nodes = np.sort(nodes[np.argsort(-times, kind="stable")[:CONSIDERED]])
    if len(nodes):
        linked = np.stack([np.isin(nodes, one, assume_unique=True) for one in beside], axis=1)
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

    The relation drawn least so far comes first, with at most `EACH` nodes per relation.
    """
    seen = Counter(
        int(relation)
        for nodes, _, by in steps
        for node, relation in zip(nodes.tolist(), by.tolist())
        if node in taken
    )
    found: list[int] = []
    for turn in range(EACH):
        for nodes, _, relations in steps:
            fresh = [
                (seen[relation], place)
                for place, (node, relation) in enumerate(
                    zip(nodes.tolist()[:LOOKED_AT], relations.tolist())
                )
                if node not in taken and seen[relation] < EACH * (turn + 1)
            ]
            if fresh and len(found) < room:
                place = min(fresh)[1]
                found.append(int(nodes[place]))
                taken.add(int(nodes[place]))
                seen[int(relations[place])] += 1
    return found
