import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import core.graph.pagerank.relaxation as relaxation
from core.graph.building.build import build
from core.graph.order import round_scores, top_k
from core.graph.pagerank.relaxation import half_sweeps, relax_graph, sweep_layout
from core.graph.pagerank.top_nodes import pagerank_exact, top_pagerank
from tests.core.graph.pagerank.test_top_nodes import dense, recall
from tests.core.graph.strategies import graphs


def scores_of(graph, seeds, damping, keep=100):
    """Scores of all nodes, zero for nodes without one."""
    seeds, counts = np.unique(seeds, return_counts=True)
    ids, scores = relax_graph(graph, seeds, counts / counts.sum(), damping, keep)
    assert len(set(ids.tolist())) == len(ids)
    return np.bincount(ids, scores, graph.n_nodes)


def chain(tmp_path, *triples):
    return build([(pair[0], "r", pair[1]) for pair in triples], tmp_path / "g", "g")


def test_recorded_numbers(toy):
    # Both directions, seed A. igraph 1.0.0 and an independent power iteration agree.
    assert scores_of(toy, [0], 0.8) == pytest.approx(
        [0.421903, 0.134650, 0.251346, 0.107720, 0.084381], abs=6e-7
    )
    assert scores_of(toy, [0], 0.2) == pytest.approx(
        [0.821459, 0.045424, 0.087023, 0.005021, 0.041073], abs=6e-7
    )


def test_numbers_by_hand(tmp_path):
    # Pair a - b: p_a = .5 p_b + .5, p_b = .5 p_a. A centre with two leaves: p_c = .5 (p_x + p_y) +
    # .5 s_c, p_x = .25 p_c + .5 s_x.
    pair, star = chain(tmp_path / "1", "ab"), chain(tmp_path / "2", "cx", "cy")
    for seed in (0, 1):
        assert scores_of(pair, [seed], 0.5)[[seed, 1 - seed]] == pytest.approx([2 / 3, 1 / 3])
    assert scores_of(star, [0], 0.5) == pytest.approx([2 / 3, 1 / 6, 1 / 6])
    assert scores_of(star, [1], 0.5) == pytest.approx([1 / 3, 7 / 12, 1 / 12])
    assert scores_of(star, [0, 1, 1, 1], 0.5) == pytest.approx([5 / 12, 23 / 48, 5 / 48])


def test_a_node_with_only_a_loop_keeps_its_score(tmp_path):
    # The loop is two steps from the node to itself. The pair x - y is a separate component.
    graph = chain(tmp_path, "ll", "xy")
    assert scores_of(graph, [0], 0.9) == pytest.approx([1, 0, 0])
    assert scores_of(graph, [0, 1], 0.5) == pytest.approx([1 / 2, 1 / 3, 1 / 6])


def test_a_node_without_edges(toy):
    more = {key: np.append(getattr(toy, key), toy.n_edges) for key in ("out_indptr", "in_indptr")}
    graph = replace(toy, stored_degree_bytes=None, **more)
    assert scores_of(graph, [5], 0.8) == pytest.approx([0, 0, 0, 0, 0, 1])
    assert scores_of(graph, [0, 5], 0.8) == pytest.approx(
        pagerank_exact(graph, [0, 5], 0.8, "both"), abs=1e-9
    )
    assert top_pagerank(graph, [5], 3)[0].tolist() == [5]


@settings(max_examples=150, deadline=None)
@given(graphs, st.floats(0.01, 0.99), st.integers(1, 9), st.data())
def test_equals_a_dense_solve(graph, damping, keep, data):
    seeds = data.draw(st.lists(st.integers(0, graph.n_nodes - 1), min_size=1, max_size=4))
    expected = dense(graph, seeds, damping, "both")
    assert scores_of(graph, seeds, damping) == pytest.approx(expected, abs=1e-8)
    nodes, scores = top_pagerank(graph, seeds, keep, damping, "both")
    assert len(nodes) == min(keep, (expected > 1e-15).sum())
    assert scores == pytest.approx(np.sort(expected)[::-1][: len(nodes)], abs=1e-8)
    assert list(zip(-scores, nodes)) == sorted(zip(-scores, nodes))


