"""The first picture of a graph: by hand on small graphs, within its bounds on large ones."""

from dataclasses import replace

import numpy as np
import pytest

from core.graph.algorithms import overview as module
from core.graph.algorithms.overview import busiest_nodes, overview
from core.graph.building.build import build


def names_of_nodes(graph, nodes):
    return graph.names(nodes)


def texts_of_triples(graph, found):
    return graph.triple_texts(found.edges)


def test_a_small_graph_is_drawn_whole(toy):
    found = overview(toy)
    assert found.is_whole and len(found.edges) == 7
    # Degrees are 4, 4, 3 (the loop counts twice), 2 and 1; ties go by id.
    assert names_of_nodes(toy, found.hubs) == ["A", "C", "D", "B", "E"]
    assert found.joints == () and found.further == ()


@pytest.fixture
def cinema(tmp_path, monkeypatch):
    """Two genres with many films, two films in both genres, and their directors and years.

    At most 7 entities are drawn.
    """
    monkeypatch.setattr(module, "OVERVIEW", replace(module.OVERVIEW, hubs=2, joints=2, nodes=7))
    films = [
        (f"film {i:02}", "has_genre", genre)
        for i in range(10)
        for genre in (["Drama", "Crime"] if i < 2 else ["Drama" if i % 2 else "Crime"])
    ]
    more = [
        ("film 00", "directed_by", "Ann"),
        ("film 00", "starred", "Bo"),
        ("film 01", "directed_by", "Cy"),
        ("film 01", "year", "1999"),
    ]
    return build([*films, *more], tmp_path / "cinema", "cinema", "both")


def test_hubs_joints_between_them_and_further_nodes(cinema):
    found = overview(cinema)
    assert not found.is_whole and set(names_of_nodes(cinema, found.hubs)) == {"Drama", "Crime"}
    assert names_of_nodes(cinema, found.joints) == ["film 00", "film 01"]
    # From each film in turn, by a relation that is not shown yet.
    assert names_of_nodes(cinema, found.further) == ["Ann", "1999", "Bo"]
    assert sorted(texts_of_triples(cinema, found)) == [
        "film 00 -> directed_by -> Ann",
        "film 00 -> has_genre -> Crime",
        "film 00 -> has_genre -> Drama",
        "film 00 -> starred -> Bo",
        "film 01 -> has_genre -> Crime",
        "film 01 -> has_genre -> Drama",
        "film 01 -> year -> 1999",
    ]


def test_each_entity_of_a_dense_graph_shows_a_few_triples(tmp_path):
    triples = [
        (f"n{i}", f"r{(i + j) % 5}", f"n{j}") for i in range(12) for j in range(12) if i != j
    ]
    graph = build(triples, tmp_path / "dense", "dense", "both")
    found = overview(graph)
    heads, relations, tails = graph.triples(np.array(found.edges))
    ends = np.concatenate([heads, tails])
    assert (
        len(found.edges) <= 3 * 12
        and set(ends.tolist()) == set(range(12))
        and len(set(relations.tolist())) == 5
    )
    pairs = {frozenset(pair) for pair in zip(heads.tolist(), tails.tolist())}
    assert len(pairs) == len(found.edges)  # Each pair once.


def test_the_best_connected_of_a_very_large_graph_are_found_by_a_sample(tmp_path, monkeypatch):
    """Three hubs with 4,000, 3,000 and 2,000 edges among 30,000 random triples.

    Exact counting raises an error here.
    """
    rng = np.random.default_rng(5)
    triples = [(f"a{i}", "r", f"b{rng.integers(30_000)}") for i in range(30_000)]
    triples += [(f"a{i}", "r", f"hub {size}") for size in (4000, 3000, 2000) for i in range(size)]
    graph = build(triples, tmp_path / "large", "large", "both")
    exact = busiest_nodes(graph, 3)
    monkeypatch.setattr(module, "OVERVIEW", replace(module.OVERVIEW, max_counted_triples=1000))
    monkeypatch.setattr(
        type(graph), "shape", lambda self: pytest.fail("the whole graph was counted")
    )
    assert busiest_nodes(graph, 3) == exact and names_of_nodes(graph, exact) == [
        "hub 4000",
        "hub 3000",
        "hub 2000",
    ]
    found = overview(graph)
    assert found.hubs[:3] == tuple(exact) and 0 < len(found.edges)
