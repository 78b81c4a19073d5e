"""Data of the board: lanes, one shared layout, paths and hits, and their fates in every lane.

A lane is one retrieval method that answers the question of the comparison. The data is a dict of
plain values for the browser (assets/board), called the payload.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from core.comparison.endings import ending_sentence
from core.comparison.lane import ENDED_STATUSES
from core.comparison.lane_times import UNCOUNTED_KINDS, method_seconds, seconds_by_kind, time_spans
from core.comparison.previews import PREVIEW_PAUSE_FACTOR, Preview
from core.datasets.relations import relation_words
from core.datasets.wording import relation_table
from core.diagnosis.verdict.explanation import ComparisonVerdict, LaneExplanation
from core.diagnosis.verdict.verdict_words import explain_comparison
from core.engine import MethodComparison, MethodLane
from core.errors import split_command
from core.methods.catalogue import Method
from core.operators import OPERATORS
from core.parameters import format_value, parameters
from core.results import answer_fault, answer_thoughts, prompt_dict
from core.runtime.jobs import JOB_DONE
from core.runtime.meter import ProgressReport
from core.types import Step
from pages.parts.board.documents import DocumentView
from pages.parts.board.earlier_answers import edit_comparison_data, edit_effect_text
from pages.parts.board.influence import influence_data
from pages.parts.board.paths import path_counts, retrieved_state
from pages.parts.board.triples import TripleView
from pages.parts.board.verdict import offered_repair, repair_data
from pages.parts.shared.text import many
from pages.parts.shared.wording import tr

# Shorter times would be shown as 0.00 and are left out, also in the bar of times.
MIN_SHOWN_SECONDS = 0.005
OWN_ANSWER_HEADING = tr("Its own answer")  # heading of an answer by the user's program or file


class Board:
    """Maker of the board's data for one comparison.

    The picture stays the same as long as no further lane has retrieved. Several threads
    may use a board, because visitors who ask the same question share one.
    """

    def __init__(
        self, comparison: MethodComparison, earlier: Board | None = None, previews: bool = True
    ):
        """Make the board.

        Parameters
        ----------
        earlier : a board of the same question and source with other edits, whose node positions are
            kept.
        previews : whether a lane that is still retrieving shows its results so far.
        """
        self.comparison, self._previews = comparison, previews
        self._lock = threading.RLock()
        self._latest: tuple[int, dict[str, Any]] | None = None
        self._next_preview_at = 0.0  # time from which another preview may be drawn
        self._shown = dataclasses.replace(comparison, lanes=[])  # has lanes only during a drawing
        self._versions: list[tuple] = []  # versions of the lanes that were drawn last
        # The step of each lane, and when it was first seen, by the index of the lane.
        self._steps: dict[int, tuple[tuple, float]] = {}
        self._drawn_previews: list[Preview | None] = [None] * len(comparison.lanes)
        view = DocumentView if comparison.ask.source.is_corpus else TripleView
        self.view: DocumentView | TripleView = view(
            self._shown, {} if earlier is None else earlier.view.positions
        )
        self._cached_verdict: tuple[tuple, ComparisonVerdict] | None = None

    def payload_of_version(self, version: int) -> dict[str, Any]:
        """Return the data at this version of the job or later.

        All viewers share the dict, so it must not be changed.
        """
        with self._lock:
            if self._latest is None or self._latest[0] < version:
                self._latest = (version, self._payload())
            return self._latest[1]

    def payload(self) -> dict[str, Any]:
        """Return the data of the comparison's present state."""
        with self._lock:
            return self._payload()

    def _payload(self) -> dict[str, Any]:
        try:
            return self._draw(self.comparison.snapshot)
        finally:
            # Otherwise states that the comparison has freed would stay in memory.
            self._shown.lanes.clear()

    def _draw(self, comparison: MethodComparison) -> dict[str, Any]:
        """Return the data of a snapshot of the comparison.

        Its lanes do not change meanwhile.
        """
        view, start_seconds = self.view, time.thread_time()
        self._shown.lanes[:] = [
            self._shown_lane(lane, preview)
            for lane, preview in zip(comparison.lanes, self._drawn_previews)
        ]
        self._drawn_previews = [lane.preview for lane in self._shown.lanes]
        verdict = self._verdict(comparison)
        shared = view.shared_data(verdict)
        versions = [lane.version for lane in self._shown.lanes]
        if versions != self._versions:
            self._versions = versions
            # The longer a drawing took, the longer the next preview waits.
            self._next_preview_at = time.monotonic() + PREVIEW_PAUSE_FACTOR * (
                time.thread_time() - start_seconds
            )
        lanes = [
            self._lane(i, comparison, explanation, shared)
            for i, explanation in enumerate(verdict.lanes)
        ]
        return {
            "question": comparison.ask.question.text,
            "documents": view.is_on_documents,
            "verdict": {
                "text": verdict.text,
                "pending": verdict.pending_text,
                "repair": repair_data(comparison),
            }
            if verdict.text
            else None,
            "edits": [edit.description for edit in comparison.ask.source.edits],
            "without": edit_effect_text(comparison),
            "lanes": lanes,
            **view.comparison_data(shared),
            **{name: shared[name] for name in ("layout", "paths", "fates")},
        }

    def step_seconds(self) -> dict[str, float]:
        """Return for each lane that has not ended how many seconds its present step has run."""
        now, seconds = time.monotonic(), {}
        for i, lane in enumerate(self.comparison.lanes):
            step = (lane.status, len(lane.states), bool(lane.answer))
            if i not in self._steps or self._steps[i][0] != step:
                self._steps[i] = (step, now)
            if lane.status not in ENDED_STATUSES:
                seconds[f"lane-{i}"] = now - self._steps[i][1]
        return seconds

    def _shown_lane(self, lane: MethodLane, preview: Preview | None) -> MethodLane:
        """Return a lane as it is shown now.

        `preview` is the one that was drawn last. It is shown until another is due, since drawing
        takes time. A quick preview is shown at once.
        """
        if not self._previews:
            return dataclasses.replace(lane, preview=None)
        is_quick = lane.preview is not None and lane.preview.is_quick
        is_due = is_quick or time.monotonic() >= self._next_preview_at
        if preview is not None and lane.preview is not None and not is_due:
            lane = dataclasses.replace(lane, preview=preview)
        return lane.as_shown

    def _verdict(self, comparison: MethodComparison) -> ComparisonVerdict:
        """Return the sentences on the lanes.

        They are made again when a lane has advanced.
        """
        # A lane that still runs counts the same whatever its status is.
        verdict_key = tuple(
            (
                lane.status in ENDED_STATUSES and lane.status,
                lane.retrieved and len(lane.states),
                lane.repair,
            )
            for lane in comparison.lanes
        )
        if self._cached_verdict is None or self._cached_verdict[0] != verdict_key:
            self._cached_verdict = (verdict_key, explain_comparison(comparison))
        return self._cached_verdict[1]

    def _lane(
        self,
        i: int,
        comparison: MethodComparison,
        explanation: LaneExplanation | None,
        shared: dict[str, Any],
    ) -> dict[str, Any]:
        """Return all data of a lane.

        The view's data overrides the common data.
        """
        lane, shown_lane = comparison.lanes[i], self._shown.lanes[i]
        data = self.view.lane_data(i, shown_lane, shared)
        text = None
        if explanation is not None:
            tone = self.view.tone(explanation, data)
            text = {
                "stage": explanation.stage,
                "head": explanation.head,
                "text": explanation.text,
                "tone": tone,
            }
        return {
            "id": f"lane-{i}",
            **self._common_data(comparison, lane, shown_lane),
            **data,
            "verdict_text": text,
            "influence": influence_data(comparison, lane, shared["keys"], answering_model(lane)),
            "beside": edit_comparison_data(lane.beside),
            "paths": shared["best"][i],
            "stories": shared["stories"][i],
        }

    def _common_data(
        self, comparison: MethodComparison, lane: MethodLane, shown_lane: MethodLane
    ) -> dict[str, Any]:
        """Return the data common to lanes on graphs and documents.

        `lane` is the lane itself, `shown_lane` the same lane with the states of its preview.
        """
        state, preview = self.view.shown_state(shown_lane), shown_lane.preview
        prompt = prompt_dict(state)
        return {
            "title": tr(lane.method.label),
            "number": lane.method.secondary_name,
            "subtitle": lane.method.line.plain_words(),
            "terms": lane.method.line.words(),
            "status": lane.status,
            "status_text": ending_sentence(lane) or lane.text or _done_text(lane),
            "retrieved": shown_lane.retrieved,
            "so_far": None if preview is None else preview.text,
            "quick": lane.has_quick_result and lane.status not in ENDED_STATUSES,
            "retrieves": any(
                operator.stage in ("extract", "retrieve") for operator in lane.method.line.parts()
            ),
            "error": lane.error and split_command(lane.error)[0],
            "answer": lane.answer or state.answer,
            "voices": expected_voices(lane),
            "partly": tr("Searched {partly}", partly=state.partly) if state.partly else "",
            "answer_fault": answer_fault(state),
            "thought": answer_thoughts(state),
            "model": OWN_ANSWER_HEADING if state.own_answer else answering_model(lane),
            "repair": offered_repair(comparison, lane),
            "found": path_counts(retrieved_state(shown_lane)),
            "cost": cost_text(
                lane.state.trace if preview else state.trace, seconds_by_kind(lane, UNCOUNTED_KINDS)
            ),
            "spans": [dataclasses.asdict(span) for span in time_spans(lane)],
            "progress": None
            if lane.progress is None
            else _progress_data(lane.graph, lane.progress),
            "operators": [operator_row(step) for step in (lane.state if preview else state).trace],
            "prompt": prompt["messages"],
            "prompt_tokens": prompt["prompt_tokens"],
            "prompt_source": prompt["prompt_source"],
        }


