"""Readers of runs from exported traces: OpenInference spans (Phoenix, OTLP), and Langfuse."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from core.retrievers.reply import ReplyDocument
from core.retrievers.runs.run_rows import (
    INPUT_TEXT_KEYS,
    OUTPUT_TEXT_KEYS,
    RunRow,
    documents_in,
    flat_leaves,
    parse_text,
    text_in,
)

KIND = "openinference.span.kind"  # attribute with the kind of a span
# Attributes of OpenInference; of a span with both, the second one is used.
DOCUMENT_LIST_KEYS = ("retrieval.documents", "reranker.output_documents")
RETRIEVAL_SPAN_KINDS = ("RETRIEVER", "RERANKER")
CALLER_SPAN_KINDS = ("CHAIN", "AGENT")  # they call the others, so their input is the question
SPAN_KIND_NAMES = frozenset(
    "AGENT CHAIN DECISION EMBEDDING EVALUATOR GUARDRAIL LLM PROMPT RERANKER RETRIEVER TOOL "
    "UNKNOWN".split()
)
# Attributes with the texts of a prompt: messages, messages of several contents, completions.
PROMPT_KEY = re.compile(
    r"llm\.(input_messages\.\d+\.message\.content(s\.\d+\.message_content\.text)?"
    r"|prompts\.\d+\.prompt\.text)"
)
MAX_INDEX_DIGITS = 6  # of a document's index in the name of an attribute
# keys of a value in OTLP/JSON, by its type
OTLP_VALUE_KEYS = ("stringValue", "intValue", "doubleValue", "boolValue")


@dataclass(frozen=True)
class Span:
    """A span of OpenInference, or an observation of Langfuse."""

    trace: str  # id of the trace
    kind: str  # in capitals, such as RETRIEVER
    is_root: bool
    question: str
    answer: str
    documents: tuple[ReplyDocument, ...] = ()
    start_time: str = ""
    is_reply: bool = False  # True if it holds a language model's reply
    prompt: str = ""  # what the language model was shown
    id: str = ""
    service: str = ""  # the `service.name` of its program


def is_openinference(row: Mapping[str, Any]) -> bool:
    """Return whether an object is an OpenInference span, or holds spans."""
    if "resourceSpans" in row or "resource_spans" in row or "span_kind" in row:
        return True
    has_id = any(key in row for key in ("context", "traceId", "trace_id", "context.trace_id"))
    return has_id and (
        isinstance(row.get("attributes"), Mapping | list)
        or any(key.startswith("attributes.") for key in row)
    )


def is_langfuse(row: Mapping[str, Any]) -> bool:
    """Return whether an object is a trace or an observation of Langfuse."""
    if isinstance(row.get("trace"), Mapping) or isinstance(row.get("observations"), list):
        return True
    return (
        "input" in row
        and "output" in row
        and ("traceId" in row or {"id", "timestamp"} <= row.keys())
    )


def read_openinference(rows: Iterable[Mapping[str, Any]]) -> Iterator[RunRow]:
    """Yield a row for each trace of OpenInference.

    It has the question and the answer of the root span, the documents of the last retrieval or
    re-ranking, and the last prompt.
    """
    return _by_trace(chain.from_iterable(map(_spans, rows)))


def otlp_spans(request: Mapping[str, Any]) -> Iterator[Span]:
    """Yield the spans of an OTLP request."""
    for resource in _objects(request, "resourceSpans", "resource_spans"):
        fields = resource.get("resource")
        attributes = _attributes(fields) if isinstance(fields, Mapping) else {}
        service = text_in(attributes.get("service.name"))
        for scope in _objects(resource, "scopeSpans", "scope_spans"):
            for span in _objects(scope, "spans"):
                yield replace(read_span(span), service=service)


def read_langfuse(rows: Iterable[Mapping[str, Any]]) -> Iterator[RunRow]:
    """Yield a row for each trace of Langfuse.

    It has the trace's input, the documents of its last retriever, and its output, else the output
    of its last generation.
    """
    return _by_trace(chain.from_iterable(map(_observations, rows)))


def _by_trace(spans: Iterable[Span]) -> Iterator[RunRow]:
    """Yield the row of each trace, made of all its spans."""
    spans_by_trace: dict[str, list[Span]] = {}
    for span in spans:
        spans_by_trace.setdefault(span.trace, []).append(span)
    for trace_spans in spans_by_trace.values():
        yield row_of_spans(trace_spans)


def row_of_spans(spans: Iterable[Span]) -> RunRow:
    """Return the row of a trace."""
    ordered = sorted(spans, key=lambda span: span.start_time)
    root = next((span for span in ordered if span.is_root and span.question), None)
    asking_span = root or next((span for span in ordered if span.question), None)
    return RunRow(
        question=asking_span.question if asking_span else "",
        documents=_last_documents(ordered),
        answer=_root_answer(asking_span) or _last_reply(ordered) or None,
        prompt=next((span.prompt for span in reversed(ordered) if span.prompt), None),
    )


def _last_documents(spans: Sequence[Span]) -> tuple[ReplyDocument, ...]:
    """Return the documents of the last re-ranking, else of the last retrieval."""
    retrievals = [span for span in spans if span.documents]
    rerankings = [span for span in retrievals if span.kind == "RERANKER"]
    result_spans = rerankings or retrievals
    return result_spans[-1].documents if result_spans else ()


def _root_answer(span: Span | None) -> str:
    """Return the output of the span that has the question.

    The result is empty for a retrieval, whose output are documents. Below a span of another kind,
    as a web server's, only a chain or an agent has the answer.
    """
    if span is None or span.kind in RETRIEVAL_SPAN_KINDS:
        return ""
    return span.answer if span.is_root or span.kind in CALLER_SPAN_KINDS else ""


def _last_reply(spans: Sequence[Span]) -> str:
    """Return the last reply of a language model; empty if there is none."""
    replies = [span.answer for span in spans if span.is_reply and span.answer]
    return replies[-1] if replies else ""


def _spans(row: Mapping[str, Any]) -> Iterator[Span]:
    """Yield the spans in an object: those of an OTLP export, or the object itself."""
    yield from otlp_spans(row)
    if "resourceSpans" not in row and "resource_spans" not in row:
        yield read_span(row)


def _objects(row: Mapping[str, Any], *keys: str) -> list[Mapping[str, Any]]:
    """Return the objects in the first list under some keys.

    The result is empty if there is no list.
    """
    items: list[Any] = next((row[key] for key in keys if isinstance(row.get(key), list)), [])
    return [item for item in items if isinstance(item, Mapping)]


def read_span(row: Mapping[str, Any]) -> Span:
    """Return the span of an object.

    The object is as OTLP, Phoenix or the console exporter writes it.
    """
    context_field = row.get("context")
    context: Mapping[str, Any] = context_field if isinstance(context_field, Mapping) else {}
    trace = _first_value(row, "traceId", "trace_id", "context.trace_id") or context.get("trace_id")
    id = text_in(_first_value(row, "spanId", "span_id"))
    attributes = dict(flat_leaves(_attributes(row)))
    kind = text_in(attributes.get(KIND) or row.get("span_kind")).upper()
    return Span(
        trace=text_in(trace) or id or "one",
        kind=kind,
        is_root=not _first_value(row, "parentSpanId", "parent_span_id", "parent_id"),
        question=text_in(attributes.get("input.value"), INPUT_TEXT_KEYS),
        answer=text_in(attributes.get("output.value"), OUTPUT_TEXT_KEYS),
        documents=_span_documents(attributes),
        start_time=text_in(_first_value(row, "startTimeUnixNano", "start_time", "startTime")),
        is_reply=kind == "LLM",
        prompt=_prompt(attributes) if kind == "LLM" else "",
        id=id,
    )


def _first_value(row: Mapping[str, Any], *keys: str) -> Any:
    """Return the first value under some keys that is not empty; None if there is none."""
    return next((row[key] for key in keys if row.get(key)), None)


def _prompt(attributes: Mapping[str, Any]) -> str:
    """Return the texts of a language model's messages, else its input, unless that is JSON."""
    texts = [text_in(value) for key, value in attributes.items() if PROMPT_KEY.fullmatch(key)]
    return "\n\n".join(texts) or text_in(attributes.get("input.value"), ("content",))


