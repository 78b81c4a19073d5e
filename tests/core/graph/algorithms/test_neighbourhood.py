import igraph
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import BadInput, RunCancelled
from core.graph.algorithms.neighbourhood import connected_components, induced_edges, nearest_nodes
from core.graph.building.build import build
from core.types import Subgraph
from core.watch import Watch
from tests.core.graph.strategies import directions, graphs

A, B, C, D, E = range(5)


def nearest_ids(graph, *asked) -> list[int]:
    return sorted(nearest_nodes(graph, *asked)[0].tolist())


def test_the_nearest_by_hand(toy):
    # Out of A: B and C; out of those: C, A and D. Into A: C and E; into C: A and B.
    assert nearest_ids(toy, [A], 0, "out") == [A]
    assert nearest_ids(toy, [A], 1, "out") == [A, B, C]
    assert nearest_ids(toy, [A], 2, "out") == [A, B, C, D]
    assert nearest_ids(toy, [A], 1, "in") == [A, C, E]
    assert [part.tolist() for part in nearest_nodes(toy, [A], 2, "both")] == [
        [A, B, C, E, D],
        [0, 1, 1, 1, 2],
    ]
    assert [part.tolist() for part in nearest_nodes(toy, [E, D, E], 1, "out")] == [
        [D, E, A],
        [0, 0, 1],
    ]


def test_keep_takes_the_nearest_then_the_smallest_ids(toy):
    assert [nearest_ids(toy, [E], 9, "out", keep) for keep in range(6)] == [
        [],
        [E],
        [A, E],
        [A, B, E],
        [A, B, C, E],
        [A, B, C, D, E],
    ]


def test_induced_by_hand(toy):
    # Edges by (head, relation): 0 A>B, 1 A>C, 2 B>C, 3 C>A, 4 C>D, 5 D>D, 6 E>A.
    assert induced_edges(toy, [C, A]).tolist() == [1, 3]
    assert induced_edges(toy, np.array([D])).tolist() == [5]
    assert induced_edges(toy, [D, E]).tolist() == [5] and induced_edges(toy, []).tolist() == []
    assert induced_edges(toy, range(5)).tolist() == list(range(7))


def test_components_by_hand(toy):
    def count(*nodes):
        return connected_components(
            toy, Subgraph(np.array(nodes, np.int64), induced_edges(toy, nodes))
        )

    assert [count(), count(D), count(B, E), count(A, B, D), count(A, B, C, D, E)] == [0, 1, 2, 2, 1]


@settings(max_examples=60, deadline=None)
@given(graphs, st.sets(st.integers(0, 7)))
def test_induced_is_every_edge_between_and_components_as_igraph(graph, wanted):
    nodes = sorted(node for node in wanted if node < graph.n_nodes)
    edges = induced_edges(graph, nodes[::-1]).tolist()
    assert edges == [
        e for e in range(graph.n_edges) if graph.heads[e] in nodes and graph.tails[e] in nodes
    ]
    pairs = [(nodes.index(graph.heads[e]), nodes.index(graph.tails[e])) for e in edges]
    peer = igraph.Graph(len(nodes), pairs, directed=True)
    found = Subgraph(np.array(nodes, np.int64), np.array(edges, np.int64))
    assert connected_components(graph, found) == len(peer.connected_components("weak"))


@settings(max_examples=60, deadline=None)
@given(graphs, directions, st.integers(0, 4), st.data())
def test_distances_as_igraph(graph, direction, hops, data):
    seed = data.draw(st.integers(0, graph.n_nodes - 1))
    peer = igraph.Graph(
        graph.n_nodes, list(zip(graph.heads.tolist(), graph.tails.tolist())), directed=True
    )
    theirs = peer.distances([seed], mode={"both": "all"}.get(direction, direction))[0]
    nodes, distance = nearest_nodes(graph, [seed], hops, direction)
    assert list(zip(distance, nodes)) == sorted((d, v) for v, d in enumerate(theirs) if d <= hops)


def test_hubs_of_out_edges_and_of_in_edges(tmp_path):
    # A hub with 4,000 out-edges in two relations and 4,000 in-edges; few of them are asked for.
    triples = [("hub", f"r{i % 2}", f"out{i}") for i in range(4000)] + [
        (f"in{i}", "r0", "hub") for i in range(4000)
    ]
    graph = build([*triples, ("hub", "r1", "out0"), ("hub", "r0", "hub")], tmp_path / "g", "g")
    names = {graph.node_name(v): v for v in range(graph.n_nodes)}
    found = induced_edges(graph, [names[name] for name in ("hub", "out0", "out3999", "in7")])
    assert sorted(graph.triple_text(int(e)) for e in found) == [
        "hub -> r0 -> hub",
        "hub -> r0 -> out0",
        "hub -> r1 -> out0",
        "hub -> r1 -> out3999",
        "in7 -> r0 -> hub",
    ]
    assert found.tolist() == sorted(found.tolist())


def test_unfit_seeds_and_cancelling(toy):
    with pytest.raises(BadInput):
        nearest_nodes(toy, [], 1)
    with pytest.raises(BadInput, match="no node 7"):
        nearest_nodes(toy, [7], 1)

    def stop():
        raise RunCancelled()

    with pytest.raises(RunCancelled):
        nearest_nodes(toy, [A], 1, watch=Watch(stop))
