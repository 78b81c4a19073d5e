"""A run summed up, with figures by hand.

The tests are on denominators, hop counts, tests against the first method, and the tables made of
the summary.
"""

import csv
import io
import json
from dataclasses import replace

import pytest

from core.errors import BadInput, BadParameter
from core.evaluation.metrics.outcome import (
    GoldRanks,
    OperatorCost,
    Outcome,
    ScoredAnswer,
    SubgraphSizes,
)
from core.evaluation.reports.export import escape_latex, latex_table, rows_csv, summary_csv
from core.evaluation.reports.html import report_html
from core.evaluation.reports.recommendation import recommendation
from core.evaluation.reports.summary import RunSummary, summary_dict
from core.evaluation.runs.saved_runs import reopen_comparison
from core.evaluation.runs.store import Run, StoredRow
from core.sources import GraphSource
from core.types import Question
from tests.notes import NoteWith

SPEC = {
    "instances": [
        {"id": i, "name": f"No. {i} & co", "title": i, "line": "EgoNetwork()"} for i in ("a", "b")
    ],
    "graphs": [["films", "0"]],
    "set": "films_set",
    "of": 10,
    "sample": 3,
    "seed": 0,
    "model": True,
    "judge": False,
    "cold": False,
}
RUN = Run(7, "key", SPEC, 0.0, "done", 5, 1)
ONE, TWO = (
    Question("=who?", "q1", ("One",), ("Ann",), 1),
    Question("what\nnow", "q2", ("One",), ("Ann", "Two"), 2),
)
THREE = Question("where", "q3", ("One",), ("Ann",), 2)


def outcome(golds, found, *, nodes=4, edges=3, seconds=1.0, lines=1, alive=None):
    first = tuple(1 if i < found else None for i in range(golds))
    return Outcome(
        golds,
        SubgraphSizes(nodes, edges, found, 1),
        GoldRanks(2, (1,) if found else (), first),
        GoldRanks(1, (1,) if found else (), first),
        ScoredAnswer("+1 said", "language model", found, lines),
        costs=(
            OperatorCost("EgoNetwork", "extract", seconds),
            OperatorCost("Answer", "generate", 0.0, 1, 10, 2),
        ),
        alive=alive
        or {"graph": golds, "subgraph": found, "paths": found, "prompt": found, "answer": found},
    )


@pytest.fixture
def summary():
    rows = [
        StoredRow("a", ONE, outcome(1, 1)),
        StoredRow("b", ONE, outcome(1, 1, seconds=3.0)),
        StoredRow("a", TWO, outcome(2, 1)),
        StoredRow("b", TWO, outcome(2, 2, seconds=3.0)),
        StoredRow("a", THREE, outcome(1, 0, nodes=0, edges=0)),
        StoredRow("b", THREE, None, "The model server went away."),
    ]
    return RunSummary(RUN, rows)


def test_failed_questions_score_0_and_the_other_denominator_is_shown(summary):
    table, context = summary.table(), summary.table(with_context=True)
    assert (table["a"]["hits@1"].mean, table["a"]["hits@1"].n) == (pytest.approx(2 / 3), 3)
    # as the papers' code counts
    assert (context["a"]["hits@1"].mean, context["a"]["hits@1"].n) == (1, 2)
    # 1, 1 and the failed one
    assert (table["b"]["recall"].mean, table["b"]["recall"].n) == (pytest.approx(2 / 3), 3)
    assert (table["b"]["seconds"].mean, table["b"]["seconds"].n) == (3, 2) and table["b"][
        "components"
    ].n == 2
    assert (context["b"]["recall"].mean, context["b"]["recall"].n) == (1, 2)
    assert (table["a"]["judge@1"].mean, table["a"]["judge@1"].n) == (None, 0)
    assert summary.counts("a") == {
        "asked": 3,
        "scored": 3,
        "failed": 0,
        "without_context": 1,
        "without_answers": 0,
    }
    assert summary.counts("b")["failed"] == 1 and summary.errors("b") == {
        "The model server went away.": 1
    }


