from collections import Counter
from math import prod

import igraph
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import BadParameter, RunCancelled
from core.graph.algorithms.local_adjacency import LocalAdjacency
from core.graph.algorithms.neighbourhood import induced_edges
from core.graph.algorithms.paths import shortest_paths, simple_paths
from core.graph.building.build import build
from core.types import Subgraph
from core.watch import Watch
from tests.core.graph.strategies import directions, graphs

A, B, C, D, E = range(5)


def adjacency_of(graph, nodes, direction):
    nodes = np.array(sorted(nodes), np.int64)
    return LocalAdjacency(graph, Subgraph(nodes, induced_edges(graph, nodes)), direction)


def test_local_by_hand(toy):
    # Nodes B, C, D become 0, 1, 2; the edges are 2 B>C, 4 C>D, 5 D>D.
    local = adjacency_of(toy, [B, C, D], "both")
    assert len(local) == 3 and local.local_id(C) == 1 and local.local_id(A) == -1
    assert local.indptr.tolist() == [0, 1, 3, 6]
    assert local.neighbours.tolist() == [1, 0, 2, 1, 2, 2]
    assert local.edges.tolist() == [2, 2, 4, 4, 5, 5]
    assert local.forward.tolist() == [True, False, True, False, True, False]
    assert local.step_lists[1] == [(0, 2, False), (2, 4, True)]
    assert adjacency_of(toy, [B, C, D], "in").indptr.tolist() == [0, 0, 1, 3] and adjacency_of(
        toy, [B, C, D], "out"
    ).edges.tolist() == [2, 4, 5]
    assert (
        adjacency_of(toy, [B, E], "both").indptr.tolist() == [0, 0, 0]
        and len(adjacency_of(toy, [], "both")) == 0
    )
    with pytest.raises(BadParameter):
        adjacency_of(toy, [A], "up")


def test_local_leaves_out_edges_that_leave_it(toy):
    local = LocalAdjacency(toy, Subgraph(np.array([A, B], np.int64), np.arange(7)), "out")
    assert local.edges.tolist() == [0] and local.neighbours.tolist() == [1]


def test_shortest_by_hand(toy):
    # From E, out: A; then B and C; then D over C. Edges: 6 E>A, 0 A>B, 1 A>C, 4 C>D.
    local = adjacency_of(toy, range(5), "out")
    paths, capped = shortest_paths(local, E, 4)
    assert [(p.nodes, p.edges) for p in paths] == [
        ((E, A), (6,)),
        ((E, A, B), (6, 0)),
        ((E, A, C), (6, 1)),
        ((E, A, C, D), (6, 1, 4)),
    ]
    assert not capped and all(all(p.forward) for p in paths)
    assert [p.end for p in shortest_paths(local, E, 2)[0]] == [A, B, C]
    assert shortest_paths(local, E, 4, cap=2) == (paths[:2], True) and shortest_paths(
        local, E, 4, cap=4
    ) == (paths, False)
    assert shortest_paths(adjacency_of(toy, [A, B], "out"), E, 4) == ([], False)


def test_all_shortest_by_hand(toy):
    # Both ways from A: C over edge 1 forward and edge 3 backward (C>A), B over 0, E over 6
    # backward. D is reached over C by edge 4, so in two ways.
    paths, _ = shortest_paths(adjacency_of(toy, range(5), "both"), A, 4, every=True)
    assert [(p.nodes, p.edges, p.forward) for p in paths] == [
        ((A, B), (0,), (True,)),
        ((A, C), (1,), (True,)),
        ((A, C), (3,), (False,)),
        ((A, E), (6,), (False,)),
        ((A, C, D), (1, 4), (True, True)),
        ((A, C, D), (3, 4), (False, True)),
    ]
    assert shortest_paths(adjacency_of(toy, range(5), "both"), A, 4, every=True, cap=5)[1]


def test_parallel_relations_by_hand(tmp_path):
    # Six triples: a r b, a s b, b r a, b r c, a t d, d r c. The path from a to c over b is found
    # first. In both directions three edges join a and b.
    lines = [
        ("a", "r", "b"),
        ("a", "s", "b"),
        ("b", "r", "a"),
        ("b", "r", "c"),
        ("a", "t", "d"),
        ("d", "r", "c"),
    ]
    graph = build(lines, tmp_path / "g", "g")
    outward, both = adjacency_of(graph, range(4), "out"), adjacency_of(graph, range(4), "both")
    edges = lambda local, **how: [
        tuple(graph.relation_name(e) for e in p.edges)
        for p in shortest_paths(local, 0, 2, **how)[0]
    ]
    assert edges(outward) == [("r",), ("s",), ("t",), ("r", "r"), ("s", "r")]
    assert edges(outward, parallel=False) == [("r",), ("t",), ("r", "r")]
    assert edges(outward, every=True) == [
        ("r",),
        ("s",),
        ("t",),
        ("r", "r"),
        ("s", "r"),
        ("t", "r"),
    ]
    assert edges(outward, every=True, parallel=False) == [("r",), ("t",), ("r", "r"), ("t", "r")]
    assert [p.forward for p in shortest_paths(both, 0, 1)[0]] == [
        (True,),
        (True,),
        (False,),
        (True,),
    ]
    assert shortest_paths(outward, 0, 2, cap=4) == (shortest_paths(outward, 0, 2)[0][:4], True)


