"""How uncertain it is to get from one node to others: the degrees of the nodes that a shortest path passes."""

from __future__ import annotations

import numpy as np

from core.graph.algorithms.simple import Simple
from core.graph.kernels import fewest_links


def uncertainty(links: Simple, target: int) -> np.ndarray:
    """For each node the sum of ln(1 + degree) over the nodes of the shortest path from there to `target` except the target itself.

    float64 [n]: 0 at the target, infinite where no path leads there. Of shortest paths, by their number of links, the one with the least
    sum counts (FastInsight, definition 7, leaves that open). One breadth-first search from the target tells it for all nodes.

    >>> from core.graph.algorithms.simple import simple
    >>> from core.graph.algorithms.uncertainty import uncertainty
    >>> uncertainty(simple(toy), 3).round(3).tolist()  # from C ln 4; from A, which has 3 neighbours, and B, which has 2, ln 4 and ln 3 more
    [2.773, 2.485, 1.386, 0.0, 3.466]
    """
    return fewest_links(
        target, np.log1p(links.degrees(np.arange(len(links)))), links.indptr, links.near
    )
