"""Figures of methods with repeats, by hand on five questions."""

import json

import numpy as np
import pytest

from core.evaluation.metrics.statistics import paired_test, run_spread
from core.evaluation.reports import plots, steps
from core.evaluation.reports.dot_plot import cost_title, dot_plot, dot_rows, plot_legend, plot_words
from core.evaluation.reports.flow import END_RIGHT
from core.evaluation.reports.recommendation import recommendation
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.store import StoredRow
from tests.core.evaluation.reports.test_recommendation import answered, summed

FIRST, SECOND = "11110", "01010"


def repeat_summary(first=FIRST, *others, b="00000"):
    """A run of method a with repeats, and of b without. The letters are as in `summed`."""
    base = summed(a=first, b=b)
    spec = base.run.spec | {"repeats": 1 + len(others), "varied": [["a", "its draws"]]}
    rows = []
    at = 0
    for row in base.rows:
        repeats = {}
        if row.method == "a":
            for number, letters in enumerate(others, 1):
                failed = letters[at] == "x"
                outcome = None if failed else answered(letters[at] == "1", 100)
                error = "It went away." if failed else None
                repeats[number] = StoredRow("a", row.question, outcome, error)
            at += 1
        rows.append(StoredRow(row.method, row.question, row.outcome, row.error, repeats=repeats))
    base.run.spec.update(spec)
    return RunSummary(base.run, rows)


def test_the_spread_by_hand():
    """Runs have the means .8 and .4, so s^2 = .08.

    The rest is .3, -.2, .3, -.2, -.2 in one run and the opposite in the other: .6 in squares, a mean
    square of .15, and .03 over five questions. What is shared is (.08 - .03) / 2 = .025.
    """
    summary = repeat_summary(FIRST, SECOND)
    spread = summary.spread("a", "hits@1")
    assert (spread.low, spread.high, spread.runs) == (0.4, 0.8, 2)
    assert spread.shared == pytest.approx(0.025)
    assert summary.spread("b", "hits@1") is None
    assert summary.values("a", ["hits@1"])[:, 0].tolist() == [0.5, 1, 0.5, 1, 0]
    assert summary.table(["hits@1"])["a"]["hits@1"].mean == pytest.approx(0.6)


def test_the_test_counts_what_repeats_share():
    """Without it, 4 of the 32 flips of .5, 1, .5, 1, 0 are as far from nothing."""
    summary = repeat_summary(FIRST, SECOND)
    (test,) = summary.paired_tests([("a", "b")], ["hits@1"])
    alone = paired_test("hits@1", "a", "b", [0.5, 1, 0.5, 1, 0], [0] * 5)
    assert alone.p == 4 / 32 and test.difference == alone.difference == pytest.approx(0.6)
    assert test.p > alone.p and test.low < alone.low and test.high > alone.high


def test_noise_of_single_questions_is_not_counted_twice():
    """Both runs have the mean .6, so they share nothing, and the test is the plain one."""
    summary = repeat_summary("11100", "01110")
    assert summary.spread("a", "hits@1").shared == 0
    (test,) = summary.paired_tests([("a", "b")], ["hits@1"])
    assert test.p == paired_test("hits@1", "a", "b", [0.5, 1, 1, 0.5, 0], [0] * 5).p


def test_a_failed_repeat_counts_as_wrong():
    summary = repeat_summary("11000", "1x000")
    assert summary.values("a", ["hits@1"])[:, 0].tolist() == [1, 0.5, 0, 0, 0]


def test_a_shift_of_all_questions_alone_is_never_a_difference():
    """Each run is .1 higher or lower on every question, as after building a graph again.

    The questions agree perfectly, so that without repeats any difference would be certain.
    """
    rng = np.random.default_rng(0)
    base = rng.random(60)
    a = np.stack([base + shift for shift in (0.1, -0.1, 0.05)])
    b = np.stack([base + shift for shift in (-0.1, 0.1, -0.05)])
    spreads = run_spread(a), run_spread(b)
    plain = paired_test("recall", "a", "b", a.mean(0), b.mean(0))
    counted = paired_test("recall", "a", "b", a.mean(0), b.mean(0), spreads=spreads)
    assert plain.p < 0.001 and counted.p > 0.3
    assert counted.low < 0 < counted.high


