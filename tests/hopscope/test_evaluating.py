"""Evaluations from Python: questions as rows, rows of results, and comparisons with finished runs."""

from __future__ import annotations

import json

import pandas as pd
import pyarrow as pa
import pytest

import hopscope as hs
from core.engine import Engine
from core.models.price import Cap, CapReached
from core.runtime.jobs import Job
from hopscope import evaluating
from tests.core.evaluation.advice.kit import ModelsWithoutChat, documents

FILMS = [("One", "directed_by", "Ann"), ("Two", "directed_by", "Bea"), ("Three", "by", "Cid")]
ROWS = [
    {"qid": "a", "query": "who directed One", "answers": ["Ann"], "entities": ["One"]},
    {"qid": "b", "query": "who directed Two", "answers": ("Bea", "Bee"), "entities": "Two"},
    {"qid": "c", "query": "who made Three", "answers": ["Dan"], "entities": ["Three"]},
]
METRICS = ["reader_hit@1", "path_hit@1"]
TEXTS = {
    "ada": "Ada Lovelace wrote notes on the engine.",
    "charles": "Charles Babbage built an engine of brass.",
    "mary": "Mary wrote novels.",
}
pytestmark = pytest.mark.filterwarnings("ignore:Of 3 questions")  # Dan is not in the graph


@pytest.fixture(scope="module")
def films():
    return hs.graph(FILMS, "evaluated-films", progress=False).name


def all_edges(request):
    start = request["entities"][0]
    return {
        "paths": [
            {"nodes": [head, tail], "relations": [relation]}
            for head, relation, tail in FILMS
            if head == start
        ]
    }


def nothing(request):
    return {"paths": []}


@pytest.mark.parametrize("form", [list, pd.DataFrame, pa.Table.from_pylist])
def test_questions_are_rows_of_any_table(films, form):
    rows = [
        {**row, "answers": list(row["answers"]), "entities": [row["query"].split()[-1]]}
        for row in ROWS
    ]
    done = hs.evaluate(
        [all_edges, nothing], form(rows), metrics=METRICS, graph=films, progress=False
    )
    found = [(row["method"], row["qid"], row["reader_hit@1"]) for row in done.rows()]
    assert sorted(found) == [
        ("all_edges", "a", 1.0),
        ("all_edges", "b", 1.0),
        ("all_edges", "c", 0.0),
        *(("nothing", qid, 0.0) for qid in "abc"),
    ]
    assert [row["reader_hit@1"] for row in done.means()] == pytest.approx([2 / 3, 0])
    frame = done.to_pandas()
    assert frame.columns.tolist() == ["method", "qid", "question", "answer", *METRICS, "error"]
    assert frame.groupby("method")["path_hit@1"].mean()["all_edges"] == pytest.approx(2 / 3)
    assert done.to_arrow().num_rows == 6 and "path_hit@1" in done._repr_html_()


def test_failed_question_has_an_error_and_counts_zero(films):
    def broken(request):
        return 1 / 0

    done = hs.evaluate(broken, ROWS[:1], metrics="reader_hit@1", graph=films, progress=False)
    (row,) = done.rows()
    assert "division by zero" in row["error"]


def test_column_that_is_missing_is_named_with_those_that_are_there(films):
    def error(rows):
        with pytest.raises(hs.HopscopeError) as raised:
            hs.evaluate(all_edges, rows, graph=films, progress=False)
        return str(raised.value)

    text = error([{"qid": "a", "prompt_text": "who", "answers": ["x"]}])
    assert "“question” is missing" in text and "qid, prompt_text, answers" in text
    text = error(pd.DataFrame([{"query": "who directed One", "correct_name": "Ann"}]))
    assert "query, correct_name" in text and "answers" in text
    assert "no rows" in error([])
    assert "no data frame" in error({"question": 7})
    with pytest.raises(hs.HopscopeError, match="no metric “hit_ratio”"):
        hs.evaluate(all_edges, ROWS, metrics=["hit_ratio"], graph=films)


def test_evidence_is_found_by_title_or_id():
    corpus = hs.corpus("evaluated-letters", TEXTS).name
    rows = [
        {"question": "Who built an engine of brass?", "gold": ["charles"]},
        {"question": "Who wrote novels?", "gold": ["ada"]},
    ]
    done = hs.evaluate(
        "bm25-passages", rows, metrics="passage_recall@1", corpus=corpus, progress=False
    )
    assert [row["passage_recall@1"] for row in done.rows()].count(1.0) == 1
    with pytest.warns(UserWarning, match="“nobody”"):
        hs.evaluate(
            "bm25-passages", [{**rows[0], "gold": ["nobody"]}], corpus=corpus, progress=False
        )


def test_former_order_of_the_arguments_works(films):
    for method in (all_edges, [all_edges], "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"):
        done = hs.evaluate(ROWS[:1], method, metrics=METRICS, graph=films, progress=False)
        assert done.means()[0]["reader_hit@1"] == 1


