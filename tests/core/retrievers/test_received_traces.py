"""Spans of a running retriever become the recorded answers of a method."""

from __future__ import annotations

import threading

import pytest
from openinference.semconv.trace import OpenInferenceSpanKindValues

from core.methods.catalogue import catalogue
from core.retrievers.reply import ReplyDocument
from core.retrievers.runs import received_traces, saved_runs
from core.retrievers.runs.received_traces import (
    QUIET_SECONDS,
    STORED_SECONDS,
    TraceCollector,
    describe_problems,
)
from core.retrievers.runs.saved_runs import remove_saved_run, runs_by_name, save_run_file
from core.retrievers.runs.traces import SPAN_KIND_NAMES
from core.types import Question
from tests.core.retrievers.received_spans import (
    CHAIN,
    LLM,
    RERANKER,
    RETRIEVER,
    TRACE,
    WHO,
    found,
    port_corpus,
    request,
    span,
)


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return port_corpus()


class Heard:
    """A collector, and what it said."""

    def __init__(self, source):
        self.answers, self.problems = [], []
        self.collector = TraceCollector(
            source, lambda run, row: self.answers.append((run.name, row)), self.problems.append
        )
        self.add = self.collector.add

    def wait(self, monkeypatch, seconds=QUIET_SECONDS + 1):
        """Go on as if so many seconds had passed."""
        now = received_traces.time.time()
        with monkeypatch.context() as patch:
            patch.setattr(received_traces.time, "time", lambda: now + seconds)
            self.collector.record_quiet()


@pytest.fixture
def heard(source):
    return Heard(source)


def row_of(name="mine", question=WHO):
    return runs_by_name()[name].find_row(Question(question))


def ids(row):
    return [document.id for document in row.documents]


def test_a_trace_is_an_answer_of_its_service(heard):
    reception = heard.add(request(RETRIEVER, RERANKER, LLM, CHAIN))
    run, row = runs_by_name()["mine"], row_of()
    assert (reception, heard.problems) == ({}, [])
    assert [(name, row.id) for name, row in heard.answers] == [("mine", TRACE)]
    assert (row.question, row.answer, ids(row)) == (WHO, "Ann Lee", ["ship", "harbour"])
    assert row.prompt.splitlines()[0] == "Answer from these."
    assert row.prompt.index("Varna") < row.prompt.index(WHO)
    assert (run.questions, run.with_documents, run.with_answers, run.known) == (1, 1, 1, 1)
    method = catalogue()["run-mine"]
    assert (method.only_on, repr(method.line)) == ("port", "FileDocuments(run='mine')")


def test_spans_come_in_any_order_over_several_requests(heard, monkeypatch):
    for one in (CHAIN, LLM, RERANKER, RETRIEVER):
        heard.add(request(one))
    assert ids(row_of()) == []  # the root has ended, and the others are late
    heard.wait(monkeypatch)
    assert ids(row_of()) == ["ship", "harbour"] and row_of().prompt
    assert runs_by_name()["mine"].with_documents == 1


def test_a_trace_without_a_root_is_recorded_when_it_is_quiet(heard, monkeypatch):
    heard.add(request(RETRIEVER))
    heard.wait(monkeypatch, QUIET_SECONDS - 1)
    assert not heard.answers
    heard.wait(monkeypatch)
    heard.wait(monkeypatch)
    assert len(heard.answers) == 1 and ids(row_of()) == ["harbour", "ship"]
    # The model was slow: its root comes later and keeps the documents.
    heard.add(request(LLM, CHAIN))
    assert ids(row_of()) == ["harbour", "ship"] and row_of().answer == "Ann Lee"
    assert runs_by_name()["mine"].questions == 1


def test_spans_are_kept_for_late_ones_and_then_removed(heard, monkeypatch):
    heard.add(request(RETRIEVER, CHAIN))
    heard.wait(monkeypatch, STORED_SECONDS + 1)
    heard.wait(monkeypatch, STORED_SECONDS + 1)
    heard.add(request(LLM))
    heard.wait(monkeypatch)
    # The late span is a trace of its own without a question, so the answer stays.
    assert ids(row_of()) == ["harbour", "ship"]


def test_what_waits_outlives_the_collector(source, heard, monkeypatch):
    heard.add(request(RETRIEVER))
    again = Heard(source)
    again.add(request(CHAIN))
    assert ids(row_of()) == ["harbour", "ship"] and len(again.answers) == 1


def test_the_span_below_a_web_server_is_the_root(heard):
    server, asks = span(1, ""), span(2, "CHAIN", 1, input__value=WHO, output__value="Ann Lee")
    reception = heard.add(request(asks, span(3, "RETRIEVER", 2, **found("ship")), server))
    assert reception.total() == 1 and "OpenInference" in describe_problems(reception)
    assert (row_of().answer, ids(row_of())) == ("Ann Lee", ["ship"])


