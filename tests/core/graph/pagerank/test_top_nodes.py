import igraph
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sknetwork.data import house
from sknetwork.ranking import PageRank

from core.errors import BadInput, BadParameter
from core.graph.building.build import build
from core.graph.pagerank.local.push import local_push
from core.graph.pagerank.problem import pose_problem
from core.graph.pagerank.top_nodes import pagerank_exact, top_pagerank
from tests.core.graph.strategies import directions, graphs

# Order A B C D E, seed A. igraph 1.0.0 and an independent power iteration agree.
RECORDED = [
    ("out", 0.8, (0,), [0.280899, 0.112360, 0.202247, 0.404494, 0]),
    ("both", 0.8, (0,), [0.421903, 0.134650, 0.251346, 0.107720, 0.084381]),
    ("out", 0.2, (0,), [0.809717, 0.080972, 0.097166, 0.012146, 0]),
    ("both", 0.2, (0,), [0.821459, 0.045424, 0.087023, 0.005021, 0.041073]),
    ("out", 0.8, (0, 0, 1), [0.217228, 0.153558, 0.209738, 0.419476, 0]),
]


@pytest.mark.parametrize("direction, damping, seeds, expected", RECORDED)
def test_recorded_numbers(toy, direction, damping, seeds, expected):
    assert pagerank_exact(toy, seeds, damping, direction) == pytest.approx(expected, abs=6e-7)
    for method in ("exact", "auto"):
        nodes, scores = top_pagerank(toy, seeds, 5, damping, direction, method)
        assert dict(zip(nodes.tolist(), scores)) == pytest.approx(
            {i: v for i, v in enumerate(expected) if v}, abs=1e-5
        )
        assert all(scores[:-1] >= scores[1:])


@pytest.mark.parametrize("direction, damping, seeds, expected", RECORDED)
def test_recorded_numbers_by_pushing_alone(toy, direction, damping, seeds, expected):
    found = local_push(pose_problem(toy, seeds, 5, damping, direction, recall=1.0))
    assert found.settled and "nothing was left" in found.note
    assert dict(zip(found.nodes.tolist(), found.scores)) == pytest.approx(
        {i: v for i, v in enumerate(expected) if v}, abs=6e-7
    )


def test_mass_at_a_dead_end_returns_to_the_seed(tmp_path):
    # Without the loop D>D.
    graph = build(
        [(p[0], "r", p[2]) for p in ("A>B", "A>C", "B>C", "C>A", "C>D", "E>A")], tmp_path / "g", "g"
    )
    expected = [0.415282, 0.166113, 0.299003, 0.119601, 0]
    assert pagerank_exact(graph, [0], 0.8, "out") == pytest.approx(expected, abs=6e-7)
    assert top_pagerank(graph, [0], 9, 0.8, "out")[1] == pytest.approx(
        sorted(expected)[:0:-1], abs=1e-5
    )


def test_house_of_scikit_network(tmp_path):
    matrix = house().tocoo()
    edges = sorted(
        {(min(a, b), max(a, b)) for a, b in zip(matrix.row.tolist(), matrix.col.tolist())}
    )
    graph = build([(str(a), "r", str(b)) for a, b in edges], tmp_path / "g", "g")
    ours = pagerank_exact(graph, [graph.names(range(5)).index("0")], 0.85, "both")
    theirs = PageRank(damping_factor=0.85, n_iter=500, tol=1e-12).fit_predict(
        house(), weights={0: 1}
    )
    by_name = [ours[graph.names(range(5)).index(str(i))] for i in range(5)]
    assert by_name == pytest.approx(theirs, abs=1e-6) and np.round(by_name, 2).tolist() == [
        0.29,
        0.24,
        0.12,
        0.12,
        0.24,
    ]


def dense(graph, seeds, damping, direction, weights=None):
    matrix = np.zeros((graph.n_nodes, graph.n_nodes))
    for head, tail, weight in zip(
        graph.heads, graph.tails, np.ones(graph.n_edges) if weights is None else weights
    ):
        matrix[head, tail] += weight * (direction != "in")
        matrix[tail, head] += weight * (direction != "out")
    reset = np.bincount(seeds, minlength=graph.n_nodes) / len(seeds)
    sums = matrix.sum(1, keepdims=True)
    follow = np.where(sums > 0, matrix / np.where(sums > 0, sums, 1), reset)
    return np.linalg.solve(np.eye(graph.n_nodes) - damping * follow.T, (1 - damping) * reset)


