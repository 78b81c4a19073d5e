"""Evaluations with many questions in flight.

They ask a real server on loopback whose reply depends on the prompt alone.
"""

import hashlib
import json
import threading
import time
from contextlib import contextmanager
from dataclasses import replace

import pytest

from core.evaluation.metrics.outcome import Outcome
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.servers import servers
from core.models.chat.openai import OpenAIChat
from core.models.chat.pauses import PauseDefaults
from core.models.chat.window import Window
from core.models.llm_chooser import LLMChooser
from core.types import Question
from tests.core.models.chat_server import serving, stream

LINE = "EgoNetwork() >> ShortestPaths() >> Rank(keep={keep}) >> Answer()"
SECONDS = 0.15  # of a reply, where its length matters
HELD_SECONDS = 60  # the longest that a server holds a reply back; reached only where a test fails


class RequestCounts:
    """The requests that the server saw.

    It counts how many came at a time, and holds each prompt as often as it was asked.
    """

    def __init__(self, together):
        self.now = self.most = 0
        self.asked, self.lock = [], threading.Lock()
        self.together, self.gathered = together, threading.Event()

    def __enter__(self):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
            if self.now >= self.together:
                self.gathered.set()

    def __exit__(self, *_):
        with self.lock:
            self.now -= 1


@contextmanager
def server(seconds=0.0, refuses=lambda number: False, together=0, answers=None):
    """Serve replies on loopback.

    Parameters
    ----------
    seconds : how long each reply takes.
    refuses : whether the request of a number is refused as too many.
    together : replies are held back until so many requests are there at a time.
    answers : an event; while it is not set, replies are held back.
    """
    seen = RequestCounts(together)

    def answer(handler, body):
        with seen.lock:
            number = len(seen.asked)
            seen.asked.append(json.dumps(body["messages"]))
        if refuses(number):
            handler.send_response(429)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        with seen:
            if together:
                seen.gathered.wait(HELD_SECONDS)
            if answers is not None:
                answers.wait(HELD_SECONDS)
            time.sleep(seconds)
        word = ["Drama", "Comedy", "Ann"][
            hashlib.sha256(seen.asked[number].encode()).digest()[0] % 3
        ]
        piece = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
        ended = {
            **piece,
            "choices": [{"index": 0, "delta": {"content": word}, "finish_reason": "stop"}],
        }
        stream(handler, f"data: {json.dumps(ended)}\n\ndata: [DONE]\n\n")

    with serving(answer) as (address, _):
        yield address, seen


def questions(count):
    names = [("One", "Drama"), ("Two", "Comedy"), ("Ann", "Drama")]
    found = [
        Question(
            f"number {i}: genre of {names[i % 3][0]}",
            f"q-{i:02}",
            (names[i % 3][0],),
            (names[i % 3][1],),
            1,
        )
        for i in range(count)
    ]
    return (*found, Question("who is Nobody", "q-nobody", ("Nobody",), ("Ann",), 1))


def asking(bench, address, **how):
    bench.models._chat = OpenAIChat(address, "m", "m", **how)


def rows(bench, number):
    """The rows of a run without what differs from run to run: seconds."""

    def plain(outcome: Outcome | None):
        return outcome and replace(
            outcome, costs=tuple(replace(cost, seconds=0.0) for cost in outcome.costs)
        )

    return [
        (row.method, row.question.id, plain(row.outcome), row.error)
        for row in bench.store().rows(number)
    ]


def test_the_rows_are_those_of_one_question_at_a_time_and_wait_together(bench):
    plan = bench.plan(questions=questions(36))
    with server() as (address, one_at_a_time):
        asking(bench, address, max_concurrent=1)
        alone = evaluate(bench.engine, bench.store(), plan)
        assert alone.wait(120) and one_at_a_time.most == 1
    with server(together=9) as (address, seen):
        asking(bench, address, max_concurrent=9)
        many = evaluate(bench.engine, bench.store(), plan, again=True)
        assert many.wait(120) and many.number != alone.number
    found = rows(bench, many.number)
    assert found == rows(bench, alone.number) and len(found) == 2 * 37
    assert [row[1] for row in found] == [
        one.question.id for one in plan.drawn for _ in plan.methods
    ]
    assert seen.most == 9


def test_seconds_of_a_row_are_its_own(bench):
    """Waiting for a place at the server is no time of the model.

    Seven questions are at work at a time, three of them at the server: with the waiting, the
    seconds of all rows would add up to seven times those of the run.
    """
    places = 3
    plan = bench.plan(bench.method("one", LINE.format(keep=1)), questions=questions(30))
    with server(SECONDS) as (address, _):
        asking(bench, address, max_concurrent=places)
        start = time.perf_counter()
        job = bench.run(plan)
        elapsed = time.perf_counter() - start
    found = [row for row in bench.store().rows(job.number) if row.outcome]
    models = [
        cost.seconds for row in found for cost in row.outcome.costs if cost.stage == "generate"
    ]
    others = [
        sum(cost.seconds for cost in row.outcome.costs if cost.stage != "generate") for row in found
    ]
    assert min(models) >= SECONDS and sum(models) < (places + 2) * elapsed
    assert min(others) < SECONDS  # a reply is no time of another operator


