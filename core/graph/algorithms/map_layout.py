"""Layout of a whole graph as a map: its communities first, then the nodes of each one.

Each community is a disc with its hubs in the middle. Linked discs lie near each other, and
unlinked ones around them. The same graph has the same map.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from core.graph.algorithms.igraph_library import has_igraph, seed_igraph
from core.graph.columns import row_offsets
from core.graph.order import top_k
from core.graph.protocol import KnowledgeGraph
from core.watch import NO_WATCH, Watch


@dataclass(frozen=True)
class MapDefaults:
    """Bounds of a map, and sizes in its layout.

    The unit of length is the distance between two nodes.
    """

    nodes: int = 100_000
    edges: int = 300_000
    read_edges: int = 4_000_000  # edges of the graph that are read at a time
    main_topics: int = 800  # communities that are placed by their links
    min_linked_topic: int = 3  # nodes of a community below which it is placed around the others
    disc_radius: float = 0.78  # of a community of n nodes: this times the root of n
    gap: float = 1.1  # distance between discs, plus a share of their radius
    gap_share: float = 0.16
    ring_gap: float = 0.4  # added to the radii of the discs around the others
    ring_share: float = 0.4  # of their area that these discs cover
    flatness: float = 2.2  # makes the map wider than it is high
    disc_rounds: int = 400
    node_rounds: int = 80
    evenness: float = 0.6  # by how much nodes are spread over their disc, after ten rounds each


MAP = MapDefaults()
GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))


@dataclass(frozen=True, eq=False)
class MapPart:
    """The nodes and links of a graph that its map shows.

    The nodes are ordered by (-degree, id). A link connects two positions in `nodes`, the smaller
    one first; parallel edges are one link, and loops none.
    """

    nodes: np.ndarray  # int64 [n]
    degrees: np.ndarray  # int64 [n], in the whole graph
    heads: np.ndarray  # int32 [m]
    tails: np.ndarray  # int32 [m]


def map_part(graph: KnowledgeGraph, watch: Watch = NO_WATCH) -> MapPart:
    """Choose what the map of a graph shows: its best connected nodes, and links between them.

    If there are too many links, each node keeps those to its best connected neighbours.

    >>> from core.graph.algorithms.map_layout import map_part
    >>> part = map_part(toy)
    >>> part.nodes.tolist(), list(zip(part.heads.tolist(), part.tails.tolist()))
    ([0, 2, 3, 1, 4], [(0, 1), (0, 3), (0, 4), (1, 2), (1, 3)])
    """
    n_nodes = graph.n_nodes
    nodes, degrees = top_k(np.arange(n_nodes), graph.degrees(np.arange(n_nodes)), MAP.nodes)
    rank = np.full(n_nodes, -1, np.int64)
    rank[nodes] = np.arange(len(nodes))
    indptr, all_tails, _, _ = graph.adjacency()
    pieces = [np.empty(0, np.int64)]
    start = 0
    while start < n_nodes:
        watch.check()
        stop = int(np.searchsorted(indptr, indptr[start] + MAP.read_edges, "right")) - 1
        stop = min(n_nodes, max(stop, start + 1))
        heads = np.repeat(rank[start:stop], np.diff(indptr[start : stop + 1]))
        tails = rank[all_tails[indptr[start] : indptr[stop]]]
        low = np.minimum(heads, tails)
        high = np.maximum(heads, tails)
        chosen = (low >= 0) & (low != high)
        pieces.append(np.unique(high[chosen] * n_nodes + low[chosen]))
        start = stop
    keys = np.unique(np.concatenate(pieces))  # by the less connected end, then by the other
    tails, heads = np.divmod(keys, max(1, n_nodes))
    if len(keys) > MAP.edges:
        nth_link = np.arange(len(tails)) - np.searchsorted(tails, tails)
        best = np.sort(np.argsort(nth_link, kind="stable")[: MAP.edges])
        heads = heads[best]
        tails = tails[best]
    order = np.lexsort((tails, heads))
    return MapPart(
        nodes.astype(np.int64),
        degrees.astype(np.int64),
        heads[order].astype(np.int32),
        tails[order].astype(np.int32),
    )


def layout_map(
    n: int, heads: np.ndarray, tails: np.ndarray, watch: Watch = NO_WATCH
) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and topics of the nodes of a map.

    A topic is a community by Leiden. Topics are numbered from the largest to the smallest.

    Parameters
    ----------
    n : number of nodes, in order of their degrees.
    heads, tails : links of the nodes, without loops and repeats.
    watch : may raise RunCancelled.

    Returns
    -------
    Positions from 0 to 1, float32 [n, 2], with one scale for both axes; and topics, int32 [n].

    Examples
    --------
    >>> import numpy as np
    >>> from core.graph.algorithms.map_layout import layout_map
    >>> xy, topics = layout_map(4, np.array([0, 2]), np.array([1, 3]))
    >>> topics.tolist()
    [0, 0, 1, 1]
    """
    from core.graph.algorithms.map_loops import settle_nodes  # imported here because it loads numba

    if not n:
        return np.empty((0, 2), np.float32), np.empty(0, np.int32)
    watch.report("Finding communities", 0.05)
    topics = _find_topics(n, heads, tails)
    sizes = np.bincount(topics)
    radii = MAP.disc_radius * np.sqrt(sizes)
    watch.report("Placing communities", 0.3)
    centres = _place_topics(sizes, radii, topics[heads], topics[tails])
    members = np.argsort(topics, kind="stable")  # the best connected of each topic first
    within = np.empty(n, np.int64)
    within[members] = np.arange(n) - np.repeat(row_offsets(sizes)[:-1], sizes)
    # A sunflower: the k-th node of a topic lies at a distance that grows with the root of k.
    distance = radii[topics] * np.sqrt(within / sizes[topics])
    xy = centres[topics] + distance[:, None] * _turns(sizes.max())[within]
    ends = np.concatenate([heads, tails]).astype(np.int64)
    others = np.concatenate([tails, heads]).astype(np.int64)
    degrees = np.bincount(ends, minlength=n)
    is_central = within < 1 + np.sqrt(sizes[topics]) / 4
    gravity = np.where(within == 0, 1, is_central * degrees / degrees.max(initial=1))
    for first in range(0, MAP.node_rounds, 10):
        watch.check()
        watch.report("Placing entities", 0.4 + 0.6 * first / MAP.node_rounds)
        settle_nodes(
            xy,
            indptr=row_offsets(degrees),
            neighbours=others[np.argsort(ends, kind="stable")],
            community_of=topics,
            centres=centres,
            radii=radii,
            gravity=gravity,
            rounds=MAP.node_rounds,
            first=first,
        )
        _spread_evenly(xy, topics, centres, radii)
    return _fit_into_unit(xy), topics


