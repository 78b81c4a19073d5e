"""OTLP receiver of traces over HTTP: `/v1/traces`, in protobuf or JSON."""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from google.protobuf import json_format  # type: ignore[import-untyped]
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from core.errors import StoreError
from core.retrievers.runs.received_traces import describe_problems

MAX_TRACES_BYTES = 16 << 20  # of a request, and of its decompressed content
PROTOBUF_TYPE, JSON_TYPE = "application/x-protobuf", "application/json"
GZIP_WINDOW_BITS = 31  # zlib's sign for the gzip format
# Names of this computer. A page on the web that resolves to it has another one.
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1", "[::1]")
TOO_LONG = HTTPException(413, f"At most {MAX_TRACES_BYTES:,} bytes. Send fewer spans at once.")


def make_receiver(add: Callable[[Mapping[str, Any]], Counter[str]], key: str = "") -> Starlette:
    """Return the web application of a receiver.

    Parameters
    ----------
    add : takes a request as OTLP's JSON and returns the spans left out, by reason. It is called by
        one thread at a time.
    key : requests need the header `Authorization: Bearer KEY`; without one, they need to be sent to
        a name of this computer.
    """
    lock = threading.Lock()

    def add_alone(content: Mapping[str, Any]) -> Counter[str]:
        with lock:
            return add(content)

    async def receive(request: Request) -> Response:
        media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        encoding = request.headers.get("content-encoding", "identity").strip().lower()
        sent_key = request.headers.get("authorization", "").encode()
        if key and not secrets.compare_digest(sent_key, f"Bearer {key}".encode()):
            raise HTTPException(401, "Send the key as “Authorization: Bearer KEY”.")
        if media not in (PROTOBUF_TYPE, JSON_TYPE) or encoding not in ("identity", "gzip"):
            raise HTTPException(415, f"Send {PROTOBUF_TYPE} or {JSON_TYPE}, also with gzip.")
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > MAX_TRACES_BYTES:
                raise TOO_LONG
        read = _read_protobuf if media == PROTOBUF_TYPE else json.loads
        reply = await asyncio.to_thread(_add, add_alone, read, bytes(body), encoding)
        if media == PROTOBUF_TYPE:
            return Response(reply.SerializeToString(), media_type=PROTOBUF_TYPE)
        return Response(json_format.MessageToJson(reply), media_type=JSON_TYPE)

    hosts = ["*"] if key else list(LOOPBACK_HOSTS)
    return Starlette(
        routes=[Route("/v1/traces", receive, methods=["POST"])],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=hosts)],
    )


def _add(
    add: Callable[[Mapping[str, Any]], Counter[str]],
    read: Callable[[bytes], Any],
    body: bytes,
    encoding: str,
) -> ExportTraceServiceResponse:
    """Add the spans of a request, and return the reply. Raises HTTPException."""
    try:
        content = read(_decompress(body) if encoding == "gzip" else body)
        resources = content.get("resourceSpans", content.get("resource_spans", []))
        if not all(isinstance(resource, Mapping) for resource in resources):
            raise TypeError("resourceSpans is a list of objects")
        problems = add(content)
    except StoreError as error:  # a client sends the spans again
        raise HTTPException(503, str(error)) from None
    except (
        ValueError,
        TypeError,
        AttributeError,
        RecursionError,
        DecodeError,
        zlib.error,
    ) as error:
        raise HTTPException(400, f"The body is no request of OTLP: {error}") from None
    reply = ExportTraceServiceResponse()
    if problems:
        reply.partial_success.rejected_spans = problems.total()
        reply.partial_success.error_message = describe_problems(problems)
    return reply


def _read_protobuf(body: bytes) -> Mapping[str, Any]:
    return json_format.MessageToDict(ExportTraceServiceRequest.FromString(body))


def _decompress(body: bytes) -> bytes:
    stream = zlib.decompressobj(GZIP_WINDOW_BITS)
    content = stream.decompress(body, MAX_TRACES_BYTES + 1)
    if len(content) > MAX_TRACES_BYTES:
        raise TOO_LONG
    if not stream.eof:
        raise ValueError("it ends within its gzip stream")
    return content
