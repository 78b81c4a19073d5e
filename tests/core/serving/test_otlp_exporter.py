"""OpenTelemetry's own exporter sends to the command `serve --otlp`; a comparison shows the lane."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import urllib.request
from contextlib import contextmanager
from queue import Queue
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("opentelemetry.proto", reason="opentelemetry-proto is not installed")
pytest.importorskip("fastapi", reason="fastapi is not installed")
from openinference.semconv.trace import DocumentAttributes as Document
from openinference.semconv.trace import MessageAttributes as Message
from openinference.semconv.trace import SpanAttributes as Name
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from core.cli import main
from core.commands.terminal import EXIT_FAILED, EXIT_WRONG_INPUT
from core.engine import Engine
from core.io.home import ROOT
from core.retrievers.runs.saved_runs import runs_by_name
from core.runtime.server_process import free_port
from core.serving import calls
from tests.core.retrievers.received_spans import (
    CHAIN,
    DOCUMENTS,
    RETRIEVER,
    WHO,
    port_corpus,
    request,
)
from tests.films import Written

LINE_SECONDS = 120  # for a line of the command on a busy computer
DOCUMENTED = (ROOT / "docs/own-retriever.md").read_text("utf-8").partition("## Send traces")[2]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    monkeypatch.setenv("HOPSCOPE_API_KEY", "the key")
    port_corpus()


@contextmanager
def serving(*options):
    """Yield the process of `serve --otlp`, its address for traces, and its next printed lines."""
    ports = {"--port": free_port(), "--otlp-port": free_port()}
    arguments = [str(part) for pair in ports.items() for part in pair]
    command = [sys.executable, "-m", "core", "serve", "--otlp", "--corpus", "port"]
    process = subprocess.Popen(
        [*command, *arguments, *options], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    lines: Queue[str] = Queue()
    reader = threading.Thread(target=lambda: [lines.put(line) for line in process.stdout])
    reader.start()
    try:
        address = lines.get(timeout=LINE_SECONDS).strip()
        lines.get(timeout=LINE_SECONDS)  # the address of the API
        yield process, address, lambda: lines.get(timeout=LINE_SECONDS).strip()
    finally:
        process.kill()
        process.wait()
        reader.join()
        process.stdout.close()


def answer(tracer, question, documents, reply):
    """Answer as an instrumented program does: a chain of a retriever and a language model."""
    kind = Name.OPENINFERENCE_SPAN_KIND
    with tracer.start_as_current_span("rag") as chain:
        chain.set_attributes({kind: "CHAIN", Name.INPUT_VALUE: question})
        with tracer.start_as_current_span("retrieve") as retriever:
            retriever.set_attributes({kind: "RETRIEVER", Name.INPUT_VALUE: question})
            for rank, document in enumerate(documents):
                prefix = f"{Name.RETRIEVAL_DOCUMENTS}.{rank}"
                retriever.set_attributes(
                    {
                        f"{prefix}.{Document.DOCUMENT_ID}": document.id,
                        f"{prefix}.{Document.DOCUMENT_CONTENT}": document.text,
                        f"{prefix}.{Document.DOCUMENT_SCORE}": 1.0 / (rank + 1),
                        f"{prefix}.{Document.DOCUMENT_METADATA}": json.dumps({"page": rank}),
                    }
                )
        with tracer.start_as_current_span("generate") as model:
            texts = [f"Answer from: {document.text}" for document in documents]
            message = f"{Name.LLM_INPUT_MESSAGES}.0"
            model.set_attributes(
                {
                    kind: "LLM",
                    f"{message}.{Message.MESSAGE_ROLE}": "user",
                    f"{message}.{Message.MESSAGE_CONTENT}": "\n".join([*texts, question]),
                    Name.OUTPUT_VALUE: reply,
                }
            )
        chain.set_attribute(Name.OUTPUT_VALUE, reply)


def provider_to(address, service, **options):
    provider = TracerProvider(resource=Resource.create({"service.name": service}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(address, **options)))
    return provider


def lane(method, question=WHO):
    """The lane of a method, and of a published one beside it."""
    methods = [method, "SparseChunks(keep=1) >> AnswerFromTables()"]
    found = calls.compare(Engine(Written()), question, methods, corpus="port", gold=["harbour"])
    return found["lanes"][0]


def test_the_lane_of_an_instrumented_retriever_has_its_documents():
    with serving("--app", "https://lab.example/hopscope/") as (process, address, next_line):
        provider = provider_to(address, "my-rag", compression=Compression.Gzip)
        answer(provider.get_tracer("rag"), WHO, DOCUMENTS[1::-1], "Ann Lee")
        provider.shutdown()
        assert next_line() == f"my-rag: {WHO} (documents: 2, answer: Ann Lee)"
        shown = next_line()
        link = parse_qs(urlsplit(shown).query)
    assert shown.startswith("https://lab.example/hopscope/?q=")
    assert link == {"q": [WHO], "lane": ["run-my-rag", "vanilla-rag"], "corpus": ["port"]}
    shown = lane("run-my-rag")
    assert [hit["id"] for hit in shown["hits"]["chunk"]] == ["ship", "harbour"]
    assert shown["answer"] == "Ann Lee" and shown["error"] is None


def test_the_documented_lines_send_a_question():
    code = re.search(r"```python\n(.*?)```", DOCUMENTED, re.DOTALL)[1]
    with serving() as (process, address, next_line):
        code = code.replace("http://127.0.0.1:4318/v1/traces", address)
        subprocess.run([sys.executable, "-c", code], check=True, timeout=LINE_SECONDS)
        documented = re.search(r"^    (my-retriever: .*)$", DOCUMENTED, re.MULTILINE)[1]
        assert next_line() == documented
        query = re.search(r"127\.0\.0\.1:8501/\?(.*)", DOCUMENTED)[1]
        assert parse_qs(urlsplit(next_line()).query) == {**parse_qs(query), "corpus": ["port"]}


def test_two_exporters_at_once_are_two_methods():
    with serving() as (process, address, next_line):
        providers = {name: provider_to(address, name) for name in ("one", "two")}

        def send(name):
            for number in range(20):
                tracer = providers[name].get_tracer("rag")
                answer(tracer, f"{number}?", [DOCUMENTS[0]], name)
            providers[name].shutdown()

        senders = [threading.Thread(target=send, args=[name]) for name in providers]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
    for name in providers:
        run = runs_by_name()[name]
        assert (run.questions, run.with_documents, run.with_answers) == (20, 20, 20)


@pytest.mark.skipif(os.name == "nt", reason="kills a process by its signal")
def test_what_was_answered_outlives_a_kill():
    with serving() as (process, address, next_line):
        post(address, request(RETRIEVER))  # the root has not ended
        process.kill()
    with serving() as (process, address, next_line):
        post(address, request(CHAIN))
        assert "(documents: 2, answer: Ann Lee)" in next_line()
        process.kill()
    assert [hit["id"] for hit in lane("run-mine")["hits"]["chunk"]] == ["harbour", "ship"]


def post(address, content):
    headers = {"Content-Type": "application/json"}
    with urllib.request.urlopen(
        urllib.request.Request(address, json.dumps(content).encode(), headers), timeout=60
    ) as reply:
        assert reply.status == 200


def test_what_cannot_be_started_is_said(monkeypatch, capsys):
    arguments = ["serve", "--otlp", "--otlp-port", str(free_port())]
    assert main(arguments) == EXIT_WRONG_INPUT and "port" in capsys.readouterr().err
    with serving() as (process, address, next_line):
        taken = str(urlsplit(address).port)
        wrong = ["serve", "--otlp", "--corpus", "port", "--otlp-port", taken]
        assert main(wrong) == EXIT_WRONG_INPUT and taken in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, ExportTraceServiceRequest.__module__, None)
    monkeypatch.delitem(sys.modules, "core.serving.otlp_receiver", raising=False)
    monkeypatch.setattr("uvicorn.run", lambda *_, **__: None)
    assert main([*arguments, "--corpus", "port"]) == EXIT_FAILED
    assert "pip install opentelemetry" in capsys.readouterr().err