@pytest.mark.parametrize("damping", [0.01, 0.3, 0.9, 0.99])
def test_movies_solved_to_the_end_equal_the_exact(movies, monkeypatch, damping):
    monkeypatch.setattr(
        relaxation, "RELAXATION", replace(relaxation.RELAXATION, small_graph_nodes=movies.n_nodes)
    )
    leaf = int(np.flatnonzero(sweep_layout(movies).is_leaf)[7])
    for seeds in ([leaf], [5, 5, leaf, int(np.argmax(np.diff(movies.in_indptr)))]):
        exact = pagerank_exact(movies, seeds, damping)
        assert scores_of(movies, seeds, damping, movies.n_nodes) == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize(
    "damping, planned", [(0.0, 7), (0.01, 7), (0.5, 7), (0.8, 7), (0.95, 15), (0.99, 33)]
)
def test_the_rule_for_half_sweeps(movies, damping, planned):
    assert half_sweeps(damping) == planned
    if damping == 0.0:
        return
    degrees = np.diff(movies.out_indptr) + np.diff(movies.in_indptr)
    seeds = [
        *np.argsort(-degrees, kind="stable")[:10].tolist(),
        *np.random.default_rng(2).integers(movies.n_nodes, size=20).tolist(),
    ]
    found = [
        recall(
            pagerank_exact(movies, [seed], damping),
            top_pagerank(movies, [seed], 1000, damping)[0],
            1000,
        )
        for seed in seeds
    ]
    assert np.mean(found) >= 0.98 and min(found) >= 0.97


@pytest.mark.parametrize("asked", [0.9, 0.97, 0.99, 1.0])
def test_the_requested_recall_is_reached_from_each_node(movies, asked):
    # Of 2,000 drawn nodes the hardest ones, with one to seven triples, and thirty others.
    hard = [
        "Alfredo De Villa",
        "Cliff Bogart",
        "Eric Hendershot",
        "Jesse Andrews",
        "Beefcake",
        "Altiplano",
        "Who's the Caboose?",
    ]
    seeds = [movies.nodes_named(name)[0] for name in hard] + np.random.default_rng(0).integers(
        movies.n_nodes, size=30
    ).tolist()
    for seed in seeds:
        nodes = top_pagerank(movies, [seed], 1000, recall=asked)[0]
        assert recall(pagerank_exact(movies, [seed]), nodes, 1000) >= asked, movies.node_name(seed)


def test_candidates_include_all_ties_with_the_last_one(movies, monkeypatch):
    # The number of half-sweeps does not depend on the number of kept nodes.
    monkeypatch.setattr(
        relaxation, "RELAXATION", replace(relaxation.RELAXATION, small_graph_nodes=movies.n_nodes)
    )
    for seed in (0, 100, int(np.argmax(np.diff(movies.in_indptr)))):
        share = np.ones(1)
        everything = relax_graph(movies, np.array([seed]), share, 0.8, movies.n_nodes)
        for keep in (1, 10, 1000):
            ids, scores = relax_graph(movies, np.array([seed]), share, 0.8, keep)
            nodes, best = top_k(everything[0], round_scores(everything[1]), keep)
            assert np.array_equal(top_k(ids, round_scores(scores), keep), (nodes, best))
            assert set(everything[0][round_scores(everything[1]) >= best[-1]].tolist()) <= set(
                ids.tolist()
            )


def test_equal_leaves_are_ordered_by_id(tmp_path):
    graph = build([("hub", "r", f"leaf{i}") for i in range(6000)], tmp_path / "g", "g")
    for seed in (0, 3000):
        assert top_pagerank(graph, [seed], 50)[0].tolist() == (
            [0, *range(1, 50)] if seed == 0 else [0, 3000, *range(1, 49)]
        )


def test_a_sweep_layout_is_made_once_and_freed(movies, tmp_path):
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(sweep_layout, [movies] * 8))
    assert all(one is made[0] for one in made)
    graph = chain(tmp_path, "ab")
    arranged = weakref.ref(sweep_layout(graph))
    del graph
    gc.collect()
    assert arranged() is None


def test_the_sweep_layout_of_five_nodes(toy):
    # Degrees: A 4, B 2, C 4, D 3 (its loop counts twice), E 1. E is the only leaf, and belongs to
    # A.
    made = sweep_layout(toy)
    assert np.flatnonzero(made.is_leaf).tolist() == [4] and made.row_of[4] == made.row_of[0]
    assert dict(zip(made.nodes.tolist(), made.degree)) == {0: 4, 1: 2, 2: 4, 3: 3}
    indptr, near = made.adjacency
    rows = {
        int(node): sorted(made.nodes[near[indptr[at] : indptr[at + 1]]].tolist())
        for at, node in enumerate(made.nodes)
    }
    assert rows == {0: [1, 2, 2], 1: [0, 2], 2: [0, 0, 1, 3], 3: [2, 3, 3]}
