"""Each method of personalised PageRank against the exact scores, within its own guarantee."""

import mmap
import tempfile
from concurrent.futures import ThreadPoolExecutor

import igraph
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import BadParameter
from core.graph.building.build import build
from core.graph.names.lookup import name_lookup
from core.graph.pagerank.fora import fora, walk_rate
from core.graph.pagerank.local import disk, push
from core.graph.pagerank.local.extrapolate import compute_returned_mass, compute_staying_share
from core.graph.pagerank.local.push import drain_queue, local_push
from core.graph.pagerank.local.push_loops import enqueue
from core.graph.pagerank.local.refine import ScoreRefinement
from core.graph.pagerank.local.refine_loops import _read_neighbours_ahead, recompute_scores
from core.graph.pagerank.local.table import (
    ESTIMATE,
    FIRST_SLOTS,
    RESIDUAL,
    SLOT_COUNT,
    add_residual,
    borrow_work,
    find_slot,
)
from core.graph.pagerank.problem import pose_problem
from core.graph.pagerank.rbs import search_from_seed, step_counts
from core.graph.pagerank.top_nodes import (
    PAGERANK_METHODS,
    PageRankReport,
    pagerank_exact,
    top_pagerank,
)
from core.graph.pagerank.topppr import topppr
from core.graph.pagerank.walk_loops import push_backward
from tests.core.graph.pagerank.test_top_nodes import dense, recall
from tests.core.graph.strategies import directions, graphs

# igraph on the five nodes A B C D E, damping 0.8.
BOTH_FROM_A = [0.421903, 0.134650, 0.251346, 0.107720, 0.084381]
OUT_FROM_A = [0.280899, 0.112360, 0.202247, 0.404494, 0]


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    """A graph of 400 nodes and 1,200 triples with a few hubs, the same every time."""
    rng = np.random.default_rng(3)
    ends = (400 * rng.random((1200, 2)) ** 2).astype(int)
    return build(
        [(f"n{a}", "r", f"n{b}") for a, b in ends], tmp_path_factory.mktemp("web") / "g", "web"
    )


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))


@pytest.mark.parametrize("method", PAGERANK_METHODS)
@pytest.mark.parametrize("direction, expected", [("both", BOTH_FROM_A), ("out", OUT_FROM_A)])
def test_five_nodes_in_their_order(toy, method, direction, expected):
    report = PageRankReport()
    nodes, scores = top_pagerank(toy, [0], 5, 0.8, direction, method, report=report)
    wanted = [node for node in np.argsort(-np.array(expected), kind="stable") if expected[node]]
    # Each score is within its error, which keeps the order on five nodes with few ties.
    if method in ("fora", "topppr", "rbs", "pafo", "delta-push"):
        assert np.array(expected)[nodes] == pytest.approx(scores, rel=0.5)
    else:
        assert scores == pytest.approx(np.array(expected)[wanted], abs=1e-5)
        assert nodes.tolist() == wanted
    assert sorted(nodes.tolist()) == sorted(wanted) and report.note


@pytest.mark.parametrize("method", PAGERANK_METHODS)
def test_results_have_as_many_nodes_as_are_reachable_and_requested(tmp_path, method):
    # Two components: a chain of 30 nodes from c0, and the pair x - y. A component gives all its
    # nodes.
    graph = build(
        [(f"c{i}", "r", f"c{i + 1}") for i in range(29)] + [("x", "r", "y")], tmp_path / "g", "g"
    )
    x = graph.names(range(32)).index("x")
    for keep in (1, 7, 25, 40):
        assert len(top_pagerank(graph, [0], keep, 0.5, "both", method)[0]) == min(keep, 30)
        assert len(top_pagerank(graph, [x], keep, 0.8, "both", method)[0]) == min(keep, 2)
    # No step leads on.
    assert top_pagerank(graph, [x + 1], 5, 0.8, "out", method)[0].tolist() == [x + 1]
    assert len(top_pagerank(graph, [0, x], 40, 0.8, "both", method)[0]) == 32
    assert top_pagerank(graph, [0], 5, 0.0, "both", method)[0].tolist() == [0]


