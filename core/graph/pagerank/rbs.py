"""RBS, the randomised backward search from a target (Wang, Wei, Gan, Wang, Huang, KDD 2020), read for a single source."""

from __future__ import annotations

from math import ceil, log

import numpy as np
from numba import njit

from core.graph.kernels import _degree
from core.graph.order import top_k
from core.graph.pagerank.local.table import COUNT, NOBODY, RESIDUAL, STEPS, borrowed, slot_of
from core.graph.pagerank.problem import Found, Problem
from core.graph.pagerank.walking import CHECK_STEPS, draw

EPSILON = 0.5  # the relative error
QUARTER = 4.0
BUDGET = 30_000_000  # edges


def rbs(problem: Problem, epsilon: float = EPSILON, budget: int = BUDGET) -> Found:
    """The best nodes by RBS, its delta lowered from 1 / keep by quarters until it lies below them all.

    RBS finds the PageRank from every node of one target; LEGO-GraphRAG's report asks it for one source and does not say how.
    In both directions the reading is exact: degree(s) x PageRank from s of v = degree(v) x PageRank from v of s, so the search
    runs backward from each seed and is scaled by degrees. Along or against the triples there is no such symmetry; the same
    randomised rounding is then applied to the forward search. Neighbours are tested one by one, where the paper sorts them
    by degree beforehand.

    With rounding unit (1 - damping) x theta and theta = epsilon^2 x delta / 12, an estimate is unbiased up to what lies beyond
    the last level, and its variance is at most theta x its value, so that a value of at least delta is met within epsilon with
    probability at least 11/12 (Chebyshev). Raises BadParameter for weights.

    >>> from core.graph.pagerank.problem import pose
    >>> from core.graph.pagerank.rbs import rbs
    >>> toy.names(rbs(pose(toy, [0], 2, 0.5, "out")).nodes)  # in truth A 16/29, C 6/29
    ['A', 'C']
    """
    problem.unweighted("rbs")
    delta, least, edges = 1.0 / problem.keep, 1.0 / max(1, problem.graph.n_nodes), 0
    while True:
        problem.watch.check()
        nodes, scores, last, walked = _all_seeds(problem, epsilon * epsilon * delta / 12.0)
        edges += walked
        settled = last >= (1.0 + epsilon) * delta or delta <= least
        if settled or edges * QUARTER > budget:
            break
        delta = max(least, delta / QUARTER)
    best, values = problem.ranked(nodes, scores)
    said = "before its guarantee held"
    if settled:
        said = f"each within {epsilon:.0%} of its value with probability 11/12"
    return Found(
        best,
        values / scores.sum(),
        edges,
        settled,
        f"RBS ended at delta {delta:.1e}, {said}, after {edges:,} edges.",
    )


def _all_seeds(problem: Problem, theta: float) -> tuple[np.ndarray, np.ndarray, float, int]:
    """(nodes, their PageRank, the least value found for one of the best before scaling, edges walked), seeds by their shares."""
    nodes: list[np.ndarray] = []
    scores: list[np.ndarray] = []
    raw: list[np.ndarray] = []
    edges = 0
    for turn, (seed, share) in enumerate(zip(problem.seeds.tolist(), problem.shares.tolist())):
        random = np.array([2 * (problem.random * 1_000_003 + turn) + 1], np.uint64) * np.uint64(
            0x9E3779B97F4A7C15
        )
        found, values, walked = search(problem, seed, theta, random)
        scale: float | np.ndarray = 1.0
        if problem.direction == "both":
            scale = degrees(problem, found) / max(1.0, float(degrees(problem, np.array([seed]))[0]))
        nodes, scores, raw, edges = (
            [*nodes, found],
            [*scores, share * scale * values],
            [*raw, values],
            edges + walked,
        )
    every, place = np.unique(np.concatenate(nodes), return_inverse=True)
    total = np.bincount(place, np.concatenate(scores))
    best = top_k(every, total, problem.keep)[0]
    unscaled = np.bincount(place, np.concatenate(raw))
    last = float(unscaled[np.searchsorted(every, best)].min()) if len(best) == problem.keep else 0.0
    return every, total, last, edges


def degrees(problem: Problem, nodes: np.ndarray) -> np.ndarray:
    """The number of steps from each node, a node without any counting as one."""
    _, out_indptr, _, in_indptr, _ = problem.links[:5]
    return np.maximum(
        1.0, out_indptr[nodes + 1] - out_indptr[nodes] + in_indptr[nodes + 1] - in_indptr[nodes]
    )


def search(
    problem: Problem, seed: int, theta: float, random: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """(nodes, values, edges walked): in both directions the PageRank from each node of the seed, else from the seed of each."""
    damping, unit, edges = problem.damping, (1.0 - problem.damping) * theta, 0
    levels = 1 if damping == 0.0 else max(1, ceil(log(theta) / log(damping)))
    nodes, values = np.array([seed], np.int64), np.array([1.0 - damping])
    every, all_values = [nodes], [values]
    for _ in range(levels if damping > 0.0 else 0):
        with borrowed() as work:
            at = 0
            while at < len(nodes):
                problem.watch.check()
                at, needed = _level(
                    work.table, nodes, values, at, damping, unit, random, problem.links, CHECK_STEPS
                )
                if needed:
                    work.grow(needed)
            count = int(work.table.state[COUNT])
            nodes, values = (
                work.table.nodes[:count].copy(),
                work.table.cells[:count, RESIDUAL].copy(),
            )
            edges += int(work.table.state[STEPS])
        if not count:
            break
        every.append(nodes)
        all_values.append(values)
    found, place = np.unique(np.concatenate(every), return_inverse=True)
    return found, np.bincount(place, np.concatenate(all_values)), edges


@njit(cache=True, nogil=True)
def _level(table, sources, values, first, damping, unit, random, links, budget):
    """One level further from each source from `first` on, shares under `unit` rounded to it or to nothing by chance.

    In both directions a neighbour u receives damping x value / degree(u), one draw for all neighbours of a source as in the
    paper; else damping x value / degree of the source, each by a draw of its own. Gives as `walk_residuals`.
    """
    index, place, nodes, cells, _, state = table
    way, out_indptr, tails, in_indptr, in_heads = links[:5]
    last = state[STEPS] + budget
    for source in range(first, len(sources)):
        if state[STEPS] >= last:
            return source, np.int64(0)
        node = sources[source]
        degree = _degree(node, way, out_indptr, in_indptr)
        if state[COUNT] + degree > len(nodes):
            return source, np.int64(state[COUNT] + degree)
        state[STEPS] += degree + 1
        chance, mass = draw(random), damping * values[source]
        for side in range(2):
            if not way & (side + 1):
                continue
            indptr, ends = (out_indptr, tails) if side == 0 else (in_indptr, in_heads)
            for at in range(indptr[node], indptr[node + 1]):
                near = np.int64(ends[at])
                if way == 3:
                    share = mass / _degree(near, way, out_indptr, in_indptr)
                else:
                    share, chance = mass / degree, draw(random)
                if share < unit:
                    share = unit if chance * unit < share else 0.0
                if share > 0.0:
                    cells[
                        slot_of(index, place, nodes, cells, state, near, 0.0, NOBODY), RESIDUAL
                    ] += share
    return len(sources), np.int64(0)
