"""Names of methods: plain words with the paper's name beside.

They are so wherever figures are shown or written.
"""

import csv
import dataclasses
import io
import json

import pytest

from core.evaluation.reports import plots
from core.evaluation.reports.export import latex_table, rows_csv, summary_csv
from core.evaluation.reports.html import report_html
from core.evaluation.reports.method_names import MethodName, method_name, method_names
from core.evaluation.reports.sensitivity import variant
from core.evaluation.reports.summary import RunSummary, summary_dict
from core.evaluation.runs.plan import DrawnQuestion, Plan
from core.evaluation.runs.store import StoredRow
from core.methods.catalogue import catalogue, find_method
from core.operators import BeamSearch
from core.sources import GraphSource
from core.types import Question
from tests.core.evaluation.reports.test_summary import RUN, summary

__all__ = ["summary"]


def run_of(*methods):
    """A run of these methods, with what the plan keeps of them."""
    spec = Plan(
        methods, (DrawnQuestion(Question("who", "q1"), "films_set", GraphSource("films")),)
    ).spec("")
    return dataclasses.replace(RUN, spec=RUN.spec | {"instances": spec["instances"]})


@pytest.fixture
def published(summary):
    """The summary with No. 10 in place of a, and No. 15 pre-filtered, which has a long name, in place of b."""
    known = catalogue()
    ids = {"a": "lego-10", "b": "lego-15-prefiltered"}
    rows = [
        StoredRow(ids[row.method], row.question, row.outcome, row.error) for row in summary.rows
    ]
    return RunSummary(run_of(*(known[one] for one in ids.values())), rows)


def test_a_method_is_called_by_what_it_does_and_the_paper_s_name():
    known = catalogue()
    apart = find_method("PersonalizedPageRank(keep=77) >> ShortestPaths() >> Answer()", known)
    wide = variant(known["lego-14"], BeamSearch, "width", 3)
    told = method_names(
        run_of(
            known["lego-10"],
            known["chain-ranking"],
            apart,
            wide,
            find_method("EgoNetwork()", known),
        )
    )
    assert [str(one) for one in told.values()] == [
        f"{known['lego-10'].method} (No. 10)",
        "Relation chains (Chain ranking)",
        apart.label,
        "Beam search (No. 14), beam width 3",
        "Own method",
    ]
    assert (
        method_name(known["lego-14"]) == MethodName("Beam search", "No. 14")
        and str(MethodName("Own method")) == "Own method"
    )


def test_a_run_of_another_line_or_of_unknown_operators_keeps_its_names():
    run = run_of(catalogue()["lego-14"])
    for line in ("EgoNetwork()", "Gone(1)"):
        spec = json.loads(json.dumps(run.spec))
        spec["instances"][0]["line"] = line
        assert method_names(dataclasses.replace(run, spec=spec)) == {
            "lego-14": MethodName("No. 14")
        }


def test_tables_for_others_have_the_plain_name_and_the_number(published):
    one, two = method_names(published.run).values()
    for table in (rows_csv(published), summary_csv(published)):
        rows = list(csv.DictReader(io.StringIO(table)))
        assert {(row["instance"], row["method"], row["number"]) for row in rows} == {
            ("lego-10", one.plain, "No. 10"),
            ("lego-15-prefiltered", two.plain, "No. 15, pre-filtered"),
        }
    assert rf"{one.plain} {{\footnotesize (No. 10)}} & " in latex_table(published)
    assert f"<th>{one.plain} <small>No. 10</small></th>" in report_html(published)
    assert published.failure_sentences() == [
        f"{two}: 2 of 3 answered, 1 failed: The model server went away."
    ]
    assert summary_dict(published)["instances"]["lego-10"]["method"] == one.plain


def test_pictures_name_methods_in_plain_words_with_the_number_small(published):
    one, two = method_names(published.run).values()
    *_, a, b = json.loads(
        plots.front_plot(published, published.table(), "seconds", "f1").to_json()
    )["data"]
    small = "<span style='font-size:10px'>No. 10</span>"
    assert a["text"] == [f"Shortest paths,<br>relations filtered<br>{small}"] and a[
        "hovertemplate"
    ].startswith(f"<b>{one}</b>")
    assert b["text"][0].startswith("Beam by language<br>model, pre-filtered<br><span")
    for figure in (plots.funnel(published), plots.hops_plot(published, "recall")):
        assert json.loads(figure.to_json())["data"][0]["name"] == f"{one.plain} {small}"


def test_names_beside_points_stay_inside_the_picture(published):
    """Names beside points go inwards from the nearer side.

    They are not cut at the axes, and there is room above the best point.
    """
    figure = json.loads(plots.front_plot(published, published.table(), "seconds", "f1").to_json())
    *_, a, b = figure["data"]
    assert (a["textposition"], b["textposition"]) == ("top right", "top left")  # 1 s and 3 s
    assert a["cliponaxis"] is b["cliponaxis"] is False
    low, high = figure["layout"]["yaxis"]["range"]
    assert low < 0 and high > max(one["y"][0] + one["error_y"]["array"][0] for one in (a, b))


def test_lines_of_one_name_are_numbered():
    told = method_names(
        run_of(
            find_method("EgoNetwork()"), catalogue()["lego-10"], find_method("EgoNetwork(hops=1)")
        )
    )
    assert [str(one) for one in told.values()] == ["Own method 1", "No. 10", "Own method 2"]
