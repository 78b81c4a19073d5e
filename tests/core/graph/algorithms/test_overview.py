"""The best connected nodes, exactly and by a sample of a very large graph."""

from dataclasses import replace

import numpy as np
import pytest

from core.graph.algorithms import overview as module
from core.graph.algorithms.overview import busiest_nodes
from core.graph.building.build import build


def test_the_best_connected_are_ordered_by_degree_then_id(toy):
    # Degrees are 4, 4, 3 (the loop counts twice), 2 and 1; ties go by id.
    assert toy.names(busiest_nodes(toy, 8)) == ["A", "C", "D", "B", "E"]


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
    assert busiest_nodes(graph, 3) == exact
    assert graph.names(exact) == ["hub 4000", "hub 3000", "hub 2000"]
