"""Compiled loop of the growing moats of a Steiner tree."""

from __future__ import annotations

import numpy as np
from numba import njit

from core.runtime.meter import watch_compiling

watch_compiling()


@njit(cache=True, nogil=True)
def next_meeting(waiting, n, heads, tails, costs, cluster, rate, widths):
    """Find the edge whose moats meet first.

    Edges within a cluster are removed from it in place, and the others keep their order.

    Parameters
    ----------
    waiting : edges to look at, int64; only the first `n` count.
    n : number of entries.
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
