"""Pictures and the report: what they show, nothing unescaped, nothing from outside; variants of one parameter."""

import dataclasses
import json
import re
from html.parser import HTMLParser

import pytest

from core.errors import BadParameter
from core.evaluation.metrics.budgets import BudgetResults
from core.evaluation.reports import plots
from core.evaluation.reports.budget_curves import budget_curves
from core.evaluation.reports.html import report_html
from core.evaluation.reports.labels import label_positions
from core.evaluation.reports.sensitivity import curves, vary_parameter
from core.evaluation.reports.summary import RunSummary
from core.methods.catalogue import catalogue
from core.sources import GraphSource
from tests.core.evaluation.reports.test_summary import RUN, summary

__all__ = ["summary"]
EVIL = "</script><img src=x onerror=alert(1)> <b>&amp;"


def data(figure):
    return json.loads(figure.to_json())["data"]


def test_the_front_joins_the_methods_that_are_not_beaten(summary):
    table = summary.table()
    line, a, b = data(plots.front_plot(summary, table, "seconds", "f1"))
    assert (line["x"], line["y"]) == (
        [1.0, 3.0],
        [pytest.approx(5 / 9), pytest.approx(2 / 3)],
    ) and line["line"]["shape"] == "hv"
    assert (
        a["x"] == [1.0]
        and b["error_y"]["array"] == [pytest.approx(1 / 3)]
        and "n = 3" in b["hovertemplate"]
    )


def test_the_funnel_and_the_hops(summary):
    a, b = data(plots.funnel(summary))
    assert (
        a["x"] == ["Graph", "Subgraph", "Paths", "Prompt", "Answer"]
        and a["y"][:2] == [1, pytest.approx(0.5)]
        and b["y"] == [1] * 5
    )
    a, b = data(plots.hops_plot(summary, "recall"))
    assert (a["x"], a["y"], b["y"]) == (["1 hop", "2 hops"], [1, pytest.approx(0.25)], [1, 0.5])


def test_where_no_answer_is_known_nothing_is_drawn_of_them(summary):
    unknown = [
        dataclasses.replace(row, outcome=row.outcome and dataclasses.replace(row.outcome, golds=0))
        for row in summary.rows
    ]
    assert list(plots.funnels(summary)) == ["funnel"] and not plots.funnels(
        RunSummary(RUN, unknown)
    )
    assert "Where the answers are lost" not in report_html(RunSummary(RUN, unknown))


def test_names_of_three_near_points_do_not_lie_on_one_another():
    # to the left of them there is room for two
    points = {"re2": (7.35, 0.158), "gar": (9.59, 0.158), "fastinsight": (9.7, 0.176)}
    assert label_positions(points, False, (12.5, 0.286)) == {
        "re2": "top left",
        "gar": "bottom left",
        "fastinsight": "top center",
    }


def test_figures_by_budget_are_a_line_a_method_that_has_a_budget(summary):
    found = [
        BudgetResults(2, (10, 20), (0, 1), (0.2, 0.6)),
        BudgetResults(1, (10, 20), (1, 1), (1.0, 1.0)),
    ]
    rows = [
        dataclasses.replace(row, outcome=dataclasses.replace(row.outcome, budgets=one))
        for row, one in zip(summary.rows[::2], found)
    ]
    read = RunSummary(RUN, [*rows, summary.rows[1]])  # of a alone, for two questions
    curves = budget_curves(read, "budget_recall")
    assert {
        name: [(budget, one.mean, one.n) for budget, one in curve] for name, curve in curves.items()
    } == {
        "a": [(10, 0.5, 2), (20, 0.75, 2)]  # none and one of two, then one of one both times
    }
    (line,) = data(plots.budget_plot(read, curves, "budget_recall"))
    assert (line["x"], line["y"]) == ([10, 20], [0.5, 0.75]) and "n = 2" in line["customdata"][0][0]
    assert budget_curves(read, "budget_topological_recall")["a"][0][1].mean == pytest.approx(0.6)
    html = report_html(read)
    assert "Capped recall @10 by budget" in html and "Topological Recall by budget" in html


