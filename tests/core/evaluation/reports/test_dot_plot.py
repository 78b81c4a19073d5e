"""The dot plot of a small made evaluation: order, intervals, bracket and costs by hand."""

from __future__ import annotations

import json

import pytest

from core.evaluation.reports.dot_plot import (
    bracketed,
    cost_title,
    dot_plot,
    dot_rows,
    ordered_methods,
    plot_legend,
    plot_words,
)
from core.evaluation.reports.recommendation import recommendation
from tests.core.evaluation.reports.test_recommendation import summed


@pytest.fixture
def summary():
    """Method a is right on 4 of 16, b on all, c on 15.

    They cost 100, 1,000 and 900 tokens."""
    return summed(a="0" * 12 + "1111", b="1" * 16, c="1" * 15 + "0")


def drawn(summary):
    advice = recommendation(summary)
    rows = dot_rows(summary, advice)
    figure = dot_plot(rows, advice.metric, cost_title(summary, advice))
    return rows, json.loads(figure.to_json())


def test_methods_are_drawn_best_first_with_their_means_and_costs(summary):
    rows, figure = drawn(summary)
    assert [row.method for row in rows] == ["b", "c", "a"]
    dots = figure["data"][0]
    assert dots["x"] == [1.0, 15 / 16, 4 / 16] and list(dots["y"]) == [0, 1, 2]
    assert dots["text"] == ["1.00", ".94", ".25"]
    texts = figure["layout"]["annotations"]
    costs = {one["y"]: one["text"] for one in texts if one.get("yref") != "paper"}
    assert costs == {0: "1,000", 1: "900", 2: "100"}
    low, high = figure["layout"]["yaxis"]["range"]
    assert low > high  # the first row is on top


def test_the_interval_is_that_of_the_questions():
    """Of 16 draws with 1/2, the 2.5 % quantile is 4 and the 97.5 % quantile 12.

    P(X <= 3) = .011 and P(X <= 4) = .038; the other side is the same.
    """
    _, figure = drawn(summed(a="0" * 8 + "1" * 8, b="1" * 16))
    dots = figure["data"][0]
    assert dots["x"] == [1.0, 0.5]
    assert dots["error_x"]["arrayminus"] == pytest.approx([0.0, 0.25])
    assert dots["error_x"]["array"] == pytest.approx([0.0, 0.25])


def test_a_bracket_holds_those_that_chance_may_explain(summary):
    """b and c differ on one question of 16, so p = 1.

    Both are ahead of a on eleven or twelve."""
    rows, figure = drawn(summary)
    assert [row.method for row in bracketed(rows)] == ["b", "c"]
    heights = {one["y0"] for one in figure["layout"]["shapes"]}
    heights |= {one["y1"] for one in figure["layout"]["shapes"]}
    assert min(heights) < 0 and 1 < max(heights) < 2  # around the rows 0 and 1
    assert "No significant difference between B, C." in plot_words(rows, "hits@1")
    rows, figure = drawn(summed(a="0" * 12 + "1111", b="1" * 16))
    assert not bracketed(rows) and not figure["layout"].get("shapes")


def test_a_share_has_the_axis_from_0_to_1(summary):
    _, figure = drawn(summary)
    assert figure["layout"]["xaxis"]["range"] == [0, 1]


def test_a_method_that_always_fails_has_no_row_and_comes_last(summary):
    part = summed(a="x" * 16, b="1" * 16, c="1" * 16)
    advice = recommendation(part)
    assert ordered_methods(part, advice)[-1] == "a"
    rows = dot_rows(part, advice)
    assert "a" not in [row.method for row in rows] and "No figure: A." in plot_legend(part, rows)
