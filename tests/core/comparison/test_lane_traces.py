"""Traces of lanes in OpenInference's terms, one tree per comparison.

They go to a collector or to the tracer provider of this process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from core.comparison import lane_traces
from core.engine import Engine
from core.io.home import ROOT
from core.methods.catalogue import find_method
from core.models.base import NoModels
from core.operators import OPERATORS
from core.sources import GraphSource
from core.types import Question

pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk is not installed")
from openinference.semconv.trace import (
    DocumentAttributes,
    OpenInferenceSpanKindValues,
    SpanAttributes,
)
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


@pytest.fixture
def spans(monkeypatch):
    """A function that returns the exported spans, with a tracer provider set for this process."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(lane_traces, "_global_provider", lambda: provider)
    return exporter.get_finished_spans


def compared(films, kit, *lines: str):
    engine = Engine(NoModels())
    ask = GraphSource.of(kit.graph).ask(
        Question("who made One", entities=("One",)), uses_model=False
    )
    job = engine.compare(ask, [find_method(line) for line in lines])
    assert job.wait(60)
    return job.comparison


def test_comparison_is_one_trace_tree(films, kit, spans):
    comparison = compared(
        films,
        kit,
        "EgoNetwork(hops=1) >> ShortestPaths(hops=1)",
        "EgoNetwork(hops=2) >> ShortestPaths(hops=2)",
    )
    found = {span.context.span_id: span for span in spans()}
    (root,) = [span for span in found.values() if span.parent is None]
    lanes = [
        span
        for span in found.values()
        if span.parent and span.parent.span_id == root.context.span_id
    ]
    assert root.name == "compare" and {span.name for span in lanes} == {
        lane.method.name for lane in comparison.lanes
    }
    for lane, traced in zip(
        sorted(comparison.lanes, key=lambda lane: lane.method.name),
        sorted(lanes, key=lambda span: span.name),
    ):
        below = [
            span
            for span in found.values()
            if span.parent and span.parent.span_id == traced.context.span_id
        ]
        below.sort(key=lambda span: span.start_time)
        assert [span.name for span in below] == [step.operator for step in lane.state.trace]
        assert all(
            traced.start_time <= span.start_time <= span.end_time <= traced.end_time
            for span in below
        )


def test_names_and_kinds_follow_openinference(films, kit, spans):
    comparison = compared(films, kit, "EgoNetwork(hops=1) >> ShortestPaths(hops=1)")
    kinds = {kind.value for kind in OpenInferenceSpanKindValues}
    assert set(lane_traces.SPAN_KINDS.values()) <= kinds and all(
        stage in {one.stage for one in OPERATORS.values()} for stage in lane_traces.SPAN_KINDS
    )
    retrieved = next(span for span in spans() if span.name == "ShortestPaths")
    state = comparison.lanes[0].states[1]
    texts = kit.graph.texts(state.paths.items)
    assert retrieved.attributes[SpanAttributes.OPENINFERENCE_SPAN_KIND] == "RETRIEVER"
    assert retrieved.attributes[SpanAttributes.INPUT_VALUE] == "who made One"
    for at, text in enumerate(texts[: lane_traces.MAX_SPAN_ITEMS]):
        assert (
            retrieved.attributes[
                f"{SpanAttributes.RETRIEVAL_DOCUMENTS}.{at}.{DocumentAttributes.DOCUMENT_CONTENT}"
            ]
            == text
        )


def test_failed_lane_has_its_error(films, kit, spans):
    compared(films, kit, "EgoNetwork(hops=1) >> ShortestPaths(hops=1) >> Rank()")
    failed = [span for span in spans() if span.status.description]
    assert len(failed) == 1 and "No model" in failed[0].status.description


def test_no_trace_without_a_collector(films, kit, monkeypatch):
    for name in (*lane_traces.EXPORT_VARIABLES, "OTEL_SDK_DISABLED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(lane_traces, "_tracer", lambda: pytest.fail("a span was made"))
    compared(films, kit, "EgoNetwork(hops=1) >> ShortestPaths(hops=1)")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    assert lane_traces.are_spans_wanted()
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert not lane_traces.are_spans_wanted()


def test_log_has_a_json_line_per_lane(films, kit, monkeypatch, capsys):
    monkeypatch.setenv(lane_traces.LOG_VARIABLE, "json")
    compared(
        films,
        kit,
        "EgoNetwork(hops=1) >> ShortestPaths(hops=1)",
        "EgoNetwork(hops=1) >> ShortestPaths(hops=1) >> Rank()",
    )
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(line["event"], line["level"]) for line in lines] == [
        ("lane", "info"),
        ("lane", "error"),
    ]
    assert lines[0]["question"] == "who made One" and "No model" in lines[1]["error"]


def test_a_collector_gets_them(tmp_path):
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    got: list[bytes] = []

    class TraceCollectorHandler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            import gzip

            got.append(
                gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
            )
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), TraceCollectorHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        told = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
            "OTEL_SERVICE_NAME": "mine",
        }
        line = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"
        command = [
            sys.executable,
            "-m",
            "core",
            "ask",
            "who directed Inception",
            "--no-llm",
            "--method",
            line,
        ]
        subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, **told},
            check=True,
            capture_output=True,
            timeout=240,
        )
    finally:
        server.shutdown()
    resources = [
        resource
        for body in got
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
    ]
    service = [
        one.value.string_value
        for resource in resources
        for one in resource.resource.attributes
        if one.key == "service.name"
    ]
    assert set(service) == {"mine"}
    names = [
        span.name
        for resource in resources
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    assert sorted(names) == sorted(
        ["compare", "Own method", "EgoNetwork", "ShortestPaths", "GraphReader"]
    )