def test_where_nothing_changes_with_the_budget_none_is_drawn(summary):
    flat = dataclasses.replace(
        summary.rows[0].outcome, budgets=BudgetResults(1, (10, 20), (1, 1), ())
    )
    assert (
        budget_curves(
            RunSummary(RUN, [dataclasses.replace(summary.rows[0], outcome=flat)]), "budget_recall"
        )
        == {}
    )
    assert budget_curves(summary, "budget_recall") == {} and "by budget" not in report_html(summary)


class Seen(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.addresses = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href")]


def test_the_report_is_one_file_with_everything_escaped(summary):
    spec = json.loads(json.dumps(RUN.spec))
    spec["instances"][0]["name"] = spec["set"] = EVIL
    rows = [dataclasses.replace(row, error=EVIL) if row.error else row for row in summary.rows]
    html = report_html(RunSummary(dataclasses.replace(RUN, spec=spec), rows))
    assert EVIL not in html and "<img src=x" not in html
    seen = Seen()
    seen.feed(html)
    assert "img" not in seen.tags and seen.addresses == ["data:,"] and "link" in seen.tags
    assert (
        html.count("Plotly.newPlot(") - html.count('"Plotly.newPlot(') >= 4
        and len(re.findall(r"plotly\.js v", html)) == 1
    )
    for told in (
        "Path recall @32",
        "Sign-flip permutation test",
        "Failed questions",
        "substring of it (one way only)",
    ):
        assert told in html
    assert "2 of 3 answered, 1 failed" in html


def test_variants_of_one_parameter(summary):
    known = catalogue()
    found = vary_parameter(
        (known["lego-1"], known["lego-12"], known["language-model-only"]),
        "PersonalizedPageRank.keep=500,1000",
    )
    assert (
        [one.id for one in found][1::2][:2] == ["lego-1", "lego-12"]
        and found[-1].id == "language-model-only"
        and len(found) == 5
    )
    assert (
        repr(found[0].line).startswith("PersonalizedPageRank(keep=500)")
        and found[0].name.endswith(" 500")
        and found[0].id == repr(found[0].line)
    )
    for wish, told in {
        "keep=5": "form Operator.parameter",
        "PersonalizedPageRank.kep=5": "Did you mean “keep”",
        "Nothing.keep=5": "no operator “Nothing”",
        "BeamSearch.width=5": "None of the methods",
        "PersonalizedPageRank.keep=many": "must be a",
    }.items():
        with pytest.raises(BadParameter, match=told):
            vary_parameter((known["lego-1"],), wish)


def test_a_curve_of_one_parameter(summary):
    spec = json.loads(json.dumps(RUN.spec))
    for method, hops in zip(spec["instances"], (3, 2)):
        method["line"] = f"EgoNetwork(hops={hops}) >> ShortestPaths()"
    told = RunSummary(dataclasses.replace(RUN, spec=spec), summary.rows)
    found = curves(told, "EgoNetwork", "hops", told.table(), "recall")
    assert [(value, one.mean) for value, one in found["No. a & co"]] == [
        (2, pytest.approx(2 / 3)),
        (3, pytest.approx(0.5)),
    ]
    (line,) = data(plots.sensitivity_plot(found, "hops", "recall"))
    assert line["x"] == [2, 3] and line["name"] == "No. a &amp; co"
    assert curves(told, "ShortestPaths", "hops", told.table(), "recall") == {}


def test_the_head_names_methods_sets_and_sources_as_people_do(summary):
    spec = RUN.spec | {"graphs": [["metaqa", "0"]], "set": "metaqa-2hop-dev"}
    html = report_html(RunSummary(dataclasses.replace(RUN, spec=spec), summary.rows))
    source = GraphSource("metaqa")
    assert f"<h1>2 methods on “{source.sets['metaqa-2hop-dev']}” (evaluation 7)</h1>" in html
    assert f"asked on {source.title}" in html and "metaqa" not in html.partition("</p>")[0]
    one = spec | {"instances": spec["instances"][:1]}
    rows = [row for row in summary.rows if row.method == "a"]
    assert "<h1>1 method on" in report_html(RunSummary(dataclasses.replace(RUN, spec=one), rows))
