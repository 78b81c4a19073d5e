"""Compiled loop of the Steiner tree in `core.graph.algorithms.steiner`.

A moat is the ball that grows around each cluster of nodes with a prize.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from core.runtime.meter import watch_compiling

watch_compiling()


@njit(cache=True, nogil=True)
def next_meeting(waiting, n, heads, tails, costs, cluster, rate, widths):
    """Find the edge on which the moats of its two ends meet first.

    Edges within a cluster are removed from `waiting` in place; the others stay in their order.

    Parameters
    ----------
    waiting : edges to check, int64; only the first `n` entries are used.
    n : number of edges to check.
    heads, tails, costs : ends and cost of each edge.
    cluster, rate, widths : cluster of each node, speed at which its moat grows, and width of the
        moat.

    Returns
    -------
    The number of edges left in `waiting`, the edge (-1 if there is none), and the time until its
    moats meet.
    """
    count, first, soonest = 0, -1, np.inf
    for index in range(n):
        edge = waiting[index]
        u, v = heads[edge], tails[edge]
        if cluster[u] == cluster[v]:
            continue
        waiting[count] = edge
        count += 1
        speed = rate[u] + rate[v]
        if speed > 0:
            time = max(costs[edge] - widths[u] - widths[v], 0.0) / speed
            if time < soonest:
                first, soonest = edge, time
    return count, first, soonest
