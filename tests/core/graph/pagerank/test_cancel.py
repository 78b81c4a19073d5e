"""PageRank methods can be cancelled midway, and interruptions do not change their results."""

import numpy as np
import pytest

from core.errors import RunCancelled
from core.graph.building.build import build
from core.graph.pagerank import exact, fora, rbs
from core.graph.pagerank.top_nodes import pagerank_exact, top_pagerank
from core.watch import Watch

WHOLE = {"exact": exact, "fora": fora, "rbs": rbs}


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    """A graph of 300 nodes and 900 triples with a few hubs, the same every time."""
    ends = (300 * np.random.default_rng(7).random((900, 2)) ** 2).astype(int)
    return build(
        [(f"n{a}", "r", f"n{b}") for a, b in ends], tmp_path_factory.mktemp("web") / "g", "web"
    )


def run_and_count_checks(graph, method, direction, **more):
    """Results of the method, and the number of its checks for cancellation."""
    asked = []
    return top_pagerank(
        graph, [5, 9], 40, 0.8, direction, method, watch=Watch(lambda: asked.append(1)), **more
    ), len(asked)


@pytest.mark.parametrize("direction", ["out", "both"])
@pytest.mark.parametrize("method", WHOLE)
def test_small_steps_find_the_same(web, method, direction, monkeypatch):
    (nodes, scores), seldom = run_and_count_checks(web, method, direction)
    monkeypatch.setattr(WHOLE[method], "CHECK_STEPS", 20)
    (again, values), often = run_and_count_checks(web, method, direction)
    assert again.tolist() == nodes.tolist() and values.tolist() == scores.tolist()
    assert often >= seldom + 10


def test_small_steps_of_the_weighted_equation_find_the_same(web, monkeypatch):
    weights = np.random.default_rng(0).random(web.n_edges) + 0.1
    (nodes, scores), _ = run_and_count_checks(web, "exact", "both", weights=weights)
    monkeypatch.setattr(exact, "CHECK_STEPS", 1)
    (again, values), often = run_and_count_checks(web, "exact", "both", weights=weights)
    assert again.tolist() == nodes.tolist() and values.tolist() == scores.tolist() and often > 10


@pytest.mark.parametrize("method", WHOLE)
def test_cancelling_ends_a_method_midway(web, method, monkeypatch):
    monkeypatch.setattr(WHOLE[method], "CHECK_STEPS", 20)
    left = iter(range(5))

    def check():
        if next(left, None) is None:
            raise RunCancelled()

    with pytest.raises(RunCancelled):
        top_pagerank(web, [5], 40, 0.8, "both", method, watch=Watch(check))
    # Borrowed working memory is returned clean.
    assert len(top_pagerank(web, [5], 40, 0.8, "both", method)[0]) == 40


def test_the_exact_method_can_be_cancelled(web, monkeypatch):
    monkeypatch.setattr(exact, "CHECK_STEPS", 1)

    def check():
        raise RunCancelled()

    with pytest.raises(RunCancelled):
        pagerank_exact(web, [5], watch=Watch(check))
