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
    """Sizes of a graph's drawn overview.

    They include the size of the sample that finds the busiest entities.
    """

    hubs: int = 8  # entities with the highest degrees
    joints: int = 16  # entities that connect the hubs
    nodes: int = 42  # entities in total
    max_hub_steps: int = 20_000  # steps of a node, per direction, that are read
    # triples above which the busiest entities are taken from a sample, because counting all degrees
    # reads the whole graph
    max_counted_triples: int = 20_000_000
    sample_blocks: int = 256  # number of positions in the graph that are sampled
    sample_block_triples: int = 64  # triples read at each position
    max_joint_candidates: int = 2_000  # nodes next to the hubs, those next to the most hubs
    # further entities per relation and turn; also the triples drawn per entity if links are thinned
    max_examples: int = 3
    max_links_per_node: float = 2.5  # links per drawn node above which some links are left out


OVERVIEW = OverviewDefaults()
NodeSteps = tuple[np.ndarray, np.ndarray, np.ndarray]  # neighbours, edges, relations


@dataclass(frozen=True)
class Overview:
    """Nodes to draw, in three groups, and the triples between them.

    Each group is ordered best first. `edges` are the ids of the triples, ascending. `is_whole` is
    True if all nodes of the graph are drawn.
    """

    hubs: tuple[int, ...]
    joints: tuple[int, ...]
    further: tuple[int, ...]
    edges: tuple[int, ...]
    is_whole: bool = False


def overview(graph: Any) -> Overview:
    """Choose the nodes and triples that show a graph best.

    The nodes are the entities with the highest degrees (hubs), entities that are adjacent to
    several hubs (joints), and neighbours of the joints by the relations that occur least among the
    drawn nodes. All nodes of a graph of at most `OVERVIEW.nodes` nodes are drawn. Only a bounded
    part of the graph is read: at most `OVERVIEW.max_hub_steps` steps of a node in each direction.

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

    Of a very large graph, the candidates are the nodes that occur most in a sample of its triples.

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
    """Return the edges to draw, ascending: all of them, or a part if there are too many.

    There are too many if they connect more than `OVERVIEW.max_links_per_node` pairs per node. Then
    up to `OVERVIEW.max_examples` edges are chosen for each node, one per pair, first those of the
    relations chosen least so far.
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
    """Return the neighbours, edges and relations of a node's steps, int64.

    Only the first `OVERVIEW.max_hub_steps` steps in each direction are read.
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
    """Choose nodes that are adjacent to many hubs, one after the other.

    Each choice is the node with the largest gain, and of several the one with the smallest id. The
    gain is a sum over the adjacent hubs of 1 / (1 + number of chosen nodes next to the hub)^2.
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
    """Choose neighbours of the joints, and add them to `shown`.

    In each turn, one neighbour is chosen per joint. `steps` are those of the joints. The neighbour
    by the relation drawn least so far is chosen. In turn t, counted from 1, only relations drawn
    less than t x `OVERVIEW.max_examples` times count.
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