@pytest.mark.parametrize("method", PAGERANK_METHODS)
def test_methods_are_deterministic(web, method):
    first, again = (top_pagerank(web, [5, 9], 40, 0.8, "both", method) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, again))


@settings(max_examples=60, deadline=None)
@given(graphs, directions, st.floats(0.05, 0.95), st.data())
def test_push_and_exact_with_weights_equal_a_dense_solve(graph, direction, damping, data):
    weights = np.array(
        data.draw(st.lists(st.floats(0.1, 9.0), min_size=graph.n_edges, max_size=graph.n_edges))
    )
    seeds = data.draw(st.lists(st.integers(0, graph.n_nodes - 1), min_size=1, max_size=3))
    expected = dense(graph, seeds, damping, direction, weights)
    assert pagerank_exact(graph, seeds, damping, direction, weights=weights) == pytest.approx(
        expected, abs=1e-9
    )
    for given_weights, reference in (
        (weights, expected),
        (None, dense(graph, seeds, damping, direction)),
    ):
        found = local_push(
            pose_problem(graph, seeds, 9, damping, direction, recall=1.0, weights=given_weights)
        )
        assert len(found.nodes) == (reference > 1e-14).sum() and reference[
            found.nodes
        ] == pytest.approx(found.scores, abs=1e-8)


@pytest.mark.parametrize("direction", ["out", "both"])
def test_weights_equal_igraph(web, direction):
    weights = np.random.default_rng(0).random(web.n_edges) + 0.1
    peer = igraph.Graph(
        web.n_nodes, list(zip(web.heads.tolist(), web.tails.tolist())), directed=True
    )
    theirs = np.array(
        peer.personalized_pagerank(
            directed=direction == "out",
            damping=0.8,
            reset_vertices=[3, 4],
            weights=weights.tolist(),
        )
    )
    assert pagerank_exact(web, [3, 4], 0.8, direction, weights=weights) == pytest.approx(
        theirs, abs=1e-9
    )
    nodes, scores = top_pagerank(web, [3, 4], 50, 0.8, direction, "exact", weights=weights)
    assert theirs[nodes] == pytest.approx(scores, abs=1e-9) and recall(theirs, nodes, 50) == 1.0


def test_unfit_weights_and_recalls(toy):
    for weights in ([1.0], [1.0] * 6 + [0.0], [1.0] * 6 + [np.nan]):
        with pytest.raises(BadParameter):
            top_pagerank(toy, [0], 3, weights=np.array(weights))
    with pytest.raises(BadParameter):
        top_pagerank(toy, [0], 3, method="fora", weights=np.ones(7))
    for asked in (0.0, 1.1, float("nan")):
        with pytest.raises(BadParameter):
            top_pagerank(toy, [0], 3, recall=asked)


@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_push_by_recall(web, direction):
    for seed in range(0, web.n_nodes, 40):
        exact = pagerank_exact(web, [seed], 0.8, direction)
        loose, tight = (
            local_push(pose_problem(web, [seed], 60, 0.8, direction, recall=asked))
            for asked in (0.8, 0.99)
        )
        assert loose.edges <= tight.edges and recall(exact, tight.nodes, 60) >= 0.95
    spent = local_push(pose_problem(web, [0], 60, 0.8, direction, recall=1.0), budget=1)
    assert not spent.settled and "gave up" in spent.note


