"""Leiden over arrays, checked by hand and against igraph.

Its modularity is at most `BOUND` below igraph's.
"""

from __future__ import annotations

import igraph
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput
from core.graph.algorithms import leiden as by_size
from core.graph.building.build import build_in_memory
from core.graph.large.array_leiden import inner_edges, leiden, make_links, quotient_graph

BOUND = 0.02  # Largest accepted difference of modularity to igraph.
PAIRS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), min_size=1, max_size=40)


def modularity(links, labels):
    """Newman's modularity of groups.

    It is the share of edges inside groups, minus the share expected by chance.
    """
    heads = np.repeat(np.arange(links.n_nodes), np.diff(links.out_indptr))
    ends = np.concatenate([heads, links.tails]), np.concatenate([links.tails, heads])
    weights = np.ones(len(ends[0]))
    if len(links.weights):  # An edge is stored at both of its ends, a loop once.
        weights = np.tile(np.where(heads == links.tails, 1.0, 0.5) * links.weights, 2)
    totals = np.bincount(np.asarray(labels)[ends[0]], weights)
    inside = weights[labels[ends[0]] == labels[ends[1]]].sum()
    whole = weights.sum()
    return inside / whole - (totals / whole) @ (totals / whole) if whole else 0.0


def communities_of(n, edges):
    return leiden(make_links(n, np.array(edges, np.int64).reshape(-1, 2)))


def planted_groups(groups, size, inside, outside, seed=0):
    """Random graph with given probabilities of edges within and between groups."""
    rng, n = np.random.default_rng(seed), groups * size
    heads, tails = np.triu_indices(n, 1)
    chance = np.where(heads // size == tails // size, inside, outside)
    return n, np.column_stack([heads, tails])[rng.random(len(heads)) < chance]


def test_two_triangles_and_loops_and_lone_nodes():
    triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)]
    assert communities_of(6, triangles).tolist() == [0, 0, 0, 1, 1, 1]
    assert communities_of(8, [*triangles, (7, 7)]).tolist() == [0, 0, 0, 1, 1, 1, 2, 3]
    assert communities_of(0, []).tolist() == [] and communities_of(3, []).tolist() == [0, 1, 2]
    # Every split of a star lowers its modularity.
    assert len(set(communities_of(6, [(0, i) for i in range(1, 6)]).tolist())) == 1


def test_modularity_by_hand():
    # 7 edges; both groups have 3 inside and a degree of 7: 6/7 - 2 (7/14)^2.
    triangles = make_links(6, np.array([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)]))
    assert modularity(triangles, np.array([0, 0, 0, 1, 1, 1])) == pytest.approx(6 / 7 - 1 / 2)
    assert (
        modularity(triangles, np.zeros(6, int)) == 0
        and modularity(make_links(2, np.empty((0, 2), int)), np.zeros(2, int)) == 0
    )


@given(PAIRS, st.lists(st.integers(0, 3), min_size=12, max_size=12))
def test_modularity_is_igraphs_and_stays_that_of_the_groups_as_nodes(pairs, labels):
    links, labels = (
        make_links(12, np.array(pairs)),
        np.unique(labels, return_inverse=True)[1].astype(np.int32),
    )
    known = igraph.Graph(n=12, edges=pairs).modularity(labels.tolist())
    assert modularity(links, labels) == pytest.approx(known)
    smaller = quotient_graph(links, labels)
    alone = np.arange(smaller.n_nodes)
    assert modularity(smaller, alone) == pytest.approx(known)
    again = quotient_graph(smaller, np.minimum(alone, 1).astype(np.int32))
    assert modularity(again, np.arange(again.n_nodes)) == pytest.approx(
        modularity(links, np.minimum(labels, 1))
    )


@given(PAIRS)
def test_communities_are_connected_and_no_single_move_is_better_than_none_at_all(pairs):
    labels, links = communities_of(12, pairs), make_links(12, np.array(pairs))
    whole = igraph.Graph(n=12, edges=pairs)
    assert all(
        whole.induced_subgraph(np.flatnonzero(labels == one).tolist()).is_connected()
        for one in range(labels.max() + 1)
    )
    assert modularity(links, labels) >= modularity(links, np.arange(12)) - 1e-9
    assert labels.tolist() == communities_of(12, pairs).tolist()


def test_planted_groups_are_found():
    n, edges = planted_groups(20, 30, 0.4, 0.005)
    labels = communities_of(n, edges)
    assert len(set(labels.tolist())) == 20 and all(
        len(set(labels[i : i + 30].tolist())) == 1 for i in range(0, n, 30)
    )


@pytest.mark.parametrize(("inside", "outside"), [(0.3, 0.02), (0.15, 0.03)])
def test_modularity_is_no_worse_than_that_of_igraph(inside, outside):
    n, edges = planted_groups(12, 50, inside, outside)
    peer = igraph.Graph(n=n, edges=edges)
    known = peer.modularity(
        peer.community_leiden(objective_function="modularity", n_iterations=2).membership
    )
    assert modularity(make_links(n, edges), communities_of(n, edges)) >= known - BOUND


def test_edges_among_nodes():
    place = np.full(5, -1, np.int32)
    links = make_links(5, np.array([(0, 1), (1, 4), (4, 4), (3, 0), (1, 0)]))
    assert sorted(map(tuple, inner_edges(links, np.array([1, 4, 0]), place).tolist())) == [
        (0, 1),
        (0, 2),
        (1, 1),
        (2, 0),
    ]
    assert (place == -1).all()


@pytest.mark.parametrize("size", [10, 100])
def test_a_graph_that_is_too_large_for_igraph_is_clustered_as_well(monkeypatch, size):
    n, edges = planted_groups(8, 30, 0.4, 0.01)
    graph = build_in_memory([(f"{a:03}", "r", f"{b:03}") for a, b in edges.tolist()], "planted")
    links = make_links(n, edges)
    known = by_size.detect_communities(graph, size)
    # The parts go to igraph at the first size, and not even they at the second.
    for largest in (len(edges) - 1, 40):
        monkeypatch.setattr(by_size, "LEIDEN_IGRAPH_EDGES", largest)
        labels = by_size.detect_communities(graph, size)
        assert labels.dtype == np.int32 and labels[0] == 0
        assert modularity(links, labels) >= modularity(links, known) - BOUND


def test_only_large_graphs_are_refused_for_lack_of_memory(films, monkeypatch):
    monkeypatch.setattr(by_size, "free_memory", lambda: 5)
    assert by_size.clustering_refusal(films) == ""
    monkeypatch.setattr(by_size, "LEIDEN_IGRAPH_EDGES", 3)
    with pytest.raises(BadInput, match="5 triples .* 1 MB"):
        by_size.detect_communities(films, 10)
    monkeypatch.setattr(by_size, "free_memory", lambda: 500)
    assert by_size.clustering_refusal(films) == ""
