"""Experiments as in PyTerrier: two rankings of five documents, by hand, with and without ir_measures."""

from __future__ import annotations

import sys
from math import log2

import pandas as pd
import pytest

import hopscope as hs

TEXTS = {f"d{number}": f"Text number {number} of five." for number in range(1, 6)}
TOPICS = pd.DataFrame({"qid": ["1", "2"], "query": ["first topic", "second topic"]})
QRELS = pd.DataFrame(
    [("1", "d1", 1), ("1", "d2", 1), ("2", "d5", 1), ("2", "d4", 0)],
    columns=["qid", "docno", "label"],
)
ORDERS = {
    "mixed": {"first topic": ["d3", "d1", "d4", "d2", "d5"], "second topic": ["d5", "d4"]},
    "half": {"first topic": ["d1", "d2", "d3"], "second topic": []},
}
# The first topic's documents are at ranks 2 and 4; the best order has them at 1 and 2.
MIXED_NDCG = ((1 / log2(3)) / (1 + 1 / log2(3)) + 1) / 2


def mixed(request):
    return {"documents": [{"id": id} for id in ORDERS["mixed"][request["question"]]]}


def half(request):
    return {"documents": [{"id": id} for id in ORDERS["half"][request["question"]]]}


@pytest.fixture(scope="module")
def corpus():
    return hs.corpus("experiment-five", TEXTS).name


@pytest.fixture(params=["with ir_measures", "without"])
def library(request, monkeypatch):
    if request.param == "without":
        monkeypatch.setitem(sys.modules, "ir_measures", None)
    else:
        pytest.importorskip("ir_measures")
    return request.param


def test_two_rankings_by_hand(corpus, library):
    metrics = ["nDCG@3", "RR", "R@2", "P@2"]
    result = hs.Experiment([mixed, half], TOPICS, QRELS, metrics, corpus=corpus, progress=False)
    assert result.columns.tolist() == ["name", *metrics]
    assert result["name"].tolist() == ["mixed", "half"]
    assert result.loc[0, metrics].tolist() == pytest.approx([MIXED_NDCG, 0.75, 0.75, 0.5])
    assert result.loc[1, metrics].tolist() == pytest.approx([0.5, 0.5, 0.5, 0.5])
    named = hs.Experiment(
        [mixed], TOPICS, QRELS, ["RR"], corpus=corpus, names=["A"], progress=False
    )
    assert named.to_dict("records") == [{"name": "A", "RR": 0.75}]
    # A topic without qrels does not count, and one without a result counts 0.
    first = QRELS[QRELS["qid"] == "1"]
    result = hs.Experiment([half], TOPICS, first, ["RR"], corpus=corpus, progress=False)
    assert result["RR"].tolist() == [1.0]


def test_each_topic_has_rows_of_its_own_by_hand(corpus, library):
    result = hs.Experiment(
        [mixed, half],
        TOPICS,
        QRELS,
        ["RR", "P@2"],
        corpus=corpus,
        names=["A", "B"],
        perquery=True,
        progress=False,
    )
    assert result.columns.tolist() == ["name", "qid", "measure", "value"]
    assert list(result.itertuples(index=False, name=None)) == [
        ("A", "1", "RR", 0.5),
        ("A", "1", "P@2", 0.5),
        ("A", "2", "RR", 1.0),
        ("A", "2", "P@2", 0.5),
        ("B", "1", "RR", 1.0),
        ("B", "1", "P@2", 1.0),
        ("B", "2", "RR", 0.0),  # nothing was found
        ("B", "2", "P@2", 0.0),
    ]


def test_metrics_are_objects_of_ir_measures_too(corpus):
    ir_measures = pytest.importorskip("ir_measures")
    result = hs.Experiment(
        [mixed], TOPICS, QRELS, [ir_measures.nDCG @ 3, "AP"], corpus=corpus, progress=False
    )
    # Average precision of the first topic: (1 / 2 + 2 / 4) / 2.
    assert result["nDCG@3"].tolist() == pytest.approx([MIXED_NDCG])
    assert result["AP"].tolist() == pytest.approx([(0.5 + 1) / 2])


def test_passages_are_scored_where_the_docnos_are_passages(library):
    texts = {"long": "One two three. " * 2_000, "short": "Four."}
    corpus = hs.corpus(f"experiment-long-{library.split()[-1].replace('_', '-')}", texts).name
    hits = hs.compare("one two three", "bm25-passages", corpus=corpus, progress=False)[0].hits
    last = hits["chunk"][-1]["id"]
    assert last != "long"
    qrels = [{"qid": "1", "docno": last, "label": 1}]
    topics = [{"qid": "1", "query": "one two three"}]
    result = hs.Experiment(["bm25-passages"], topics, qrels, ["RR"], corpus=corpus, progress=False)
    assert result["RR"].tolist() == pytest.approx([1 / len(hits["chunk"])])


def test_missing_columns_and_unknown_metrics_are_named(corpus, library):
    def error(topics=TOPICS, qrels=QRELS, metrics=("RR",)):
        with pytest.raises(hs.HopscopeError) as raised:
            hs.Experiment([mixed], topics, qrels, metrics, corpus=corpus, progress=False)
        return str(raised.value)

    text = error(topics=TOPICS.rename(columns={"query": "text"}))
    assert "topics have no column “query”" in text and "qid, text" in text
    text = error(qrels=QRELS.rename(columns={"label": "relevance"}))
    assert "qrels have no column “label”" in text and "docno, relevance" in text
    assert "“nGCD@10”" in error(metrics=["nGCD@10"])
    assert "a document or a passage" in error(qrels=QRELS.assign(docno="elsewhere"))
    assert "of a topic" in error(qrels=QRELS.assign(qid="9"))
    if library == "without":
        assert "ir-measures" in error(qrels=QRELS.assign(label=2), metrics=["nDCG@3"])
