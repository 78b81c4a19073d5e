"""PAFO, HGPA and Delta-Push: by hand on five nodes, against the exact scores, and divided."""

import pickle
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import BadInput, BadParameter, HopscopeError, RunCancelled, StoreError
from core.graph.building.build import build, build_in_memory
from core.graph.pagerank import hgpa as hgpa_module
from core.graph.pagerank import rounds as rounds_module
from core.graph.pagerank.delta_push import delta_push
from core.graph.pagerank.fora import walk_rate
from core.graph.pagerank.hgpa import HGPA, hgpa
from core.graph.pagerank.hub_tree import HubPart, make_hub_tree
from core.graph.pagerank.pafo import pafo
from core.graph.pagerank.part_vectors import drop_least
from core.graph.pagerank.pieces import piece_source
from core.graph.pagerank.problem import pose_problem
from core.graph.pagerank.rounds import RoundPush, split_nodes
from core.graph.pagerank.top_nodes import PARALLEL_METHODS, pagerank_exact, top_pagerank
from core.graph.pagerank.walk_loops import FIXED_ONE, draw_ends, sum_ends
from core.runtime.cluster import LostResult
from core.watch import Watch
from tests.core.graph.pagerank.test_top_nodes import dense
from tests.core.graph.strategies import directions, graphs

METHODS = {"pafo": pafo, "hgpa": hgpa, "delta-push": delta_push}
# A seed on a chain of five, damping 1/2 along the edges: the nodes keep 1/2, 1/4, 1/8, 1/16 and
# 1/32. The last node has no step, so 1/32 is dropped, and scores are scaled by 32/31.
CHAIN_SCORES = np.array([16, 8, 4, 2, 1]) / 31


class PickledWorkers:
    """Workers in this process, which receive and return pickled pieces."""

    def __init__(self, count: int):
        self.count = count

    def start_ray(self):
        return nullcontext()

    def count_on(self, ray) -> int:
        return self.count

    def run_each(self, work, items, watch):
        sent = pickle.dumps(work)
        for item in items:
            watch.check()
            yield item, pickle.loads(pickle.dumps(pickle.loads(sent)(item)))


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    """Five nodes in a row, in the order of their ids."""
    return build(
        [(f"n{i}", "r", f"n{i + 1}") for i in range(4)], tmp_path_factory.mktemp("chain") / "g", "g"
    )


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    """A graph of 400 nodes and 1,200 triples with a few hubs, the same every time."""
    rng = np.random.default_rng(3)
    ends = (400 * rng.random((1200, 2)) ** 2).astype(int)
    return build(
        [(f"n{a}", "r", f"n{b}") for a, b in ends], tmp_path_factory.mktemp("web") / "g", "web"
    )


@pytest.fixture
def small_parts(monkeypatch):
    """Divide graphs into small parts, so that small graphs have hubs."""
    monkeypatch.setattr(hgpa_module, "HGPA", replace(HGPA, leaf_nodes=3))


def by_node(graph, result):
    scores = np.zeros(graph.n_nodes)
    scores[result.nodes] = result.scores
    return scores


@pytest.mark.parametrize("method", PARALLEL_METHODS)
def test_a_chain_by_hand(chain, method):
    nodes, scores = top_pagerank(chain, [0], 5, 0.5, "out", method)
    # No residual stays below its bar, so no walk is drawn and the result is exact.
    assert nodes.tolist() == [0, 1, 2, 3, 4] and scores == pytest.approx(CHAIN_SCORES)


@pytest.mark.parametrize("few_steps_divisor", [0, 1000])
def test_rounds_of_a_push_by_hand(toy, monkeypatch, few_steps_divisor):
    # With the divisor 0 mass is passed on node by node, with 1,000 it is gathered by each node.
    monkeypatch.setattr(rounds_module, "FEW_STEPS_DIVISOR", few_steps_divisor)
    push = RoundPush(pose_problem(toy, [0], 5, 0.5, "out"), n_pieces=2)
    push.run(0.1)
    # A>B A>C B>C C>A C>D D>D E>A; a node is pushed above 0.1 for each of its steps.
    # 1: A keeps 1/2, passes 1/4 to B and C.
    # 2: B (1/4 > 0.1) keeps 1/8, passes 1/8 to C. C (1/4 > 0.2) keeps 1/8, passes 1/16 to A and D.
    # Then A has 1/16 of 0.2, C 1/8 of 0.2 and D 1/16 of 0.1.
    assert push.estimate.tolist() == [1 / 2, 1 / 8, 1 / 8, 0, 0]
    assert push.residual.tolist() == [1 / 16, 0, 1 / 8, 1 / 16, 0]
    assert (push.rounds, push.steps) == (2, 2 + 1 + 2)


