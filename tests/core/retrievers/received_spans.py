"""Hand-made spans in OTLP's JSON, and a corpus that their documents are in."""

from __future__ import annotations

from core.corpus import Document, new_folder, write_corpus
from core.sources import CorpusSource
from core.types import Question

HARBOUR = "Ann Lee built the harbour of Varna in 1902."
DOCUMENTS = (
    Document("harbour", HARBOUR),
    Document("ship", "The Marie is a ship."),
    Document("captain", "Bo Holm is the captain of the Marie."),
)
WHO = "Who built the harbour?"
QUESTIONS = (Question(WHO, "1", answers=("Ann Lee",)),)
TRACE = "0a" * 16


def port_corpus() -> CorpusSource:
    """Write the corpus of three documents into the home."""
    write_corpus(new_folder("port"), DOCUMENTS, sets={"port": ("Port", QUESTIONS)})
    return CorpusSource("port")


def span(number, kind, parent=0, trace=TRACE, **attributes):
    """A span that started at second `number`. In the names of attributes, __ is a dot."""
    values = {"openinference.span.kind": kind} if kind else {}
    values |= {name.replace("__", "."): value for name, value in attributes.items()}
    return {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "",
        "startTimeUnixNano": f"{number}000000000",
        "attributes": [
            {"key": key, "value": {"stringValue": text}} for key, text in values.items()
        ],
    }


def found(*ids, prefix="retrieval.documents", **texts):
    """Attributes of retrieved documents: ids alone, or ids with texts."""
    texts = dict.fromkeys(ids, "") | texts
    attributes = {}
    for rank, (id, text) in enumerate(texts.items()):
        attributes[f"{prefix}.{rank}.document.id"] = id
        if text:
            attributes[f"{prefix}.{rank}.document.content"] = text
    return attributes


def request(*spans, service="mine"):
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(spans)}]}]}


ASKS = {"input__value": WHO, "output__value": "Ann Lee"}
CHAIN = span(1, "CHAIN", **ASKS)
RETRIEVER = span(2, "RETRIEVER", 1, input__value=WHO, **found("harbour", "ship"))
RERANKER = span(3, "RERANKER", 1, **found("ship", "harbour", prefix="reranker.output_documents"))
LLM = span(
    4,
    "LLM",
    1,
    llm__input_messages__0__message__role="system",
    llm__input_messages__0__message__content="Answer from these.",
    llm__input_messages__1__message__contents__0__message_content__text=HARBOUR,
    llm__input_messages__1__message__contents__1__message_content__text=WHO,
    output__value="Ann Lee",
)
