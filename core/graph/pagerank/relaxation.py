"""PageRank in both directions by successive over-relaxation in two colours.

It suits graphs that are small enough to be walked whole. Let q = p / degree. Then p = damping x A
D^-1 p + (1 - damping) x s becomes (D - damping x A) q = (1 - damping) x s. The matrix is symmetric
and positive definite, so successive over-relaxation converges for every order of the nodes (Young
1950; Young, Iterative Solution of Large Linear Systems, 1971, ch. 4).

Suppose that each link connects two colours, and that all nodes of one colour come before all of the
other. Then omega = 2 / (1 + sqrt(1 - damping^2)) is the best choice, and the error shrinks by
damping / (1 + sqrt(1 - damping^2)) from one half-sweep (the nodes of one colour) to the next. Real
graphs are nearly like this. Leaves, the nodes with one link, are eliminated: q of a leaf is damping
x q of its neighbour.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, log, sqrt

import numpy as np

from core.graph.algorithms.neighbourhood import walk_arguments
from core.graph.columns import row_offsets
from core.graph.pagerank.sweeps import colour_nodes, merge_directions, relax, select_best
from core.graph.store import Graph


@dataclass(frozen=True)
class RelaxationDefaults:
    """Stopping rules of relaxation by half-sweeps."""

    # share of the initial error that the planned half-sweeps leave, if each link connects two
    # colours
    remaining_error_share: float = 1 / 100
    min_half_sweeps: int = 7  # for any damping
    # largest change by the last two half-sweeps, of scores that sum up to one, for each of the
    # nodes that the recall allows to miss
    settled_change: float = 3e-4
    # largest number of nodes to keep from which the number that may be missed is computed
    max_settled_nodes: int = 1000
    small_graph_nodes: int = 5000  # largest graph that is relaxed until it has converged
    converged_change: float = 1e-11
    max_inverses: int = 8  # dampings whose inverses are cached


RELAXATION = RelaxationDefaults()


@dataclass(frozen=True, eq=False)
class SweepLayout:
    """A graph arranged for half-sweeps.

    The nodes that are not leaves are ordered by (colour, links descending, id). The position of a
    node in this order is its place. Rows of similar length then follow each other, which helps the
    processor's branch prediction.
    """

    nodes: np.ndarray  # the node at each place
    place_of: np.ndarray  # place of each node; for a leaf that of its neighbour
    is_leaf: np.ndarray  # bool, for each node: True if it is a leaf
    is_isolated: np.ndarray  # bool, for each node: True if it has no links
    second_colour_start: int  # the first place of the second colour
    degree: np.ndarray  # float64 for each place, including leaves, at least one
    # (indptr, near): linked places of each place, without leaves.
    rows: tuple[np.ndarray, np.ndarray]
    # (places with leaves ascending, indptr, leaves of each).
    leaves: tuple[np.ndarray, np.ndarray, np.ndarray]
    inverses: dict[float, np.ndarray] = field(default_factory=dict)  # by damping
    # Work arrays that no thread uses at present.
    spare_work: list[tuple[np.ndarray, ...]] = field(default_factory=list)

    def inverse(self, damping: float) -> np.ndarray:
        """Return 1 / the coefficient of each place's q in its own equation.

        Leaves are eliminated.
        """
        coefficients = self.inverses.get(damping)
        if coefficients is None:
            coefficients = self.degree.copy()
            coefficients[self.leaves[0]] -= damping * damping * np.diff(self.leaves[1])
            coefficients = 1.0 / coefficients
            if len(self.inverses) >= RELAXATION.max_inverses:
                self.inverses.clear()
            self.inverses[damping] = coefficients
        return coefficients

    def borrow_work(self) -> tuple[np.ndarray, ...]:
        """Return work arrays: values, mass (zeros), scores, active places by colour, and seen."""
        try:
            return self.spare_work.pop()
        except IndexError:
            size = len(self.nodes)
            return (
                np.empty(size),
                np.zeros(size),
                np.empty(size),
                np.empty((2, size), np.uint32),
                np.empty(size, bool),
            )


def sweep_layout(graph: Graph) -> SweepLayout:
    """Return the layout of a graph, cached on the graph."""
    return graph.derived.get_or_make("half-sweep layout", None, lambda: _make_layout(graph))


def half_sweeps(damping: float) -> int:
    """Return the number of half-sweeps for a large graph; 7 for a damping of 0.8.

    They leave at most `RELAXATION.remaining_error_share` of the error.
    """
    shrink = damping / (1.0 + sqrt(1.0 - damping * damping))
    if shrink == 0.0:
        return RELAXATION.min_half_sweeps
    n = ceil(log(RELAXATION.remaining_error_share) / log(shrink))
    return max(RELAXATION.min_half_sweeps, n)


def relax_graph(
    graph: Graph,
    seeds: np.ndarray,
    shares: np.ndarray,
    damping: float,
    keep: int,
    recall: float = 0.97,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the best `keep` nodes and their scores, unordered.

    Nodes that tie with the last one, and a few more, are included. If fewer than `keep` nodes have
    a score, all of them are returned. The number of half-sweeps is `half_sweeps`; more follow while
    the last two change more than `RELAXATION.settled_change` allows for this recall. Graphs of at
    most `RELAXATION.small_graph_nodes` nodes are relaxed until they have converged.

    Parameters
    ----------
    seeds : distinct nodes.
    shares : share of the restarts of each seed.
    recall : share of the exact best nodes to find.
    """
    layout = sweep_layout(graph)
    omega, restart_mass = 2.0 / (1.0 + sqrt(1.0 - damping * damping)), 1.0
    bonus: dict[int, float] = {}
    leaf_sources: dict[int, float] = {}
    seed_shares = list(zip(seeds.tolist(), shares.tolist()))
    for seed, share in seed_shares:
        restart_mass -= damping * share if layout.is_isolated[seed] else 0.0
    for seed, share in seed_shares:
        seed_place, source = int(layout.place_of[seed]), (1.0 - damping) * share / restart_mass
        if layout.is_leaf[seed]:
            leaf_sources[seed], source = source, damping * source
        bonus[seed_place] = bonus.get(seed_place, 0.0) + omega * source
    starts = sorted(bonus)
    tolerance = RELAXATION.converged_change
    if graph.n_nodes > RELAXATION.small_graph_nodes:
        counted_nodes = min(max(keep, 1), RELAXATION.max_settled_nodes)
        tolerance = max(tolerance, RELAXATION.settled_change * (1.0 - recall) * counted_nodes)
    values, mass, scores, active, seen = work = layout.borrow_work()
    relax(
        values,
        mass,
        active,
        seen,
        layout.second_colour_start,
        np.array(starts),
        np.array([bonus[place] for place in starts]),
        omega,
        omega * damping,
        layout.inverse(damping),
        *layout.rows,
        half_sweeps(damping),
        tolerance,
    )
    ids, best = select_best(
        values, scores, layout.degree, damping, keep, layout.nodes, *layout.leaves
    )
    for seed, source in leaf_sources.items():
        others = ids != seed
        ids = np.append(ids[others], seed)
        best = np.append(best[others], damping * max(0.0, values[layout.place_of[seed]]) + source)
    layout.spare_work.append(work)
    return ids, best


