"""RBS, the randomised backward search from a target, applied to a single source.

Wang, Wei, Gan, Wang, Huang, KDD 2020. RBS finds the PageRank of one target from every node.
LEGO-GraphRAG's report uses it for one source and does not say how. If steps go in both directions,
the PageRank of a target v from a source s and the reverse are proportional: degree(s) x PageRank of
v from s = degree(v) x PageRank of s from v. Here the search therefore runs backward from each seed,
and its values are scaled by degrees. In one direction there is no such symmetry, and the same
randomised rounding is applied to a forward search. Neighbours are tested one by one, whereas the
paper sorts them by degree beforehand.
"""

from __future__ import annotations

from math import ceil, log

import numpy as np
from numba import njit

from core.graph.kernels import _degree
from core.graph.order import top_k
from core.graph.pagerank.local.table import (
    EDGES_WALKED,
    RESIDUAL,
    SLOT_COUNT,
    UNKNOWN_DEGREES,
    borrow_work,
    slot_of,
)
from core.graph.pagerank.problem import PageRankProblem, PageRankResult
from core.graph.pagerank.walk_loops import CHECK_STEPS, draw

# Relative error of the guarantee.
RBS_EPSILON = 0.5
# Divisor of delta, the least PageRank with a guarantee, from one round to the next.
RBS_DELTA_DIVISOR = 4.0
# Largest number of edges that a search may walk.
RBS_MAX_EDGES = 30_000_000


def rbs(
    problem: PageRankProblem, epsilon: float = RBS_EPSILON, budget: int = RBS_MAX_EDGES
) -> PageRankResult:
    """Return the best nodes by RBS.

    Delta is the least PageRank for which the guarantee holds. It starts at 1 / keep and is divided
    by four until all best nodes are above it. Mass below the rounding unit, (1 - damping) x theta
    with theta = epsilon^2 x delta / 12, is rounded randomly. An estimate is then unbiased except
    for the mass beyond the last level, and its variance is at most theta x its value. A value of at
    least delta is therefore within the relative error epsilon with probability at least 11/12
    (Chebyshev). Raises BadParameter if the edges have weights.

    >>> from core.graph.pagerank.problem import pose_problem
    >>> from core.graph.pagerank.rbs import rbs
    >>> toy.names(rbs(pose_problem(toy, [0], 2, 0.5, "out")).nodes)  # in truth A 16/29, C 6/29
    ['A', 'C']
    """
    problem.check_unweighted("rbs")
    delta, min_delta, edges = 1.0 / problem.keep, 1.0 / max(1, problem.graph.n_nodes), 0
    while True:
        problem.watch.check()
        theta = epsilon * epsilon * delta / 12.0
        nodes, scores, last, round_edges = _search_all_seeds(problem, theta)
        edges += round_edges
        settled = last >= (1.0 + epsilon) * delta or delta <= min_delta
        if settled or edges * RBS_DELTA_DIVISOR > budget:
            break
        delta = max(min_delta, delta / RBS_DELTA_DIVISOR)
    best, values = problem.rank_nodes(nodes, scores)
    guarantee_text = "before its guarantee held"
    if settled:
        guarantee_text = f"each within {epsilon:.0%} of its value with probability 11/12"
    return PageRankResult(
        best,
        values / scores.sum(),
        edges,
        settled,
        f"RBS ended at delta {delta:.1e}, {guarantee_text}, after {edges:,} edges.",
    )


def _search_all_seeds(
    problem: PageRankProblem, theta: float
) -> tuple[np.ndarray, np.ndarray, float, int]:
    """Search from all seeds and add up their results by their shares.

    Returns
    -------
    The nodes, ascending; their PageRank; the smallest value among the `keep` best before the
    scaling by degrees, 0 if there are fewer; and the number of edges walked.
    """
    nodes: list[np.ndarray] = []
    scores: list[np.ndarray] = []
    unscaled: list[np.ndarray] = []
    edges = 0
    for turn, (seed, share) in enumerate(zip(problem.seeds.tolist(), problem.shares.tolist())):
        random = np.array(
            [2 * (problem.random_seed * 1_000_003 + turn) + 1], np.uint64
        ) * np.uint64(0x9E3779B97F4A7C15)
        seed_nodes, values, seed_edges = search_from_seed(problem, seed, theta, random)
        scale: float | np.ndarray = 1.0
        if problem.direction == "both":
            scale = step_counts(problem, seed_nodes) / step_counts(problem, np.array([seed]))
        nodes.append(seed_nodes)
        scores.append(share * scale * values)
        unscaled.append(values)
        edges += seed_edges
    all_nodes, positions = np.unique(np.concatenate(nodes), return_inverse=True)
    total = np.bincount(positions, np.concatenate(scores))
    best = top_k(all_nodes, total, problem.keep)[0]
    last = 0.0
    if len(best) == problem.keep:
        unscaled_total = np.bincount(positions, np.concatenate(unscaled))
        last = float(unscaled_total[np.searchsorted(all_nodes, best)].min())
    return all_nodes, total, last, edges