def test_drawn_walks_by_hand(toy):
    # The nodes A to E have 2, 1, 2, 1 and 1 steps, and as many walks, which end at:
    ends = np.array([2, 0, -1, 3, 0, 3, 4], np.int32)
    residual = np.array([0.5, 0.2, 0.3, 0.0, 0.0])
    links = pose_problem(toy, [0], 5, 0.5, "out").links
    # At 3 walks per unit A takes ceil(1.5) = 2 walks of 1/4, to C and A. B takes 1 walk, which is
    # lost. C takes ceil(0.9) = 1 of its 2 walks, to D.
    sums = sum_ends(residual, 3.0, ends, 1.0, 0, 5, links)
    assert sums / FIXED_ONE == pytest.approx([0.25, 0, 0.25, 0.3, 0])
    # A node uses all of its walks where the rate asks for more: C two of 0.15, to D and A.
    sums = sum_ends(residual, 100.0, ends, 1.0, 0, 5, links)
    assert sums / FIXED_ONE == pytest.approx([0.25 + 0.15, 0, 0.25, 0.15, 0])


def test_walks_are_drawn_by_the_number_of_steps(toy, chain):
    links = pose_problem(toy, [0], 5, 0.5, "out").links
    # With damping 0 a walk ends where it begins. 1.2 walks per step are rounded up at each node.
    assert draw_ends(0.0, 1.0, 0, 0, 5, links).tolist() == [0, 0, 1, 2, 2, 3, 4]
    assert draw_ends(0.0, 1.2, 0, 0, 3, links).tolist() == [0, 0, 0, 1, 1, 2, 2, 2]
    # With damping 1 every walk of the chain comes to its last node, which has no step.
    ended = draw_ends(1.0, 3.0, 0, 0, 5, pose_problem(chain, [0], 5, 0.5, "out").links)
    assert ended.tolist() == [-1] * 3 * 4
    # The draws of a node do not depend on the range.
    both = [draw_ends(0.8, 50.0, 0, start, start + 1, links) for start in (0, 1)]
    assert np.array_equal(np.concatenate(both), draw_ends(0.8, 50.0, 0, 0, 2, links))
    # From B: it stays with 1/5; C, D and others get the rest.
    share = np.mean(draw_ends(0.8, 4000.0, 0, 1, 2, links) == 1)
    assert share == pytest.approx(dense(toy, [1], 0.8, "out")[1], abs=0.03)


@pytest.mark.parametrize("method", ["pafo", "delta-push"])
def test_the_push_ends_once_the_drawn_walks_suffice(web, monkeypatch, method):
    calls = []

    def add_nothing(source, residual, rate, per_step, bounds):
        calls.append((residual, rate, per_step))
        return np.zeros(len(residual), np.int64)

    monkeypatch.setattr(rounds_module, "_walk_piece", add_nothing)
    found = METHODS[method](pose_problem(web, [5], 20, 0.8, "both"))
    ((residual, rate, per_step),) = calls
    degrees = web.degrees(np.arange(web.n_nodes))
    assert rate == walk_rate(0.5, 1 / web.n_nodes, web.n_nodes)
    # Pushing up to 1 / sqrt(steps x rate) costs as much as the walks.
    balanced = rate / np.sqrt(degrees.sum() * rate)
    assert per_step == pytest.approx(balanced if method == "pafo" else 1)
    assert (np.ceil(residual * rate - 1e-9) <= np.ceil(per_step * degrees)).all()
    assert "rounds" in found.note and found.settled


def test_hgpa_of_two_parts_and_a_hub_by_hand(chain, monkeypatch):
    parts = (
        HubPart(np.array([0, 1]), np.array([], int)),
        HubPart(np.array([3, 4]), np.array([], int)),
    )
    tree = HubPart(np.arange(5), np.array([2]), parts)
    monkeypatch.setattr(hgpa_module, "make_hub_tree", lambda *_: tree)
    graph = build_in_memory([(f"n{i}", "r", f"n{i + 1}") for i in range(4)], "chain")
    found = hgpa(pose_problem(graph, [0], 5, 0.5, "both"))
    # Both ways with damping 1/2 an end passes 1/2 to its neighbour, other nodes 1/4 to both sides.
    # Partial vector of the hub n2 in {n0, n1}: v1 = 1/4 + v0/2 and v0 = v1/4, so 2/7 and 1/14; v1/4
    # = 1/14 comes back. {n3, n4} is alike. Skeleton: 1 / (1 - 1/14 - 1/14) = 7/6 visits of the hub.
    # The seed n0 in its part: v0 = 1 + v1/4 and v1 = v0/2, so 8/7 and 4/7; 1/7 comes to the hub,
    # which has 7/6 x 1/7 = 1/6 visits.
    # Sums: n0 8/7 + 1/84, n1 4/7 + 1/21, n2 1/6, n3 1/21, n4 1/84; scores are half of these.
    expected = np.array([97, 52, 14, 4, 1]) / 168
    assert by_node(graph, found) == pytest.approx(expected, abs=HGPA.tolerance)
    assert found.settled and "1 hubs between 2 parts" in found.note


