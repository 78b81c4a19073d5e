"""The compiled loop of growing moats."""

from __future__ import annotations

import numpy as np
from numba import njit

from core.runtime.meter import watch_compiling

watch_compiling()


@njit(cache=True, nogil=True)
def next_meeting(waiting, n, heads, tails, costs, cluster, rate, grown):
    """Of the first `n` edges that wait the one whose moats meet first, -1 for none, and the time until then.

    Edges within a cluster are taken out of `waiting` in place, the others keep their order; before both, how many these are.
    """
    left, first, soonest = 0, -1, np.inf
    for at in range(n):
        edge = waiting[at]
        u, v = heads[edge], tails[edge]
        if cluster[u] == cluster[v]:
            continue
        waiting[left] = edge
        left += 1
        speed = rate[u] + rate[v]
        if speed > 0:
            time = max(costs[edge] - grown[u] - grown[v], 0.0) / speed
            if time < soonest:
                first, soonest = edge, time
    return left, first, soonest
