"""Methods compared on the five nodes of the film graph, their numbers worked out by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from core.errors import BadInput, Cancelled
from core.evaluation.pagerank import trials
from core.evaluation.pagerank.trials import (
    BYTES_A_NODE,
    Asked,
    MethodTrial,
    compare_methods,
    expected,
    tie_aware_recall,
    unfit,
)
from core.types import Question
from core.watch import Watch


def test_recall_counts_what_ties_with_the_last():
    exact = np.array([0.4, 0.2, 0.2, 0.2, 0.0])
    assert tie_aware_recall(exact, np.array([0, 3]), 2) == 1.0  # any of the three may stand second
    assert tie_aware_recall(exact, np.array([1, 3]), 1) == 0.0
    assert tie_aware_recall(exact, np.array([0, 4]), 2) == 0.5
    assert tie_aware_recall(exact, np.array([0, 1, 2, 3]), 9) == 1.0  # the fifth cannot be reached


def test_exact_and_push_on_five_nodes(films):
    # from One both ways: One, Ann and Drama are the best three (test_extract.py says why); Two is one step further
    asked = [Question("a question", entities=("One",), answers=("Drama", "1999")), (0,)]
    exact, push = compare_methods(films, ("exact", "auto"), asked, keep=3, damping=0.5)
    for row in (exact, push):
        assert (row.recall, row.least_recall, row.questions) == (1.0, 1.0, 2)
        assert row.answer_recall == 0.5 and row.components == 1.0  # Drama is kept, 1999 is not
        assert 0 < row.median_ms <= row.p95_ms and row.prepared_s == 0 and row.unsettled == 0


def test_no_question_is_refused(films):
    with pytest.raises(BadInput):
        compare_methods(films, ("auto",), [])


def test_every_method_on_five_nodes(films, tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    told = []
    rows = compare_methods(
        films,
        ("fora", "topppr", "rbs", "partition"),
        [(0,), (1, 2)],
        keep=5,
        watch=Watch(report=lambda *said: told.append(said)),
    )
    assert [row.method for row in rows] == ["fora", "topppr", "rbs", "partition"]
    for row in rows:
        assert (
            row.recall == 1.0 and row.edges > 0 and row.answer_recall is None
        )  # five nodes hold each other's best five
    shares = [share for text, share in told if text.startswith("PageRank by")]
    assert shares == sorted(shares) and rows[3].prepared_s >= 0


@pytest.mark.parametrize("method", ["fora", "topppr", "rbs"])
def test_a_cancel_reaches_into_a_method(films, method, monkeypatch):
    inside, real = [], trials.top_pagerank

    def watched(*asked, **more):
        inside.append(True)
        try:
            return real(*asked, **more)
        finally:
            inside.clear()

    def check():
        if inside:
            raise Cancelled()

    monkeypatch.setattr(trials, "top_pagerank", watched)
    with pytest.raises(Cancelled):
        compare_methods(films, (method,), [(0,)], keep=3, watch=Watch(check))
    with pytest.raises(Cancelled):
        MethodTrial(films, method, 3, 0.8, "both", 0.97).answer(Asked((0,)), Watch(check))


def test_what_a_graph_is_too_large_for_is_said_before_anything_begins(films, monkeypatch):
    told = []
    monkeypatch.setattr("core.graph.algorithms.leiden.LARGEST", 3)
    monkeypatch.setattr("core.graph.algorithms.leiden.free_memory", lambda: 5)
    with pytest.raises(BadInput, match="Leiden clusters: 5 triples are too many"):
        compare_methods(
            films,
            ("auto", "partition"),
            [(0,)],
            watch=Watch(report=lambda *said: told.append(said)),
        )
    monkeypatch.setattr("core.evaluation.pagerank.trials.free_memory", lambda: 5 * BYTES_A_NODE - 1)
    with pytest.raises(BadInput, match="The exact PageRank of 5 nodes"):
        compare_methods(
            films, ("auto",), [(0,)], watch=Watch(report=lambda *said: told.append(said))
        )
    assert not told and unfit(films, "auto") == ""


def test_slow_methods_and_large_graphs_are_expected_to_take_longer(films):
    larger = SimpleNamespace(
        n_nodes=1_000_000,
        n_edges=3_000_000,
        resolve=lambda direction: "both" if direction == "graph" else direction,
    )
    assert expected(larger, "auto") < expected(larger, "exact") < expected(larger, "fora")
    assert expected(larger, "exact", "out") == expected(larger, "exact") / 2
    assert expected(films, "fora") < 0.1