def test_the_mean_of_f1_is_not_the_f1_of_the_means(summary):
    """a: F1 1, 2/3 and 0; precision 1, 1, 0 and recall 1, 1/2, 0."""
    table = summary.table()["a"]
    assert table["f1"].mean == pytest.approx((1 + 2 / 3) / 3)
    assert summary.f1_of_means(table)["answer"] == pytest.approx(
        2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2)
    )


def test_an_method_that_answered_nothing_has_no_figures():
    gone = "“Zoe” is not in the graph.", "“Bob” is not in the graph. Did you mean Rob?"
    failed = StoredRow("a", ONE, None, gone[0]), StoredRow("a", TWO, None, gone[1])
    told = RunSummary(RUN, failed)
    assert told.table()["a"]["hits@1"].n == 0 and told.table()["a"]["hits@1"].mean is None
    assert told.failure_sentences() == [
        NoteWith("No. a & co", 0, 2, "answered", 2, "failed", "“…” is not in the graph")
    ]


def test_a_failed_question_counts_only_where_a_figure_could_have_come_of_it():
    """Without paths there is nothing to score paths by, and without known answers nothing to score at all."""
    without = Outcome(1, answer=ScoredAnswer("Ann", "language model", 1, 1))
    open_ended = Question("why", "q4", ("One",))
    rows = [
        StoredRow("a", ONE, without),
        StoredRow("a", THREE, None, "No."),
        StoredRow("a", open_ended, None, "No."),
    ]
    told = RunSummary(RUN, rows).table()["a"]
    assert told["path_recall@32"].n == 0 and (told["hits@1"].mean, told["hits@1"].n) == (0.5, 2)


def test_a_failed_question_counts_by_its_gold_passages_where_no_answer_is_known():
    known = [Question("what tells of One", f"q{i}", gold=("one",)) for i in (5, 6)]
    found = Outcome(0, passages=GoldRanks(1, (1,), (1,)))
    told = RunSummary(RUN, [StoredRow("a", known[0], found), StoredRow("a", known[1], None, "No.")])
    assert told.table(["passage_recall", "ndcg@1"])["a"]["passage_recall"].mean == 0.5
    assert told.table(["ndcg@1"])["a"]["ndcg@1"].n == 2 and told.failure_sentences() == [
        NoteWith("No. a & co", 1, 2, "answered", 1, "failed: No")
    ]


def test_by_hops_funnel_and_operators(summary):
    hops = summary.by_hops()
    assert list(hops) == [1, 2] and hops[2].table()["a"]["recall"].mean == pytest.approx(
        (1 / 2 + 0) / 2
    )
    assert summary.funnel("a") == {
        "graph": 1,
        **dict.fromkeys(("subgraph", "paths", "prompt", "answer"), pytest.approx(1.5 / 3)),
    }
    first, last = summary.operators("b")
    assert (first["operator"], first["seconds"], last["tokens_in"], last["calls"]) == (
        "EgoNetwork",
        3,
        10,
        1,
    )


def test_paired_tests_use_the_common_questions(summary):
    tests = {test.metric: test for test in summary.paired_tests()}
    assert (
        tests["seconds"].a,
        tests["seconds"].b,
        tests["seconds"].difference,
        tests["seconds"].n,
    ) == ("b", "a", 2.0, 2)
    assert (tests["f1"].difference, tests["f1"].n) == (
        pytest.approx((0 + 1 / 3 + 0) / 3),
        3,
    ) and tests["f1"].p_holm == tests["f1"].p


def test_nothing_is_tested_against_an_adaptation(summary):
    spec = summary.run.spec
    adapted = [
        {**one, "name": "LightRAG, adapted"} if one["id"] == "a" else one
        for one in spec["instances"]
    ]
    told = RunSummary(replace(summary.run, spec={**spec, "instances": adapted}), summary.rows)
    assert (
        summary.paired_tests()
        and not summary.untested_sentence()
        and "untested" not in summary_dict(summary)
    )
    assert told.paired_tests() == [] and told.paired_tests([("b", "a")]) == []
    sentence = "No test is made against LightRAG, adapted: an adaptation is not the method that was published."
    assert told.untested_sentence() == summary_dict(told)[
        "untested"
    ] == sentence and sentence in report_html(told)
    assert told.table()["a"]["recall"].mean is not None  # its figures are shown all the same


