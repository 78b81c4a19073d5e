"""The readers of a run asked again with nothing and with the evidence alone.

On the graph of films and on three documents.
"""

from __future__ import annotations

import pytest

from core.corpus import Document, open_corpus, write_corpus
from core.corpus.catalogue import corpora_folder
from core.errors import ModelFailed, ModelUnavailable
from core.evaluation.repairs.reading_run import (
    ReadingRun,
    missing_cost,
    readings_job_key,
    start_readings,
)
from core.evaluation.reports.reading_shares import reading_shares
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.plan import DrawnQuestion, Plan
from core.models.base import ChatReply
from core.models.price import parse_cap
from core.runtime.jobs import JOB_CANCELLED, JOB_FAILED, Job
from core.sources import CorpusSource
from core.types import Question, Usage
from tests.core.evaluation.runs.test_flight import asking, server
from tests.core.evaluation.runs.test_flight import questions as genre_questions
from tests.core.evaluation.runs.test_spending import READ, WRITTEN, far, plan, ran  # noqa: F401

QUESTIONS = (
    Question("genre of One", "q-1", ("One",), ("Drama",), 1),
    Question("director of One", "q-2", ("One",), ("Ann",), 1),
    Question("who is Nobody", "q-3", ("Nobody",), ("Ann",), 1),
)


class FirstChoiceReader:
    """A language model that answers with the end of the last path that it is shown."""

    context = 4096

    def __init__(self):
        self.asked = []

    def count_tokens(self, messages):
        return sum(len(message["content"].split()) for message in messages)

    def reply(self, messages, **_):
        self.asked.append(messages[-1]["content"])
        lines = [line for line in messages[-1]["content"].splitlines() if "->" in line]
        text = lines[-1].split("-> ")[-1] if lines else "Drama"
        return ChatReply(text, self.count_tokens(messages), 1)


@pytest.fixture
def run(bench):
    """A run of two lines: one keeps both paths of One, the other the genre alone."""
    bench.models._chat = FirstChoiceReader()
    job = bench.run(bench.plan(questions=QUESTIONS))
    return bench.store().run(job.number)


def summary(bench, run) -> RunSummary:
    return RunSummary(bench.store().run(run.id), bench.store().rows(run.id))


def asked_again(bench, run) -> Job:
    job = start_readings(bench.engine, bench.store(), run)
    assert job.wait(120)
    return job


def test_readers_are_asked_and_each_answer_is_saved(bench, run):
    """The better path of One is that to the genre; both are shown to TWO, which says Ann.

    With nothing the model says Drama. With the evidence alone it is right on both questions.
    """
    before = {one.method: one for one in reading_shares(summary(bench, run))}
    assert before["two"].ends == {"q-1": "reading", "q-2": "right", "q-3": "failed"}
    assert before["one"].ends == {"q-1": "right", "q-2": "retrieval", "q-3": "failed"}
    cost = missing_cost(summary(bench, run))
    n_asked = len(bench.models._chat.asked)
    job = asked_again(bench, run)
    assert job.error is None and job.result == []
    # two questions, each with nothing and with the evidence; both methods share the reader
    assert cost.calls == 4 and len(bench.models._chat.asked) - n_asked == 4
    after = {one.method: one for one in reading_shares(summary(bench, run))}
    for shares in after.values():
        assert (shares.known.mean, shares.ceiling.mean, shares.ceiling.n) == (0.5, 1, 2)
    assert after["two"].evidence_gain.mean == 0.5 and after["two"].retriever_gain.mean == 0
    assert after["one"].evidence_gain.mean == 0 and after["one"].retriever_gain.mean == 0.5
    alone = bench.models._chat.asked[-1]
    assert "One -> directed_by -> Ann" in alone and "has_genre" not in alone
    # nothing is missing by now, and nothing is asked
    assert missing_cost(summary(bench, run)) is None
    asked_again(bench, run)
    assert len(bench.models._chat.asked) - n_asked == 4


def test_a_stopped_job_goes_on_where_it_stopped(bench, run):
    job = Job("x", ReadingRun(bench.engine, bench.store(), run))
    saved = bench.store().save_readings

    def save_and_stop(*given):
        saved(*given)
        job.cancel()

    bench.store().save_readings = save_and_stop
    job.run()
    bench.store().save_readings = saved
    assert job.status == JOB_CANCELLED
    n_asked = len(bench.models._chat.asked)
    assert missing_cost(summary(bench, run)).calls == 4  # of q-1 one method is left, and q-2
    asked_again(bench, run)
    assert missing_cost(summary(bench, run)) is None
    assert len(bench.models._chat.asked) - n_asked == 4


def test_a_failed_answer_is_counted_and_tried_again(bench, run):
    chat = bench.models._chat
    fail_once = [ModelFailed("It went away.")]

    class FailingReader(FirstChoiceReader):
        def reply(self, messages, **how):
            if fail_once:
                raise fail_once.pop()
            return chat.reply(messages, **how)

    bench.models._chat = FailingReader()
    job = asked_again(bench, run)
    assert job.result == ["It went away. (1)"] and missing_cost(summary(bench, run)) is not None
    assert asked_again(bench, run).result == [] and missing_cost(summary(bench, run)) is None


def test_without_a_model_the_job_fails(bench, run):
    class Missing(FirstChoiceReader):
        def reply(self, messages, **how):
            raise ModelUnavailable("It is not installed.")

    bench.models._chat = Missing()
    job = asked_again(bench, run)
    assert job.status == JOB_FAILED and "not installed" in job.error