def test_the_staying_share_of_a_residual_is_exact_on_an_edge_and_a_ring(tmp_path, toy):
    # One edge: each second step returns, 0.2 x (1 + 0.64 + 0.64^2 + ...) = 0.2 / 0.36. That is the
    # whole score.
    edge = build([("a", "r", "b")], tmp_path / "edge", "edge")
    assert (
        compute_staying_share(pose_problem(edge, [0], 2, 0.8, "both"))
        == pytest.approx(0.2 / 0.36)
        == pagerank_exact(edge, [0], 0.8, "both")[0]
    )
    # A ring: the share b = 0.64 / (2 - b) of a step comes back, so b = 0.4. It is as on an endless
    # line, where 0.2 / sqrt(1 - 0.64) stays.
    ring = build(
        [(str(at), "r", str((at + 1) % 400)) for at in range(400)], tmp_path / "ring", "ring"
    )
    assert (
        compute_staying_share(pose_problem(ring, [0], 2, 0.8, "both"))
        == pytest.approx(0.2 / 0.6)
        == pytest.approx(pagerank_exact(ring, [0], 0.8, "both")[0])
    )
    # Along the triples the returning share is unknown.
    assert compute_staying_share(pose_problem(toy, [0], 2, 0.8, "out")) == pytest.approx(0.2)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A hub with 300 neighbours v, each with one neighbour u that has 0 to 3 leaves.

    On trees the equation is exact.
    """
    triples = [("hub", "r", f"v{arm}") for arm in range(300)] + [
        (f"v{arm}", "r", f"u{arm}") for arm in range(300)
    ]
    triples += [(f"u{arm}", "r", f"leaf {arm} {at}") for arm in range(300) for at in range(arm % 4)]
    return build(triples, tmp_path_factory.mktemp("tree") / "g", "tree")


def test_returning_mass_distinguishes_the_neighbours_of_a_hub(tree):
    hub, *arms = (name_lookup(tree).find(name) for name in ("hub", "v0", "v1", "v2", "v3"))
    problem, exact = (
        pose_problem(tree, [hub], 4, 0.8, "both"),
        pagerank_exact(tree, [hub], 0.8, "both")[arms],
    )
    with borrow_work() as work:
        add_residual(work.table, hub, 1.0)
        enqueue(work.table, 0.0, 1)
        drain_queue(work, problem, np.inf, 1000)
        slots = np.array([find_slot(work.table.index, node) for node in arms])
        means = (0.8, compute_staying_share(problem), 0.0, 256, compute_returned_mass(problem))
        pulled, _ = recompute_scores(work.table, slots, np.zeros(301), *means, 4, 1, problem.links)
        plain, _ = recompute_scores(work.table, slots, np.zeros(301), *means, 0, 1, problem.links)
    # The hub keeps 0.2, and by its estimate passes 0.2 / 300 along each step. Where u has no
    # leaves, s(u) = 0.8 s(v) / 2 and s(v) = 0.8 (0.2 / 300 + s(u)), so that s(v) = 0.8 x 0.2 / 300
    # / (1 - 0.32).
    assert pulled[0] == pytest.approx(0.8 * 0.2 / 300 / (1 - 0.32))
    # Later mass of the hub is passed to all neighbours alike.
    assert pulled / pulled[0] == pytest.approx(exact / exact[0], rel=1e-9)
    assert plain / plain[0] != pytest.approx(exact / exact[0], rel=1e-3)


def test_only_neighbours_near_the_last_place_are_scored_fully(tree):
    """The last of the best 100 neighbours has a u with 1 or 2 leaves.

    Neighbours near this score are computed fully, and the others change by the median factor of
    these.
    """
    hub, arms = (
        name_lookup(tree).find("hub"),
        [name_lookup(tree).find(f"v{arm}") for arm in range(300)],
    )
    problem = pose_problem(tree, [hub], 100, 0.8, "both")
    with borrow_work() as work:
        add_residual(work.table, hub, 1.0)
        enqueue(work.table, 0.0, 1)
        drain_queue(work, problem, np.inf, 1000)
        slots = np.array([find_slot(work.table.index, node) for node in arms])
        means = (0.8, compute_staying_share(problem), 0.0, 254, compute_returned_mass(problem))
        plain, _ = recompute_scores(work.table, slots, np.zeros(301), *means, 0, 1, problem.links)
        close, _ = recompute_scores(work.table, slots, np.zeros(301), *means, 4, 1, problem.links)
        scores = np.zeros(301)
        scores[0], scores[slots] = 0.2, 0.8 / 300 * compute_staying_share(problem)
        ScoreRefinement(problem, disk.DiskReadAhead(problem.links)).refine(
            work.table, scores, 0.0, float(scores[1]), True
        )
    last = np.sort(plain)[-99]  # With the hub these are 100 nodes.
    near = np.abs(plain - last) <= 0.008 * last
    assert 0 < near.sum() < 300
    assert scores[slots[near]] == pytest.approx(close[near])
    assert scores[slots[~near]] == pytest.approx(
        plain[~near] * np.median(close[near] / plain[near])
    )


@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_reading_ahead_around_many_nodes_stays_within_the_arrays(web, direction):
    problem = pose_problem(web, [0], 60, 0.8, direction)
    with borrow_work() as work:
        add_residual(work.table, 0, 1.0)
        enqueue(work.table, 0.0, 1)
        drain_queue(work, problem, np.inf, 1000)
        slots = np.arange(work.table.state[SLOT_COUNT])
        # Uncompiled Python code raises an error for an index outside an array.
        _read_neighbours_ahead.py_func(slots, 254, 4, work.table, problem.links)


def test_a_hub_outgrows_the_first_arrays_and_threads_do_not_share_them(tmp_path, web):
    star = build([("hub", "r", f"leaf{i}") for i in range(FIRST_SLOTS + 1000)], tmp_path / "g", "g")
    # With p the score of the hub, each of the n leaves has 0.8 p / n. So p = 0.8 x leaves + 0.2 =
    # 0.2 / (1 - 0.64).
    found = local_push(pose_problem(star, [0], 50, 0.8, "both", recall=1.0))
    assert found.nodes.tolist() == list(range(50)) and found.scores[0] == pytest.approx(0.2 / 0.36)
    assert found.scores[1:] == pytest.approx(0.8 * 0.2 / 0.36 / (FIRST_SLOTS + 1000))
    alone = [
        local_push(pose_problem(web, [seed], 60, 0.8, "both")).scores.tobytes()
        for seed in range(24)
    ]
    with ThreadPoolExecutor(4) as pool:
        assert (
            list(
                pool.map(
                    lambda seed: local_push(
                        pose_problem(web, [seed], 60, 0.8, "both")
                    ).scores.tobytes(),
                    range(24),
                )
            )
            == alone
        )


def test_a_search_that_waits_for_the_disk_finds_the_same(web, monkeypatch):
    seeds, plain = range(0, web.n_nodes, 25), {}
    for direction in ("out", "in", "both"):
        plain |= {
            (seed, direction): local_push(pose_problem(web, [seed], 60, 0.8, direction))
            for seed in seeds
        }
    read = []
    monkeypatch.setattr(disk, "MEASURED_ARRAY_BYTES", 0)
    monkeypatch.setattr(disk, "MIN_WAITED_PAGES", -1)
    monkeypatch.setattr(push, "READ_AHEAD_NODES", 7)
    monkeypatch.setattr(disk, "_madvise", lambda page, size, advice: read.append(page))
    for (seed, direction), known in plain.items():
        found = local_push(pose_problem(web, [seed], 60, 0.8, direction))
        assert (found.nodes.tobytes(), found.scores.tobytes(), found.edges) == (
            known.nodes.tobytes(),
            known.scores.tobytes(),
            known.edges,
        )
    assert read and all(page % disk.DISK_PAGE_BYTES == 0 for page in read)


def test_each_page_is_requested_once(web, monkeypatch):
    reading, read = disk.DiskReadAhead(pose_problem(web, [0], 1, 0.8, "both").links), []
    monkeypatch.setattr(
        disk, "_madvise", lambda page, size, advice: read.append((page, size, advice))
    )
    # The array begins at the start of a page, and a page holds 1,024 numbers.
    held = np.memmap(tempfile.TemporaryFile(), np.int32, "w+", shape=5000)
    reading._read(held, np.array([3000, 1, 2, 1025]))
    reading._read(held, np.array([1023, 4999, 2000], np.int32))
    asked = [held.ctypes.data + 4096 * page for page in (0, 1, 2, 4)]
    assert read == [(page, 4096, mmap.MADV_WILLNEED) for page in asked]
    # A page holds 256 pairs.
    sides = np.memmap(tempfile.TemporaryFile(), np.int64, "w+", shape=(1000, 2))
    reading._read(sides[:, 0], np.array([0, 255, 256]))
    reading._read(sides[:, 1], np.array([255, 900]))
    assert [(page - sides.ctypes.data) // 4096 for page, *_ in read[4:]] == [0, 1, 3]


def test_a_hub_is_queued_at_a_lower_bound_of_its_threshold(tmp_path):
    star = build([("hub", "r", f"leaf{at}") for at in range(300)], tmp_path / "star", "star")
    problem, (hub, leaf) = (
        pose_problem(star, [0], 1, 0.8, "both"),
        (name_lookup(star).find(name) for name in ("hub", "leaf7")),
    )
    with borrow_work() as work:
        add_residual(work.table, leaf, 1.0)
        enqueue(work.table, 0.0, 1)
        # The hub gets 0.8. This is less than 0.004 x 255, a lower bound of its threshold.
        drain_queue(work, problem, 0.004, 1000)
        slot = find_slot(work.table.index, hub)
        assert work.table.cells[slot].tolist() == pytest.approx([0.8, 0.004 * 255, 0.0, -255])
        enqueue(work.table, 0.8 / 256, 2)
        # Now its number of steps is counted, and its threshold is 300 times the bar.
        drain_queue(work, problem, 0.8 / 256, 1000)
        assert work.table.cells[slot].tolist() == pytest.approx([0.8, 0.8 / 256 * 300, 0.0, 300])


def test_pages_of_rows():
    # Rows of 3, 0, 2,500 and 1 int32 begin at the indexes 10, 20, 1,000 and 5,000. A page holds
    # 1,024 of them.
    places = disk._page_positions(np.array([10, 20, 1000, 5000]), np.array([3, 0, 2500, 1]), 4)
    assert places.tolist() == [10, 12, 1000, 2024, 3048, 3499, 5000, 5000]


@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_reading_around_a_few_nodes_covers_their_neighbours(web, direction):
    nodes = np.array([5, 0, 17])
    reading, found = disk.DiskReadAhead(pose_problem(web, [0], 1, 0.8, direction).links), []
    reading.read_rows = lambda some, most: found.append((some.tolist(), most))
    neighbours = lambda some: np.unique(
        web.steps_from(np.asarray(some, np.int64), direction).nodes
    ).tolist()
    reading.read_neighbourhoods(nodes, 10**6, 3)
    assert found[0] == ([5, 0, 17], 10**6)
    first = neighbours(nodes)
    few = [node for node in first if 1 < web.degrees(np.array([node]))[0] <= 3]
    # In one direction the number of steps of a neighbour is unknown without a look-up. A neighbour
    # with one step leads back, so it is left out.
    assert found[1:] == ([(few, 3)] if direction == "both" else []) and few


def test_fora_within_epsilon_of_all_above_delta(web):
    for seed in (0, 7, 120):
        exact, found = (
            pagerank_exact(web, [seed], 0.8, "both"),
            fora(pose_problem(web, [seed], 20, 0.8, "both")),
        )
        assert found.settled and found.scores == pytest.approx(exact[found.nodes], rel=0.5)
        best = np.sort(exact)[::-1][:20]
        # A node that replaced a better one is nearly as good.
        assert (exact[found.nodes] >= best * (1 - 0.5) / (1 + 0.5)).all()


def test_the_number_of_walks_of_fora():
    # (2 x 0.5 / 3 + 2) x ln(2 x 1000) / (0.25 x 0.001) = 2.3333 x 7.6009 / 0.00025.
    assert walk_rate(0.5, 0.001, 1000) == pytest.approx(70_941.8, abs=1)


def test_topppr_proves_its_precision(web):
    for seed in (0, 7, 120):
        exact, found = (
            pagerank_exact(web, [seed], 0.8, "both"),
            topppr(pose_problem(web, [seed], 20, 0.8, "both", recall=0.9)),
        )
        assert found.settled and recall(exact, found.nodes, 20) >= 0.9


def test_topppr_without_residual_is_exact(toy):
    found = topppr(pose_problem(toy, [3], 5, 0.8, "out"))  # D leads only to itself.
    assert found.nodes.tolist() == [3] and found.scores == pytest.approx([1.0], abs=0.05)


def test_a_backward_push_keeps_its_invariant(web):
    for direction in ("out", "both"):
        problem = pose_problem(web, [0], 1, 0.8, direction)
        rows = np.array([dense(web, [u], 0.8, direction) for u in range(0, web.n_nodes, 100)])
        degrees_all = np.diff(web.out_indptr) + (
            np.diff(web.in_indptr) if direction == "both" else 0
        )
        if degrees_all.min() == 0:
            continue  # Mass at dead ends returns to the seed, which a backward push does not model.
        with borrow_work() as work:
            add_residual(work.table, 5, 1.0)
            most, needed = push_backward(work.table, 0.8, 0.01, 10**9, problem.links)
            count = work.table.state[SLOT_COUNT]
            nodes, cells = work.table.nodes[:count], work.table.cells[:count]
            assert not needed and most <= 0.01
            estimate = np.zeros(web.n_nodes)
            estimate[nodes] = cells[:, ESTIMATE]
            for row, start in zip(rows, range(0, web.n_nodes, 100)):
                assert row[5] == pytest.approx(
                    estimate[start] + (row[nodes] * cells[:, RESIDUAL]).sum(), abs=1e-9
                )


@pytest.mark.parametrize("direction", ["both", "out"])
def test_rbs_is_unbiased_with_the_promised_variance(toy, direction):
    theta, seed = 0.05, 0
    problem = pose_problem(toy, [seed], 5, 0.8, direction)
    if direction == "both":
        exact = np.array([dense(toy, [v], 0.8, "both")[seed] for v in range(5)])
    else:
        exact = np.array(OUT_FROM_A)
    draws = np.zeros((400, 5))
    for trial in range(400):
        nodes, values, _ = search_from_seed(
            problem,
            seed,
            theta,
            np.array([trial * 7919 + 1], np.uint64) * np.uint64(0x9E3779B97F4A7C15),
        )
        draws[trial, nodes] = values
    beyond = 0.8 * theta  # The share of the levels that are cut off.
    error = 4 * np.sqrt(theta * exact / 400) + beyond
    assert (np.abs(draws.mean(0) - exact) <= error).all()
    assert (draws.var(0) <= theta * exact * 1.3 + 1e-12).all()
    assert step_counts(problem, np.arange(5)).tolist() == [4, 2, 4, 3, 1]


def test_partition_stays_inside_the_cluster_of_the_seed(tmp_path):
    # Two cliques of six nodes, joined by one edge. Leiden separates them, and the result is the
    # exact PageRank of one clique alone.
    triples = [
        (f"{side}{i}", "r", f"{side}{j}") for side in "ab" for i in range(6) for j in range(i)
    ]
    graph = build([*triples, ("a0", "r", "b0")], tmp_path / "g", "g")
    a = [node for node, name in enumerate(graph.names(range(12))) if name.startswith("a")]
    nodes, scores = top_pagerank(graph, [a[3]], 6, 0.8, "both", "partition")
    assert sorted(nodes.tolist()) == a
    # By symmetry the seed has x and every other node y: x + 5 y = 1, x = 0.2 + 0.8 y.
    y = 0.8 / 5.8
    assert scores == pytest.approx([0.2 + 0.8 * y, *[y] * 5])
    # More nodes are asked for than the cluster holds.
    assert len(top_pagerank(graph, [a[3]], 9, 0.8, "both", "partition")[0]) == 9


def test_without_read_ahead_in_the_system_no_page_is_requested(web, monkeypatch):
    """On Windows no page is counted and no page is requested."""
    monkeypatch.setattr(disk, "MEASURED_ARRAY_BYTES", 0)
    monkeypatch.setattr(disk, "MIN_WAITED_PAGES", -1)
    monkeypatch.setattr(disk, "CAN_READ_AHEAD", False)
    monkeypatch.delattr(disk, "_madvise")
    monkeypatch.delattr(disk, "_count_waits")
    reading = disk.DiskReadAhead(pose_problem(web, [0], 1, 0.8, "both").links)
    assert not reading.is_measured and not reading.has_waited()
    assert len(local_push(pose_problem(web, [0], 60, 0.8, "both")).nodes) == 60
