"""PageRank in both directions by successive over-relaxation in two colours, for graphs small enough to walk whole.

With q = p / degree, p = damping x A D^-1 p + (1 - damping) x s is (D - damping x A) q = (1 - damping) x s, symmetric and
positive, so that successive over-relaxation converges whatever the order of the nodes (Young 1950; Young, Iterative
Solution of Large Linear Systems, 1971, ch. 4). Where each link joins two colours, with all of one colour before all of
the other, omega = 2 / (1 + sqrt(1 - damping^2)) is best, and the error shrinks by damping / (1 + sqrt(1 - damping^2)) from
one half-sweep to the next. Real graphs are nearly so. A leaf is eliminated: its q is damping x its neighbour's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, log, sqrt

import numpy as np

from core.graph.algorithms.neighbourhood import links
from core.graph.pagerank.sweeps import candidates, merge, relax, two_colours
from core.graph.store import Graph

# of the first error, what the planned half-sweeps leave where each link joins two colours
SHRINK = 1 / 100
LEAST = 7  # half-sweeps, whatever the damping
SETTLED = 3e-4  # what the last two half-sweeps may change, of a sum of one, for each node that may be missed, of up to `FEW_NODES` to keep
FEW_NODES = 1000  # where few are kept, one that is wrong weighs more
SMALL, CONVERGED = 5000, 1e-11  # up to so many nodes they go on until they change no more than this
INVERSES = 8  # dampings for which they are kept


@dataclass(frozen=True, eq=False)
class Layout:
    """A graph arranged for half-sweeps: leaves apart, the others by (colour, links descending, id), their place: rows
    of like length follow each other, which a processor foresees."""

    nodes: np.ndarray  # the node at each place
    place: np.ndarray  # of each node; a leaf's is that of its neighbour
    leaf: np.ndarray  # bool, of each node
    alone: np.ndarray  # bool, of each node: without links
    split: int  # the first place of the second colour
    degree: np.ndarray  # float64 of each place, leaves counted, at least one
    # (indptr, near): the places linked to each place, leaves not counted
    rows: tuple[np.ndarray, np.ndarray]
    # (places with leaves, indptr, leaves), ascending
    leaves: tuple[np.ndarray, np.ndarray, np.ndarray]
    inverses: dict[float, np.ndarray] = field(default_factory=dict)
    # work arrays that no thread is using
    spare: list[tuple[np.ndarray, ...]] = field(default_factory=list)

    def inverse(self, damping: float) -> np.ndarray:
        """1 / what multiplies each place's q in its own equation, its leaves eliminated."""
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
        """The work arrays of a relaxation: values, mass (zero), scores, active places by colour, seen."""
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
    """The arrangement of a graph, made once and kept as long as the graph."""
    return graph.derived.once("half-sweep layout", None, lambda: _arrange(graph))


def half_sweeps(damping: float) -> int:
    """How many half-sweeps a large graph gets: as many as leave `SHRINK` of the error, at least `LEAST`; 7 for 0.8."""
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
    """(ids, scores), unordered: of the best `keep` nodes, those equal to the last, and a few more; all that hold a score
    where those are fewer than `keep`.

    `seeds` are distinct nodes, `shares` what part of the restarts each gets. The half-sweeps are `half_sweeps`, and more
    while the last two changed more than `SETTLED` allows where a share `recall` of the exact best is asked for; up to `SMALL`
    nodes, until they have converged.
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
    # of two nodes with no other link, the first is kept
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
    # the less there is to read, the quicker
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