def test_the_front_of_a_run(summary):
    table = summary.table()
    assert summary.front(table, "seconds", "hits@1") == ("a",)  # as good, and faster
    # a has 1, 2/3 and 0, b 1, 1 and a failed one
    assert summary.front(table, "seconds", "f1") == ("a", "b")
    assert summary.front(table, "seconds", "subgraph_nodes") == ("a", "b")


def test_everything_as_plain_data(summary):
    told = json.loads(json.dumps(summary_dict(summary)))
    assert told["run"] == 7 and set(told["instances"]) == {"a", "b"}
    assert set(told["instances"]["a"]["metrics"]["f1"]) == {"mean", "low", "high", "n"}
    assert told["instances"]["b"]["questions"]["failed"] == 1 and told["instances"]["b"][
        "errors"
    ] == {"The model server went away.": 1}
    assert (
        told["instances"]["b"]["answered_by"] == {"language model": 2}
        and told["conventions"]["f1"]["definition"]
    )


def test_csv_has_a_row_a_question_and_no_formula(summary):
    rows = list(csv.DictReader(io.StringIO(rows_csv(summary))))
    assert (
        len(rows) == 6
        and rows[0]["question"] == "'=who?"
        and rows[0]["answer"] == "'+1 said"
        and rows[2]["question"] == "what\nnow"
    )
    assert (
        rows[2]["known_answers"] == "Ann|Two"
        and float(rows[2]["f1"]) == pytest.approx(2 / 3, abs=1e-6)
        and rows[5]["f1"] == ""
    )
    assert rows[5]["error"] == "The model server went away."
    told = list(csv.DictReader(io.StringIO(summary_csv(summary))))
    of = {(row["instance"], row["hops"], row["metric"]): row for row in told}
    assert (
        float(of["a", "all", "hits@1"]["mean"]) == pytest.approx(2 / 3, abs=1e-6)
        and of["b", "2", "hits@1"]["n"] == "2"
    )
    assert [
        of["b", hop, "hits@1"]["answered"] + of["b", hop, "hits@1"]["failed"]
        for hop in ("all", "1", "2")
    ] == ["21", "10", "11"]


def test_latex_is_escaped_and_marks_no_best_of_three_questions(summary):
    table = latex_table(summary)
    assert r"No. a \& co" in table and r"films\_set" in table and r"\toprule" in table
    row = next(line for line in table.splitlines() if line.strip().startswith("No. b"))
    assert "0.667" in row and r"\textbf" not in table and r"$\pm$" in row
    assert (
        r"; a failed question scores 0; No. b \& co: 2 of 3 answered, 1 failed: The model server went away}"
        in table
    )
    assert (
        escape_latex("50% {x}_$\\ ~^#")
        == r"50\% \{x\}\_\$\textbackslash{} \textasciitilde{}\textasciicircum{}\#"
    )


def test_a_run_that_is_not_finished_says_of_how_many_questions_it_tells(summary):
    """Method a has all three rows, b lacks the third."""
    assert not summary.unfinished_row_counts and "not finished" not in latex_table(
        summary
    ) + report_html(summary)
    part = RunSummary(summary.run, summary.rows[:-1])
    assert part.unfinished_row_counts == {"a": 3, "b": 2}
    said = "not finished: 3 of 3 questions of No. a & co, 2 of 3 questions of No. b & co"
    assert part.progress_text() == said
    assert escape_latex(said) in latex_table(part) and "not finished: 3 of 3" in report_html(part)
    row = next(line for line in latex_table(part).splitlines() if line.strip().startswith("No. b"))
    # the method, n, and the eight metrics
    assert " & 2 of 3 & " in row and r"\begin{tabular}{lrrrrrrrrr}" in latex_table(part)
    told = next(
        row for row in csv.DictReader(io.StringIO(summary_csv(part))) if row["instance"] == "b"
    )
    assert (told["answered"], told["asked"]) == ("2", "3")
    assert (
        RunSummary(summary.run, summary.rows[:2]).progress_text()
        == "not finished: 1 of 3 questions"
    )


def test_unknown_metrics_are_refused(summary):
    with pytest.raises(BadParameter, match="hits@1"):
        summary.table(["hit@1"])


