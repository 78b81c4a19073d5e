"""Traces written by the libraries of OpenInference and Langfuse (recorded/SOURCE.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.retrievers.reply import ReplyDocument
from core.retrievers.runs.formats import read_run_file

RECORDED = Path(__file__).with_name("recorded")
HARBOUR = "Ann Lee built the harbour of Varna in 1902."


SPANS = [
    "openinference-console.json",
    "openinference-otlp.json",
    "phoenix.parquet",
    "phoenix.jsonl",
    "phoenix.csv",
]


@pytest.mark.parametrize("file", SPANS)
def test_openinference_spans_are_read(file):
    read = read_run_file(RECORDED / file)
    second, first = sorted(read.rows, key=lambda row: row.answer, reverse=True)
    assert (read.format, read.notes) == ("openinference", ())
    assert (first.question, first.answer) == ("Who built the harbour?", "Ann Lee")
    assert first.documents == (
        ReplyDocument("harbour.txt", text=HARBOUR, score=0.9),
        ReplyDocument("ship.txt", text="The Marie is a ship.", score=0.4),
    )
    assert (second.question, second.answer, len(second.documents)) == (
        "Who is captain of the Marie?",
        "Bo Holm",
        1,
    )


def test_langfuse_observations_with_json_texts_are_read():
    read = read_run_file(RECORDED / "langfuse-observations.json")
    first, second = read.rows
    assert (read.format, read.notes) == ("langfuse", ())
    assert (first.question, first.documents, first.answer) == (
        "Who built the harbour?",
        (ReplyDocument("harbour.txt", text=HARBOUR),),
        "Ann Lee",
    )
    # This span is marked as a root, though its parent is elsewhere.
    assert (second.question, second.answer) == ("Who owns the Marie?", "Ann Lee does.")