def _attributes(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the attributes of a span.

    They are an object, OTLP's list of keys and values, or columns that begin with `attributes.`.
    """
    attributes = row.get("attributes")
    if isinstance(attributes, list):
        values: dict[str, Any] = {}
        for attribute in attributes:
            value = attribute.get("value") if isinstance(attribute, Mapping) else None
            if isinstance(value, Mapping):
                known_values = (value[key] for key in OTLP_VALUE_KEYS if key in value)
                values[str(attribute.get("key"))] = next(known_values, None)
        return values
    if isinstance(attributes, str):
        attributes = parse_text(attributes)
    if isinstance(attributes, Mapping):
        return attributes
    columns = {
        key.removeprefix("attributes."): value
        for key, value in row.items()
        if key.startswith("attributes.")
    }
    for key in DOCUMENT_LIST_KEYS:
        if isinstance(columns.get(key), str):  # in CSV the lists are texts
            columns[key] = parse_text(columns[key])
    return columns


def _span_documents(attributes: Mapping[str, Any]) -> tuple[ReplyDocument, ...]:
    """Return the documents of a retriever's or a re-ranker's span, in their order.

    Their keys are such as `retrieval.documents.0.document.content`.
    """
    for name in reversed(DOCUMENT_LIST_KEYS):
        documents: dict[int, dict[str, Any]] = {}
        for key, value in attributes.items():
            suffix = key.removeprefix(f"{name}.")
            index, _, part = suffix.partition(".")
            if suffix != key and index.isdecimal() and len(index) <= MAX_INDEX_DIGITS:
                documents.setdefault(int(index), {})[part.removeprefix("document.")] = value
        if documents:
            return documents_in([documents[rank] for rank in sorted(documents)])
    return ()


def _observations(row: Mapping[str, Any]) -> Iterator[Span]:
    """Yield the spans of a Langfuse object: a trace with observations, or one of them alone."""
    trace = row["trace"] if isinstance(row.get("trace"), Mapping) else row
    observations = row.get("observations")
    if isinstance(observations, list):
        id = text_in(trace.get("id")) or "one"
        yield Span(
            trace=id,
            kind="TRACE",
            is_root=True,
            question=text_in(trace.get("input"), INPUT_TEXT_KEYS),
            answer=text_in(trace.get("output"), OUTPUT_TEXT_KEYS),
        )
        for observation in observations:
            if isinstance(observation, Mapping):
                yield _observation(observation, id, False)
        return
    is_trace = "traceId" not in row
    # An observation marked as root may still name a parent.
    is_root = is_trace or row.get("isRootObservation") is True or not row.get("parentObservationId")
    yield _observation(row, text_in(row.get("id" if is_trace else "traceId")), is_root)


def _observation(row: Mapping[str, Any], trace: str, is_root: bool) -> Span:
    """Return the span of an observation.

    Many programs record retrievals as plain spans, so a name with "retriev", "rerank" or "search"
    counts as a retrieval too.
    """
    type_name = text_in(row.get("type")).upper()
    name = text_in(row.get("name")).casefold()
    question, output = _decode_value(row.get("input")), _decode_value(row.get("output"))
    has_retrieval_name = any(word in name for word in ("retriev", "rerank", "search"))
    is_retrieval = type_name == "RETRIEVER" or (type_name != "GENERATION" and has_retrieval_name)
    kind = "RETRIEVER" if is_retrieval else type_name
    if "rerank" in name:
        kind = "RERANKER"
    values = [output]
    if isinstance(output, Mapping):
        keys = ("documents", "docs", "results", "chunks", "contexts")
        values = [output.get(key) for key in keys]
    lists = [value for value in values if isinstance(value, list)]
    documents = documents_in(lists[0]) if is_retrieval and lists else ()
    answer = "" if documents else text_in(output, OUTPUT_TEXT_KEYS)
    return Span(
        trace=trace,
        kind=kind,
        is_root=is_root,
        question=text_in(question, INPUT_TEXT_KEYS),
        answer=answer,
        documents=documents,
        start_time=text_in(row.get("startTime")),
        is_reply=kind == "GENERATION",
    )


def _decode_value(value: Any) -> Any:
    """Return the value of JSON in a text.

    Langfuse 2 writes inputs and outputs as such texts. Any other value is returned unchanged.
    """
    if isinstance(value, str) and value[:1] == value[-1:] == '"':
        with suppress(ValueError):
            return json.loads(value)
    return parse_text(value) if isinstance(value, str) else value
