"""The OTLP receiver: protobuf, JSON and gzip, replies, bounds, and hostile requests."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("opentelemetry.proto", reason="opentelemetry-proto is not installed")
from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from starlette.testclient import TestClient

from core.errors import StoreError
from core.retrievers.runs.received_traces import TraceCollector
from core.retrievers.runs.saved_runs import runs_by_name
from core.serving import otlp_receiver
from core.serving.otlp_receiver import JSON_TYPE, PROTOBUF_TYPE, make_receiver
from core.types import Question
from tests.core.retrievers.received_spans import CHAIN, RETRIEVER, WHO, port_corpus, request, span

TRACE_REQUEST = request(RETRIEVER, CHAIN)


def protobuf(content) -> bytes:
    """A request in protobuf, whose JSON has ids in base64."""
    message = json_format.ParseDict(content, ExportTraceServiceRequest())
    for resource, plain in zip(message.resource_spans, content["resourceSpans"]):
        for one, fields in zip(resource.scope_spans[0].spans, plain["scopeSpans"][0]["spans"]):
            one.trace_id = bytes.fromhex(fields["traceId"])
            one.span_id = bytes.fromhex(fields["spanId"])
            one.parent_span_id = bytes.fromhex(fields["parentSpanId"])
    return message.SerializeToString()


@pytest.fixture
def collector(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return TraceCollector(port_corpus(), lambda run, row: None, lambda sentence: None)


@pytest.fixture
def client(collector):
    with TestClient(make_receiver(collector.add), base_url="http://127.0.0.1") as opened:
        yield opened


def post(client, body, media=JSON_TYPE, **headers):
    return client.post("/v1/traces", content=body, headers={"Content-Type": media, **headers})


BODIES = {
    "protobuf": (protobuf(TRACE_REQUEST), PROTOBUF_TYPE, {}),
    "protobuf, gzip": (
        gzip.compress(protobuf(TRACE_REQUEST)),
        PROTOBUF_TYPE,
        {"Content-Encoding": "gzip"},
    ),
    "json": (json.dumps(TRACE_REQUEST).encode(), "application/json; charset=utf-8", {}),
    "json, gzip": (
        gzip.compress(json.dumps(TRACE_REQUEST).encode()),
        JSON_TYPE,
        {"Content-Encoding": "gzip"},
    ),
}


@pytest.mark.parametrize("form", BODIES)
def test_a_request_is_received_in_each_form(client, form):
    body, media, headers = BODIES[form]
    reply = post(client, body, media, **headers)
    assert reply.status_code == 200
    if media == PROTOBUF_TYPE:
        message = ExportTraceServiceResponse.FromString(reply.content)
        assert not message.HasField("partial_success")
    else:
        assert reply.json() == {}
    assert reply.headers["Content-Type"] == media.partition(";")[0]
    row = runs_by_name()["mine"].find_row(Question(WHO))
    assert (row.answer, [document.id for document in row.documents]) == (
        "Ann Lee",
        ["harbour", "ship"],
    )


def test_what_is_rejected_is_in_the_reply(client):
    content = request(RETRIEVER, CHAIN, span(7, "SORTER", 1), span(8, "", 1))
    message = ExportTraceServiceResponse.FromString(
        post(client, protobuf(content), PROTOBUF_TYPE).content
    )
    assert message.partial_success.rejected_spans == 2
    assert "OpenInference" in message.partial_success.error_message
    said = post(client, json.dumps(content)).json()["partialSuccess"]
    assert said["rejectedSpans"] == "2" and "OpenInference" in said["errorMessage"]


DEEP = "[" * 5_000 + "]" * 5_000
NESTED = '{"a":' * 900 + "1" + "}" * 900
MALFORMED = {
    "no JSON": (b"{", JSON_TYPE, {}),
    "nothing": (b"", JSON_TYPE, {}),
    "a list": (b"[]", JSON_TYPE, {}),
    "no list of spans": (b'{"resourceSpans": 7}', JSON_TYPE, {}),
    "a list of texts": (b'{"resourceSpans": ["a"]}', JSON_TYPE, {}),
    "no UTF-8": (b'{"resourceSpans": ["\xff"]}', JSON_TYPE, {}),
    "deep": (DEEP.encode(), JSON_TYPE, {}),
    "a long number": (b'{"resourceSpans": %s}' % (b"9" * 10_000), JSON_TYPE, {}),
    "no protobuf": (b"\xff\xff\xff", PROTOBUF_TYPE, {}),
    "cut protobuf": (BODIES["protobuf"][0][:-3], PROTOBUF_TYPE, {}),
    "JSON as protobuf": (BODIES["json"][0], PROTOBUF_TYPE, {}),
    "no gzip": (b"{}", JSON_TYPE, {"Content-Encoding": "gzip"}),
    "cut gzip": (BODIES["json, gzip"][0][:-9], JSON_TYPE, {"Content-Encoding": "gzip"}),
}


@pytest.mark.parametrize("body, media, headers", MALFORMED.values(), ids=MALFORMED)
def test_malformed_request_is_refused_and_the_next_one_is_received(client, body, media, headers):
    reply = post(client, body, media, **headers)
    assert reply.status_code == 400
    assert reply.text
    assert post(client, BODIES["json"][0]).status_code == 200 and "mine" in runs_by_name()


def test_other_types_and_addresses_are_refused(client):
    assert post(client, b"{}", "text/plain").status_code == 415
    assert post(client, b"{}", JSON_TYPE, **{"Content-Encoding": "br"}).status_code == 415
    assert client.get("/v1/traces").status_code == 405
    assert client.post("/v1/logs").status_code == 404


def test_long_requests_are_refused_also_as_a_small_gzip(client, monkeypatch):
    monkeypatch.setattr(otlp_receiver, "MAX_TRACES_BYTES", 1_000)
    blanks = b" " * 1_001
    assert post(client, blanks).status_code == 413
    zipped = gzip.compress(blanks)
    assert len(zipped) < 100
    assert post(client, zipped, **{"Content-Encoding": "gzip"}).status_code == 413


def test_a_page_of_another_site_is_refused(client):
    """A browser sends the name of the site, though that resolves to this computer."""
    for host, status in {"evil.example": 400, "localhost:4318": 200, "[::1]:4318": 200}.items():
        assert post(client, b"{}", Host=host).status_code == status
    preflight = client.options("/v1/traces", headers={"Origin": "http://evil.example"})
    assert preflight.status_code == 405
    assert "access-control-allow-origin" not in preflight.headers


def test_others_need_the_key(collector):
    with TestClient(make_receiver(collector.add, "the key")) as opened:
        for sent in ("", "Bearer other", "the key", "Bearer thé key"):
            headers = {"Content-Type": JSON_TYPE, "Authorization": sent.encode("latin-1")}
            assert opened.post("/v1/traces", content=b"{}", headers=headers).status_code == 401
        assert post(opened, b"{}", Authorization="Bearer the key").status_code == 200


def test_a_full_store_asks_to_send_again():
    def refuse(_):
        raise StoreError("The disk is full.")

    with TestClient(make_receiver(refuse), base_url="http://127.0.0.1") as opened:
        reply = post(opened, b"{}")
    assert reply.status_code == 503 and reply.text == "The disk is full."


HOSTILE_VALUES = [
    '"\\ud83d"',
    '"\\u0000\\u001b[31m<script>"',
    "null",
    "true",
    "NaN",
    "1e999",
    "9" * 400,
    "[]",
    "{}",
    '["a", {"b": [1]}]',
    '{"stringValue": "\\ud83d"}',
    '{"stringValue": {"intValue": []}}',
    '{"doubleValue": NaN}',
    '{"stringValue": "%s"}' % ("[" * 3_000),
    '{"stringValue": "%s1"}' % ("-" * 3_000),
    '{"arrayValue": {"values": [{"stringValue": "a"}]}}',
    NESTED,
    f'"{"0" * 32}"',
]
SPAN_FIELDS = (
    "traceId",
    "spanId",
    "parentSpanId",
    "startTimeUnixNano",
    "attributes",
    "kind",
    "context",
)
ATTRIBUTE_KEYS = (
    "openinference.span.kind",
    "input.value",
    "output.value",
    "retrieval.documents",
    "retrieval.documents.0.document",
    "retrieval.documents.0.document.metadata",
    "reranker.output_documents.0.document.score",
    "llm.input_messages.0.message.content",
)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    fields=st.dictionaries(
        st.sampled_from(SPAN_FIELDS), st.sampled_from(HOSTILE_VALUES), max_size=2
    ),
    values=st.dictionaries(
        st.sampled_from(ATTRIBUTE_KEYS), st.sampled_from(HOSTILE_VALUES), max_size=4
    ),
    service=st.sampled_from(HOSTILE_VALUES),
)
def test_hostile_values_never_stop_the_receiver(client, fields, values, service):
    attributes = [
        '{"key": "openinference.span.kind", "value": {"stringValue": "RETRIEVER"}}',
        f'{{"key": "input.value", "value": {{"stringValue": "{WHO}"}}}}',
        *(f'{{"key": "{key}", "value": {value}}}' for key, value in values.items()),
    ]
    parts = {
        "traceId": f'"{"0d" * 16}"',
        "spanId": '"0000000000000001"',
        "attributes": f"[{', '.join(attributes)}]",
    }
    fields_text = ", ".join(f'"{name}": {value}' for name, value in (parts | fields).items())
    resource = f'{{"attributes": [{{"key": "service.name", "value": {service}}}]}}'
    body = (
        f'{{"resourceSpans": [{{"resource": {resource}, '
        f'"scopeSpans": [{{"spans": [{{{fields_text}}}]}}]}}]}}'
    )
    assert post(client, body).status_code in (200, 400)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.binary(max_size=6), st.integers(0, len(BODIES["protobuf"][0])))
def test_damaged_protobuf_never_stops_the_receiver(client, piece, at):
    body = BODIES["protobuf"][0]
    damaged = body[:at] + piece + body[at + len(piece) :]
    assert post(client, damaged, PROTOBUF_TYPE).status_code in (200, 400)
