"""Walks from a node by hand, their order, and the effect of one more triple."""

import random
from collections import Counter

import pytest

from core.errors import BadParameter
from core.graph.algorithms.walk_corpus import OrderedSteps, WalkPlan, iterate_walks, walks_from
from core.graph.building.build import build_in_memory

ALL_WALKS = WalkPlan("breadth-first", 0, 4, "out")
TRIPLES = [
    ("A", "r0", "B"),
    ("A", "r1", "C"),
    ("B", "r2", "C"),
    ("C", "r3", "A"),
    ("C", "r4", "D"),
    ("E", "r5", "A"),
    ("D", "r6", "D"),
]


def walk_texts_from(graph, name, plan):
    (node,) = graph.nodes_named(name)
    return graph.texts(walks_from(graph, node, plan))


def test_breadth_first_walks_are_the_spanning_tree(toy):
    # Layers from E: A; B and C; D. Each node comes once: C over A, although B leads there too, and
    # no step returns to E.
    found = walk_texts_from(toy, "E", ALL_WALKS)
    assert found == [
        "E -> r5 -> A",
        "E -> r5 -> A -> r0 -> B",
        "E -> r5 -> A -> r1 -> C",
        "E -> r5 -> A -> r1 -> C -> r4 -> D",
    ]
    assert walk_texts_from(toy, "E", WalkPlan("breadth-first", 0, 2, "out")) == found[:3]
    assert walk_texts_from(toy, "E", WalkPlan("breadth-first", 2, 4, "out")) == found[:2]
    assert (
        walk_texts_from(toy, "D", ALL_WALKS) == []
    )  # The loop leads to the root, which is already in the tree.


def test_walks_in_both_directions_mark_backward_steps(toy):
    assert walk_texts_from(toy, "D", WalkPlan("breadth-first", 0, 2, "both")) == [
        "D -> r4_reverse -> C",
        "D -> r4_reverse -> C -> r1_reverse -> A",
        "D -> r4_reverse -> C -> r2_reverse -> B",
    ]


def test_random_walks_end_where_no_step_leads_on():
    line = build_in_memory([("A", "r", "B"), ("B", "s", "C")], "line")
    plan = WalkPlan("random", 3, 4, "out")
    assert walk_texts_from(line, "A", plan) == ["A -> r -> B -> s -> C"] * 3  # Copies are kept.
    assert walk_texts_from(line, "A", WalkPlan("random", 3, 4, "out", unique=True)) == [
        "A -> r -> B -> s -> C"
    ]
    assert walk_texts_from(line, "C", plan) == []


def test_neighbours_are_drawn_uniformly_despite_parallel_triples():
    # N(A) = {B, C}: half each, although three of the four triples lead to B. Each of these three is
    # drawn a third of the time.
    graph = build_in_memory(
        [("A", "r1", "B"), ("A", "r2", "B"), ("A", "r3", "B"), ("A", "r4", "C")], "parallel"
    )
    counts = Counter(walk_texts_from(graph, "A", WalkPlan("random", 12_000, 1, "out")))
    assert counts["A -> r4 -> C"] == pytest.approx(6_000, abs=250)
    assert counts["A -> r2 -> B"] == pytest.approx(2_000, abs=200)


@pytest.mark.parametrize(
    "plan", [ALL_WALKS, WalkPlan("random", 20, 3, "both"), WalkPlan("breadth-first", 5, 4, "both")]
)
def test_walks_do_not_depend_on_the_order_of_triples(plan):
    one = build_in_memory(TRIPLES, "one")
    order = TRIPLES[:]
    random.Random(3).shuffle(order)
    other = build_in_memory([("Z", "r9", "Y"), *order], "other")
    for name in "ABCDE":
        assert walk_texts_from(one, name, plan) == walk_texts_from(other, name, plan)


def test_another_triple_changes_only_walks_through_its_head():
    plan = WalkPlan("random", 30, 2, "out")
    before, after = (
        build_in_memory(TRIPLES, "before"),
        build_in_memory([*TRIPLES, ("D", "r7", "E")], "after"),
    )
    for name in "ABCE":
        # Some walk takes a step from D.
        passing = any(
            " D" in text.rsplit(" -> ", 1)[0] for text in walk_texts_from(after, name, plan)
        )
        same = walk_texts_from(before, name, plan) == walk_texts_from(after, name, plan)
        assert same or passing, name
    # From B: C, then A or D. No step starts at D.
    assert walk_texts_from(before, "B", plan) == walk_texts_from(after, "B", plan)
    assert walk_texts_from(before, "D", plan) != walk_texts_from(after, "D", plan)


def test_steps_are_ordered_by_their_texts(toy):
    steps = OrderedSteps.from_graph(toy, "both")
    at = steps.rows_of(0)  # From A: r0 to B, r1 to C, and backward r3 to C, r5 to E.
    assert steps.edges[at].tolist() == [0, 1, 3, 6] or toy.triple_texts(steps.edges[at]) == [
        "A -> r0 -> B",
        "A -> r1 -> C",
        "C -> r3 -> A",
        "E -> r5 -> A",
    ]
    assert steps.forward[at].tolist() == [True, True, False, False]
    assert OrderedSteps.from_graph(toy, "out").nodes_with_steps().tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "wrong", [dict(strategy="depth"), dict(walks=0), dict(length=0), dict(walks=-1)]
)
def test_unfit_plans(wrong):
    with pytest.raises(BadParameter, match="random or breadth-first"):
        WalkPlan(**wrong)


def test_metaqa_has_as_many_walks_per_node_as_the_paper_counts(movies):
    """Walk&Retrieve, footnote 8: 9.41 breadth-first walks per node, 8.74 different ones of 60
    random walks.

    For the random walks every eighth node is counted; over all nodes the mean is 8.75.
    """
    nodes = OrderedSteps.from_graph(movies, "out").nodes_with_steps()
    count = lambda plan, some: (
        sum(1 for node in some.tolist() for _ in iterate_walks(movies, node, plan)) / len(some)
    )
    assert count(ALL_WALKS, nodes) == pytest.approx(9.41, abs=0.005)
    assert count(WalkPlan("random", 60, 4, "out", unique=True), nodes[::8]) == pytest.approx(
        8.74, abs=0.1
    )