def test_blank_replies_are_wrong_and_say_so(bench, run):
    class SilentReader(FirstChoiceReader):
        def reply(self, messages, **how):
            return ChatReply("", 9, 0)

    bench.models._chat = SilentReader()
    asked_again(bench, run)
    rows = [row for row in bench.store().rows(run.id) if row.outcome is not None]
    assert {answer.right for row in rows for answer in row.readings.values()} == {False}
    assert all(answer.fault for row in rows for answer in row.readings.values())


def test_a_line_that_shows_no_items_says_why(bench):
    method = bench.method("alone", "Answer(prompt='question-only')")
    job = bench.run(bench.plan(method, questions=QUESTIONS[:2]))
    run = bench.store().run(job.number)
    asked_again(bench, run)
    (shares,) = reading_shares(summary(bench, run))
    assert shares.known.n == shares.ceiling.n == 0
    assert [count for count in shares.notes.values()] == [2 * shares.n]


def test_without_a_language_model_the_graph_reader_is_read_again(bench):
    job = bench.run(bench.plan(questions=QUESTIONS, model=False))
    run = bench.store().run(job.number)
    before = {one.method: one for one in reading_shares(summary(bench, run))}
    # it follows the best path, to the genre, so that the director is lost in reading
    assert before["two"].ends["q-2"] == "reading" and before["one"].ends["q-2"] == "retrieval"
    cost = missing_cost(summary(bench, run))
    assert (cost.calls, cost.tokens) == (0, 0)
    asked_again(bench, run)
    (two,) = (one for one in reading_shares(summary(bench, run)) if one.method == "two")
    assert (two.known.mean, two.ceiling.mean, two.evidence_gain.mean) == (0, 1, 0.5)


def test_marked_passages_are_the_evidence_of_documents(bench):
    """Of two marked passages one is retrieved; both alone hold the answer."""
    documents = (
        Document("book", "Dickens wrote the carol.", "Book"),
        Document("song", "The carol was sung.", "Song"),
        Document("sea", "Ships sail to London.", "Sea"),
    )
    asked = Question("Who wrote the carol?", "q-1", answers=("London",), gold=("book", "sea"))
    sets = {"asked": ("Asked", [asked])}
    write_corpus(corpora_folder() / "small", documents, "Small", "", "", sets, (), own=True)

    class WatchedReader(FirstChoiceReader):
        def reply(self, messages, **how):
            self.asked.append(messages[-1]["content"])
            text = "London" if "London" in messages[-1]["content"] else "Rome"
            return ChatReply(text, 5, 1)

    bench.models._chat = WatchedReader()
    line = "BuiltGraph(build='chunks') >> SparseChunks(keep=1) >> AnswerFromTables()"
    plan = Plan(
        (bench.method("one", line),),
        (DrawnQuestion(asked, "asked", CorpusSource("small")),),
        "asked",
        1,
        (("corpus:small", open_corpus("small").digest),),
    )
    run = bench.store().run(bench.run(plan).number)
    asked_again(bench, run)
    (shares,) = reading_shares(summary(bench, run))
    assert shares.ends == {"q-1": "retrieval"} and shares.retriever_gain.mean == 1
    assert (shares.known.mean, shares.ceiling.mean) == (0, 1)
    shown = bench.models._chat.asked[-1]
    assert "Dickens" in shown and "Ships sail" in shown and "sung" not in shown


def test_a_deleted_run_takes_its_answers_along(bench, run):
    asked_again(bench, run)
    key = readings_job_key(run)
    assert key == f"reading-{run.id}"
    bench.store().delete(run.id)
    assert bench.store()._readings(run.id) == {}


@pytest.mark.parametrize("cap", ["1150 tokens", "3.3 EUR"])
def test_readings_count_under_the_cap_and_go_on_with_a_higher_one(far, cap):  # noqa: F811
    """Six questions cost 600 tokens, 1.68 EUR; read again, each may cost twice as much.

    The first three take four calls, as evidence alone that was the whole prompt is answered, and
    that of Two is not in the graph. That is 1,000 tokens; another question may be beyond the cap.
    """

    def read(text):
        limits = {"cap": parse_cap(text), "max_concurrent": 1}
        job = start_readings(far.engine, far.store(), run, **limits)
        assert job.wait(60)
        return job

    run = far.store().run(ran(far, plan(far, 6)).number)
    job = read(cap)
    assert job.status == JOB_FAILED and len(far.bodies) == 6 + 4
    spent = "1,000 of 1,150 tokens" if "tokens" in cap else "2.80 of 3.30 EUR"
    assert spent in job.error and "3 of 6 questions read again" in job.error
    # what is spent is kept with the run, so that the same cap asks nothing more
    assert far.store().usage(run.id) == {"far": Usage(10, 10 * READ, 10 * WRITTEN)}
    assert "0 of 3 questions read again" in read(cap).error and len(far.bodies) == 10
    assert read("100").result == [] and len(far.bodies) == 14
    assert missing_cost(summary(far, run)) is None


def test_a_served_model_reads_several_questions_at_a_time(bench):
    """The second server holds its replies back until three requests are there."""
    a_plan = bench.plan(questions=genre_questions(6)[:6])

    found = []
    with server() as (address, _), server() as (first, alone), server(together=3) as (third, many):
        for reading_address, n_requests in ((first, 1), (third, 3)):
            asking(bench, address)
            run = bench.store().run(bench.run(a_plan, again=True).number)
            asking(bench, reading_address)
            job = start_readings(bench.engine, bench.store(), run, max_concurrent=n_requests)
            assert job.wait(120) and job.result == []
            rows = bench.store().rows(run.id)
            found.append({(row.method, row.question.id): row.readings for row in rows})
    assert (alone.most, many.most) == (1, 3) and sorted(alone.asked) == sorted(many.asked)
    assert found[0] == found[1] and all(len(readings) == 2 for readings in found[0].values())
