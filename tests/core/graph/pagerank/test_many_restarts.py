"""PageRank with restarts at very many nodes: by hand on five nodes, and against the solved
equation.
"""

from __future__ import annotations

import numpy as np
import pytest

from core.graph.pagerank.exact import solve
from core.graph.pagerank.many_restarts import push_everywhere
from core.graph.pagerank.problem import Adjacency


def links_of(n, edges):
    """Weighted edges as steps in both directions."""
    both = sorted([(a, b, w) for a, b, w in edges] + [(b, a, w) for a, b, w in edges])
    starts, ends, weights = (np.array(column) for column in zip(*both))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(starts, minlength=n))])
    weights = weights.astype(float)
    return Adjacency(
        1, indptr, ends, indptr, ends, weights, weights, np.bincount(starts, weights, n)
    )


def solve_exactly(links, shares, damping):
    return solve(links, np.flatnonzero(shares), shares[shares > 0], damping, 1e-12)


def test_uniform_restarts_need_no_push():
    # A path of three nodes. Steps from the middle go either way, so with damping 1/2: p0 = p2, p1 =
    # (p0 + p2) / 2 + 1/6, p0 = p1 / 4 + 1/6.
    links, shares = links_of(3, [(0, 1, 1), (1, 2, 1)]), np.full(3, 1 / 3)
    known = np.array([5, 8, 5]) / 18
    found = push_everywhere(links, shares, np.arange(3), known, 0.5, slice(0, 3), 3)
    assert found.scores == pytest.approx(known) and found.residual_mass == pytest.approx(
        0, abs=1e-12
    )


def test_five_nodes_by_the_powers_of_the_step():
    # A star. Its middle 0 steps to four leaves, in 3 of 6 cases to leaf 1. Restarts are at the
    # leaves alone, twice as often at leaf 4.
    links = links_of(5, [(0, 1, 3), (0, 2, 1), (0, 3, 1), (0, 4, 1)])
    shares = np.array([0, 0.2, 0.2, 0.2, 0.4])
    # All leaves step to 0, so p0 = d (1 - p0), which gives d / (1 + d) = 1/3. Leaf i gets w_i / 6
    # of half of p0, and half of its restarts.
    wanted = [1 / 3, 1 / 12 + 0.1, 1 / 36 + 0.1, 1 / 36 + 0.1, 1 / 36 + 0.2]
    alike = np.arange(1, 5)
    known = solve_exactly(links, np.array([0, 0.25, 0.25, 0.25, 0.25]), 0.5)
    found = push_everywhere(links, shares, alike, known, 0.5, slice(1, 5), 4)
    assert found.scores == pytest.approx(wanted, abs=0.02)
    assert np.abs(found.scores - wanted).sum() <= found.residual_mass + 1e-12
    assert np.argsort(-found.scores[1:], kind="stable").tolist() == [3, 0, 1, 2]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("damping", [0.5, 0.85])
def test_the_best_nodes_are_those_of_the_solved_equation(seed, damping):
    rng, n, passages = np.random.default_rng(seed), 3000, 1000
    ends = rng.integers(0, n, (9000, 2))
    links = links_of(
        n,
        [
            (a, b, float(w))
            for (a, b), w in zip(ends.tolist(), rng.integers(1, 5, len(ends)))
            if a != b
        ],
    )
    shares, alike = np.zeros(n), np.arange(n - passages, n)
    shares[alike] = 0.05 * rng.random(passages)
    shares[rng.integers(0, n - passages, 5)] = rng.random(5)
    shares /= shares.sum()
    even = np.zeros(n)
    even[alike] = 1 / passages
    known, truth = solve_exactly(links, even, damping), solve_exactly(links, shares, damping)
    found = push_everywhere(links, shares, alike, known, damping, slice(n - passages, n), 50)
    best = lambda scores: np.argsort(-scores[n - passages :], kind="stable")[:50]
    assert len(np.intersect1d(best(found.scores), best(truth))) >= 49
    assert found.scores.sum() == pytest.approx(1) and (found.scores >= 0).all()
    assert np.abs(found.scores - truth / truth.sum()).sum() <= 2 * found.residual_mass + 1e-9


def test_without_uniform_restarts_the_method_pushes_from_a_few_nodes():
    links, shares = (
        links_of(5, [(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 4, 1)]),
        np.array([0.5, 0, 0, 0, 0.5]),
    )
    found = push_everywhere(links, shares, np.empty(0, np.int64), np.zeros(5), 0.5, slice(0, 5), 5)
    assert found.scores == pytest.approx(solve_exactly(links, shares, 0.5), abs=0.01)
    assert found.scores == pytest.approx(found.scores[::-1])