def test_the_dot_plot_has_a_grey_band_behind_a_repeated_method():
    summary = repeat_summary("1" * 10 + "0" * 6, "1" * 8 + "0" * 8, b="1" + "0" * 15)
    advice = recommendation(summary)
    rows = dot_rows(summary, advice)
    assert {row.method: row.noise for row in rows} == {"a": (0.5, 0.625), "b": None}
    figure = json.loads(dot_plot(rows, "hits@1", cost_title(summary, advice)).to_json())
    (band,) = [one for one in figure["layout"]["shapes"] if one["type"] == "rect"]
    assert (band["x0"], band["x1"], band["layer"]) == (0.5, 0.625, "below")
    assert band["y0"] < 0 < band["y1"]  # around the first row
    assert "runs .50 to .62" in plot_words(rows, "hits@1")
    assert "Grey" in plot_legend(summary, rows)
    (sentence,) = summary.spread_sentences(["hits@1"])
    assert "2 runs" in sentence and "its draws" in sentence and "0.5 to 0.625" in sentence


def test_runs_by_hops_by_budget_and_by_parameter_have_a_band():
    """A bar or stroke runs from the lowest to the highest mean of a run."""
    summary = repeat_summary(FIRST, SECOND)
    figure = json.loads(plots.hops_plot(summary, "hits@1").to_json())
    (band,) = [one for one in figure["data"] if "base" in one]
    a = next(one for one in figure["data"] if one["offsetgroup"] == "a" and "base" not in one)
    assert (band["offsetgroup"], len(band["x"])) == ("a", len(a["x"]))
    assert band["base"] == [0.4] and band["y"] == pytest.approx([0.4])
    spread = summary.spread("a", "hits@1")
    line = {"A": [(2, summary.table(["hits@1"])["a"]["hits@1"])]}
    drawn = json.loads(plots.sensitivity_plot(line, "hops", "hits@1", [(2, spread)]).to_json())
    assert (drawn["data"][0]["x"], drawn["data"][0]["y"]) == ([2, 2], [0.4, 0.8])


def test_the_worth_of_a_step_is_over_all_runs(monkeypatch):
    """The mean is over two runs, and what these share widens the interval."""
    summary = repeat_summary(FIRST, SECOND)
    lines = {
        "a": "EgoNetwork() >> ShortestPaths() >> Rank()",
        "b": "EgoNetwork() >> ShortestPaths()",
    }
    for spec in summary.run.spec["instances"]:
        spec["line"] = lines[spec["id"]]
    monkeypatch.setattr(steps, "correctness_measure", lambda *_: "answer")
    letters = {0: FIRST, 1: SECOND}

    def stages(summary, method, measure, run=0):
        right = letters[run] if method == "a" else "0" * 4 + "1"
        return dict(zip(summary.questions, (END_RIGHT if x == "1" else "read" for x in right)))

    monkeypatch.setattr(steps, "end_stages", stages)
    (effect,) = steps.step_effects(summary)
    assert effect.test.difference == pytest.approx(0.6 - 0.2)
    first = paired_test("", "a", "b", [0.5, 1, 0.5, 1, 0], [0, 0, 0, 0, 1])
    assert effect.test.low < first.low and effect.test.p > first.p


def test_a_repeat_that_failed_altogether_counts_as_none():
    summary = repeat_summary(FIRST, "xxxxx", SECOND)
    spread = summary.spread("a", "hits@1")
    assert (spread.low, spread.high, spread.runs) == (0.4, 0.8, 2)
    assert summary.values("a", ["hits@1"])[:, 0].tolist() == [0.5, 1, 0.5, 1, 0]


def test_an_aa_run_says_how_far_a_method_is_from_itself():
    """Of 16 questions the second run misses two that the first has right: -.125, p = 1/2."""
    base = repeat_summary("1" * 10 + "0" * 6, "1" * 8 + "0" * 8, b="0" * 16)
    base.run.spec["instances"] = base.run.spec["instances"][:1]
    alone = RunSummary(base.run, base.rows_of("a"))
    test = alone.aa_test("a", "hits@1")
    assert test.difference == -0.125
    assert test.p == pytest.approx(0.5, abs=0.02)  # from 9,999 random flips
    (sentence,) = recommendation(alone).details
    assert "-.12" in sentence and "chance alone" in sentence
    base.run.spec["varied"] = []
    assert recommendation(RunSummary(base.run, base.rows_of("a"))).details == ()