def test_the_least_entries_are_dropped_up_to_their_sum():
    # 0.1 + 0.2 is at most 0.35, 0.1 + 0.2 + 0.4 is not; in the other column nothing is small enough.
    visits = np.array([[0.4, 0.5], [0.1, 0.6], [0.2, 0.7]])
    assert drop_least(visits, 0.35).tolist() == [[0.4, 0.5], [0.0, 0.6], [0.0, 0.7]]


@pytest.mark.parametrize("leaf_nodes", [3, 40])
def test_parts_have_no_edge_to_each_other(web, leaf_nodes):
    def check(part):
        if not part.children:
            assert not len(part.hubs)
            return
        members = np.concatenate([part.hubs, *[child.nodes for child in part.children]])
        assert np.array_equal(np.sort(members), part.nodes)
        owner = np.full(web.n_nodes, -1)
        for number, child in enumerate(part.children):
            owner[child.nodes] = number
            check(child)
        ends = owner[web.heads], owner[web.tails]
        assert (ends[0] == ends[1])[(ends[0] >= 0) & (ends[1] >= 0)].all()

    tree = make_hub_tree(web, leaf_nodes)
    check(tree)
    assert len(tree.hubs)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(graphs, directions, st.floats(0.05, 0.95), st.data())
def test_each_method_is_near_a_dense_solve(graph, direction, damping, data):
    seeds = data.draw(st.lists(st.integers(0, graph.n_nodes - 1), min_size=1, max_size=4))
    exact = dense(graph, seeds, damping, direction)
    problem = pose_problem(graph, seeds, graph.n_nodes, damping, direction)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hgpa_module, "HGPA", replace(HGPA, leaf_nodes=2))
        results = {name: method(problem) for name, method in METHODS.items()}
    for result in results.values():
        assert (result.scores > 0).all() and result.scores.sum() <= 1 + 1e-9
        assert len(np.unique(result.nodes)) == len(result.nodes)
        assert np.array_equal(np.sort(result.nodes), np.flatnonzero(exact > 1e-14))
    assert np.abs(by_node(graph, results["hgpa"]) - exact).sum() <= HGPA.tolerance
    for name in ("pafo", "delta-push"):
        assert by_node(graph, results[name]) == pytest.approx(exact, rel=0.5, abs=0.02)


@pytest.mark.parametrize("seeds", [[0], [7, 7, 120], [390]])
@pytest.mark.parametrize("direction", ["out", "both"])
def test_best_nodes_within_the_guarantee(web, seeds, direction, small_parts):
    exact = pagerank_exact(web, seeds, 0.8, direction)
    for name, method in METHODS.items():
        found = method(pose_problem(web, seeds, 20, 0.8, direction))
        best = np.sort(exact)[::-1][: len(found.nodes)]
        if name == "hgpa":
            # A node that replaced a better one is worse by no more than the summed error.
            assert (exact[found.nodes] >= best - HGPA.tolerance).all() and found.settled
        else:
            is_large = best >= 1 / web.n_nodes
            assert found.scores[is_large] == pytest.approx(exact[found.nodes][is_large], rel=0.5)
            assert (exact[found.nodes] >= best * (1 - 0.5) / (1 + 0.5))[is_large].all()


def test_missing_mass_bounds_the_error(web, monkeypatch):
    monkeypatch.setattr(hgpa_module, "HGPA", replace(HGPA, leaf_nodes=20, tolerance=0.02))
    found = hgpa(pose_problem(web, [5], web.n_nodes, 0.8, "both"))
    error = np.abs(by_node(web, found) - pagerank_exact(web, [5], 0.8, "both")).sum()
    stated = float(found.note.rpartition("at most ")[2].split()[0])
    assert 0 < error <= stated <= 0.02


def results_of(method, problem):
    found = METHODS[method](problem)
    return found.nodes.tobytes(), found.scores.tobytes(), found.note


@pytest.mark.parametrize("method", PARALLEL_METHODS)
def test_the_number_of_threads_or_workers_changes_nothing(web, method, small_parts):
    for seeds in ([5], [9, 9, 300]):
        problem = pose_problem(web, seeds, 40, 0.8, "both")
        alone = results_of(method, problem)
        for count in (1, 2, 3):
            for workers in (None, PickledWorkers(count)):
                divided = replace(problem, threads=count, workers=workers)
                assert results_of(method, divided) == alone


