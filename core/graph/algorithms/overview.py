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


@dataclass(frozen=True)
class OverviewDefaults:
    """Sizes of the drawn overview of a graph, and of the sample that finds its busiest entities."""

    hubs: int = 8  # entities with the highest degrees
    joints: int = 16  # entities that connect the hubs
    nodes: int = 42  # entities in total
    max_hub_steps: int = 20_000  # steps of a hub, per direction, that are searched for joints
    # beyond it a sample gives the highest degrees, as counting reads the whole graph
    max_counted_triples: int = 20_000_000
    sample_blocks: int = 256  # positions in the graph that are sampled
    sample_block_triples: int = 64  # triple ends read at each position
    max_joint_candidates: int = 2_000
    max_examples: int = 3  # of a relation, or triples of an entity, that suffice
    # drawn; of a denser graph, max_examples triples of each entity are
    max_links_per_node: float = 2.5


OVERVIEW = OverviewDefaults()


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
    and neighbours of the latter by relations that do not occur yet. A graph of at most
    `OVERVIEW.nodes` nodes is drawn whole. Only a bounded part of the graph is read: at most
    `OVERVIEW.max_hub_steps` steps of a node in each direction.

    >>> from core.graph.algorithms.overview import overview
    >>> found = overview(toy)
    >>> toy.names(found.hubs), found.edges, found.whole
    (['A', 'C', 'D', 'B', 'E'], (0, 1, 2, 3, 4, 5, 6), True)
    """
    hubs = busiest_nodes(graph, OVERVIEW.hubs)
    if graph.n_nodes <= OVERVIEW.nodes:
        return _show_all(graph, hubs)
    hub_steps = [_steps(graph, hub) for hub in hubs]
    joints = _joints(hubs, hub_steps)
    steps = [_steps(graph, joint) for joint in joints]
    further = _choose_further({*hubs, *joints}, steps, OVERVIEW.nodes - len(hubs) - len(joints))
    shown = np.array(sorted({*hubs, *joints, *further}), np.int64)
    edges = np.unique(
        np.concatenate(
            [ids[np.isin(nodes, shown)] for nodes, ids, _ in (*hub_steps, *steps)] or [shown[:0]]
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
    if graph.n_edges <= OVERVIEW.max_counted_triples:
        return list(graph.shape().busiest[:count])
    starts = np.random.default_rng(0).integers(
        0, graph.n_edges - OVERVIEW.sample_block_triples, OVERVIEW.sample_blocks
    )
    rows = (np.sort(starts)[:, None] + np.arange(OVERVIEW.sample_block_triples)).ravel()
    nodes, times = np.unique(
        np.concatenate([graph.tails[rows], graph.in_heads[rows]]), return_counts=True
    )
    often = nodes[np.argsort(-times, kind="stable")[: count * 8]].astype(np.int64)
    degrees = graph.degrees(often)
    return often[np.lexsort((often, -degrees))][:count].tolist()


def _show_all(graph: Any, hubs: list[int]) -> Overview:
    others = tuple(node for node in range(graph.n_nodes) if node not in hubs)
    edges = induced_edges(graph, np.arange(graph.n_nodes))
    return Overview(tuple(hubs), others, (), _thin_edges(graph, (*hubs, *others), edges), True)


def _thin_edges(graph: Any, nodes: tuple[int, ...], edges: np.ndarray) -> tuple[int, ...]:
    """Thin out the edges if they connect more than `OVERVIEW.max_links_per_node` pairs per node.

    Then `OVERVIEW.max_examples` edges of each node stay, those of the relations drawn least so far
    first. The result is ascending.
    """
    heads, relations, tails = (ids.tolist() for ids in graph.triples(edges))
    pairs = [(min(pair), max(pair)) for pair in zip(heads, tails)]
    if len(set(pairs)) <= OVERVIEW.max_links_per_node * len(nodes):
        return tuple(edges.tolist())
    positions_at: dict[int, list[int]] = {node: [] for node in nodes}
    for edge_position, (low, high) in enumerate(pairs):
        if low != high:
            positions_at[low].append(edge_position)
            positions_at[high].append(edge_position)
    chosen: set[int] = set()
    connected: set[tuple[int, int]] = set()
    counts: Counter[int] = Counter()
    for node in nodes:
        for _ in range(OVERVIEW.max_examples):
            fit = (index for index in positions_at[node] if pairs[index] not in connected)
            best = min(fit, key=lambda index: (counts[relations[index]], index), default=None)
            if best is not None:
                chosen.add(int(edges[best]))
                connected.add(pairs[best])
                counts[relations[best]] += 1
    return tuple(sorted(chosen))


def _steps(graph: Any, node: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (neighbours, edges, relations) of a node, int64.

    At most the first `OVERVIEW.max_hub_steps` steps in each direction are read.
    """
    out = np.arange(
        graph.out_indptr[node],
        min(graph.out_indptr[node + 1], graph.out_indptr[node] + OVERVIEW.max_hub_steps),
    )
    into = slice(
        int(graph.in_indptr[node]),
        int(min(graph.in_indptr[node + 1], graph.in_indptr[node] + OVERVIEW.max_hub_steps)),
    )
    edges = np.concatenate([out, graph.in_edges[into]]).astype(np.int64)
    nodes = np.concatenate([graph.tails[out], graph.in_heads[into]]).astype(np.int64)
    return nodes, edges, graph.relations[edges].astype(np.int64)


