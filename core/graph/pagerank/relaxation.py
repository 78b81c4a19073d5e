"""PageRank in both directions by successive over-relaxation in two colours.

It suits graphs that are small enough to be walked whole. Let q = p / degree. Then p = damping x A
D^-1 p + (1 - damping) x s becomes (D - damping x A) q = (1 - damping) x s. The matrix is symmetric
and positive definite, so successive over-relaxation converges for every order of the nodes (Young
1950; Young, Iterative Solution of Large Linear Systems, 1971, ch. 4).

Suppose that each link connects two colours, and that all nodes of one colour come before all of the
other. Then omega = 2 / (1 + sqrt(1 - damping^2)) is the best choice, and the error shrinks by
damping / (1 + sqrt(1 - damping^2)) from one half-sweep to the next. Real graphs are nearly like
this. A leaf is eliminated: its q is damping x its neighbour's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, log, sqrt

import numpy as np

from core.graph.algorithms.neighbourhood import links
from core.graph.pagerank.sweeps import candidates, merge, relax, two_colours
from core.graph.store import Graph

# Share of the initial error that the planned half-sweeps leave, if each link connects two colours.
SHRINK = 1 / 100
# Smallest number of half-sweeps, for any damping.
LEAST = 7
# Largest change of the last two half-sweeps for each node that may be missed, where all scores sum
# up to one. The number of nodes counts up to `FEW_NODES`.
SETTLED = 3e-4
# If few nodes are kept, each wrong one weighs more.
FEW_NODES = 1000
# Largest graph whose half-sweeps go on until they converge, and the change that counts as that.
SMALL, CONVERGED = 5000, 1e-11
# Number of dampings whose inverses are kept.
INVERSES = 8


@dataclass(frozen=True, eq=False)
class Layout:
    """A graph arranged for half-sweeps.

    Leaves are kept apart. The other nodes are ordered by (colour, links descending, id), and their
    rank there is their place. Rows of similar length then follow each other, which helps the
    processor's branch prediction.
    """

    nodes: np.ndarray  # the node at each place
    place: np.ndarray  # place of each node; for a leaf that of its neighbour
    leaf: np.ndarray  # bool, for each node
    alone: np.ndarray  # bool, for each node: True if it has no links
    split: int  # the first place of the second colour
    degree: np.ndarray  # float64 for each place, including leaves, at least one
    # (indptr, near): linked places of each place, without leaves.
    rows: tuple[np.ndarray, np.ndarray]
    # (places with leaves, indptr, leaves), ascending.
    leaves: tuple[np.ndarray, np.ndarray, np.ndarray]
    inverses: dict[float, np.ndarray] = field(default_factory=dict)
    # Work arrays that no thread uses at present.
    spare: list[tuple[np.ndarray, ...]] = field(default_factory=list)

    def inverse(self, damping: float) -> np.ndarray:
        """Return 1 / the coefficient of each place's q in its own equation.

        Leaves are eliminated.
        """
        found = self.inverses.get(damping)
        if found is None:
            found = self.degree.copy()
            found[self.leaves[0]] -= damping * damping * np.diff(self.leaves[1])
            found = 1.0 / found
            if len(self.inverses) >= INVERSES:
                self.inverses.clear()
            self.inverses[damping] = found
        return found

    def borrow(self) -> tuple[np.ndarray, ...]:
        """Return work arrays: values, mass (zeros), scores, active places by colour, and seen."""
        try:
            return self.spare.pop()
        except IndexError:
            size = len(self.nodes)
            return (
                np.empty(size),
                np.zeros(size),
                np.empty(size),
                np.empty((2, size), np.uint32),
                np.empty(size, bool),
            )


def layout(graph: Graph) -> Layout:
    """Return the arrangement of a graph, cached on the graph."""
    return graph.derived.once("half-sweep layout", None, lambda: _arrange(graph))


def half_sweeps(damping: float) -> int:
    """Return the number of half-sweeps for a large graph.

    It is 7 for a damping of 0.8. It is the number that leaves `SHRINK` of the error, at least
    `LEAST`.
    """
    shrink = damping / (1.0 + sqrt(1.0 - damping * damping))
    return LEAST if shrink == 0.0 else max(LEAST, ceil(log(SHRINK) / log(shrink)))


def relaxed(
    graph: Graph,
    seeds: np.ndarray,
    shares: np.ndarray,
    damping: float,
    keep: int,
    recall: float = 0.97,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the best `keep` nodes and their scores, unordered.

    Nodes equal to the last one, and a few more, are included. If fewer than `keep` nodes hold a
    score, all of them are returned. The number of half-sweeps is `half_sweeps`; more follow while
    the last two change more than `SETTLED` allows for this recall. Graphs of at most `SMALL` nodes
    are relaxed until they have converged.

    Parameters
    ----------
    seeds : distinct nodes.
    shares : share of the restarts of each seed.
    recall : share of the exact best nodes to find.
    """
    made = layout(graph)
    omega, whole = 2.0 / (1.0 + sqrt(1.0 - damping * damping)), 1.0
    bonus: dict[int, float] = {}
    own: dict[int, float] = {}
    given = list(zip(seeds.tolist(), shares.tolist()))
    for seed, share in given:
        whole -= damping * share if made.alone[seed] else 0.0
    for seed, share in given:
        place, source = int(made.place[seed]), (1.0 - damping) * share / whole
        if made.leaf[seed]:
            own[seed], source = source, damping * source
        bonus[place] = bonus.get(place, 0.0) + omega * source
    starts = sorted(bonus)
    if graph.n_nodes <= SMALL:
        tolerance = CONVERGED
    else:
        tolerance = max(CONVERGED, SETTLED * (1.0 - recall) * min(max(keep, 1), FEW_NODES))
    values, mass, scores, active, seen = work = made.borrow()
    relax(
        values,
        mass,
        active,
        seen,
        made.split,
        np.array(starts),
        np.array([bonus[place] for place in starts]),
        omega,
        omega * damping,
        made.inverse(damping),
        *made.rows,
        half_sweeps(damping),
        tolerance,
    )
    ids, best = candidates(values, scores, made.degree, damping, keep, made.nodes, *made.leaves)
    for seed, source in own.items():
        others = ids != seed
        ids = np.append(ids[others], seed)
        best = np.append(best[others], damping * max(0.0, values[made.place[seed]]) + source)
    made.spare.append(work)
    return ids, best


