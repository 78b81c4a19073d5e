"""Trials of a search whose lines ask a server, with many questions in flight.

The figures and the calls are those of one question at a time.
"""

import threading
import time
from dataclasses import replace

import pytest

from core.errors import RunCancelled
from core.evaluation.runs.evaluation_jobs import begin_evaluation
from core.evaluation.search.trial import DOMINATED, CallLimitReached, Trial
from core.runtime.jobs import Job
from tests.core.evaluation.runs.test_flight import SECONDS, asking, questions, server

PLACES = 5  # requests at the server at a time
LINE = "EgoNetwork() >> ShortestPaths() >> Rank(keep=1) >> Answer()"


@pytest.fixture
def trial(bench):
    """`trial(count, ...)`: a trial on so many questions, and one that is not in the graph."""
    bench.models.forget = lambda: None

    def make(count, cost="tokens", budget=1e9, **how):
        plan = bench.plan(bench.method("one", LINE), questions=questions(count), cold=True)
        ask = lambda drawn: drawn.open(bench.engine).ask(drawn.question, uses_model=True)
        return Trial(plan, "hits@1", cost, budget, bench.engine.environment, ask, **how)

    return make


def tried(trial, job=None):
    return trial(trial.plan.methods[0].line, job or Job("", lambda job: None))


def test_the_figures_are_those_of_one_question_at_a_time(bench, trial):
    found = []
    for number in (1, PLACES):
        with server(together=number) as (address, seen):
            asking(bench, address, max_concurrent=number)
            found.append(tried(trial(30)))
    one, many = found
    assert (
        one == many
        and (many.asked, many.failed, many.calls) == (31, 1, 30)
        and 0 < many.quality < 1
    )
    assert seen.most == PLACES


def test_seconds_are_those_of_a_reply_however_many_wait_for_a_place(bench, trial):
    with server(SECONDS) as (address, _):
        asking(bench, address, max_concurrent=PLACES)
        start = time.perf_counter()
        found = tried(trial(30, "seconds", 10.0))
        elapsed = time.perf_counter() - start
    # eleven questions are at work: with their waiting the seconds would add up to that of eleven
    assert SECONDS <= found.cost and 30 * found.cost < (PLACES + 3) * elapsed


def test_a_line_that_is_over_its_seconds_is_given_up(bench, trial):
    with server(SECONDS) as (address, seen):
        asking(bench, address)
        found = tried(trial(30, "seconds", SECONDS / 30))  # one question takes what all of them may
    assert found.stopped == "over the budget" and found.asked <= 2 and found.cost > SECONDS


@pytest.mark.parametrize("least", [0.2, 0.9, 1.0])
def test_where_calls_are_counted_none_is_made_that_one_at_a_time_would_not_make(
    bench, trial, least
):
    """Many questions in flight make the calls of one at a time, and no more.

    The model is right in about a third of the questions. So a line is given up after a few where
    much is asked of it.
    """
    found = []
    for number in (1, 0):
        with server(0.02) as (address, seen):
            asking(bench, address, max_concurrent=number)
            how = dict(max_calls=1000, is_dominated=lambda quality, cost: quality < least)
            found.append((tried(trial(30, **how)), len(seen.asked)))
    assert found[0] == found[1]
    assert (found[0][0].stopped == DOMINATED) == (found[0][0].asked < 31)


def test_calls_end_a_trial_that_is_in_flight(bench, trial):
    with server(0.05) as (address, seen):
        asking(bench, address)
        work = trial(30, max_calls=10)
        with pytest.raises(CallLimitReached):
            tried(work)
    assert work.calls == len(seen.asked) == 10  # each question is one call


def test_cancelled_in_the_middle_it_ends_soon(bench, trial):
    job = Job("", lambda job: None)
    answers = threading.Event()  # all replies are held back
    with server(refuses=lambda number: bool(number >= 3 and job.cancel()), answers=answers) as (
        address,
        seen,
    ):
        asking(bench, address, max_concurrent=PLACES)
        with pytest.raises(RunCancelled):
            tried(trial(30), job)
        assert seen.now > 0  # no reply was waited for
        answers.set()
    assert len(seen.asked) < 30


def test_unseen_questions_are_asked_many_at_a_time_too(bench):
    bench.models.forget = lambda: None
    plan = bench.plan(bench.method("one", LINE), questions=questions(20), cold=True)
    with server(together=PLACES) as (address, seen):
        asking(bench, address, max_concurrent=PLACES)
        work = replace(
            begin_evaluation(bench.engine, bench.store(), plan), limits_to_single_speed=True
        )
        work(Job("", lambda job: None))
    rows = [row for row in bench.store().rows(work.run) if row.outcome]
    assert seen.most == PLACES and len(rows) == 20
