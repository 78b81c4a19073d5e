"""Pictures of a run.

Equal lines share a label, and others differ by dash and marker too. An unfinished run says so below
each title.
"""

from __future__ import annotations

from dataclasses import replace

from core.evaluation.reports import plots
from core.evaluation.reports.summary import RunSummary
from tests.core.evaluation.reports.test_summary import ONE, RUN, TWO, StoredRow, outcome


def three(of_c: int, rows: int = 6) -> RunSummary:
    """A run of three methods on a question with one answer and one with two.

    Of the first all find the one answer. Of the second a and b find one answer, and c finds `of_c`.
    """
    methods = [{"id": i, "name": f"<b>{i}", "title": i, "line": "EgoNetwork()"} for i in "abc"]
    found = {"a": (1, 1), "b": (1, 1), "c": (1, of_c)}
    stored = [
        StoredRow(key, question, outcome(golds, found[key][at]))
        for at, (question, golds) in enumerate(((ONE, 1), (TWO, 2)))
        for key in found
    ]
    run = replace(RUN, spec={**RUN.spec, "instances": methods, "sample": 2})
    return RunSummary(run, stored[:rows])


def test_lines_that_are_equal_are_one_with_both_names_and_others_differ_by_their_dash():
    drawn = plots.funnel(three(2)).data
    assert [one.name for one in drawn] == ["&lt;b&gt;a =<br>&lt;b&gt;b", "&lt;b&gt;c"]
    assert (
        drawn[0].line.dash != drawn[1].line.dash
        and drawn[0].marker.symbol != drawn[1].marker.symbol
    )
    assert list(drawn[0].y) == [1, 0.75, 0.75, 0.75, 0.75] and "n = 2" in drawn[0].hovertemplate
    assert len(plots.funnel(three(1)).data) == 1


def test_points_that_are_equal_are_one_with_both_names():
    summary = three(2)
    (both, other) = [
        one
        for one in plots.front_plot(summary, summary.table(), "tokens", "recall").data
        if one.text
    ]
    assert both.text == ("&lt;b&gt;a =<br>&lt;b&gt;b",) and (both.y[0], other.y[0]) == (0.75, 1.0)


def test_pictures_of_an_unfinished_run_say_so():
    whole, part = three(2), three(2, rows=3)
    assert plots.funnel(whole).layout.title.subtitle.text is None
    for figure in (plots.funnel(part), plots.front_plot(part, part.table(), "tokens", "recall")):
        assert figure.layout.title.subtitle.text == "Not finished: 1 of 2 questions"