def test_ranges_hold_all_nodes_and_about_equal_steps(web, monkeypatch):
    steps = web.degrees(np.arange(web.n_nodes))
    for pieces in (1, 2, 5):
        ranges = split_nodes(steps, pieces)
        assert len(ranges) == pieces and [ranges[0][0], ranges[-1][1]] == [0, web.n_nodes]
        assert all(before[1] == after[0] for before, after in zip(ranges, ranges[1:]))
        counts = [steps[start:end].sum() + end - start for start, end in ranges]
        assert max(counts) <= (steps.sum() + web.n_nodes) / pieces + steps.max() + 1
    monkeypatch.setattr(rounds_module, "CHECK_STEPS", 100)
    assert len(split_nodes(steps, 1)) > 20


@pytest.mark.parametrize("method", PARALLEL_METHODS)
def test_seeds_without_steps_and_empty_seeds(tmp_path, method):
    # x and y are a pair of their own; from y no step leads on, along the edges.
    graph = build([("a", "r", "b"), ("b", "r", "c"), ("x", "r", "y")], tmp_path / "g", "g")
    a, b, c, x, y = range(5)
    assert top_pagerank(graph, [y], 3, 0.8, "out", method)[0].tolist() == [y]
    nodes, scores = top_pagerank(graph, [a, y, y], 9, 0.5, "out", method)
    # a has 1/3 of the restarts, y 2/3: a keeps 1/6, b 1/12, c 1/24 and y 1/3, scaled by 24/15.
    assert dict(zip(nodes.tolist(), scores)) == pytest.approx(
        {y: 8 / 15, a: 4 / 15, b: 2 / 15, c: 1 / 15}
    )
    assert sorted(top_pagerank(graph, [a, x], 9, 0.8, "both", method)[0].tolist()) == [
        a,
        b,
        c,
        x,
        y,
    ]
    with pytest.raises(BadInput):
        top_pagerank(graph, [], 3, method=method)
    assert not len(top_pagerank(graph, [a], 0, method=method)[0])


@pytest.mark.parametrize("method", PARALLEL_METHODS)
def test_errors(toy, method):
    with pytest.raises(BadParameter, match="no weights"):
        top_pagerank(toy, [0], 3, method=method, weights=np.ones(7))
    with pytest.raises(BadInput):
        top_pagerank(toy, [99], 3, method=method)


def test_pafo_needs_a_thread(toy):
    with pytest.raises(BadParameter, match="one thread"):
        top_pagerank(toy, [0], 3, method="pafo", threads=0)


def test_too_many_hubs_are_refused(web, monkeypatch):
    monkeypatch.setattr(hgpa_module, "HGPA", replace(HGPA, leaf_nodes=3, max_hubs=2))
    with pytest.raises(BadInput, match="HGPA takes at most 2"):
        top_pagerank(web, [0], 3, method="hgpa")


@pytest.mark.parametrize("method", ["hgpa", "delta-push"])
def test_workers_need_a_stored_graph_and_stay_alive(web, method):
    memory = build_in_memory([("a", "r", "b")], "memory")
    with pytest.raises(StoreError, match="not stored"):
        top_pagerank(memory, [0], 2, method=method, workers=PickledWorkers(2))

    class DyingWorkers(PickledWorkers):
        def run_each(self, work, items, watch):
            yield from ((item, LostResult("died")) for item in items)

    with pytest.raises(HopscopeError, match="died"):
        # A damping of its own, so that nothing was computed before.
        top_pagerank(web, [0], 2, 0.71, method=method, workers=DyingWorkers(2))


def test_a_worker_opens_the_graph_of_a_piece_again(web):
    source = pickle.loads(pickle.dumps(piece_source(pose_problem(web, [0], 1, 0.8, "out"))))
    assert source.graph is not web and source.graph.digest == web.digest
    assert (source.direction, source.damping) == ("out", 0.8)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("method", PARALLEL_METHODS)
def test_cancelling_ends_a_method_midway(web, method, threads, small_parts, monkeypatch):
    monkeypatch.setattr(rounds_module, "CHECK_STEPS", 200)
    settings = [5], 40, 0.83 + threads / 100, "both", method
    asked = []

    def check():
        asked.append(1)
        if len(asked) > 5:
            raise RunCancelled()

    with pytest.raises(RunCancelled):
        top_pagerank(web, *settings, watch=Watch(check), threads=threads)
    # Nothing half done is kept.
    nodes, scores = top_pagerank(web, *settings, threads=threads)
    exact = pagerank_exact(web, [5], settings[2], "both")
    assert len(nodes) == 40 and exact[nodes[:5]] == pytest.approx(scores[:5], rel=0.1)
