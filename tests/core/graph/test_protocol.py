"""What is asked of a graph level by level gives what the compiled loops give, and path texts by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import BadParameter
from core.graph.algorithms.neighbourhood import induced, nearest
from core.graph.algorithms.stepwise import top_pagerank
from core.graph.algorithms.walks import random_walks
from core.graph.building.build import in_memory
from core.graph.pagerank.best import pagerank_exact
from core.graph.protocol import KnowledgeGraph
from core.types import Path
from tests.core.graph.strategies import TRIPLE, directions

graphs = st.lists(TRIPLE, min_size=1, max_size=24).map(
    lambda triples: in_memory([(f"n{h}", f"r{r}", f"n{t}") for h, r, t in triples], "g")
)


class Far(KnowledgeGraph):
    """An array store of which nothing but the protocol can be seen; counts how many nodes' steps were read."""

    at_hand = False

    def __init__(self, graph):
        self._graph, self.read = graph, 0
        self.name, self.digest, self.direction, self.relation_names = (
            graph.name,
            graph.digest,
            graph.direction,
            graph.relation_names,
        )
        self.names, self.degrees, self.triples, self.folder = (
            graph.names,
            graph.degrees,
            graph.triples,
            None,
        )

    n_nodes = property(lambda self: self._graph.n_nodes)
    n_edges = property(lambda self: self._graph.n_edges)

    def steps_from(self, nodes, direction="both"):
        self.read += len(nodes)
        return self._graph.steps_from(nodes, direction)


def same(found, expected):
    return [part.tolist() for part in found] == [part.tolist() for part in expected]


@settings(max_examples=40, deadline=None)
@given(graphs, directions, st.data())
def test_walking_by_questions_gives_what_the_loops_give(graph, direction, data):
    node = st.integers(0, graph.n_nodes - 1)
    seeds, hops = data.draw(st.lists(node, min_size=1, max_size=3)), data.draw(st.integers(0, 4))
    keep = data.draw(st.integers(0, graph.n_nodes))
    assert same(
        nearest(Far(graph), seeds, hops, direction, keep),
        nearest(graph, seeds, hops, direction, keep),
    )
    nodes = data.draw(st.lists(node, unique=True))
    assert induced(Far(graph), nodes).tolist() == induced(graph, nodes).tolist()
    restart, seed = data.draw(st.sampled_from([0.0, 0.3, 1.0])), data.draw(st.integers(0, 9))
    walks = [
        random_walks(g, seeds, 5, 4, restart, direction, np.random.default_rng(seed))
        for g in (Far(graph), graph)
    ]
    assert same(*walks)


@settings(max_examples=25, deadline=None)
@given(graphs, directions, st.data())
def test_steps_degrees_and_triples_fit_each_other(graph, direction, data):
    nodes = np.array(data.draw(st.lists(st.integers(0, graph.n_nodes - 1), max_size=6)), np.int64)
    steps = graph.steps_from(nodes, direction)
    assert (
        np.bincount(steps.rows, minlength=len(nodes)).tolist()
        == graph.degrees(nodes, direction).tolist()
    )
    heads, relations, tails = graph.triples(steps.edges)
    here = nodes[steps.rows]
    assert (here == np.where(steps.forward, heads, tails)).all() and (
        steps.nodes == np.where(steps.forward, tails, heads)
    ).all()
    assert (relations == steps.relations).all() and sorted(~steps.forward) == (
        ~steps.forward
    ).tolist()
    for place, node in enumerate(nodes.tolist()):
        mine = steps.rows == place
        assert same(
            graph.steps(node, direction),
            (steps.nodes[mine], steps.edges[mine], steps.forward[mine]),
        )


@settings(max_examples=25, deadline=None)
@given(graphs, directions, st.data())
def test_pushing_in_rounds_to_the_end_is_exact(graph, direction, data):
    seeds = np.array(data.draw(st.lists(st.integers(0, graph.n_nodes - 1), min_size=1, max_size=3)))
    exact = pagerank_exact(graph, seeds, 0.8, direction)
    nodes, scores, _, settled, _ = top_pagerank(
        Far(graph), seeds, graph.n_nodes + 1, 0.8, direction
    )
    assert settled
    assert scores == pytest.approx(exact[nodes], abs=1e-9)
    assert set(np.flatnonzero(exact > 1e-9)) <= set(nodes.tolist())


def test_pushing_stays_near_the_seed():
    # a chain of 3,000 nodes: what is 100 steps away has 0.8 ** 100 of the mass, so that a few hundred nodes are read
    chain = Far(in_memory([(str(i), "r", str(i + 1)) for i in range(3000)], "chain"))
    nodes, scores, steps, settled, told = top_pagerank(chain, np.array([1500]), 20, 0.8, "both")
    assert (
        settled
        and told
        == f"Push in rounds: the steps of {steps // 2} nodes were read, until the best stayed the same."
    )
    exact = pagerank_exact(chain._graph, [1500], 0.8, "both")
    assert (
        nodes.tolist() == np.lexsort((np.arange(3001), -np.round(exact, 9)))[:20].tolist()
        and chain.read < 300
    )
    assert scores == pytest.approx(exact[nodes], abs=1e-4)


def test_texts_by_hand(toy):
    # A -r0-> B -r2-> C, and C against r2 to B; the loop D -r6-> D
    paths = [
        Path((0, 1, 2), (0, 2), (True, True)),
        Path((2, 1), (2,), (False,)),
        Path((3, 3), (5,), (True,)),
        Path((4,)),
    ]
    assert toy.texts(paths) == [
        "A -> r0 -> B -> r2 -> C",
        "C -> r2_reverse -> B",
        "D -> r6 -> D",
        "E",
    ]
    assert toy.text(paths[1]) == "C -> r2_reverse -> B" and toy.texts(()) == []
    assert (
        toy.triple_texts([5, 0]) == ["D -> r6 -> D", "A -> r0 -> B"] and toy.triple_texts([]) == []
    )


def test_an_unknown_direction_is_refused(toy):
    with pytest.raises(BadParameter, match="not “up”"):
        toy.steps(0, "up")


def test_the_shape_of_five_nodes(toy):
    # A: 2 out, 2 in; B: 1, 1; C: 2, 2; D: the loop twice and C's edge; E: 1 out
    shape = toy.shape()
    assert dict(zip(shape.degrees.tolist(), shape.nodes.tolist())) == {1: 1, 2: 1, 3: 1, 4: 2}
    assert (
        shape.busiest == (0, 2, 3, 1, 4)
        and shape.loops == 1
        and shape.relations.tolist() == [1] * 7
    )