@settings(max_examples=60, deadline=None)
@given(graphs, directions, st.just(0.0) | st.floats(1e-6, 0.95), st.data())
def test_sums_to_one_and_equals_a_dense_solve(graph, direction, damping, data):
    seeds = data.draw(st.lists(st.integers(0, graph.n_nodes - 1), min_size=1, max_size=4))
    expected = dense(graph, seeds, damping, direction)
    ours = pagerank_exact(graph, seeds, damping, direction)
    assert ours.sum() == pytest.approx(1) and ours == pytest.approx(expected, abs=1e-9)
    for method in ("exact", "auto"):
        nodes, scores = top_pagerank(graph, seeds, 3, damping, direction, method)
        assert len(nodes) == min(3, (expected > 0).sum()) or damping == 0
        assert expected[nodes] == pytest.approx(scores, abs=2e-5)
        assert list(zip(-scores, nodes)) == sorted(zip(-scores, nodes))


@pytest.mark.parametrize("direction", ["out", "both"])
def test_equals_igraph_on_movies(movies, direction):
    peer = igraph.Graph(
        movies.n_nodes, list(zip(movies.heads.tolist(), movies.tails.tolist())), directed=True
    )
    seeds = [int(movies.heads[5]), int(movies.heads[5]), int(movies.tails[9])]
    theirs = peer.personalized_pagerank(
        directed=direction == "out", damping=0.8, reset_vertices=seeds
    )
    assert pagerank_exact(movies, seeds, 0.8, direction) == pytest.approx(theirs, abs=1e-9)


def recall(exact, nodes, keep):
    """Share of the given nodes that belong to the best `keep`.

    Nodes that tie with the last of these count as well.
    """
    bar = np.sort(exact[exact > 0])[::-1][:keep][-1] * (1 - 1e-9)
    return np.mean(exact[nodes] >= bar)


@pytest.mark.parametrize("keep, least", [(20, 0.97), (1000, 0.97)])
def test_push_finds_the_best_of_movies(movies, keep, least):
    degrees = np.diff(movies.out_indptr) + np.diff(movies.in_indptr)
    seeds = [
        *np.argsort(-degrees, kind="stable")[:6].tolist(),
        *np.random.default_rng(1).integers(movies.n_nodes, size=14).tolist(),
    ]
    found = [top_pagerank(movies, [seed], keep)[0] for seed in seeds]
    recalls = [
        recall(pagerank_exact(movies, [seed]), nodes, keep) for seed, nodes in zip(seeds, found)
    ]
    assert (
        {len(nodes) for nodes in found} == {keep}
        and np.mean(recalls) >= 0.98
        and min(recalls) >= least
    )


def test_a_push_without_early_stop_finds_the_best_too(movies):
    hub = int(np.argmax(np.diff(movies.in_indptr)))
    for seed in (hub, 0, 100):
        exact, found = (
            pagerank_exact(movies, [seed]),
            local_push(pose_problem(movies, [seed], 1000, 0.8, "both"), budget=4_000_000),
        )
        assert (
            recall(exact, found.nodes, 1000) >= 0.95
            and found.settled
            and 0 < found.edges < 4_000_000
        )


def test_a_long_chain_gives_as_many_nodes_as_requested(tmp_path):
    graph = build([(f"{i:04}", "r", f"{i + 1:04}") for i in range(1500)], tmp_path / "g", "g")
    for method in ("auto", "exact"):
        for direction in ("out", "both"):
            nodes, scores = top_pagerank(graph, [0], 1200, direction=direction, method=method)
            assert sorted(nodes.tolist()) == list(range(1200)) and (scores > 0).all()
    assert len(top_pagerank(graph, [1400], 1200, direction="out")[0]) == 101


def test_equal_scores_go_by_id(tmp_path):
    graph = build([("hub", "r", f"leaf{i}") for i in range(50)], tmp_path / "g", "g")
    for method in ("auto", "exact"):
        assert top_pagerank(graph, [0], 10, method=method)[0].tolist() == list(range(10))


def test_a_seed_with_only_a_loop_keeps_all_mass(toy):
    assert top_pagerank(toy, [3], 5, direction="out")[0].tolist() == [3]
    assert pagerank_exact(toy, [4], direction="in").tolist() == [0, 0, 0, 0, 1]


def test_without_damping_only_the_seeds_score(toy):
    for method in ("exact", "auto"):
        assert [part.tolist() for part in top_pagerank(toy, [2, 0], 5, 0.0, method=method)] == [
            [0, 2],
            [0.5, 0.5],
        ]


def test_unfit_parameters(toy):
    for damping in (1.0, -0.1, float("nan")):
        with pytest.raises(BadParameter):
            pagerank_exact(toy, [0], damping)
    with pytest.raises(BadParameter):
        top_pagerank(toy, [0], 5, method="pull")
    with pytest.raises(BadParameter):
        top_pagerank(toy, [0], 5, direction="up")
    for seeds in ([], [5], [-1]):
        with pytest.raises(BadInput):
            top_pagerank(toy, seeds, 5)
    assert len(top_pagerank(toy, [0], 0)[0]) == 0
