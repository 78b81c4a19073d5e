"""Small overview of a graph for drawing.

It consists of the entities with the highest degrees (hubs), entities that connect them (joints),
and further neighbours for variety.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.graph.algorithms.neighbourhood import induced_edges
from core.graph.order import top_k


@dataclass(frozen=True)
class OverviewDefaults:
    """Sizes of the drawn overview of a graph, and of the sample that finds its busiest entities."""

    hubs: int = 8  # entities with the highest degrees
    joints: int = 16  # entities that connect the hubs
    nodes: int = 42  # entities in total
    max_hub_steps: int = 20_000  # steps of a hub, per direction, that are searched for joints
    # triples above which a sample gives the highest degrees, as counting reads the whole graph
    max_counted_triples: int = 20_000_000
    sample_blocks: int = 256  # positions in the graph that are sampled
    sample_block_triples: int = 64  # triple ends read at each position
    max_joint_candidates: int = 2_000
    # further entities per relation; triples drawn of each entity of a graph with too many links
    max_examples: int = 3
    max_links_per_node: float = 2.5  # of a graph whose links are all drawn


OVERVIEW = OverviewDefaults()
NodeSteps = tuple[np.ndarray, np.ndarray, np.ndarray]  # neighbours, edges, relations


@dataclass(frozen=True)
class Overview:
    """Nodes to draw in three groups, each best first, and the triples between them.

    The triples are ascending. `is_whole` is True if this is the whole graph.
    """

    hubs: tuple[int, ...]
    joints: tuple[int, ...]
    further: tuple[int, ...]
    edges: tuple[int, ...]
    is_whole: bool = False


def overview(graph: Any) -> Overview:
    """Choose the nodes and triples that show a graph best.

    These are the entities with the highest degrees, entities that are adjacent to several of them,
    and neighbours of the latter by the relations drawn least so far. A graph of at most
    `OVERVIEW.nodes` nodes is drawn whole. Only a bounded part of the graph is read: at most
    `OVERVIEW.max_hub_steps` steps of a node in each direction.

    >>> from core.graph.algorithms.overview import overview
    >>> found = overview(toy)
    >>> toy.names(found.hubs), found.edges, found.is_whole
    (['A', 'C', 'D', 'B', 'E'], (0, 1, 2, 3, 4, 5, 6), True)
    """
    hubs = busiest_nodes(graph, OVERVIEW.hubs)
    if graph.n_nodes <= OVERVIEW.nodes:
        return _show_all(graph, hubs)
    hub_steps = [_first_steps(graph, hub) for hub in hubs]
    joints = _choose_joints(hubs, hub_steps)
    joint_steps = [_first_steps(graph, joint) for joint in joints]
    n_further = OVERVIEW.nodes - len(hubs) - len(joints)
    further = _choose_further({*hubs, *joints}, joint_steps, n_further)
    shown = (*hubs, *joints, *further)
    edges = [ids[np.isin(nodes, shown)] for nodes, ids, _ in (*hub_steps, *joint_steps)]
    edge_ids = np.unique(np.concatenate([*edges, np.empty(0, np.int64)]))
    return Overview(tuple(hubs), tuple(joints), tuple(further), _thin_edges(graph, shown, edge_ids))


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
    nodes, counts = np.unique(
        np.concatenate([graph.tails[rows], graph.in_heads[rows]]), return_counts=True
    )
    candidates = nodes[np.argsort(-counts, kind="stable")[: count * 8]].astype(np.int64)
    return top_k(candidates, graph.degrees(candidates), count)[0].tolist()


def _show_all(graph: Any, hubs: list[int]) -> Overview:
    others = tuple(node for node in range(graph.n_nodes) if node not in hubs)
    edges = induced_edges(graph, np.arange(graph.n_nodes))
    return Overview(tuple(hubs), others, (), _thin_edges(graph, (*hubs, *others), edges), True)


def _thin_edges(graph: Any, nodes: tuple[int, ...], edges: np.ndarray) -> tuple[int, ...]:
    """Return the edges, or some if they connect over `OVERVIEW.max_links_per_node` pairs per node.

    In that case, `OVERVIEW.max_examples` edges of each node stay, those of the relations drawn
    least so far first. The result is ascending.
    """
    heads, relations, tails = (ids.tolist() for ids in graph.triples(edges))
    pairs = [(min(pair), max(pair)) for pair in zip(heads, tails)]
    if len(set(pairs)) <= OVERVIEW.max_links_per_node * len(nodes):
        return tuple(edges.tolist())
    edges_at: dict[int, list[int]] = {node: [] for node in nodes}  # positions in `edges`
    for index, (low, high) in enumerate(pairs):
        if low != high:
            edges_at[low].append(index)
            edges_at[high].append(index)
    chosen: set[int] = set()
    connected: set[tuple[int, int]] = set()
    counts: Counter[int] = Counter()
    for node in nodes:
        for _ in range(OVERVIEW.max_examples):
            candidates = (index for index in edges_at[node] if pairs[index] not in connected)
            best = min(
                candidates, key=lambda index: (counts[relations[index]], index), default=None
            )
            if best is not None:
                chosen.add(int(edges[best]))
                connected.add(pairs[best])
                counts[relations[best]] += 1
    return tuple(sorted(chosen))


def _first_steps(graph: Any, node: int) -> NodeSteps:
    """Return (neighbours, edges, relations) of a node, int64.

    At most the first `OVERVIEW.max_hub_steps` steps in each direction are read.
    """
    (out_start, out_stop), (in_start, in_stop) = (
        (int(indptr[node]), int(min(indptr[node + 1], indptr[node] + OVERVIEW.max_hub_steps)))
        for indptr in (graph.out_indptr, graph.in_indptr)
    )
    out_edges, entries = np.arange(out_start, out_stop), slice(in_start, in_stop)
    edges = np.concatenate([out_edges, graph.in_edges[entries]]).astype(np.int64)
    nodes = np.concatenate([graph.tails[out_edges], graph.in_heads[entries]]).astype(np.int64)
    return nodes, edges, graph.relations[edges].astype(np.int64)


def _choose_joints(hubs: list[int], steps: list[NodeSteps]) -> list[int]:
    """Choose nodes adjacent to the hubs, one after the other.

    Each time it is the node that is adjacent to the most hubs, where a hub counts less the more
    chosen neighbours it has; of several, the one with the smallest id.
    """
    hub_neighbours = [np.setdiff1d(nodes, hubs) for nodes, *_ in steps]
    nodes, counts = np.unique(
        np.concatenate([*hub_neighbours, np.empty(0, np.int64)]), return_counts=True
    )
    nodes = np.sort(nodes[np.argsort(-counts, kind="stable")[: OVERVIEW.max_joint_candidates]])
    is_adjacent = np.zeros((len(nodes), len(hubs)), bool)
    for column, neighbours in enumerate(hub_neighbours):
        is_adjacent[:, column] = np.isin(nodes, neighbours, assume_unique=True)
    chosen: list[int] = []
    n_chosen, is_available = np.zeros(len(hubs)), np.ones(len(nodes), bool)
    while is_available.any() and len(chosen) < OVERVIEW.joints:
        gains = np.where(is_available, is_adjacent @ (1 / (1 + n_chosen) ** 2), -1.0)
        best = int(np.argmax(gains))
        is_available[best] = False
        n_chosen += is_adjacent[best]
        chosen.append(int(nodes[best]))
    return chosen


def _choose_further(shown: set[int], steps: list[NodeSteps], limit: int) -> list[int]:
    """Choose neighbours of the joints, one of each in turn, and add them to `shown`.

    The relation drawn least so far comes first. The number of nodes per relation is limited by
    `OVERVIEW.max_examples`, times the number of the turn.
    """
    counts: Counter[int] = Counter()
    for nodes, _, relations in steps:
        counts.update(relations[np.isin(nodes, list(shown))].tolist())
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
            if fresh and len(chosen) < limit:
                _, best = min(fresh)
                chosen.append(int(nodes[best]))
                shown.add(int(nodes[best]))
                counts[int(relations[best])] += 1
    return chosen