def test_evaluations_are_compared_over_the_questions_that_both_asked(films):
    settings = {"metrics": ["reader_hit@1"], "graph": films, "progress": False}
    first = hs.evaluate([all_edges], ROWS, **settings)
    second = hs.evaluate([nothing, all_edges], ROWS[1:], **settings)
    (test,) = hs.evaluate([nothing], ROWS[:2], **settings).compare(first)
    # Of the two questions “all_edges” answers both.
    assert (test["a"], test["b"], test["n"], test["difference"]) == ("nothing", "all_edges", 2, -1)
    (same,) = first.compare(second)
    assert (same["b"], same["n"], same["difference"], same["p"]) == ("all_edges (other)", 2, 0, 1)
    others = [{**row, "query": f"{row['query']}?"} for row in ROWS]
    with pytest.raises(hs.HopscopeError, match="share no question"):
        first.compare(hs.evaluate(nothing, others, **settings))


def test_methods_are_tested_against_a_finished_run_by_its_file(films, tmp_path):
    file = tmp_path / "theirs.jsonl"
    rows = [{"question": row["query"], "answer": "Ann"} for row in ROWS[:2]]
    file.write_text("\n".join(map(json.dumps, rows)))
    settings = {"metrics": ["hits@1"], "graph": films, "progress": False}
    done = hs.evaluate([all_edges], ROWS[:2], against=file, **settings)
    assert [row["method"] for row in done.means()] == ["run-theirs", "all_edges"]
    values = {(row["method"], row["qid"]): row["hits@1"] for row in done.rows()}
    assert values["run-theirs", "a"] == 1 and values["run-theirs", "b"] == 0
    tests = done.to_dict()["paired"]
    assert {(test["a"], test["b"]) for test in tests} == {("all_edges", "run-theirs")}
    assert hs.evaluate([all_edges], ROWS[:2], against=str(file), **settings).means() == done.means()


def test_column_that_a_finished_run_lacks_is_named(films, tmp_path):
    file = tmp_path / "theirs.csv"
    file.write_text("question,colour\nwho directed One,red\n")
    with pytest.raises(
        hs.HopscopeError, match="“colour”, and “contexts”, .* or “answer” is missing"
    ):
        hs.evaluate([all_edges], ROWS, against=file, graph=films, progress=False)


def test_cap_is_that_of_the_app(films, monkeypatch):
    with pytest.raises(hs.HopscopeError, match="is no cap"):
        hs.evaluate(all_edges, ROWS, cap="some", graph=films)
    caps, started = [], evaluating.start
    monkeypatch.setattr(
        evaluating, "start", lambda *args, cap: caps.append(cap) or started(*args, cap=cap)
    )
    for cap in ("200000 tokens", ""):
        hs.evaluate(all_edges, ROWS[:1], cap=cap, graph=films, progress=False)
    with pytest.raises(hs.HopscopeError, match="No model of this evaluation has a price"):
        hs.evaluate(all_edges, ROWS[:1], cap=2.5, graph=films, progress=False)
    assert caps == [Cap(200000, tokens=True), None, Cap(2.5)]


def test_readings_keep_the_cap_of_the_evaluation_unless_told_another(films, monkeypatch):
    caps = []

    def fail(job):
        raise CapReached("Stopped before the cap.")

    def stop_at_cap(engine, store, run, cap):
        caps.append(cap)
        job = Job("reading", fail)
        job.run()
        return job

    settings = {"graph": films, "progress": False}
    done = hs.evaluate(all_edges, ROWS[:1], cap="200000 tokens", **settings)
    monkeypatch.setattr("hopscope.evaluation.start_readings", stop_at_cap)
    for cap in ("", 5):
        with pytest.warns(UserWarning, match="Stopped before the cap"):
            (shares,) = done.reading(cap=cap, progress=False)
        assert shares["n"] == 1 and shares["known"]["n"] == 0
    uncapped = hs.evaluate(all_edges, ROWS[:1], **settings)
    with pytest.raises(hs.HopscopeError, match="Stopped"):
        uncapped.reading(progress=False)
    assert caps == [Cap(200000, tokens=True), Cap(5.0), None]


def test_advice_answers_whether_a_graph_is_needed(monkeypatch):
    engine = Engine(ModelsWithoutChat())
    monkeypatch.setattr(evaluating, "engine", lambda: engine)
    hs.corpus("advised-coast", {one.id: one.text for one in documents()})
    advice = hs.advise("advised-coast", minutes=1, progress=False)
    assert advice.needed in ("no", "partly", "yes") and advice.headline
    assert advice.asked >= 24 and set(advice.shares) >= {"bm25-passages", "hipporag-2"}
    assert hs.advise("advised-coast", minutes=1, progress=False) == advice  # nothing is left to do
    with pytest.raises(hs.HopscopeError, match="There is no model"):
        hs.advise("advised-coast", llm=True)
    with pytest.raises(hs.HopscopeError, match="no corpus “nowhere”"):
        hs.advise("nowhere")
    engine.close()


def test_too_few_questions_give_no_router(films):
    lines = ["EgoNetwork(hops=1) >> ShortestPaths()", "EgoNetwork(hops=0) >> ShortestPaths()"]
    done = hs.evaluate(lines, ROWS, metrics=METRICS, graph=films, progress=False)
    with pytest.raises(hs.HopscopeError, match="nothing to choose|50 different questions"):
        done.router()