def _joints(hubs: list[int], steps: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> list[int]:
    """Choose nodes adjacent to the hubs, one after the other.

    Each time it is the one whose hubs have the fewest chosen neighbours so far; of several, the one
    with the smallest id.
    """
    hub_neighbours = [np.setdiff1d(nodes, hubs) for nodes, *_ in steps]
    nodes, times = (
        np.unique(np.concatenate(hub_neighbours), return_counts=True)
        if hub_neighbours
        else (np.empty(0, np.int64), np.empty(0, np.int64))
    )
    nodes = np.sort(nodes[np.argsort(-times, kind="stable")[: OVERVIEW.max_joint_candidates]])
    if len(nodes):
        linked = np.stack(
            [np.isin(nodes, one, assume_unique=True) for one in hub_neighbours], axis=1
        )
    else:
        linked = np.zeros((0, len(hubs)), bool)
    chosen: list[int] = []
    counts, available = np.zeros(len(hubs)), np.ones(len(nodes), bool)
    while available.any() and len(chosen) < OVERVIEW.joints:
        gains = np.where(available, linked @ (1 / (1 + counts) ** 2), -1.0)
        best = int(np.argmax(gains))
        available[best] = False
        counts += linked[best]
        chosen.append(int(nodes[best]))
    return chosen


def _choose_further(
    shown: set[int], steps: list[tuple[np.ndarray, np.ndarray, np.ndarray]], room: int
) -> list[int]:
    """Choose neighbours of the connecting entities, one of each in turn.

    The relation drawn least so far comes first, with at most `OVERVIEW.max_examples` nodes per
    relation.
    """
    counts = Counter(
        int(relation)
        for nodes, _, by in steps
        for node, relation in zip(nodes.tolist(), by.tolist())
        if node in shown
    )
    chosen: list[int] = []
    for turn in range(OVERVIEW.max_examples):
        for nodes, _, relations in steps:
            fresh = [
                (counts[relation], index)
                for index, (node, relation) in enumerate(
                    zip(nodes.tolist()[: OVERVIEW.max_hub_steps], relations.tolist())
                )
                if node not in shown and counts[relation] < OVERVIEW.max_examples * (turn + 1)
            ]
            if fresh and len(chosen) < room:
                step_position = min(fresh)[1]
                chosen.append(int(nodes[step_position]))
                shown.add(int(nodes[step_position]))
                counts[int(relations[step_position])] += 1
    return chosen