@pytest.mark.parametrize("number", [1, 5])
def test_a_number_of_requests_may_be_given(bench, number):
    with server(together=number) as (address, seen):
        asking(bench, address)
        job = evaluate(
            bench.engine, bench.store(), bench.plan(questions=questions(12)), max_concurrent=number
        )
        assert job.wait(120) and job.status == "done"
    assert seen.most == number


def test_a_cold_run_has_one_question_at_a_time(bench):
    bench.models.forget = lambda: None
    with server(0.01) as (address, seen):
        asking(bench, address)
        assert bench.run(bench.plan(questions=questions(6), cold=True)).status == "done"
    assert seen.most == 1


def test_in_a_storm_of_refusals_nothing_is_lost_and_nothing_asked_twice(bench, monkeypatch):
    monkeypatch.setattr("core.models.chat.pauses.PAUSE_DEFAULTS", PauseDefaults(first_seconds=0.02))
    refused = set()

    def refuses(number):
        if number % 3:
            refused.add(number)
        return number % 3 != 0

    with server(0.05, refuses) as (address, seen):
        asking(bench, address)
        job = bench.run(
            bench.plan(bench.method("one", LINE.format(keep=1)), questions=questions(24))
        )
    run = bench.store().run(job.number)
    assert (run.done, run.failed) == (24, 1)
    answered = [asked for number, asked in enumerate(seen.asked) if number not in refused]
    assert len(answered) == len(set(answered)) == 24


def test_a_server_that_dies_costs_only_the_questions_that_are_left(bench):
    plan = bench.plan(bench.method("one", LINE.format(keep=1)), questions=questions(30))
    with server(0.1) as (address, seen):
        asking(bench, address)
        job = evaluate(bench.engine, bench.store(), plan)
        while len(seen.asked) < 14:
            time.sleep(0.01)
    assert job.wait(120) and job.status == "done"
    run = bench.store().run(job.number)
    assert run.done + run.failed == 31 and 1 <= run.done < 30
    errors = {
        row.error
        for row in bench.store().rows(job.number)
        if row.error and "Nobody" not in row.error
    }
    assert errors and all("The server at" in error for error in errors)
    with server(0.01) as (address, seen):
        asking(bench, address)
        again = bench.run(plan)
    assert again.number == job.number and bench.store().run(job.number).done == 30
    assert len(seen.asked) == 30 - run.done  # what was done is not asked again


def test_cancelled_in_the_middle_nothing_is_lost_and_nothing_done_twice(bench):
    plan = bench.plan(bench.method("one", LINE.format(keep=1)), questions=questions(40))
    answers = threading.Event()
    answers.set()
    with server(0.05, answers=answers) as (address, seen):
        asking(bench, address)
        job = evaluate(bench.engine, bench.store(), plan)
        while len(seen.asked) < 20:
            time.sleep(0.01)
        answers.clear()
        job.cancel()
        assert job.wait(HELD_SECONDS / 2) and job.status == "cancelled"  # no reply is waited for
        done = bench.store().finished_pairs(job.number)
        answers.set()
        assert 1 <= len(done) < 40
        finished, count = {question for _, question in done}, len(seen.asked)
        again = bench.run(plan)
    assert again.number == job.number and bench.store().run(job.number).done == 40
    later = "\n".join(seen.asked[count:])
    assert not any(f"number {int(question[2:])}:" in later for question in finished)


def test_models_of_one_address_are_one_server(bench):
    first = OpenAIChat("http://localhost:1/v1", "a", "a")
    second = OpenAIChat("http://localhost:1/v1", "b", "b")
    second.window = first.window
    plan = bench.plan(judge=True)
    bench.models.chat = lambda role="answer": second if role == "judge" else first
    assert len(servers(plan, bench.models)) == 1
    second.window = Window()
    assert len(servers(plan, bench.models)) == 2


def test_lanes_of_one_comparison_wait_for_the_server_side_by_side(bench):
    """All five lanes of one comparison are at the server at a time.

    Three lanes answer, and in two the model chooses first.
    """
    with server(together=5) as (address, seen):
        asking(bench, address, max_concurrent=5)
        plain = bench.models.chooser
        bench.models.chooser = lambda name: (
            LLMChooser(bench.models._chat) if name == "answer" else plain(name)
        )
        chosen = [
            bench.method(
                f"c{keep}", LINE.replace("keep=", "model='answer', keep=").format(keep=keep)
            )
            for keep in (1, 2)
        ]
        ranked = [bench.method(f"r{keep}", LINE.format(keep=keep)) for keep in (1, 2, 3)]
        drawn = bench.plan().drawn[0]
        job = bench.engine.compare(
            drawn.open(bench.engine).ask(drawn.question, uses_model=True), [*chosen, *ranked]
        )
        assert job.wait(60) and [lane.status for lane in job.result.lanes] == ["done"] * 5
    assert seen.most == 5