def _spread_evenly(
    xy: np.ndarray, topics: np.ndarray, centres: np.ndarray, radii: np.ndarray
) -> None:
    """Move nodes away from or to the centres of their discs, so that they fill these, in place.

    Their directions and their order by distance from the centre do not change.
    """
    offsets = xy - centres[topics]
    distance = np.maximum(np.hypot(*offsets.T), 1e-9)
    order = np.lexsort((distance, topics))
    sizes = np.bincount(topics)
    starts = row_offsets(sizes)[:-1]
    rank = np.empty(len(xy))
    rank[order] = np.arange(len(xy)) - np.repeat(starts, sizes)
    even = radii[topics] * np.sqrt(rank / sizes[topics])
    share = MAP.evenness * (1 - 1 / np.sqrt(sizes[topics]))
    scale = 1 + share * (even / distance - 1)
    xy[:] = centres[topics] + scale[:, None] * offsets


def _find_topics(n: int, heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """Return the community of each node, largest first, then by the best connected node."""
    edges = np.column_stack([heads, tails])
    if has_igraph():
        import igraph

        graph = igraph.Graph(n, edges)
        with seed_igraph(0):
            clusters = graph.community_leiden(objective_function="modularity", n_iterations=2)
        labels = np.asarray(clusters.membership, np.int64)
    else:
        from core.graph.large import leiden, make_links  # imports numba

        labels = leiden(make_links(n, edges)).astype(np.int64)
    _, first, labels, sizes = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    number = np.empty(len(first), np.int64)
    number[np.lexsort((first, -sizes))] = np.arange(len(first))
    return number[labels].astype(np.int32)


def _place_topics(
    sizes: np.ndarray, radii: np.ndarray, heads: np.ndarray, tails: np.ndarray
) -> np.ndarray:
    """Return the centres of the topics' discs, float64 [topics, 2].

    `heads` and `tails` are the topics of the ends of each link.
    """
    from core.graph.algorithms.map_loops import settle_discs  # imported here because it loads numba

    spaced = radii * (1 + MAP.gap_share) + MAP.gap
    is_between = heads != tails
    low = np.minimum(heads, tails)[is_between]
    high = np.maximum(heads, tails)[is_between]
    is_main = sizes >= MAP.min_linked_topic
    is_main[low] = is_main[high] = True
    is_main[0] = True
    is_main[MAP.main_topics :] = False
    main = np.flatnonzero(is_main)
    is_placed = is_main[low] & is_main[high]
    low = np.searchsorted(main, low[is_placed])
    high = np.searchsorted(main, high[is_placed])
    a, b, weights = _weigh_links(sizes[main], low, high)
    # Largest disc in the middle, the others around it on a spiral.
    area = np.cumsum(spaced[main] ** 2)
    wide = np.array([MAP.flatness**0.5, MAP.flatness**-0.5])
    start = np.sqrt(area - area[0])[:, None] * _turns(len(main)) * wide
    settle_discs(
        start,
        spaced[main],
        heads=a,
        tails=b,
        weights=weights,
        rounds=MAP.disc_rounds,
        flatness=MAP.flatness,
    )
    centres = np.zeros((len(sizes), 2))
    spread = spaced[main][:, None]
    centres[main] = start - ((start - spread).min(0) + (start + spread).max(0)) / 2
    others = np.flatnonzero(~is_main)
    centres[others] = _place_around(abs(centres[main]) + spread, radii[others])
    return centres


def _place_around(reach: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Return the centres of discs around those that reach so far from the middle in x and y.

    They lie on a spiral that fills the plane evenly, outside an ellipse that holds the others.
    """
    extent = reach.max(0) * np.hypot(*(reach / reach.max(0)).T).max()
    areas = np.cumsum((radii + MAP.ring_gap) ** 2) / MAP.ring_share
    return extent * (np.sqrt(1.1 + areas / extent.prod())[:, None] * _turns(len(radii)))


def _weigh_links(
    sizes: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the linked pairs of topics, and the weight of each pair from 0 to 1.

    `low` and `high` are the topics of the ends of each link; `sizes` are those of the topics.
    """
    pairs, counts = np.unique(low * len(sizes) + high, return_counts=True)
    a, b = np.divmod(pairs, len(sizes))
    weights = counts / np.sqrt(sizes[a] * sizes[b])
    totals = np.bincount(a, weights, len(sizes)) + np.bincount(b, weights, len(sizes))
    return a, b, weights / np.maximum(totals[a], totals[b])


def _turns(count: int) -> np.ndarray:
    """Return directions that differ as much as possible, each from those before it."""
    angle = GOLDEN_ANGLE * np.arange(count)
    return np.stack([np.cos(angle), np.sin(angle)], 1)


def _fit_into_unit(xy: np.ndarray) -> np.ndarray:
    """Scale positions into 0..1, with one scale for both axes and the middle at 0.5."""
    low = xy.min(0)
    high = xy.max(0)
    scale = max(float((high - low).max()), 1e-9)
    return (0.5 + 0.98 * (xy - (low + high) / 2) / scale).astype(np.float32)
