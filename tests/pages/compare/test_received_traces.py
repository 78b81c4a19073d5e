"""A received trace is a lane of Compare, and its texts are drawn as text."""

from __future__ import annotations

import pytest

from core.methods.catalogue import catalogue
from core.retrievers.runs.received_traces import TraceCollector
from pages.parts.board.payload import Board
from pages.parts.board.static_board import comparison_html
from tests.core.retrievers.received_spans import (
    found,
    port_corpus,
    request,
    span,
)
from tests.pages.compare.test_compare import job, opened
from tests.pages.compare.three_documents import LINE

MARKUP = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>"
QUESTION_WITH_MARKUP = f"Who built the harbour? {MARKUP}"


@pytest.fixture(autouse=True)
def received(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    collector = TraceCollector(port_corpus(), lambda run, row: None, lambda sentence: None)
    collector.add(
        request(
            span(1, "CHAIN", input__value=QUESTION_WITH_MARKUP, output__value=f"Ann Lee {MARKUP}"),
            span(2, "RETRIEVER", 1, **found("ship", "harbour", MARKUP)),
            span(3, "LLM", 1, llm__input_messages__0__message__content=f"Answer {MARKUP}"),
            service=f"mine {MARKUP}",
        )
    )


def test_the_link_of_a_received_question_draws_its_lane_and_no_markup():
    (method,) = (key for key in catalogue() if key.startswith("run-"))
    at = opened(corpus="port", q=QUESTION_WITH_MARKUP, lane=[method, LINE], llm="0", reader="0")
    assert not at.exception
    comparison = job(at).comparison
    lane = Board(comparison).payload()["lanes"][0]
    rows = lane["hits"][0]["rows"]
    assert ["ship" in rows[0]["text"].casefold(), len(rows)] == [True, 2]
    page = comparison_html(comparison, Board(comparison))
    assert "Ann Lee" in page and "window.hacked" in page
    assert "<script>window.hacked" not in page and "<img src=x" not in page
