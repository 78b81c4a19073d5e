"""The facets of the chooser of methods, its rows, and the measured seconds."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from core.evaluation.metrics.outcome import OperatorCost, Outcome
from core.evaluation.runs.measured_seconds import mean_search_seconds
from core.evaluation.runs.store import Run, StoredRow
from core.methods.catalogue import OWN_GROUP, RUN_PREFIX, Method, catalogue
from core.methods.facets import PAPERS, PICKS, ai_need, source_kinds
from core.methods.model_needs import needed_models
from core.models.registry import Registry
from core.operators.text import parse_line
from core.sources import CorpusSource, GraphSource
from core.types import Question
from pages.parts.methods import chooser as chooser_module
from pages.parts.methods.chooser import chooser_data
from pages.parts.methods.facets import paper_title


@pytest.fixture(scope="module")
def known():
    return catalogue()


@pytest.fixture()
def data(known, monkeypatch):
    monkeypatch.setattr(
        chooser_module, "mean_search_seconds", lambda *_: {repr(known["lego-1"].line): 0.25}
    )
    return chooser_data(known, Registry(), answering=False)


def ids_with(data, facet: str, value: str) -> set[str]:
    return {row["id"] for row in data["rows"] if value in row["facets"][facet]}


def test_needs_ai_is_what_the_search_asks(data, known):
    registry = Registry()

    def kinds(method) -> set[str]:
        searching = method.line.without_stage("generate")
        names = needed_models(searching if len(searching) else method.line)
        return {registry.info(name).kind for name in names}

    assert ids_with(data, "ai", "language") == {
        id for id, method in known.items() if "chat" in kinds(method)
    }
    assert {"lego-1", "lego-v1-9", "bm25-passages", "bm25"} <= ids_with(data, "ai", "no")
    assert {"lego-12", "chain-ranking", "vanilla-rag", "splade"} <= ids_with(data, "ai", "small")
    assert "language-model-only" in ids_with(data, "ai", "language")
    values = [row["facets"]["ai"] for row in data["rows"]]
    assert all(len(value) == 1 for value in values)


def test_a_role_needs_what_its_model_is():
    line = parse_line("PersonalizedPageRank() >> ShortestPaths() >> Rank(model='reranker')")
    method = Method("x", "x", line)
    small = SimpleNamespace(
        info=lambda name: SimpleNamespace(kind="reranker", backend="flag-reranker")
    )
    words = SimpleNamespace(info=lambda name: SimpleNamespace(kind="scorer", backend="bm25"))
    assert (ai_need(method, small), ai_need(method, words)) == ("small", "no")


def test_source_and_paper_are_those_of_the_catalogue(data, known):
    for kind, source in (("graph", GraphSource("g")), ("corpus", CorpusSource("c"))):
        # A finished run is for the documents that it was made on alone.
        assert {id for id in ids_with(data, "source", kind) if not id.startswith(RUN_PREFIX)} == {
            id
            for id, method in known.items()
            if method.is_for(source) or source_kinds(method) == ["graph", "corpus"]
        }
    for paper in PAPERS:
        for id in ids_with(data, "paper", paper):
            assert paper in known[id].paper
    named = {id for id, method in known.items() if "Walk&Retrieve" in method.paper}
    assert ids_with(data, "paper", "Walk&Retrieve") == named
    own = Method("own-mine", "Mine", known["lego-1"].line, group=OWN_GROUP)
    assert paper_title(own) == "Saved by you"


def test_every_value_offered_is_of_a_method_and_none_is_of_all(data):
    for facet in data["facets"]:
        values = [value for value, _ in facet["values"]]
        assert len(values) == len(set(values)) > 1
        for value in values:
            assert 0 < len(ids_with(data, facet["name"], value)) < len(data["rows"])


def test_methods_of_one_kind_have_no_facet_of_the_source(known, monkeypatch):
    monkeypatch.setattr(chooser_module, "mean_search_seconds", lambda *_: {})
    graph = {id: one for id, one in known.items() if "graph" in source_kinds(one)}
    names = [facet["name"] for facet in chooser_data(graph, Registry(), answering=False)["facets"]]
    assert names == ["ai", "paper"]


def test_methods_of_another_kind_of_source_are_found_under_for(known, monkeypatch):
    monkeypatch.setattr(chooser_module, "mean_search_seconds", lambda *_: {})
    graph = {id: one for id, one in known.items() if "graph" in source_kinds(one)}
    others = {id: one for id, one in known.items() if id not in graph}
    data = chooser_data(graph, Registry(), answering=False, others=others)
    facets = {facet["name"]: facet["values"] for facet in data["facets"]}
    assert facets["source"] == [["graph", "Graph"], ["corpus", "Documents"]]
    assert data["taken"] == {"source": "graph"}
    elsewhere = {row["id"]: row["elsewhere"] for row in data["rows"] if row["elsewhere"]}
    assert elsewhere == dict.fromkeys(others, "for documents")


def test_the_picks_come_first_and_each_method_once(data, known):
    ids = [row["id"] for row in data["rows"]]
    assert ids[: len(PICKS)] == list(PICKS) and set(ids) == set(known) and len(ids) == len(known)
    assert [row["id"] for row in data["rows"] if row["pick"]] == list(PICKS)


def test_a_row_has_one_plain_sentence_and_the_seconds_where_measured(data):
    rows = {row["id"]: row for row in data["rows"]}
    assert all(row["sentence"].strip() and "\n" not in row["sentence"] for row in rows.values())
    assert rows["lego-12"]["sentence"] != rows["lego-12-fora"]["sentence"]
    assert rows["lego-1"]["seconds"] == "0.25 s here" and rows["lego-12"]["seconds"] == ""


def test_seconds_are_means_of_the_searches_on_the_source():
    def row(method, *costs, error=None):
        outcome = None if error else Outcome(1, costs=costs)
        return StoredRow(method, Question("q"), outcome, error)

    def run(number, *graphs):
        methods = [{"id": "a", "line": "A"}, {"id": "b", "line": "B"}]
        spec = {"graphs": [[name, "digest"] for name in graphs], "instances": methods}
        return Run(number, "key", spec, 0.0, "done", 3, 1)

    search, answer = OperatorCost("X", "retrieve", 2.0), OperatorCost("Answer", "generate", 50.0)
    runs = {1: run(1, "towns"), 2: run(2, "towns", "films"), 3: run(3, "films")}
    rows = {
        1: [row("a", search, answer), row("a", search, search), row("b", error="No.")],
        2: [row("b", search)],
        3: [row("a", answer)],
    }
    store = SimpleNamespace(runs=lambda: list(runs.values()), run=runs.get, rows=rows.get)

    class Hashable(SimpleNamespace):
        __hash__ = object.__hash__

    store = Hashable(**vars(store))
    assert mean_search_seconds(store, GraphSource("towns")) == {"A": 3.0}
    assert mean_search_seconds(store, GraphSource("films")) == {"A": 0.0}
    assert mean_search_seconds(store, GraphSource("other")) == {}
