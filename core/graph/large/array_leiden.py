"""The Leiden algorithm on arrays, for graphs that are too large for igraph.

It takes about 60 bytes of memory per node and 50 per link. As in Traag, Waltman and van Eck (2019),
nodes move between communities as long as modularity grows. Within each community, single nodes are
then merged into well-connected groups. Each group is a node of the next level, a smaller graph.
Unlike in the paper, nothing is random. Nodes are visited in the order of their ids, in several
sweeps and not from a queue. A node is merged into the group with the largest gain of modularity.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from core.graph.columns import row_offsets
from core.runtime.meter import watch_compiling
from core.watch import NO_WATCH, Watch

watch_compiling()

# Largest number of sweeps over the nodes of a level. A sweep visits each node once.
MAX_SWEEPS = 20
# Share of the nodes. If at most this share moves in a sweep, it is the last sweep.
MIN_MOVED_SHARE = 1e-3
# Number of passes over all levels, the same as in igraph (`n_iterations`). Each pass starts from
# the communities of the previous one.
LEIDEN_PASSES = 2
# Number of edges that `quotient_graph` processes at a time.
EDGE_BATCH = 1 << 23
# Number of pairs of groups in memory above which equal pairs are added up.
MAX_HELD_PAIRS = 1 << 26
NO_EDGES = np.empty((0, 2), np.int32)


class Links(NamedTuple):
    """An undirected graph, in CSR form.

    The neighbours of `v` are `tails[out_indptr[v] : out_indptr[v + 1]]` and `in_heads[in_indptr[v]
    : in_indptr[v + 1]]`. Without weights, every edge weighs 1. An edge occurs once in `tails`, at
    its head, and once in `in_heads`, at its tail. With weights, an edge occurs in `tails` at both
    ends, a loop occurs once with its full weight, and `in_heads` is empty.
    """

    out_indptr: np.ndarray  # int64 [n + 1]
    tails: np.ndarray  # int32
    in_indptr: np.ndarray  # int64 [n + 1]
    in_heads: np.ndarray  # int32
    weights: np.ndarray = np.empty(0)  # float64, aligned with `tails`; empty without weights

    @property
    def n_nodes(self) -> int:
        return len(self.out_indptr) - 1

    @property
    def n_edges(self) -> int:
        """Number of connected pairs of nodes; without weights, number of edges."""
        return len(self.tails) if not len(self.weights) else (len(self.tails) + 1) // 2


def leiden(links: Links, watch: Watch = NO_WATCH) -> np.ndarray:
    """Return the community of each node, int32 [n]; communities are numbered from 0.

    Each community is connected. The same graph always gives the same result.

    >>> from core.graph.large.array_leiden import leiden, make_links
    >>> edges = np.array([[0, 1], [0, 2], [1, 2], [2, 3], [3, 4], [3, 5], [4, 5]])
    >>> leiden(make_links(6, edges)).tolist()  # two triangles, and the edge 2-3
    [0, 0, 0, 1, 1, 1]
    """
    community_of = np.arange(links.n_nodes, dtype=np.int32)
    for _ in range(LEIDEN_PASSES if links.n_edges else 0):
        # `labels` are the communities of the nodes of a level, `groups` the node of the level that
        # each node of the graph belongs to.
        level, labels, groups = links, community_of, np.arange(links.n_nodes, dtype=np.int32)
        while True:
            watch.check()
            watch.report(
                f"Finding communities of {level.n_nodes:,} groups with {level.n_edges:,} links"
            )
            labels = _move_nodes(level, labels, watch)
            merged = _dense(_merge_nodes(*level, _degrees(*level), labels))
            if int(merged.max(initial=-1)) + 1 == level.n_nodes:  # no two nodes were merged
                break
            merged_labels = np.empty(int(merged.max()) + 1, np.int32)
            merged_labels[merged] = labels
            groups = merged[groups]
            level = quotient_graph(level, merged, watch)
            labels = merged_labels
        community_of = labels[groups]
    return _dense(_connected_parts(*links, community_of))


def quotient_graph(links: Links, labels: np.ndarray, watch: Watch = NO_WATCH) -> Links:
    """Return the weighted graph whose nodes are the groups of `labels`.

    The weight of a link is the sum of the weights between its groups; the weight of a loop is the
    sum of the weights inside a group.
    """
    n = int(labels.max(initial=-1)) + 1
    keys, sums, n_held = [], [], 0
    for start in range(0, len(links.tails), EDGE_BATCH):
        watch.check()
        part = slice(start, start + EDGE_BATCH)
        heads = _heads(links.out_indptr, start, start + EDGE_BATCH)
        tails = np.asarray(links.tails[part])
        a, b = labels[heads].astype(np.int64), labels[tails].astype(np.int64)
        weights = links.weights[part] if len(links.weights) else np.ones(len(a))
        if len(links.weights):  # each edge between two nodes occurs twice
            is_first = a <= b
            # Inside a group, both occurrences of an edge remain, so each counts half.
            weights = np.where((a == b) & (heads != tails), weights / 2, weights)[is_first]
            a, b = a[is_first], b[is_first]
        key, weight = _sum_by_key(np.minimum(a, b) * n + np.maximum(a, b), weights)
        keys.append(key)
        sums.append(weight)
        n_held += len(key)
        if n_held > MAX_HELD_PAIRS:
            key, weight = _sum_by_key(np.concatenate(keys), np.concatenate(sums))
            keys, sums, n_held = [key], [weight], len(key)
    key, weight = _sum_by_key(
        np.concatenate(keys or [np.empty(0, np.int64)]), np.concatenate(sums or [np.empty(0)])
    )
    low, high = (key // max(n, 1)).astype(np.int32), (key % max(n, 1)).astype(np.int32)
    not_loops = low != high
    sources = np.concatenate([low, high[not_loops]])
    tails = np.concatenate([high, low[not_loops]])
    return _link_by_source(n, sources, tails, np.concatenate([weight, weight[not_loops]]))


def _link_by_source(n: int, sources: np.ndarray, tails: np.ndarray, weights: np.ndarray) -> Links:
    """Return the graph of weighted edges, each of which is given from both ends."""
    order = np.argsort(sources, kind="stable")
    return Links(
        row_offsets(np.bincount(sources, minlength=n)),
        tails[order].astype(np.int32),
        np.zeros(n + 1, np.int64),
        np.empty(0, np.int32),
        weights[order],
    )


def _heads(indptr: np.ndarray, start: int, stop: int) -> np.ndarray:
    """Return the start node of each edge from `start` to below `stop`."""
    first = np.searchsorted(indptr, start, side="right") - 1
    last = np.searchsorted(indptr, min(stop, int(indptr[-1])), side="left")
    return np.repeat(
        np.arange(first, last), np.diff(np.clip(indptr[first : last + 1], start, stop))
    )


def inner_edges(links: Links, nodes: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the edges with both ends among `nodes`, for a graph without weights.

    `rows` is a work array, int32 [n], that holds -1 before and after the call. The edges are pairs
    of positions in `nodes`, int32 [edges, 2].
    """
    rows[nodes] = np.arange(len(nodes), dtype=np.int32)
    n_edges = _list_inner_edges(nodes, rows, links.out_indptr, links.tails, NO_EDGES)
    edges = np.empty((n_edges, 2), np.int32)
    _list_inner_edges(nodes, rows, links.out_indptr, links.tails, edges)
    rows[nodes] = -1
    return edges