def test_a_row_opens_as_a_comparison(bench, kit):
    store, job = bench.store(), bench.run(bench.plan())
    run = store.run(job.number)
    found = reopen_comparison(store, run, "q-1", GraphSource.of(kit.graph))
    assert [lane.method.id for lane in found.lanes] == [
        "two",
        "one",
    ] and found.ask.question.answers == ("Drama",)
    assert [len(lane.states) for lane in found.lanes] == [5, 5] and found.lanes[
        0
    ].state.answer == "Drama"
    with pytest.raises(BadInput, match="Nothing that could be opened"):
        reopen_comparison(store, run, "q-4", kit.graph)


def ranked_run(counts: dict[str, int], golds=(2, 7), questions: int = 8) -> RunSummary:
    """A run on documents in which each method hands on its count of passages of one order.

    The gold passages have the places `golds` in this order.
    """
    known = [Question("who", f"q{i}", gold=("one", "two")) for i in range(questions)]
    methods = [
        {"id": key, "name": key.upper(), "title": key, "line": "SparseChunks()"} for key in counts
    ]
    spec = {
        **SPEC,
        "instances": methods,
        "graphs": [["corpus:three", "0"]],
        "sample": questions,
        "model": False,
    }
    ranking = lambda count: Outcome(
        0,
        passages=GoldRanks(count, golds, golds),
        costs=(OperatorCost("SparseChunks", "retrieve", 1.0),),
    )
    rows = [
        StoredRow(key, question, ranking(count))
        for question in known
        for key, count in counts.items()
    ]
    return RunSummary(Run(8, "key", spec, 0.0, "done", len(rows), 0), rows)


def test_who_hands_on_four_passages_has_no_figure_of_the_first_ten_and_is_not_tested_by_it():
    """One gold passage is in the first four, and both are in the first ten.

    The gold passages come second and seventh.
    """
    told = ranked_run({"four": 4, "ten": 10})
    table = told.table()
    assert (table["four"]["passage_recall@4"].mean, table["ten"]["passage_recall@4"].mean) == (
        0.5,
        0.5,
    )
    assert (table["four"]["passage_recall@10"].n, table["ten"]["passage_recall@10"].mean) == (
        0,
        1.0,
    )
    assert (
        table["four"]["ndcg@10"].n == 0
        and told.by_hops()[None].table(["passage_recall@10"])["four"]["passage_recall@10"].n == 0
    )
    assert (
        "passage_recall@10" in told.defaults.table_metrics
        and told.paired_tests(names=["passage_recall@10"]) == []
    )
    sentence = "FOUR hands on at most 4 passages: no figures @10."
    assert (
        told.missing_depth_sentences(told.defaults.table_metrics)
        == [sentence]
        == summary_dict(told)["shallow"]
    )
    assert sentence in report_html(told) and sentence.rstrip(".") in latex_table(told)
    by_method = {
        row["instance"]: row["passage_recall@10"]
        for row in csv.DictReader(io.StringIO(rows_csv(told)))
    }
    assert by_method == {"four": "", "ten": "1"}


def test_all_are_compared_over_as_many_passages_as_each_hands_on():
    told = ranked_run({"three": 3, "four": 4, "ten": 10})
    assert (
        told.fitting_metric("passage_recall@4")
        == "passage_recall@3"
        == told.defaults.question_metric
        == told.defaults.table_metrics[0]
    )
    assert (
        told.table()["three"]["passage_recall@3"].mean == 0.5
        and told.max_passages_below_cutoff("three", "passage_recall@4") == 3
    )
    assert recommendation(told).metric == "passage_recall@3"
    assert (
        ".50 of the evidence in the first three passages, n = 8" in recommendation(told).details[0]
    )


def test_a_column_that_nobody_has_a_figure_for_is_left_out():
    told = ranked_run({"four": 4, "also": 4, "one": 1})
    assert told.missing_depth_sentences(["ndcg@3", "ndcg@10"]) == [
        NoteWith("FOUR and ALSO", 4, "10"),
        NoteWith("ONE", 1, "3", "10"),
    ]
    told = ranked_run({"four": 4, "also": 4})
    assert (
        "passage_recall@10" not in told.defaults.table_metrics + told.defaults.test_metrics
        and "passage_recall@4" in told.defaults.table_metrics
    )
