"""A comparison as the board draws it: lanes, one shared layout, paths and hits, and what became of
each in every lane."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from core.comparison.endings import ending
from core.comparison.lane import ENDED
from core.comparison.preview import SHARE, Preview
from core.comparison.timing import NO_COST, by_kind, spans
from core.comparison.timing import cost as method_seconds
from core.datasets.relations import relation_words
from core.datasets.wording import table_of
from core.diagnosis.verdict.explanation import ComparisonVerdict, Explained
from core.diagnosis.verdict.verdict_words import explain
from core.engine import Comparison, Lane
from core.instances.catalogue import Instance
from core.operators import OPERATORS
from core.parameters import parameters
from core.results import answer_fault, prompt_dict, thought
from core.runtime.meter import HowFar
from core.types import Step
from pages.parts.board.beside import beside_data, without_text
from pages.parts.board.documents import DocumentView
from pages.parts.board.influence import influence_data
from pages.parts.board.paths import counts, seen
from pages.parts.board.triples import TripleView
from pages.parts.board.verdict import repair_data, repair_offered
from pages.parts.shared.text import many
from pages.parts.shared.wording import tr

MIN_SHOWN_SECONDS = 0.005  # as two digits show it, and as the bar of times does
OWN_ANSWER = tr("Its own answer")  # what the answer of a program or a file of the user's is headed


class Board:
    """Makes the payload of one comparison; keeps the picture while the retrieved lanes stay the
    same. Safe between threads, as visitors who ask the same look at one board."""

    def __init__(self, comparison: Comparison, earlier: Board | None = None, previews: bool = True):
        """`earlier` is one of the same question to the same source with other edits: what stays has
        the same place in both. Without `previews` a lane that has not retrieved shows nothing."""
        self.comparison, self._previews = comparison, previews
        self._lock = threading.RLock()
        self._drawn: tuple[int, dict[str, Any]] | None = None
        self._due = 0.0  # when what a lane has so far may be drawn anew
        self._shown = dataclasses.replace(comparison, lanes=[])  # while it is drawn
        self._versions: list[tuple] = []  # of the lanes that were drawn last
        self._drawn_previews: list[Preview | None] = [None] * len(comparison.lanes)
        view = DocumentView if comparison.ask.source.is_corpus else TripleView
        self.view: DocumentView | TripleView = view(
            self._shown, {} if earlier is None else earlier.view.places
        )
        self._explained: tuple[tuple, ComparisonVerdict] | None = None

    def at(self, version: int) -> dict[str, Any]:
        """The board's data as of this version of the job or a later one, made once for all who look
        at it: nobody may change it."""
        with self._lock:
            if self._drawn is None or self._drawn[0] < version:
                self._drawn = (version, self._payload())
            return self._drawn[1]

    def payload(self) -> dict[str, Any]:
        """The board's data as of now."""
        with self._lock:
            return self._payload()

    def _payload(self) -> dict[str, Any]:
        try:
            return self._draw(self.comparison.now)
        finally:
            self._shown.lanes.clear()  # else states stay here that the comparison has let go of

    def _draw(self, comparison: Comparison) -> dict[str, Any]:
        """The data of a comparison whose lanes stay as they are meanwhile."""
        view, begun = self.view, time.thread_time()
        self._shown.lanes[:] = [
            self._seen(lane, drawn) for lane, drawn in zip(comparison.lanes, self._drawn_previews)
        ]
        self._drawn_previews = [lane.preview for lane in self._shown.lanes]
        verdict = self._verdict(comparison)
        shared = view.share(verdict)
        versions = [lane.version for lane in self._shown.lanes]
        if versions != self._versions:
            self._versions = versions
            self._due = time.monotonic() + SHARE * (time.thread_time() - begun)
        lanes = [self._lane(i, comparison, one, shared) for i, one in enumerate(verdict.lanes)]
        return {
            "question": comparison.ask.question.text,
            "documents": view.documents,
            "verdict": {
                "text": verdict.text,
                "pending": verdict.pending,
                "repair": repair_data(comparison),
            }
            if verdict.text
            else None,
            "edits": [edit.words for edit in comparison.ask.source.edits],
            "without": without_text(comparison),
            "lanes": lanes,
            **view.whole(shared),
            **{name: shared[name] for name in ("layout", "paths", "fates")},
        }

    def _seen(self, lane: Lane, drawn: Preview | None) -> Lane:
        """A lane as it is shown now: with the preview that is drawn, as long as drawing another one
        would cost too much."""
        if not self._previews:
            return dataclasses.replace(lane, preview=None)
        early = drawn is not None and lane.preview is not None and time.monotonic() < self._due
        return (dataclasses.replace(lane, preview=drawn) if early else lane).shown

    def _verdict(self, comparison: Comparison) -> ComparisonVerdict:
        """The sentences as of now, made anew when a lane has come further."""
        now = tuple(
            (lane.status in ENDED and lane.status, lane.retrieved and len(lane.states), lane.repair)
            for lane in comparison.lanes
        )
        if self._explained is None or self._explained[0] != now:
            self._explained = (now, explain(comparison))
        return self._explained[1]

    def _lane(
        self, i: int, comparison: Comparison, one: Explained | None, shared: dict[str, Any]
    ) -> dict[str, Any]:
        """All that is said of a lane; later parts have the last word."""
        lane, shown = comparison.lanes[i], self._shown.lanes[i]
        data = self.view.lane(i, shown, shared)
        text = None
        if one is not None:
            tone = self.view.tone(one, data)
            text = {"stage": one.stage, "head": one.head, "text": one.text, "tone": tone}
        return {
            "id": f"lane-{i}",
            **self._on_any_source(comparison, lane, shown),
            **data,
            "verdict_text": text,
            "influence": influence_data(comparison, lane, shared["keys"], answerer(lane)),
            "beside": beside_data(lane.beside),
            "paths": shared["best"][i],
            "stories": shared["stories"][i],
        }

    def _on_any_source(self, comparison: Comparison, lane: Lane, shown: Lane) -> dict[str, Any]:
        """What is said of a lane whatever it runs on."""
        state, preview = self.view.state(shown), shown.preview
        prompt = prompt_dict(state)
        return {
            "title": tr(lane.instance.label),
            "number": lane.instance.number,
            "subtitle": lane.instance.line.plain_words(),
            "terms": lane.instance.line.words(),
            "status": lane.status,
            "status_text": ending(lane) or lane.text,
            "retrieved": shown.retrieved,
            "so_far": None if preview is None else preview.text,
            "retrieves": any(
                operator.stage in ("extract", "retrieve") for operator in lane.instance.line.parts()
            ),
            "error": lane.error,
            "answer": lane.answer or state.answer,
            "partly": tr("Searched {partly}", partly=state.partly) if state.partly else "",
            "answer_fault": answer_fault(state),
            "thought": thought(state),
            "model": OWN_ANSWER if state.own_answer else answerer(lane),
            "repair": repair_offered(comparison, lane),
            "found": counts(seen(shown)),
            "cost": cost(lane.state.trace if preview else state.trace, by_kind(lane, NO_COST)),
            "spans": [dataclasses.asdict(span) for span in spans(lane)],
            "progress": None if lane.progress is None else _progress(lane.graph, lane.progress),
            "operators": [operator_row(step) for step in (lane.state if preview else state).trace],
            "prompt": prompt["messages"],
            "prompt_tokens": prompt["prompt_tokens"],
            "prompt_source": prompt["prompt_source"],
        }