def make_links(n: int, edges: np.ndarray, weights: np.ndarray | None = None) -> Links:
    """Return the graph of `n` nodes with these edges and weights.

    Edges are int [edges, 2], weights float [edges]. With weights, each pair of nodes must occur
    once, and there must be no loops.
    """
    if weights is not None:
        sources = np.concatenate([edges[:, 0], edges[:, 1]])
        tails = np.concatenate([edges[:, 1], edges[:, 0]])
        return _link_by_source(n, sources, tails, np.concatenate([weights, weights]))
    sides = []
    for from_end, to_end in ((0, 1), (1, 0)):
        order = np.argsort(edges[:, from_end], kind="stable")
        sides += [
            row_offsets(np.bincount(edges[:, from_end], minlength=n)),
            edges[order, to_end].astype(np.int32),
        ]
    return Links(*sides)


def _sum_by_key(keys: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each key once, ascending, with the sum of its weights."""
    order = np.argsort(keys, kind="stable")
    keys, weights = keys[order], weights[order]
    if len(keys):
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    else:
        starts = np.empty(0, np.int64)
    return keys[starts], np.add.reduceat(weights, starts) if len(starts) else weights


def _move_nodes(links: Links, labels: np.ndarray, watch: Watch) -> np.ndarray:
    """Move nodes between communities until few still move.

    Returns the community of each node, int32 [n]; communities are numbered from 0.
    """
    labels, degrees = _dense(labels), _degrees(*links)
    totals = np.bincount(labels, weights=degrees, minlength=links.n_nodes)
    group_weights, met_groups = np.zeros(links.n_nodes), np.empty(links.n_nodes, np.int32)
    for _ in range(MAX_SWEEPS):
        watch.check()
        if (
            _sweep(links, degrees, totals, labels, group_weights, met_groups, degrees.sum())
            <= MIN_MOVED_SHARE * links.n_nodes
        ):
            break
    return _dense(labels)


def _dense(labels: np.ndarray) -> np.ndarray:
    """Renumber groups from 0 without gaps, int32."""
    used = np.zeros(int(labels.max(initial=-1)) + 1, np.int32)
    used[labels] = 1
    return (np.cumsum(used, dtype=np.int32) - 1)[labels]


@njit(cache=True, nogil=True)
def _degrees(out_indptr, tails, in_indptr, in_heads, weights):
    """Return the sum of the weights at each node; loops count twice."""
    n = len(out_indptr) - 1
    degrees = np.zeros(n)
    for node in range(n):
        if len(weights):
            for step in range(out_indptr[node], out_indptr[node + 1]):
                degrees[node] += weights[step] * (2 if tails[step] == node else 1)
        else:
            degrees[node] = (
                out_indptr[node + 1] - out_indptr[node] + in_indptr[node + 1] - in_indptr[node]
            )
    return degrees


@njit(cache=True, nogil=True)
def _sweep(links, degrees, totals, labels, group_weights, met_groups, degree_sum):
    """Move each node to the best adjacent community.

    The number of moved nodes is returned. `labels` are the communities, and `totals` the sum of the
    degrees of each community; both are changed in place. The work array `group_weights` holds the
    weight between the node and each community, 0 before and after the call. `met_groups` holds the
    adjacent communities.
    """
    out_indptr, tails, in_indptr, in_heads, weights = links
    moved = 0
    for node in range(len(out_indptr) - 1):
        count = 0
        for side in range(2):
            indptr, neighbours = (out_indptr, tails) if side == 0 else (in_indptr, in_heads)
            for step in range(indptr[node], indptr[node + 1]):
                other = neighbours[step]
                if other == node:
                    continue
                group = labels[other]
                if group_weights[group] == 0.0:
                    met_groups[count] = group
                    count += 1
                group_weights[group] += weights[step] if len(weights) else 1.0
        current, degree = labels[node], degrees[node]
        totals[current] -= degree
        best, best_gain = current, group_weights[current] - degree * totals[current] / degree_sum
        for index in range(count):
            group = met_groups[index]
            gain = group_weights[group] - degree * totals[group] / degree_sum
            if gain > best_gain + 1e-12:  # a tie is no reason to move
                best, best_gain = group, gain
            group_weights[group] = 0.0
        group_weights[current] = 0.0
        totals[best] += degree
        if best != current:
            labels[node] = best
            moved += 1
    return moved


@njit(cache=True, nogil=True)
def _merge_nodes(out_indptr, tails, in_indptr, in_heads, weights, degrees, labels):
    """Merge single nodes into groups inside their community.

    The group of each node is returned. Only nodes that are well connected to the rest of their
    community are merged, and only into well-connected groups. Of these, a node joins the one with
    the largest gain of modularity. A group has the number of one of its nodes.
    """
    n, total_degree = len(out_indptr) - 1, degrees.sum()
    groups, single = np.arange(n).astype(np.int32), np.ones(n, np.bool_)
    communities, totals = np.zeros(n), degrees.copy()  # degrees of communities and of groups
    for node in range(n):
        communities[labels[node]] += degrees[node]
    cuts = np.zeros(n)  # weights from each group to the rest of its community
    group_weights, met_groups = np.zeros(n), np.empty(n, np.int32)
    for node in range(n):
        for side in range(2):
            indptr, neighbours = (out_indptr, tails) if side == 0 else (in_indptr, in_heads)
            for step in range(indptr[node], indptr[node + 1]):
                if neighbours[step] != node and labels[neighbours[step]] == labels[node]:
                    cuts[node] += weights[step] if len(weights) else 1.0
    for node in range(n):
        degree, community_degree = degrees[node], communities[labels[node]]
        if not single[node] or cuts[node] < degree * (community_degree - degree) / total_degree:
            continue
        count = 0
        for side in range(2):
            indptr, neighbours = (out_indptr, tails) if side == 0 else (in_indptr, in_heads)
            for step in range(indptr[node], indptr[node + 1]):
                other = neighbours[step]
                if other == node or labels[other] != labels[node]:
                    continue
                group = groups[other]
                if group_weights[group] == 0.0:
                    met_groups[count] = group
                    count += 1
                group_weights[group] += weights[step] if len(weights) else 1.0
        best, best_gain, best_weight = node, 0.0, 0.0
        for index in range(count):
            group = met_groups[index]
            gain = group_weights[group] - degree * totals[group] / total_degree
            if (
                gain > best_gain + 1e-12
                and cuts[group] >= totals[group] * (community_degree - totals[group]) / total_degree
            ):
                best, best_gain, best_weight = group, gain, group_weights[group]
            group_weights[group] = 0.0
        if best != node:
            groups[node] = best
            single[best] = False
            totals[best] += degree
            cuts[best] += cuts[node] - 2 * best_weight
    return groups


@njit(cache=True, nogil=True)
def _connected_parts(out_indptr, tails, in_indptr, in_heads, weights, labels):
    """Split groups into connected parts, and return the smallest node of each node's part.

    The parts are found by union-find.
    """
    n = len(out_indptr) - 1
    parts = np.arange(n).astype(np.int32)
    for node in range(n):
        for step in range(out_indptr[node], out_indptr[node + 1]):
            other = tails[step]
            if labels[other] == labels[node]:
                a, b = node, other
                while parts[a] != a:
                    parts[a] = parts[parts[a]]
                    a = parts[a]
                while parts[b] != b:
                    parts[b] = parts[parts[b]]
                    b = parts[b]
                if a < b:
                    parts[b] = a
                else:
                    parts[a] = b
    for node in range(n):
        root = node
        while parts[root] != root:
            root = parts[root]
        parts[node] = root
    return parts


@njit(cache=True, nogil=True)
def _list_inner_edges(nodes, rows, out_indptr, tails, edges):
    """Count and list the edges with both ends among the nodes.

    The edges are written to `edges` unless it is empty. `rows` is the position of each node in
    `nodes`, -1 for others.
    """
    count = 0
    for index in range(len(nodes)):
        node = nodes[index]
        for step in range(out_indptr[node], out_indptr[node + 1]):
            end_position = rows[tails[step]]
            if end_position >= 0:
                if len(edges):
                    edges[count, 0] = index
                    edges[count, 1] = end_position
                count += 1
    return count