def test_simple_by_hand(toy):
    # Out of A: B, C; A B C, A C D (a return to A is not allowed); A B C D.
    local = adjacency_of(toy, range(5), "out")
    paths, capped = simple_paths(local, A, 4, None)
    assert [p.nodes for p in paths] == [
        (A, B),
        (A, C),
        (A, B, C),
        (A, C, D),
        (A, B, C, D),
    ] and not capped
    assert simple_paths(local, A, 4, 3) == (paths[:3], True) and simple_paths(local, A, 4, 5) == (
        paths,
        False,
    )
    assert simple_paths(local, A, 0, 5) == ([], False) and simple_paths(local, A, 2, 0) == (
        [],
        True,
    )


def test_a_cap_bounds_the_work(tmp_path):
    # 60 nodes, all connected to all: about 60^8 paths of 8 steps.
    graph = build(
        [(str(i), "r", str(j)) for i in range(60) for j in range(60)], tmp_path / "g", "g"
    )
    for search in (lambda: simple_paths(adjacency_of(graph, range(60), "both"), 0, 8, 5_000),):
        paths, capped = search()
        assert capped and len(paths) == 5_000 and max(map(len, paths)) == 2


def test_all_shortest_of_a_ladder_stay_lazy(tmp_path):
    # 30 rungs of 3 parallel edges: 3^30 shortest paths to the end.
    graph = build(
        [(str(i), f"r{k}", str(i + 1)) for i in range(30) for k in range(3)], tmp_path / "g", "g"
    )
    paths, capped = shortest_paths(
        adjacency_of(graph, range(31), "out"), 0, 30, every=True, cap=2_000
    )
    assert (
        capped
        and len(paths) == 2_000
        and paths == sorted(paths, key=lambda p: (len(p), p.end, p.nodes, p.edges))
    )


def test_cancelling(toy):
    def stop():
        raise RunCancelled()

    with pytest.raises(RunCancelled):
        shortest_paths(adjacency_of(toy, range(5), "both"), A, 4, watch=Watch(stop))


def igraph_of(local):
    pairs = [(v, w) for v in range(len(local)) for w, _, _ in local.step_lists[v]]
    return igraph.Graph(len(local), pairs, directed=True)


@settings(max_examples=80, deadline=None)
@given(graphs, directions, st.integers(0, 4), st.data())
def test_paths_as_igraph(graph, direction, hops, data):
    source = data.draw(st.integers(0, graph.n_nodes - 1))
    local = adjacency_of(graph, range(graph.n_nodes), direction)
    peer = igraph_of(local)
    every, simple = (
        shortest_paths(local, source, hops, every=True)[0],
        simple_paths(local, source, hops, None)[0],
    )
    one, ways = (
        shortest_paths(local, source, hops, parallel=False)[0],
        shortest_paths(local, source, hops)[0],
    )
    theirs = [tuple(p) for p in peer.get_all_shortest_paths(source) if 1 < len(p) <= hops + 1]
    assert sorted(p.nodes for p in every) == sorted(theirs)
    if hops:
        # igraph does not distinguish parallel edges.
        sequences = {tuple(p) for p in peer.get_all_simple_paths(source, maxlen=hops)}
        assert Counter(p.nodes for p in simple) == {
            nodes: prod(
                sum(near == b for near, _, _ in local.step_lists[a])
                for a, b in zip(nodes, nodes[1:])
            )
            for nodes in sequences
        }
    assert {p.end for p in one} == {p.end for p in every} and len(one) == len({p.end for p in one})
    assert (
        set(one) <= set(ways) <= set(every) <= set(simple)
        and len(set(simple)) == len(simple)
        and len(set(every)) == len(every)
    )
    assert set(ways) == {path for path in every if path.nodes in {p.nodes for p in one}}
    assert every == sorted(every, key=lambda p: (len(p), p.end, p.nodes, p.edges))
    for path in simple:
        for a, b, edge, forward in zip(path.nodes, path.nodes[1:], path.edges, path.forward):
            assert (graph.heads[edge], graph.tails[edge]) == ((a, b) if forward else (b, a))
    cap = len(simple) // 2
    assert simple_paths(local, source, hops, cap) == (simple[:cap], len(simple) > cap)