@pytest.mark.parametrize(
    ("spans", "rejected", "problem"),
    [
        ([span(1, "SORTER", input__value=WHO)], 1, "OpenInference"),
        ([span(1, "CHAIN", output__value="Ann"), span(2, "RETRIEVER", 1)], 2, "question"),
        ([span(1, "CHAIN", input__value="x" * 100_000, output__value="Ann")], 1, "question"),
        ([span(1, "CHAIN", input__value=WHO)], 1, "documents and an answer"),
    ],
)
def test_what_is_not_understood_is_counted_and_said(heard, spans, rejected, problem):
    reception = heard.add(request(*spans))
    assert reception.total() == rejected and problem in describe_problems(reception)
    assert not heard.answers and not runs_by_name()
    assert len(heard.problems) == 1 and describe_problems(reception) in heard.problems[0]


def test_an_answer_without_documents_is_recorded(heard):
    assert not heard.add(request(CHAIN))
    assert repr(catalogue()["run-mine"].line) == "FileAnswer(run='mine')"


def test_the_latest_answer_to_a_question_counts(heard):
    heard.add(request(RETRIEVER, CHAIN))
    before = runs_by_name()["mine"].digest
    heard.add(request(RETRIEVER, CHAIN))  # sent again, as no reply came
    assert len(heard.answers) == 1 and runs_by_name()["mine"].digest == before
    other = "0b" * 16
    heard.add(
        request(span(1, "RETRIEVER", trace=other, input__value=WHO.upper(), **found("captain")))
    )
    run = runs_by_name()["mine"]
    assert (run.questions, run.with_documents, run.with_answers, run.known) == (1, 1, 0, 1)
    assert run.digest != before and ids(row_of()) == ["captain"] and len(heard.answers) == 2


def test_services_and_files_are_methods_of_their_own(heard, source, tmp_path):
    (tmp_path / "mine.jsonl").write_text('{"question": "a", "answer": "1"}')
    save_run_file(tmp_path / "mine.jsonl", source)
    heard.add(request(RETRIEVER, CHAIN))
    heard.add(request(RETRIEVER, span(1, "CHAIN", input__value="Why?"), service="../<b>/1"))
    heard.add(
        request(
            span(5, "RETRIEVER", trace="0c" * 16, input__value=WHO, **found("ship")), service=""
        )
    )
    assert list(runs_by_name()) == ["mine", "mine-2", "b-1", "retriever"]
    assert row_of("mine") is None and row_of("mine-2").answer == "Ann Lee"
    remove_saved_run("mine-2")
    heard.add(request(RETRIEVER, CHAIN))
    assert row_of("mine-2").answer == "Ann Lee"


def test_what_is_kept_is_bounded(heard, monkeypatch):
    monkeypatch.setattr(saved_runs, "MAX_RECEIVED_TRACES", 2)
    monkeypatch.setattr(saved_runs, "MAX_RECEIVED_RUNS", 1)
    for number in (1, 2, 3):
        heard.add(
            request(
                span(1, "CHAIN", trace=f"{number:032x}", input__value=f"{number}?"),
                span(2, "RETRIEVER", 1, trace=f"{number:032x}", **found("ship")),
            )
        )
    run = runs_by_name()["mine"]
    assert [row.question for row in run.rows()] == ["2?", "3?"]
    assert (run.questions, run.with_documents) == (2, 2)
    reception = heard.add(request(CHAIN, service="another"))
    assert list(runs_by_name()) == ["mine"] and reception.total() == 1
    monkeypatch.setattr(received_traces, "MAX_TRACE_SPANS", 2)
    tools = [span(number, "TOOL", 1, trace="0e" * 16) for number in (2, 3, 4, 5)]
    reception = heard.add(request(*tools))
    assert reception.total() == 2


def test_too_many_waiting_spans_are_refused_until_some_are_read(heard, monkeypatch):
    monkeypatch.setattr(received_traces, "MAX_STORED_BYTES", 10)
    heard.add(request(RETRIEVER))
    with pytest.raises(received_traces.StoreError):
        heard.add(request(RETRIEVER))


def test_two_senders_at_once_lose_nothing(source):
    heard = Heard(source)

    def send(service):
        for number in range(1, 16):
            trace = f"{service}{number:031x}"
            root = span(1, "CHAIN", trace=trace, input__value=f"{number}?", output__value="x")
            heard.add(
                request(span(2, "RETRIEVER", 1, trace=trace, **found("ship")), service=service)
            )
            heard.add(request(root, service=service))

    senders = [threading.Thread(target=send, args=[name]) for name in "ab"]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    for name in "ab":
        run = runs_by_name()[name]
        assert (run.questions, run.with_documents, run.with_answers) == (15, 15, 15)
        assert len(run.rows()) == 15


def test_kinds_of_spans_are_those_of_openinference():
    assert {kind.value for kind in OpenInferenceSpanKindValues} == SPAN_KIND_NAMES


def test_an_index_of_many_digits_is_no_document(heard):
    key = f"retrieval.documents.{'9' * 5_000}.document.id"
    heard.add(request(CHAIN, span(2, "RETRIEVER", 1, **{key: "ship"}, **found("harbour"))))
    assert row_of().documents == (ReplyDocument("harbour"),)