def step_counts(problem: PageRankProblem, nodes: np.ndarray) -> np.ndarray:
    """Return the number of steps from each node in both directions, at least one."""
    out_indptr, in_indptr = problem.links.out_indptr, problem.links.in_indptr
    return np.maximum(
        1.0, out_indptr[nodes + 1] - out_indptr[nodes] + in_indptr[nodes + 1] - in_indptr[nodes]
    )


def search_from_seed(
    problem: PageRankProblem, seed: int, theta: float, random: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """Search level by level from one seed: level i has the mass of walks of i steps.

    Returns
    -------
    The nodes, ascending, their values, and the number of edges walked. If steps go in both
    directions, a value is the PageRank of the seed from the node; else it is the PageRank of the
    node from the seed.
    """
    damping, unit, edges = problem.damping, (1.0 - problem.damping) * theta, 0
    levels = 1 if damping == 0.0 else max(1, ceil(log(theta) / log(damping)))
    nodes, values = np.array([seed], np.int64), np.array([1.0 - damping])
    level_nodes, level_values = [nodes], [values]
    for _ in range(levels if damping > 0.0 else 0):
        with borrow_work() as work:
            i = 0
            while i < len(nodes):
                problem.watch.check()
                i, n_slots = _advance_level(
                    work.table, nodes, values, i, damping, unit, random, problem.links, CHECK_STEPS
                )
                if n_slots:
                    work.grow(n_slots)
            count = int(work.table.state[SLOT_COUNT])
            nodes = work.table.nodes[:count].copy()
            values = work.table.cells[:count, RESIDUAL].copy()
            edges += int(work.table.state[EDGES_WALKED])
        if not count:
            break
        level_nodes.append(nodes)
        level_values.append(values)
    all_nodes, positions = np.unique(np.concatenate(level_nodes), return_inverse=True)
    return all_nodes, np.bincount(positions, np.concatenate(level_values)), edges


@njit(cache=True, nogil=True)
def _advance_level(table, sources, values, first, damping, unit, random, links, budget):
    """Pass the values of the nodes in `sources` to their neighbours.

    The first of these nodes is at position `first`. The mass for a neighbour is randomly rounded to
    `unit` or to 0 if it is below `unit`. If steps go in both directions, a neighbour u receives
    damping x value / degree(u), and one random number serves all neighbours of a source, as in the
    paper. In one direction a neighbour receives damping x value / degree of the source, and each
    has its own random number. The results are added to the residuals in `table`.

    Returns
    -------
    The position to continue with, and the number of slots that the table needs, 0 if it is large
    enough. The loop stops after about `budget` edges.
    """
    index, positions, nodes, cells, _, state = table
    mask, out_indptr, tails, in_indptr, in_heads = links[:5]
    edge_limit = state[EDGES_WALKED] + budget
    for source in range(first, len(sources)):
        if state[EDGES_WALKED] >= edge_limit:
            return source, np.int64(0)
        node = sources[source]
        degree = _degree(node, mask, out_indptr, in_indptr)
        if state[SLOT_COUNT] + degree > len(nodes):
            return source, np.int64(state[SLOT_COUNT] + degree)
        state[EDGES_WALKED] += degree + 1
        chance, mass = draw(random), damping * values[source]
        for side in range(2):
            if not mask & (side + 1):
                continue
            indptr, neighbours = (out_indptr, tails) if side == 0 else (in_indptr, in_heads)
            for link in range(indptr[node], indptr[node + 1]):
                neighbour = np.int64(neighbours[link])
                if mask == 3:
                    share = mass / _degree(neighbour, mask, out_indptr, in_indptr)
                else:
                    share, chance = mass / degree, draw(random)
                if share < unit:
                    share = unit if chance * unit < share else 0.0
                if share > 0.0:
                    slot = slot_of(
                        index, positions, nodes, cells, state, neighbour, 0.0, UNKNOWN_DEGREES
                    )
                    cells[slot, RESIDUAL] += share
    return len(sources), np.int64(0)
