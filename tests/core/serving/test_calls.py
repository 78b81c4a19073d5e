"""Calls for programs: the same results everywhere, bounded sizes, and readable errors."""

from __future__ import annotations

import pytest

from core.engine import Engine
from core.errors import HopscopeError
from core.models.base import NoModels
from core.serving import calls

QUESTION = "who directed Inception"
NEAR = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"


@pytest.fixture(scope="module")
def engine():
    return Engine(NoModels())


def test_comparison_names_the_step_that_lost_the_answer(engine):
    lines = [NEAR, "EgoNetwork(hops=1, keep=1) >> ShortestPaths(hops=1)"]
    found = calls.compare(engine, QUESTION, lines, answers=["Christopher Nolan"], items=3)
    first, second = found["lanes"]
    assert (
        first["funnel"]["paths"] == ["Christopher Nolan"]
        and len(first["paths"]) == 3
        and first["left_out"] > 0
    )
    assert (
        found["verdict"]
        and calls.explain_loss(engine, QUESTION, lines, answers=["Christopher Nolan"])["verdict"]
        == found["verdict"]
    )


def test_retrieval_returns_a_ranked_list(engine):
    found = calls.retrieve(engine, QUESTION, NEAR, items=2)
    assert [item["kind"] for item in found["items"]] == ["path", "path"] and found["method"] == NEAR
    assert all(set(item) == {"kind", "id", "text", "score"} for item in found["items"])


def test_invalid_call_is_a_readable_error(engine):
    for call in (
        lambda: calls.compare(engine, QUESTION, graph="metaqa", corpus="hotpotqa"),
        lambda: calls.compare(engine, QUESTION, ["lego-1x"]),
        lambda: calls.compare(engine, QUESTION, [NEAR] * 9),
        lambda: calls.compare(engine, QUESTION, graph="nowhere"),
        lambda: calls.explain_loss(engine, "who directed the film with Ellen Page", [NEAR]),
        lambda: calls.evaluate(engine, "/etc/passwd", [NEAR]),
        lambda: calls.evaluate(engine, "metaqa-1hop-dev", [NEAR], sample=10**9),
        lambda: calls.build_graph(engine, "nowhere"),
    ):
        with pytest.raises(HopscopeError):
            call()


def test_methods_and_sources_are_listed():
    ids = {method["id"] for method in calls.list_methods("fastinsight")}
    assert ids and all(
        "fastinsight" in " ".join(method.values()).casefold()
        for method in calls.list_methods("fastinsight")
    )
    assert calls.list_methods("no such words") == []
    assert [(one["name"], one["id"]) for one in calls.list_methods("graphrag-local-nano")] == [
        ("graphrag-local-nano", "lgraphrag-original")
    ]
    metaqa = next(one for one in calls.list_sources() if one["name"] == "metaqa")
    assert metaqa["kind"] == "graph" and "metaqa-1hop-dev" in metaqa["sets"]


def test_evaluation_returns_means_and_is_resumed(engine):
    found = calls.evaluate(engine, "metaqa-1hop-dev", [NEAR], sample=3)
    assert (
        found["rows"][0]["questions"] == 3
        and 0 <= found["rows"][0]["means"]["subgraph_recall"] <= 1
    )
    assert calls.evaluate(engine, "metaqa-1hop-dev", [NEAR], sample=3)["rows"] == found["rows"]


def test_long_texts_are_cut_with_counts_kept():
    lane = {"paths": list(range(60)), "hits": {"chunk": ["x" * 10_000] * 3}}
    found = calls.bound_reply({"lanes": [lane]}, 99)["lanes"][0]
    assert len(found["paths"]) == calls.SERVING.max_lane_items and found["left_out"] == 10
    assert all(
        len(text) <= calls.SERVING.max_reply_text_characters + 1 for text in found["hits"]["chunk"]
    )