def _make_layout(graph: Graph) -> SweepLayout:
    adjacency = walk_arguments(graph, "both")[1:]
    out_indptr, tails, in_indptr, in_heads = adjacency
    degree = np.diff(out_indptr) + np.diff(in_indptr)
    single_link = np.flatnonzero(degree == 1)
    outward = out_indptr[single_link + 1] > out_indptr[single_link]
    neighbour = np.empty(len(single_link), np.int64)
    neighbour[outward] = tails[out_indptr[single_link[outward]]]
    neighbour[~outward] = in_heads[in_indptr[single_link[~outward]]]
    # Of two nodes that are linked only to each other, the first one is not a leaf.
    is_leaf = (degree[neighbour] > 1) | (neighbour < single_link)
    leaves, neighbour = single_link[is_leaf], neighbour[is_leaf]
    leaf = np.zeros(graph.n_nodes, bool)
    leaf[leaves] = True
    order = np.argsort(-degree, kind="stable")
    colour = colour_nodes(order, *adjacency)
    inner = degree - np.bincount(neighbour, minlength=graph.n_nodes)
    nodes = np.flatnonzero(~leaf)
    nodes = nodes[np.lexsort((-inner[nodes], colour[nodes]))]
    place_of = np.full(graph.n_nodes, -1, np.int64)
    place_of[nodes] = np.arange(len(nodes))
    indptr, near = merge_directions(nodes, place_of, *adjacency)
    # Smaller numbers are read faster.
    rows = (indptr, near.astype(np.uint16) if len(nodes) <= 1 << 16 else near)
    place_of[leaves] = place_of[neighbour]
    by_host = np.argsort(place_of[leaves], kind="stable")
    hosts, counts = np.unique(place_of[leaves], return_counts=True)
    return SweepLayout(
        nodes,
        place_of,
        leaf,
        degree == 0,
        int(np.sum(colour[nodes] == 0)),
        np.maximum(degree[nodes], 1.0),
        rows,
        (hosts, row_offsets(counts), leaves[by_host]),
    )
