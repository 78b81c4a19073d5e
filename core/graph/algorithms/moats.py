"""Compiled loop that grows the moats of a Steiner tree."""

from __future__ import annotations

import numpy as np
from numba import njit

from core.runtime.meter import watch_compiling

watch_compiling()


@njit(cache=True, nogil=True)
def next_meeting(waiting, n, heads, tails, costs, cluster, rate, widths):
    """Find the edge whose ends' moats meet first.

    Edges within a cluster are removed from `waiting` in place; the others stay in their order.

    Parameters
    ----------
    waiting : edges that are checked, int64.
    n : number of entries of `waiting` that count.
    heads, tails, costs : ends and cost of each edge.
    cluster, rate, widths : of each node its cluster, the speed at which its moat grows, and the
        width of that moat.

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
