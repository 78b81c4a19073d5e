"""Partial vectors of the parts of a graph, and the skeletons between their hubs.

Numbers are visits: the mass that comes to a node, of which the share 1 - damping is its score. The
column of a node in a matrix has the mass that one visit passes on to others.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array, hstack
from scipy.sparse.linalg import splu

from core.graph.pagerank.hub_tree import HubPart
from core.graph.store import Graph
from core.watch import Watch

BLOCK_VECTORS = 256  # computed together


def step_matrix(graph: Graph, direction: str, damping: float) -> csr_array:
    """Return the matrix of a graph, with damping / number of steps for each step."""
    edges = np.stack([graph.heads, graph.tails])
    reverse = edges[::-1]
    starts, ends = {"out": edges, "in": reverse, "both": np.hstack([edges, reverse])}[direction]
    counts = np.bincount(starts, minlength=graph.n_nodes)
    return csr_array((damping / counts[starts], (ends, starts)), shape=(graph.n_nodes,) * 2)


class HubReturns(NamedTuple):
    """Mass that comes to the hubs `reached` through a part, per visit of the hubs `sources`.

    Hubs are positions among those around the part.
    """

    reached: np.ndarray
    sources: np.ndarray
    mass: np.ndarray  # [reached, sources]


class PartVectors:
    """Partial vectors of a part: the visits of its nodes by walks from each hub around it.

    The walks end when they meet a hub.
    """

    def __init__(
        self, part: HubPart, around: HubPart, matrix: csr_array, max_lost: float, watch: Watch
    ):
        """Compute the vectors of a part.

        Parameters
        ----------
        around : the part that it divides, with the hubs; `matrix` is the one among its nodes.
        max_lost : mass that may be left out of each vector.
        """
        nodes = np.searchsorted(around.nodes, part.nodes)
        hubs = np.searchsorted(around.nodes, around.hubs)
        rows = matrix[nodes]
        from_hubs, to_hubs = rows[:, hubs], matrix[hubs][:, nodes]
        self.solver = PartSolver(part, rows[:, nodes], max_lost, watch)
        sources = np.unique(from_hubs.indices)
        reached = np.flatnonzero(np.diff(to_hubs.indptr))
        self._arrive = to_hubs[reached]
        vectors, returns = [csc_array((len(nodes), 0))], [np.empty((len(reached), 0))]
        for start in range(0, len(sources), BLOCK_VECTORS):
            watch.check()
            columns = sources[start : start + BLOCK_VECTORS]
            visits = self.solver.solve(from_hubs[:, columns].toarray())
            returns.append(self._arrive @ visits)
            vectors.append(csc_array(drop_least(visits, max_lost)))
        self.returns = HubReturns(reached, sources, np.hstack(returns))
        self._vectors = hstack(vectors, "csr")

    def mass_at_hubs(self, visits: np.ndarray, n_hubs: int) -> np.ndarray:
        """Return the mass that visits of the part's nodes bring to each hub around it."""
        mass = np.zeros((n_hubs, *visits.shape[1:]))
        mass[self.returns.reached] = self._arrive @ visits
        return mass

    def sum_vectors(self, at_hubs: np.ndarray) -> np.ndarray:
        """Return the sum of the vectors, by the visits of each hub around the part."""
        return self._vectors @ at_hubs[self.returns.sources]


class PartSolver:
    """Visits of the nodes of a part by walks that end when they leave it.

    A leaf is solved by a sparse LU decomposition, another part by the vectors of its parts.
    """

    def __init__(self, part: HubPart, matrix: csr_array, max_lost: float, watch: Watch):
        watch.check()
        self._leaf = None
        if not part.children:
            self._leaf = splu(csc_array(eye_array(len(part.nodes)) - matrix))
            return
        self._hubs = np.searchsorted(part.nodes, part.hubs)
        self._nodes = [np.searchsorted(part.nodes, child.nodes) for child in part.children]
        self._vectors = [
            PartVectors(child, part, matrix, max_lost, watch) for child in part.children
        ]
        self._skeleton = make_skeleton(
            matrix[self._hubs][:, self._hubs], [vectors.returns for vectors in self._vectors]
        )

    def solve(self, restarts: np.ndarray) -> np.ndarray:
        """Return the visits for some restarts, both float64 [nodes] or [nodes, columns]."""
        if self._leaf is not None:
            return self._leaf.solve(restarts)
        visits, arrived = np.zeros_like(restarts), restarts[self._hubs]
        for nodes, vectors in zip(self._nodes, self._vectors):
            if restarts[nodes].any():
                visits[nodes] = vectors.solver.solve(restarts[nodes])
                arrived += vectors.mass_at_hubs(visits[nodes], len(arrived))
        visits[self._hubs] = at_hubs = self._skeleton @ arrived
        for nodes, vectors in zip(self._nodes, self._vectors):
            visits[nodes] += vectors.sum_vectors(at_hubs)
        return visits


def make_skeleton(among_hubs: csr_array, returns: Iterable[HubReturns]) -> np.ndarray:
    """Return the visits of each hub by walks from each hub, float64 [hubs, hubs].

    Parameters
    ----------
    among_hubs : matrix of the steps from hub to hub.
    returns : the mass that comes back through each part between the hubs.
    """
    total = among_hubs.toarray()
    for part in returns:
        total[np.ix_(part.reached, part.sources)] += part.mass
    return np.linalg.inv(np.eye(len(total)) - total)


def drop_least(visits: np.ndarray, max_lost: float) -> np.ndarray:
    """Set the least entries of each column to zero, up to `max_lost` in sum.

    >>> import numpy as np
    >>> from core.graph.pagerank.part_vectors import drop_least
    >>> drop_least(np.array([[0.1], [0.5], [0.2]]), 0.15).ravel().tolist()
    [0.0, 0.5, 0.2]
    """
    ascending = np.sort(visits, axis=0)
    n_dropped = (np.cumsum(ascending, axis=0) <= max_lost).sum(axis=0)
    columns = np.arange(visits.shape[1])
    thresholds = ascending[np.minimum(n_dropped, len(visits) - 1), columns]
    return np.where(visits >= thresholds, visits, 0.0)