def expected_voices(lane: MethodLane) -> list[str]:
    """Return who answers in a lane, so that room is reserved: `reader`, `model`, or both."""
    voices = {"reader": lane.ask.uses_reader, "model": lane.model is not None}
    return [voice for voice, expected in voices.items() if expected]


def answering_model(lane: MethodLane) -> str | None:
    """Return the title of the language model that answers.

    It is None if none does.
    """
    return None if lane.state.own_answer else lane.model


def idle_board(methods: Iterable[Method], documents: bool = False) -> dict[str, Any]:
    """Return the data of the board before the first question: the methods of the lanes.

    If `documents` is true, the lanes show hits instead of paths.
    """
    document_fields = {"hits": None, "paths": None} if documents else {}
    lanes = [
        {
            "id": f"lane-{i}",
            "title": tr(method.label),
            "number": method.secondary_name,
            "subtitle": method.line.plain_words(),
            "terms": method.line.words(),
            "status": "idle",
            **document_fields,
        }
        for i, method in enumerate(methods)
    ]
    return {
        "question": "",
        "documents": documents,
        "lanes": lanes,
        "layout": {"nodes": [], "edges": []},
        "paths": {},
        "fates": {},
    }


def cost_text(trace: Iterable[Step], excluded: Mapping[str, float] = MappingProxyType({})) -> str:
    """Return the seconds, scored texts and tokens of a run.

    An example is `0.9 s, apart from 0.6 s preparation · 948 texts scored · 6 tokens in, 14 out`.

    Parameters
    ----------
    excluded : seconds by kind that are no cost of the method and are shown separately.
    """
    trace = list(trace)
    parts = [f"{method_seconds(trace):.2f} s{_left_out_text(excluded)}"] if trace else []
    texts = sum(step.usage.texts for step in trace)
    tokens_in = sum(step.usage.tokens_in for step in trace)
    tokens_out = sum(step.usage.tokens_out for step in trace)
    parts += [tr("{texts} scored", texts=many(texts, "text"))] if texts else []
    if tokens_in + tokens_out:
        tokens = many(tokens_in, "token")
        parts.append(tr("{tokens} in, {tokens_out:,} out", tokens=tokens, tokens_out=tokens_out))
    return " · ".join(parts)


