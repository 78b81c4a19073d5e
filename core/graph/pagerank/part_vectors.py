"""Partial vectors of a graph's parts, and skeletons between hubs, for HGPA.

All values are expected visits of nodes by walks with restart: the mass that arrives at a node. The
PageRank of a node is (1 - damping) times its visits. In a matrix, the column of a node has the mass
that one visit of it passes on to each other node.
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

BLOCK_VECTORS = 256  # number of partial vectors computed together, to bound the memory


def step_matrix(graph: Graph, direction: str, damping: float) -> csr_array:
    """Return the transition matrix of a graph times the damping.

    The matrix is [end of a step, start]. `direction` is out, in or both.
    """
    edges = np.stack([graph.heads, graph.tails])
    reverse = edges[::-1]
    starts, ends = {"out": edges, "in": reverse, "both": np.hstack([edges, reverse])}[direction]
    counts = np.bincount(starts, minlength=graph.n_nodes)
    return csr_array((damping / counts[starts], (ends, starts)), shape=(graph.n_nodes,) * 2)


class HubReturns(NamedTuple):
    """Mass that flows through a part from hub to hub.

    The mass is given per visit of the first hub. Hubs are given by their positions in `hubs` of the
    parent part.
    """

    reached_hubs: np.ndarray
    source_hubs: np.ndarray
    mass: np.ndarray  # float64 [reached_hubs, source_hubs]


class PartVectors:
    """Partial vectors of a part: the visits of its nodes by walks from each hub of its parent.

    The walks end when they meet a hub of the parent.
    """

    def __init__(
        self, part: HubPart, parent: HubPart, matrix: csr_array, max_lost: float, watch: Watch
    ):
        """Compute the vectors of a part.

        Parameters
        ----------
        part : a child of `parent`, or `parent` itself if it has no hubs.
        parent : the part that contains it, with the hubs.
        matrix : the `step_matrix` among the nodes of `parent`.
        max_lost : mass that may be left out of each vector.
        """
        nodes = np.searchsorted(parent.nodes, part.nodes)
        hubs = np.searchsorted(parent.nodes, parent.hubs)
        rows = matrix[nodes]
        from_hubs, to_hubs = rows[:, hubs], matrix[hubs][:, nodes]
        self.solver = PartSolver(part, rows[:, nodes], max_lost, watch)
        source_hubs = np.unique(from_hubs.indices)
        reached_hubs = np.flatnonzero(np.diff(to_hubs.indptr))
        self._to_hubs = to_hubs[reached_hubs]
        vectors, returns = [csc_array((len(nodes), 0))], [np.empty((len(reached_hubs), 0))]
        for start in range(0, len(source_hubs), BLOCK_VECTORS):
            watch.check()
            columns = source_hubs[start : start + BLOCK_VECTORS]
            visits = self.solver.solve(from_hubs[:, columns].toarray())
            returns.append(self._to_hubs @ visits)
            vectors.append(csc_array(drop_least(visits, max_lost)))
        self.returns = HubReturns(reached_hubs, source_hubs, np.hstack(returns))
        self._vectors = hstack(vectors, "csr")

    def mass_at_hubs(self, visits: np.ndarray, n_hubs: int) -> np.ndarray:
        """Return the mass that visits bring to each hub.

        The visits are of the part's nodes, the hubs are those of its parent.
        """
        mass = np.zeros((n_hubs, *visits.shape[1:]))
        mass[self.returns.reached_hubs] = self._to_hubs @ visits
        return mass

    def sum_vectors(self, hub_visits: np.ndarray) -> np.ndarray:
        """Return the weighted sum of the vectors.

        The weights are the visits of each hub of the parent.
        """
        return self._vectors @ hub_visits[self.returns.source_hubs]


class PartSolver:
    """Solver for the visits of a part's nodes by walks.

    The walks end when they leave the part. A leaf is solved by a sparse LU decomposition, any other
    part by the vectors of its children.
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
        """Return the visits for some restarts, both float64 [nodes] or [nodes, columns].

        Each column is solved on its own.
        """
        if self._leaf is not None:
            return self._leaf.solve(restarts)
        visits, hub_mass = np.zeros_like(restarts), restarts[self._hubs]
        for nodes, vectors in zip(self._nodes, self._vectors):
            if restarts[nodes].any():
                visits[nodes] = vectors.solver.solve(restarts[nodes])
                hub_mass += vectors.mass_at_hubs(visits[nodes], len(hub_mass))
        visits[self._hubs] = hub_visits = self._skeleton @ hub_mass
        for nodes, vectors in zip(self._nodes, self._vectors):
            visits[nodes] += vectors.sum_vectors(hub_visits)
        return visits


def make_skeleton(among_hubs: csr_array, returns: Iterable[HubReturns]) -> np.ndarray:
    """Return the visits of each hub by walks from each hub, float64 [hubs, hubs].

    Parameters
    ----------
    among_hubs : `step_matrix` of the steps from hub to hub.
    returns : the mass that flows from hub to hub through each part between them.
    """
    total = among_hubs.toarray()
    for part in returns:
        total[np.ix_(part.reached_hubs, part.source_hubs)] += part.mass
    return np.linalg.inv(np.eye(len(total)) - total)


def drop_least(visits: np.ndarray, max_lost: float) -> np.ndarray:
    """Set the smallest entries of each column to zero.

    The sum of these entries is at most `max_lost`.

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
