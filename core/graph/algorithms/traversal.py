"""Compiled loops that walk a graph: breadth-first levels, induced edges, random walks.

Like the loops of `core.graph.kernels`, they release Python's global lock.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from core.runtime.meter import watch_compiling

watch_compiling()


@njit(cache=True, nogil=True)
def next_level(reached, start, end, seen, mask, out_indptr, tails, in_indptr, in_heads):
    """Append the next level of a breadth-first search: the unseen neighbours, ascending.

    If `reached` is too short for all of them, the smallest ids are appended.

    Parameters
    ----------
    reached : int64, filled up to `end`; neighbours are appended.
    start, end : the level is `reached[start:end]`.
    seen : bool [nodes]; neighbours are marked.
    mask, out_indptr, tails, in_indptr, in_heads : the result of `walk_arguments`.

    Returns
    -------
    The position behind the last appended node.
    """
    fresh = np.empty(1024, np.int64)
    size = 0
    for index in range(start, end):
        node = reached[index]
        for side in range(2):
            if not mask & (side + 1):
                continue
            indptr, neighbours = (out_indptr, tails) if side == 0 else (in_indptr, in_heads)
            for position in range(indptr[node], indptr[node + 1]):
                neighbour = neighbours[position]
                if not seen[neighbour]:
                    seen[neighbour] = True
                    if size == len(fresh):
                        longer = np.empty(2 * size, np.int64)
                        longer[:size] = fresh
                        fresh = longer
                    fresh[size] = neighbour
                    size += 1
    size_retained = min(size, len(reached) - end)
    reached[end : end + size_retained] = np.sort(fresh[:size])[:size_retained]
    return end + size_retained


@njit(cache=True, nogil=True)
def count_edges_among(nodes, out_indptr, relations, tails, edges, store):
    """Count the edges that have both ends among some nodes.

    The loop walks the out-edges of each node. If a node has far more out-edges than there are
    nodes, each of the nodes is instead looked up by binary search among the tails of each relation,
    which are sorted. The cost therefore depends neither on the size of the graph nor on its hubs.

    Parameters
    ----------
    nodes : node ids, int64 [n] ascending.
    out_indptr, relations, tails : arrays of a `Graph`.
    edges : receives the edge ids, ascending, if `store`.
    store : True to write the edges, False only to count them.

    Returns
    -------
    The number of edges.
    """
    count, n = 0, len(nodes)
    for index in range(n):
        start, end = out_indptr[nodes[index]], out_indptr[nodes[index] + 1]
        while start < end:
            stop = end
            if end - start > 32 * n:
                stop = start + np.searchsorted(relations[start:end], relations[start], side="right")
            if stop - start > 32 * n:
                for other in range(n):
                    edge = start + np.searchsorted(tails[start:stop], nodes[other])
                    if edge < stop and tails[edge] == nodes[other]:
                        if store:
                            edges[count] = edge
                        count += 1
            else:
                for edge in range(start, stop):
                    row = np.searchsorted(nodes, tails[edge])
                    if row < n and nodes[row] == tails[edge]:
                        if store:
                            edges[count] = edge
                        count += 1
            start = stop
    return count


@njit(cache=True, nogil=True)
def run_walks(start, chances, restart, mask, out_indptr, tails, in_indptr, in_heads, visited):
    """Run random walks from a node, and write the visited nodes to `visited`.

    Parameters
    ----------
    start : the node that all walks start from.
    chances : random numbers in [0, 1), [walks, steps, 2]: one that decides on a restart and one
        that picks the edge.
    restart : probability of a step back to the start.
    mask, out_indptr, tails, in_indptr, in_heads : the result of `walk_arguments`.
    visited : int64 [walks, steps + 1], receives the nodes; after the end of a walk it holds -1.
    """
    for index in range(chances.shape[0]):
        node = start
        visited[index, 0] = start
        for step in range(chances.shape[1]):
            n_out = out_indptr[node + 1] - out_indptr[node] if mask & 1 else 0
            degree = n_out + (in_indptr[node + 1] - in_indptr[node] if mask & 2 else 0)
            if restart > 0.0 and (degree == 0 or chances[index, step, 0] < restart):
                node = start
            elif degree == 0:
                break
            else:
                pick = min(degree - 1, np.int64(chances[index, step, 1] * degree))
                if pick < n_out:
                    node = np.int64(tails[out_indptr[node] + pick])
                else:
                    node = np.int64(in_heads[in_indptr[node] + pick - n_out])
            visited[index, step + 1] = node


@njit(cache=True, nogil=True)
def mark_edges_at(nodes, out_indptr, in_indptr, in_edges, marked):
    """Mark the edges that begin or end at some nodes.

    Parameters
    ----------
    nodes : node ids.
    out_indptr, in_indptr, in_edges : arrays of a `Graph`.
    marked : bool [edges], receives the marks.
    """
    for node in nodes:
        marked[out_indptr[node] : out_indptr[node + 1]] = True
        for index in range(in_indptr[node], in_indptr[node + 1]):
            marked[in_edges[index]] = True


@njit(cache=True, nogil=True)
def add_to_rows(items, scores, indptr, ids, sums, has_score):
    """Add the score of each item to the sums of its ids.

    For example, the score of each node is added to the chunks that mention it.

    Parameters
    ----------
    items, scores : items and their scores, aligned.
    indptr, ids : the ids of item `i` are `ids[indptr[i]:indptr[i + 1]]`.
    sums : float64 [n], receives the sums.
    has_score : bool [n], marks the ids that got a score.
    """
    for row in range(len(items)):
        for index in range(indptr[items[row]], indptr[items[row] + 1]):
            sums[ids[index]] += scores[row]
            has_score[ids[index]] = True