def _arrange(graph: Graph) -> Layout:
    way = links(graph, "both")[1:]
    out_indptr, tails, in_indptr, in_heads = way
    degree = np.diff(out_indptr) + np.diff(in_indptr)
    single = np.flatnonzero(degree == 1)
    outward = out_indptr[single + 1] > out_indptr[single]
    host = np.empty(len(single), np.int64)
    host[outward], host[~outward] = (
        tails[out_indptr[single[outward]]],
        in_heads[in_indptr[single[~outward]]],
    )
    # If two nodes have no other link, the first of them is kept.
    chosen = (degree[host] > 1) | (host < single)
    leaves, host = single[chosen], host[chosen]
    leaf = np.zeros(graph.n_nodes, bool)
    leaf[leaves] = True
    order = np.argsort(-degree, kind="stable")
    colour = two_colours(order, *way)
    inner = degree - np.bincount(host, minlength=graph.n_nodes)
    nodes = np.flatnonzero(~leaf)
    nodes = nodes[np.lexsort((-inner[nodes], colour[nodes]))]
    place = np.full(graph.n_nodes, -1, np.int64)
    place[nodes] = np.arange(len(nodes))
    indptr, near = merge(nodes, place, *way)
    # Smaller numbers are read faster.
    rows = (indptr, near.astype(np.uint16) if len(nodes) <= 1 << 16 else near)
    place[leaves] = place[host]
    by_host = np.argsort(place[leaves], kind="stable")
    hosts, counts = np.unique(place[leaves], return_counts=True)
    return Layout(
        nodes,
        place,
        leaf,
        degree == 0,
        int(np.sum(colour[nodes] == 0)),
        np.maximum(degree[nodes], 1.0),
        rows,
        (hosts, np.concatenate([[0], np.cumsum(counts)]), leaves[by_host]),
    )
