"""OpenTelemetry spans and log lines of the work of lanes.

Spans have the attribute names of OpenInference. They are sent if OpenTelemetry's usual environment
variables name a destination. A comparison is a chain of its lanes, and a lane is a chain of its
operators. The operators are retrievers, rerankers, language models or chains, by their stage. Spans
are made after all lanes have ended, with the times at which the work was done, so that no lane
waits for a collector.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from core import __version__
from core.graph.texts import hit_names, hit_texts
from core.io.json_text import json_text
from core.types import Ranking, State, Step

if TYPE_CHECKING:
    from core.comparison.lane_run import LaneRun

MAX_SPAN_ITEMS = 20  # items of a ranking in a span
MAX_SPAN_CHARACTERS = 4_000  # characters of an item's text
# Environment variable. With the value `json`, each lane writes a line of JSON to the error stream.
LOG_VARIABLE = "HOPSCOPE_LOG"
EXPORT_VARIABLES = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_TRACES_EXPORTER",
)
# Kinds of spans by stage. Other stages are CHAIN.
SPAN_KINDS = {
    "extract": "RETRIEVER",
    "retrieve": "RETRIEVER",
    "refine": "RERANKER",
    "generate": "LLM",
}
# Fields of a state that hold rankings.
RANKING_FIELDS = ("paths", "chunks", "nodes", "relations", "communities")
INSTALL_COMMAND = "pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http"


@dataclass(frozen=True)
class TracedLane:
    """A lane to trace: its method, its run, and its error.

    The error is empty if the lane did not fail.
    """

    method: str
    run: LaneRun
    error: str = ""


def are_spans_wanted() -> bool:
    """Return whether spans are to be made.

    They are made if a variable of OpenTelemetry names a destination, or this process has a tracer
    provider.
    """
    if (
        os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
        or os.environ.get("OTEL_TRACES_EXPORTER") == "none"
    ):
        return False
    return any(os.environ.get(name) for name in EXPORT_VARIABLES) or _global_provider() is not None


def send_spans(lanes: Sequence[TracedLane]) -> None:
    """Send spans and write log lines of a question's lanes, if wanted.

    A failure is printed on the error stream.
    """
    if os.environ.get(LOG_VARIABLE, "").strip().lower() == "json":
        for lane in lanes:
            print(json_text(_log_fields(lane)), file=sys.stderr, flush=True)
    if not (lanes and are_spans_wanted()):
        return
    try:
        tracer = _tracer()
        if tracer is not None:
            _make_spans(tracer, lanes)
    except Exception as error:
        print(f"hopscope: a trace could not be made: {error}", file=sys.stderr)


def _log_fields(lane: TracedLane) -> dict[str, Any]:
    run, steps = lane.run, lane.run.state.trace
    seconds = sum(step.seconds for step in steps)
    tokens = sum(step.usage.tokens_in + step.usage.tokens_out for step in steps)
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "event": "lane",
        "level": "error" if lane.error else "info",
        "source": run.ask.source.name,
        "question": run.ask.question.text,
        "method": lane.method,
        "seconds": round(seconds, 3),
        "tokens": tokens,
        "calls": sum(step.usage.calls for step in steps),
        "error": lane.error,
    }


def _make_spans(tracer: Any, lanes: Sequence[TracedLane]) -> None:
    from opentelemetry.trace import Status, StatusCode, set_span_in_context

    ask, now = lanes[0].run.ask, time.time_ns()
    # Begin and end of each operator, in nanoseconds. A lane that failed at once has no times.
    times = {index: lane.run.times or [(now, now)] for index, lane in enumerate(lanes)}
    span_fields = _chain_fields(ask.question.text, "") | {"hopscope.source": ask.source.name}
    root_span = tracer.start_span(
        "compare", start_time=min(spans[0][0] for spans in times.values()), attributes=span_fields
    )
    for index, lane in enumerate(lanes):
        run, start = lane.run, times[index][0][0]
        span_fields = _chain_fields(ask.question.text, _answer_text(run))
        span_fields["hopscope.line"] = repr(run.line)
        span = tracer.start_span(
            lane.method, set_span_in_context(root_span), start_time=start, attributes=span_fields
        )
        state_pairs = pairwise([State(ask.question, ask.seeds), *run.states])
        for (previous, state), (begin, end) in zip(state_pairs, run.times):
            attributes = span_attributes(run.graph, ask.question.text, previous, state)
            step_fields = {key: value for key, value in attributes.items() if value is not None}
            name = state.trace[-1].operator
            tracer.start_span(
                name, set_span_in_context(span), start_time=begin, attributes=step_fields
            ).end(end)
        if lane.error:
            span.set_status(Status(StatusCode.ERROR, lane.error))
        span.end(times[index][-1][1])
    root_span.end(max(spans[-1][1] for spans in times.values()))


def span_attributes(graph: Any, question: str, previous: State, state: State) -> dict[str, Any]:
    """Return the attributes of an operator's span.

    They are its kind and parameters, and the rankings that it changed, with scores. The span of an
    answer has the messages of the language model instead of rankings. The numbers of tokens are
    added if a model was called.
    """
    step = state.trace[-1]
    kind = SPAN_KINDS.get(step.stage, "CHAIN")
    fields: dict[str, Any] = {
        "openinference.span.kind": kind,
        "input.value": question,
        "metadata": json_text(
            {
                "parameters": dict(step.parameters),
                "sizes": dict(step.sizes),
                "notes": list(step.notes),
            },
            default=str,
            ensure_ascii=True,
        ),
    }
    prefix = "retrieval.documents"
    if kind == "RERANKER":
        prefix = "reranker.output_documents"
        keep, model = step.parameters.get("keep"), step.parameters.get("model")
        fields |= {"reranker.query": question, "reranker.top_k": keep, "reranker.model_name": model}
    if kind == "LLM":
        fields |= dict(_message_fields(step, state))
    else:
        fields |= dict(_document_fields(graph, prefix, previous, state))
    usage = step.usage
    if usage.calls:
        total = usage.tokens_in + usage.tokens_out
        names = ("llm.token_count.prompt", "llm.token_count.completion", "llm.token_count.total")
        fields |= dict(zip(names, (usage.tokens_in, usage.tokens_out, total)))
    return fields


def _message_fields(step: Step, state: State) -> Iterator[tuple[str, Any]]:
    """Yield the prompt and the answer of a language model."""
    yield "llm.model_name", step.parameters.get("model") or step.parameters.get("role") or "answer"
    if state.prompt is not None:
        for index, message in enumerate(state.prompt.messages):
            yield f"llm.input_messages.{index}.message.role", message["role"]
            yield f"llm.input_messages.{index}.message.content", message["content"]
    if state.answer is not None:
        yield "output.value", state.answer
        yield "llm.output_messages.0.message.role", "assistant"
        yield "llm.output_messages.0.message.content", state.answer


def _document_fields(
    graph: Any, prefix: str, previous: State, state: State
) -> Iterator[tuple[str, Any]]:
    """Yield the first items of each ranking that the operator changed."""
    number = 0
    for name in RANKING_FIELDS:
        ranking: Ranking | None = getattr(state, name)
        if ranking is None or ranking is getattr(previous, name):
            continue
        items = ranking.items[:MAX_SPAN_ITEMS]
        if ranking.kind == "path":
            names, texts = [""] * len(items), graph.texts(items)
        else:
            names = hit_names(graph, ranking.kind, items)
            texts = hit_texts(graph, ranking.kind, items)
        for rank, (title, text) in enumerate(zip(names, texts)):
            document = f"{prefix}.{number}.document"
            yield f"{document}.id", title or f"{ranking.kind} {rank + 1}"
            yield f"{document}.content", (text or title)[:MAX_SPAN_CHARACTERS]
            yield f"{document}.score", ranking.score(rank)
            number += 1


def _chain_fields(question: str, answer: str) -> dict[str, Any]:
    fields = {"openinference.span.kind": "CHAIN", "input.value": question}
    if answer:
        fields["output.value"] = answer
    return fields


def _answer_text(run: LaneRun) -> str:
    """Return the language model's answer, else the names of the graph reader."""
    state = run.state
    names = run.graph.names(state.reader or ())
    return state.answer or ", ".join(names[:MAX_SPAN_ITEMS])


def _global_provider() -> Any:
    """Return the tracer provider that this process has set; None if there is none.

    No library is loaded for this.
    """
    if "opentelemetry.sdk.trace" not in sys.modules:
        return None
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import get_tracer_provider

    provider = get_tracer_provider()
    return provider if isinstance(provider, TracerProvider) else None


def _tracer() -> Any:
    provider = _global_provider() or _own_provider()
    return None if provider is None else provider.get_tracer("hopscope", __version__)


@lru_cache(maxsize=1)
def _own_provider() -> Any:
    """Create a provider from OpenTelemetry's environment variables.

    The result is None if the libraries are not installed. The advice to install them is printed
    only once, because the result is cached.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter
    except ImportError:
        print(
            f"hopscope: traces need OpenTelemetry's libraries: {INSTALL_COMMAND}", file=sys.stderr
        )
        return None
    service_fields = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": "hopscope"}
    provider = TracerProvider(resource=Resource.create(service_fields))
    console = os.environ.get("OTEL_TRACES_EXPORTER") == "console"
    provider.add_span_processor(
        BatchSpanProcessor(ConsoleSpanExporter(out=sys.stderr) if console else OTLPSpanExporter())
    )
    return provider
