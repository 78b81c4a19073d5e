"""Uncertainty of shortest paths to a target, by the degrees of their nodes (FastInsight)."""

from __future__ import annotations

import numpy as np

from core.graph.algorithms.simple_graph import SimpleGraph


def uncertainty(links: SimpleGraph, target: int) -> np.ndarray:
    """Sum ln(1 + degree) over a shortest path to a target.

    There is one sum for each node from which a path starts. The degree of the target is left out,
    so its own value is 0. One breadth-first search from the target computes all values.

    Parameters
    ----------
    links : the undirected graph without parallel links.
    target : the node to which the paths lead.

    Returns
    -------
    float64 [n]; infinity for nodes without a path.

    Notes
    -----
    FastInsight, definition 7. Of several shortest paths by the number of links, the one with the
    least sum counts; the definition does not say which.

    Examples
    --------
    >>> from core.graph.algorithms.simple_graph import simple_graph
    >>> from core.graph.algorithms.uncertainty import uncertainty
    >>> # from C ln 4; from A, with 3 neighbours, ln 4 more; from B, with 2 neighbours, ln 3 more
    >>> uncertainty(simple_graph(toy), 3).round(3).tolist()
    [2.773, 2.485, 1.386, 0.0, 3.466]
    """
    from core.graph.kernels import least_path_sums  # imported here because it loads numba

    return least_path_sums(
        target, np.log1p(links.degrees(np.arange(len(links)))), links.indptr, links.neighbour_ids
    )
