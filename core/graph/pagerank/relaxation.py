"""PageRank in both directions by successive over-relaxation in two colours.

It computes every node, so it suits small graphs. p is the PageRank, s the restart distribution, A
the adjacency matrix and D the degrees. Let q = p / degree. Then p = damping x A
D^-1 p + (1 - damping) x s becomes (D - damping x A) q = (1 - damping) x s. The matrix is symmetric
and positive definite, so successive over-relaxation converges for every order of the nodes (Young
1950; Young, Iterative Solution of Large Linear Systems, 1971, ch. 4).

Suppose that each link connects two colours, and that all nodes of one colour come before all nodes
of the other. Then omega = 2 / (1 + sqrt(1 - damping^2)) is the best choice, and the error shrinks
by damping / (1 + sqrt(1 - damping^2)) from one half-sweep (the nodes of one colour) to the next.
Real graphs are nearly of this kind. Leaves, the nodes with one link, are eliminated: q of a leaf is
damping x q of its neighbour.
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

    # share of the initial error that remains after `half_sweeps`, if each link connects two colours
    remaining_error_share: float = 1 / 100
    min_half_sweeps: int = 7  # for any damping
    # relaxation ends when the last two half-sweeps together change the scores, whose sum is 1, by
    # at most this number for each node that the recall allows to miss
    settled_change: float = 3e-4
    # largest number of kept nodes from which the number of nodes that may be missed is computed
    max_settled_nodes: int = 1000
    small_graph_nodes: int = 5000  # largest graph that is relaxed until it has converged
    converged_change: float = 1e-11
    max_inverses: int = 8  # number of dampings whose inverses are cached


RELAXATION = RelaxationDefaults()


@dataclass(frozen=True, eq=False)
class SweepLayout:
    """A graph arranged for half-sweeps.

    The nodes that are not leaves are ordered by (colour, links descending, id). The position of a
    node in this order is its row. Rows with similar numbers of links then follow each other, which
    helps the processor's branch prediction.
    """

    nodes: np.ndarray  # node of each row
    row_of: np.ndarray  # row of each node; for a leaf, the row of its neighbour
    is_leaf: np.ndarray  # bool, for each node: True if it is a leaf
    is_isolated: np.ndarray  # bool, for each node: True if it has no links
    second_colour_start: int  # first row of the second colour
    degree: np.ndarray  # float64, of each row: number of links, also to leaves; at least 1
    # (indptr, links): the rows that each row is linked to, without leaves, in CSR form.
    adjacency: tuple[np.ndarray, np.ndarray]
    # (rows that have leaves, ascending; indptr; leaves of each of these rows).
    leaves: tuple[np.ndarray, np.ndarray, np.ndarray]
    inverses: dict[float, np.ndarray] = field(default_factory=dict)  # by damping
    # Work arrays that no thread uses at present.
    spare_work: list[tuple[np.ndarray, ...]] = field(default_factory=list)

    def inverse(self, damping: float) -> np.ndarray:
        """Return 1 / the coefficient of q in each row's equation.

        The equations are those after leaves are eliminated. The result is float64 [rows] and cached
        by damping.
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
        """Return the work arrays values, mass (zeros), scores, active rows by colour, and seen.

        The caller appends them to `spare_work` after use.
        """
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
    """Return the least number of half-sweeps for a damping, such as 7 for 0.8.

    If each link connects two colours, at most `RELAXATION.remaining_error_share` of the error
    remains after them.
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
    """Return at least the best `keep` nodes and their scores, unordered.

    Nodes that tie with the `keep`-th best, and a few more, are included. If fewer than `keep` nodes
    have a score, all of them are returned. There are at least `half_sweeps` half-sweeps. More
    follow while the last two change more than `RELAXATION.settled_change` allows for this recall.
    Graphs of at most `RELAXATION.small_graph_nodes` nodes are relaxed until they have converged.

    Parameters
    ----------
    seeds : distinct nodes.
    shares : restart probability of each seed.
    recall : share of the exact best nodes to find.
    """
    layout = sweep_layout(graph)
    omega, restart_mass = 2.0 / (1.0 + sqrt(1.0 - damping * damping)), 1.0
    bonus: dict[int, float] = {}  # by row: right side of its equation, times omega
    leaf_sources: dict[int, float] = {}  # by seed that is a leaf: right side of its own equation
    seed_shares = list(zip(seeds.tolist(), shares.tolist()))
    # An isolated seed passes no mass on. The restarts are divided by the mass that remains.
    for seed, share in seed_shares:
        restart_mass -= damping * share if layout.is_isolated[seed] else 0.0
    for seed, share in seed_shares:
        seed_row, source = int(layout.row_of[seed]), (1.0 - damping) * share / restart_mass
        if layout.is_leaf[seed]:
            leaf_sources[seed], source = source, damping * source
        bonus[seed_row] = bonus.get(seed_row, 0.0) + omega * source
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
        np.array([bonus[row] for row in starts]),
        omega,
        omega * damping,
        layout.inverse(damping),
        *layout.adjacency,
        half_sweeps(damping),
        tolerance,
    )
    ids, best = select_best(
        values, scores, layout.degree, damping, keep, layout.nodes, *layout.leaves
    )
    # `select_best` scores a leaf by its neighbour alone. A leaf that is a seed has its own share,
    # too.
    for seed, source in leaf_sources.items():
        others = ids != seed
        ids = np.append(ids[others], seed)
        best = np.append(best[others], damping * max(0.0, values[layout.row_of[seed]]) + source)
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
    # Of two nodes that are linked only to each other, the one with the smaller id is not a leaf.
    is_leaf = (degree[neighbour] > 1) | (neighbour < single_link)
    leaves, neighbour = single_link[is_leaf], neighbour[is_leaf]
    leaf_mask = np.zeros(graph.n_nodes, bool)
    leaf_mask[leaves] = True
    order = np.argsort(-degree, kind="stable")
    colour = colour_nodes(order, *adjacency)
    inner_degree = degree - np.bincount(neighbour, minlength=graph.n_nodes)  # without leaves
    nodes = np.flatnonzero(~leaf_mask)
    nodes = nodes[np.lexsort((-inner_degree[nodes], colour[nodes]))]
    row_of = np.full(graph.n_nodes, -1, np.int64)
    row_of[nodes] = np.arange(len(nodes))
    indptr, links = merge_directions(nodes, row_of, *adjacency)
    if len(nodes) <= 1 << 16:  # smaller numbers are read faster
        links = links.astype(np.uint16)
    row_of[leaves] = row_of[neighbour]
    by_host = np.argsort(row_of[leaves], kind="stable")
    hosts, counts = np.unique(row_of[leaves], return_counts=True)
    return SweepLayout(
        nodes=nodes,
        row_of=row_of,
        is_leaf=leaf_mask,
        is_isolated=degree == 0,
        second_colour_start=int(np.sum(colour[nodes] == 0)),
        degree=np.maximum(degree[nodes], 1.0),
        adjacency=(indptr, links),
        leaves=(hosts, row_offsets(counts), leaves[by_host]),
    )