def _done_text(lane: MethodLane) -> str:
    """Return the seconds of a finished lane in words; empty for others."""
    if lane.status != JOB_DONE or not lane.state.trace:
        return ""
    return tr("{seconds:.2f} s", seconds=method_seconds(lane.state.trace))


def _left_out_text(seconds: Mapping[str, float]) -> str:
    """Return the seconds by kind that a cost leaves out, in words.

    Times that are too short to be shown are skipped; if all are, the text is empty.
    """
    cost_parts = [
        tr("{seconds:.2f} s {kind}", seconds=value, kind=tr(kind))
        for kind, value in seconds.items()
        if value >= MIN_SHOWN_SECONDS
    ]
    return tr(", apart from {others}", others=tr(" and ").join(cost_parts)) if cost_parts else ""


def operator_row(step: Step) -> dict[str, Any]:
    """Return the row of an operator's step in the table of steps."""
    parameter_texts = [
        f"{tr(parameter.label).lower()} {_value_text(step.parameters[parameter.name])}"
        for parameter in parameters(OPERATORS[step.operator])
        if parameter.name in step.parameters
    ]
    usage = step.usage
    return {
        "label": step.operator,
        "detail": " · ".join(parameter_texts),
        "seconds": step.seconds,
        "calls": usage.calls,
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
        "texts": usage.texts,
        "sizes": dict(step.sizes),
        "notes": list(step.notes),
    }


def _value_text(value: Any) -> str:
    """Return a parameter's value for the table of steps."""
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    return tr("none") if value is None else format_value(value)


def _progress_data(graph, progress: ProgressReport) -> dict[str, Any]:
    """Return the progress of a running lane, with relations in words."""
    best = progress.best
    # A path so far has the form "node -> relation -> node"; `_reverse` marks backward edges.
    if best and " -> " in best:
        table = relation_table(graph.name)
        for name in graph.relation_names:
            for raw_name, forward in ((name, True), (f"{name}_reverse", False)):
                words = relation_words(name, forward, table)
                best = best.replace(f" -> {raw_name} -> ", f" {words} ")
    return {**dataclasses.asdict(progress), "best": best}
