"""Collector of the spans that a running retriever sends: each trace becomes a recorded answer.

Spans are saved before they are acknowledged, and are stored for a while, so that late ones complete
the answer of their trace.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from core.errors import BadInput, StoreError, shorten
from core.graph.names.seeds import check_question
from core.io.home import home_folder
from core.io.plain_data import from_plain, to_plain
from core.io.rows import RowFile, Schema
from core.retrievers.runs.run_rows import RunRow
from core.retrievers.runs.saved_runs import FileRun, known_texts, record_row
from core.retrievers.runs.traces import SPAN_KIND_NAMES, Span, otlp_spans, row_of_spans
from core.sources import AnswerSource

RECEIVED_SPANS_SCHEMA = Schema(
    "the received spans",
    (
        "CREATE TABLE spans (trace TEXT, id TEXT, at REAL, is_read INTEGER, span BLOB, "
        "PRIMARY KEY (trace, id))",
    ),
    application=0x486F7054,  # the letters HopT
    version=1,
)
MAX_TRACE_SPANS = 1_000
MAX_STORED_BYTES = 256 << 20  # of spans that wait for the rest of their traces
MAX_SERVICE_CHARACTERS = 100
# After its last span, a trace without a root is read. The batches of an SDK are five seconds apart.
QUIET_SECONDS = 10.0
STORED_SECONDS = 900.0  # after the last span, for one that ends late after a slow model
TRACES_BY_TIME = "SELECT trace FROM spans GROUP BY trace HAVING max(at) < ? AND min(is_read) = ?"


class TraceCollector:
    """Collector of the traces of retrievers that search one corpus. Threads may share it.

    Parameters
    ----------
    source : the corpus.
    on_answer : called with the run and the row of each recorded answer.
    on_problem : called with a sentence on what was not understood.
    """

    def __init__(
        self,
        source: AnswerSource,
        on_answer: Callable[[FileRun, RunRow], None],
        on_problem: Callable[[str], None],
    ):
        self._source, self._on_answer, self._on_problem = source, on_answer, on_problem
        self._known_texts = known_texts(source)
        self._file = RowFile(home_folder() / "received-spans.sqlite", RECEIVED_SPANS_SCHEMA)
        # One thread at a time reads a trace and records its answer, so that the last one that does
        # so has seen all of its spans.
        self._recording = threading.Lock()

    def add(self, request: Mapping[str, Any]) -> Counter[str]:
        """Save the spans of an OTLP request, and record the answers of traces that have ended.

        Returns the number of spans that are left out, by the reason. Raises StoreError if the spans
        cannot be saved.
        """
        problems: Counter[str] = Counter()
        spans = list(otlp_spans(request))
        with self._file.open_for_writing() as database:
            (stored_bytes,) = database.execute("SELECT total(length(span)) FROM spans").fetchone()
            if stored_bytes > MAX_STORED_BYTES:
                raise StoreError("Too many spans wait for the rest of their traces.")
            for span in spans:
                if not span.id or span.kind not in SPAN_KIND_NAMES:
                    problems["without an id or a kind of OpenInference"] += 1
                    continue
                data = json.dumps(to_plain(span)).encode()
                is_saved = database.execute(
                    "INSERT OR REPLACE INTO spans SELECT ?, ?, ?, 0, ? "
                    "WHERE (SELECT count(*) FROM spans WHERE trace = ?) < ?",
                    (span.trace, span.id, time.time(), data, span.trace, MAX_TRACE_SPANS),
                ).rowcount
                problems[f"over {MAX_TRACE_SPANS:,} of a trace"] += not is_saved
        counts = Counter(span.trace for span in spans if span.kind in SPAN_KIND_NAMES)
        for trace in {span.trace for span in spans if span.is_root}:
            self._record(trace, counts[trace] or 1, problems)
        self._report(problems)
        return +problems

    def record_quiet(self) -> None:
        """Record the answers of traces for which nothing came for a while; remove old spans.

        Raises StoreError.
        """
        now, problems = time.time(), Counter[str]()
        for (trace,) in self._file.query(TRACES_BY_TIME, (now - QUIET_SECONDS, 0)):
            self._record(trace, 1, problems)
        self._report(problems)
        with self._file.open_for_writing() as database:
            database.execute(
                f"DELETE FROM spans WHERE trace IN ({TRACES_BY_TIME})", (now - STORED_SECONDS, 1)
            )

    def _record(self, trace: str, n_spans: int, problems: Counter[str]) -> None:
        """Record the answer of a trace. If it has none, `n_spans` are added to the problems."""
        with self._recording:
            rows = self._file.query("SELECT span FROM spans WHERE trace = ?", (trace,))
            spans = [from_plain(Span, json.loads(data)) for (data,) in rows]
            if not spans:
                return
            problem = self._save_answer(trace, spans)
            if problem:
                problems[problem] += n_spans
            with self._file.open_for_writing() as database:
                database.executemany(
                    "UPDATE spans SET is_read = 1 WHERE trace = ? AND id = ?",
                    [(trace, span.id) for span in spans],
                )

    def _save_answer(self, trace: str, spans: list[Span]) -> str:
        """Save the answer of a trace, and return why it has none; empty if it is saved."""
        row = replace(row_of_spans(spans), id=trace)
        first = min(spans, key=lambda span: (not span.is_root, span.start_time))
        service = shorten(first.service, MAX_SERVICE_CHARACTERS) or "retriever"
        try:
            row = replace(row, question=check_question(row.question))
        except BadInput:
            return "of a trace without a question (input.value) that can be asked"
        if not row.has_results:
            return "of a trace without documents and an answer"
        try:
            run = record_row(service, self._source, row, self._known_texts)
        except BadInput as error:
            return str(error)
        if run is not None:
            self._on_answer(run, row)
        return ""

    def _report(self, problems: Counter[str]) -> None:
        if +problems:
            self._on_problem(f"Not understood: {describe_problems(problems)}.")


def describe_problems(problems: Counter[str]) -> str:
    """Describe the spans that are left out, by reason; empty if there are none."""
    return "; ".join(f"spans {reason}: {count:,}" for reason, count in (+problems).items())
