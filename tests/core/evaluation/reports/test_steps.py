"""The worth of each step, on made-up rows of lines that differ in one step.

The means are worked out by hand.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.evaluation.reports.html import report_html
from core.evaluation.reports.steps import one_step, step_effects, step_words
from core.evaluation.reports.steps_table import step_effects_html
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.store import StoredRow
from core.operators.text import parse_line
from core.types import Question
from tests.core.evaluation.reports.test_flow import on_triples
from tests.core.evaluation.reports.test_summary import RUN, SPEC

EGO, PATHS = "EgoNetwork(hops={hops})", "ShortestPaths()"


def summed(lines: dict[str, str], **rows: str) -> RunSummary:
    """A run of these lines by their rows, with a letter for each question.

    The letters are 1 right, 0 lost on the paths and x failed.
    """
    n = max(map(len, rows.values()))
    questions = [Question(f"who {i}", f"q{i}", ("One",), ("Ann",)) for i in range(n)]
    methods = [
        {"id": key, "name": key.upper(), "title": key, "line": line} for key, line in lines.items()
    ]
    outcomes = {"1": on_triples("right")[0], "0": on_triples("paths")[0]}
    stored = [
        StoredRow(key, question, outcomes.get(mark), "No." if mark == "x" else None)
        for key, marks in rows.items()
        for question, mark in zip(questions, marks)
        if mark != " "
    ]
    return RunSummary(
        replace(RUN, spec={**SPEC, "instances": methods, "sample": n, "model": False}), stored
    )


def line(text: str):
    return parse_line(text)


def step(a: str, b: str):
    found = one_step(line(a), line(b))
    return found and tuple(one and repr(one) for one in found)


def test_lines_that_differ_in_one_step():
    assert step("EgoNetwork() >> ShortestPaths()", "EgoNetwork(hops=1) >> ShortestPaths()") == (
        "EgoNetwork()",
        "EgoNetwork(hops=1)",
    )
    assert step("EgoNetwork() >> ShortestPaths()", "EgoNetwork() >> ShortestPaths() >> Rank()") == (
        None,
        "Rank()",
    )
    assert step("EgoNetwork() >> ShortestPaths()", "EgoNetwork() >> ShortestPaths()") is None
    assert (
        step("EgoNetwork() >> ShortestPaths()", "EgoNetwork(hops=1) >> ShortestPaths() >> Rank()")
        is None
    )
    assert step(
        "EgoNetwork() >> ShortestPaths() >> Rank() >> Rank()",
        "EgoNetwork() >> ShortestPaths() >> Rank()",
    ) == ("Rank()", None)


def test_the_vector_of_the_question_is_no_step_of_its_own():
    by_meaning = "BuiltGraph() >> EmbedQuery() >> VectorChunks() >> AnswerFromTables()"
    assert step(by_meaning, "BuiltGraph() >> SparseChunks() >> AnswerFromTables()") == (
        "VectorChunks()",
        "SparseChunks()",
    )


def test_a_step_inside_a_union_is_found_there():
    union = "BuiltGraph() >> (SparseNodes() | SparseNodes(keep={keep})) >> AnswerFromTables()"
    assert step(union.format(keep=3), union.format(keep=9)) == (
        "SparseNodes(keep=3)",
        "SparseNodes(keep=9)",
    )


def test_a_step_is_averaged_over_the_pairs_that_have_it_question_by_question():
    """Two hops in place of one are worth .375 on average.

    From a to b the differences are +1, +1, 0, 0. With ranking, from c to d, they are 0, 0, 0, +1.
    The mean by question is .5, .5, 0, .5, that is .375.
    """
    lines = {
        "a": "EgoNetwork(hops=1) >> ShortestPaths()",
        "b": "EgoNetwork(hops=2) >> ShortestPaths()",
        "d": "EgoNetwork(hops=2) >> ShortestPaths() >> Rank()",
        "c": "EgoNetwork(hops=1) >> ShortestPaths() >> Rank()",
    }
    hops, ranking = step_effects(summed(lines, a="0001", b="1101", c="0000", d="0001"))
    assert hops.pairs == (("a", "b"), ("c", "d")) and (hops.test.difference, hops.test.n) == (
        pytest.approx(0.375),
        4,
    )
    # with ranking a to c 0, 0, 0, -1 and b to d -1, -1, 0, 0: mean -.375
    assert ranking.pairs == (("a", "c"), ("b", "d")) and ranking.test.difference == pytest.approx(
        -0.375
    )
    assert hops.words == "2-hop neighbourhood in place of 1-hop" and ranking.words.startswith(
        "with best"
    )
    # of the 8 ways to flip three signs 2 are as far
    assert hops.test.low <= 0.375 <= hops.test.high and hops.test.p == 0.25
    assert hops.test.p_holm == 0.5 and hops.cost == 0.0


def test_a_question_that_one_of_a_pair_has_no_row_of_counts_in_the_pairs_that_have_it():
    lines = {
        "a": "EgoNetwork(hops=1) >> ShortestPaths()",
        "b": "EgoNetwork(hops=2) >> ShortestPaths()",
    }
    (one,) = step_effects(summed(lines, a="000", b="11 "))
    assert (one.test.difference, one.test.n) == (1.0, 2)
    (one,) = step_effects(summed(lines, a="0x", b="11"))
    assert (one.test.difference, one.test.n) == (1.0, 2)  # a failed question is not right


def test_there_is_nothing_where_no_two_lines_differ_in_one_step():
    lines = {
        "a": "EgoNetwork(hops=1) >> ShortestPaths()",
        "b": "EgoNetwork(hops=2) >> ShortestPaths() >> Rank()",
    }
    assert (
        step_effects(summed(lines, a="00", b="11"))
        == []
        == step_effects(summed({"a": lines["a"]}, a="01"))
    )
    assert (
        step_effects(summed({**lines, "b": "Vanished() >> ShortestPaths()"}, a="00", b="11")) == []
    )


def test_a_step_goes_from_fewer_to_more_whatever_comes_first():
    lines = {
        "b": "EgoNetwork(hops=2) >> ShortestPaths()",
        "a": "EgoNetwork(hops=1) >> ShortestPaths()",
    }
    (one,) = step_effects(summed(lines, a="00", b="11"))
    assert one.pairs == (("a", "b"),) and one.test.difference == 1.0


def test_steps_that_words_do_not_tell_apart_are_named_by_their_settings():
    a, b = (
        line(f"EgoNetwork() >> ShortestPaths(direction='{way}')").operators[1]
        for way in ("graph", "both")
    )
    assert a.words() == b.words() and step_words((a, b)).endswith(
        "direction both in place of graph"
    )


def test_the_table_of_steps_is_escaped_and_says_how_many_pairs_and_questions():
    lines = {
        "a": "EgoNetwork() >> ShortestPaths()",
        "b": "EgoNetwork() >> ShortestPaths() >> Rank(model='bm25', keep=5)",
    }
    summary = summed(lines, a="000000", b="111111")
    html = step_effects_html(summary)
    # of 2^6 flips 2 are as far: p = .03
    assert "<b>+1.00 [+1.00, +1.00]</b>" in html and ">1</td>" in html and ">6</td>" in html
    assert "not significant</span>" not in html and "What each step is worth" in report_html(
        summary
    )
    assert "not significant</span>" in step_effects_html(summed(lines, a="000", b="111"))
    assert step_effects_html(summed({"a": lines["a"]}, a="01")) == ""


def test_a_name_of_a_step_is_no_mark_up(monkeypatch):
    lines = {
        "a": "EgoNetwork() >> ShortestPaths()",
        "b": "EgoNetwork() >> ShortestPaths() >> Rank()",
    }
    monkeypatch.setattr(
        "core.evaluation.reports.steps._operator_words",
        lambda operator: "<script>alert(1)</script>",
    )
    assert (
        "&lt;script&gt;" in (html := step_effects_html(summed(lines, a="00", b="11")))
        and "<script>" not in html
    )
