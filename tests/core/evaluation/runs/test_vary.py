"""One question asked with several lines: shared beginnings, the order of the lines, failures and cancelling."""

from __future__ import annotations

import pytest

from core.errors import RunCancelled
from core.evaluation.runs.row import make_ask, run_methods
from core.watch import Watch


def rows(bench, place, methods=None, watch=None, **wishes):
    plan = bench.plan(model=False, **wishes)
    ask = make_ask(bench.engine, plan)
    given = {} if watch is None else {"watch": watch}
    return run_methods(plan, bench.engine.environment, ask, place, methods, **given)


def test_the_first_line_turns_with_the_question(bench):
    assert [row.method for row in rows(bench, 0)] == ["two", "one"]
    assert [row.method for row in rows(bench, 1)] == ["one", "two"]


def test_what_the_lines_begin_with_is_computed_once(bench):
    list(rows(bench, 0))
    assert len(bench.models.choosers["encoder"].seen) == 2  # Rank twice, the rest of the line once


def test_only_the_lines_that_are_named_are_asked(bench):
    plan = bench.plan(model=False)
    found = list(rows(bench, 0, [plan.methods[1]]))
    assert [(row.method, row.question, row.error) for row in found] == [("one", "q-1", None)]


def test_a_question_that_cannot_be_asked_has_a_sentence_for_each_line(bench):
    found = list(rows(bench, 3))
    assert [row.outcome for row in found] == [None, None]
    assert all("Nobody" in (row.error or "") for row in found)


def test_it_stops_between_two_lines_once_cancelled(bench):
    cancelled = []

    def check():
        if cancelled:
            raise RunCancelled()

    found = rows(bench, 0, watch=Watch(check))
    next(found)
    cancelled.append(True)
    with pytest.raises(RunCancelled):
        next(found)


def test_a_line_that_takes_too_long_has_no_outcome_and_the_next_one_is_asked(bench):
    plan = bench.plan(model=False)
    ask = make_ask(bench.engine, plan)
    found = list(run_methods(plan, bench.engine.environment, ask, 0, seconds=0.0))
    assert [(row.method, row.outcome) for row in found] == [("two", None), ("one", None)]


def test_a_row_that_is_not_kept_has_figures_and_no_states(bench):
    plan = bench.plan(model=False)
    ask = make_ask(bench.engine, plan)
    found = list(run_methods(plan, bench.engine.environment, ask, 0, with_states=False))
    assert all(row.outcome is not None and row.states is None for row in found)
    assert all(row.states for row in run_methods(plan, bench.engine.environment, ask, 0))