def answerer(lane: Lane) -> str | None:
    """The title of the model that answers in a lane; None where none does."""
    return None if lane.state.own_answer else lane.model


def idle(instances: Iterable[Instance], documents: bool = False) -> dict[str, Any]:
    """The board's data before anything was asked: the lanes' methods alone; with `documents` of
    lanes that show hits."""
    more = {"hits": None, "paths": None} if documents else {}
    lanes = [
        {
            "id": f"lane-{i}",
            "title": tr(one.label),
            "number": one.number,
            "subtitle": one.line.plain_words(),
            "terms": one.line.words(),
            "status": "idle",
            **more,
        }
        for i, one in enumerate(instances)
    ]
    return {
        "question": "",
        "documents": documents,
        "lanes": lanes,
        "layout": {"nodes": [], "edges": []},
        "paths": {},
        "fates": {},
    }


def cost(trace: Iterable[Step], left_out: Mapping[str, float] = MappingProxyType({})) -> str:
    """What a run cost, in a few words: `0.9 s, apart from 0.6 s preparation · 948 texts scored ·
    612 + 14 tokens`.

    `left_out` has the seconds that are shown beside it and are no cost of the method, by kind.
    """
    trace = list(trace)
    parts = [f"{method_seconds(trace):.2f} s{_left_out(left_out)}"] if trace else []
    texts = sum(step.usage.texts for step in trace)
    tokens_in = sum(s.usage.tokens_in for s in trace)
    tokens_out = sum(s.usage.tokens_out for s in trace)
    parts += [tr("{texts} scored", texts=many(texts, "text"))] if texts else []
    parts += [f"{tokens_in:,} + {many(tokens_out, 'token')}"] if tokens_in + tokens_out else []
    return " · ".join(parts)


def _left_out(seconds: Mapping[str, float]) -> str:
    """The seconds that a cost leaves out, where they are large enough to be shown."""
    said = [
        tr("{seconds:.2f} s {kind}", seconds=spent, kind=tr(kind))
        for kind, spent in seconds.items()
        if spent >= MIN_SHOWN_SECONDS
    ]
    return tr(", apart from {others}", others=tr(" and ").join(said)) if said else ""


def operator_row(step: Step) -> dict[str, Any]:
    """A row of the table of steps."""
    cls = OPERATORS[step.operator]
    changed = [
        f"{tr(p.label).lower()} {step.parameters[p.name]}"
        for p in parameters(cls)
        if p.name in step.parameters
    ]
    usage = step.usage
    return {
        "label": step.operator,
        "detail": " · ".join(changed),
        "seconds": step.seconds,
        "calls": usage.calls,
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
        "texts": usage.texts,
        "sizes": dict(step.sizes),
        "notes": list(step.notes),
    }


def _progress(graph, how: HowFar) -> dict[str, Any]:
    """How far a lane at work is; its best path so far with the relations in words."""
    best, table = how.best, table_of(graph.name)
    for name in graph.relation_names if best and " -> " in best else ():
        for printed, forward in ((f" -> {name} -> ", True), (f" -> {name}_reverse -> ", False)):
            best = (best or "").replace(printed, f" {relation_words(name, forward, table)} ")
    return {**dataclasses.asdict(how), "best": best}
