"""A comparison on documents as the board draws it: answers, funnels, hits by kind, and what became of each passage in every lane."""

from __future__ import annotations

import dataclasses
from typing import Any

from core.comparison.timing import spans
from core.diagnosis.funnel_texts import TEXT_STAGES, answer_funnel, gold_funnel
from core.engine import Comparison, Lane
from core.results import prompt_dict
from core.types import State
from pages.parts.board.payload import answerer, cost, operator_row, verdict_of
from pages.parts.board.text_hits import question_words, tables

STAGE = dict[str, Any]


class TextBoard:
    """Makes the payload of one comparison on documents; what a lane found is told once for each of its states."""

    def __init__(self, comparison: Comparison):
        self._comparison = comparison
        self._told: dict[int, tuple[int, dict[str, Any]]] = {}

    def payload(self) -> dict[str, Any]:
        """The board's data as of now."""
        comparison, ask = self._comparison, self._comparison.ask
        statuses = [lane.status for lane in comparison.lanes]  # read first: a lane that is done by now is then drawn as done
        lanes = [self._lane(i, lane, status) for i, (lane, status) in enumerate(zip(comparison.lanes, statuses))]
        return {
            "question": ask.question.text,
            "marks": {"words": question_words(ask.question.text), "answers": list(ask.question.answers)},
            "verdict": None,
            "lanes": lanes,
            "evidence": {},
            "layout": {"nodes": [], "edges": []},
            "paths": {},
            "fates": {},
        }

    def _lane(self, i: int, lane: Lane, status: str) -> dict[str, Any]:
        state, excerpt = lane.state, lane.state.excerpt
        prompt, told = prompt_dict(state), self._found(lane)
        said, right = state.answer is not None, told["right"]
        return {
            "id": f"lane-{i}",
            "title": lane.instance.label,
            "number": lane.instance.number,
            "subtitle": lane.instance.line.words(),
            "status": status,
            "status_text": lane.text,
            "error": lane.error,
            "reader": None if excerpt is None else [excerpt.text],
            "reader_name": told["excerpt"],
            "answer": lane.answer or state.answer,
            "model": answerer(self._comparison, lane),
            "verdict": right if said else None,
            "reader_verdict": None if said else right,
            "funnel": told["funnel"],
            "hits": told["hits"],
            "cost": cost(state.trace),
            "spans": [dataclasses.asdict(span) for span in spans(lane)],
            "progress": None if lane.progress is None else dataclasses.asdict(lane.progress),
            "operators": [operator_row(step) for step in state.trace],
            "prompt": prompt["messages"],
            "prompt_tokens": prompt["prompt_tokens"],
        }

    def _found(self, lane: Lane) -> dict[str, Any]:
        now = len(lane.states)
        if self._told.get(id(lane), (None,))[0] != (now, lane.retrieved):
            self._told[id(lane)] = ((now, lane.retrieved), self._tell(lane, lane.state))
        return self._told[id(lane)][1]

    def _tell(self, lane: Lane, state: State) -> dict[str, Any]:
        """What is told of one state of a lane: `funnel, right, hits, excerpt`; hits are null until all are found."""
        ask = self._comparison.ask
        words = {stage.name: stage for stage in answer_funnel(ask.corpus, lane.graph, state, ask.question.answers)}
        passages = {stage.name: stage for stage in gold_funnel(ask.corpus, lane.graph, state, ask.question.gold)}
        last = words.get("answer")
        shown = {} if state.prompt is None else dict(state.prompt.hits)
        excerpt = None
        if state.excerpt is not None:
            excerpt = f"Nearest sentence, of {lane.graph.columns.chunks.text('id', state.excerpt.chunk)}"
        return {
            "funnel": [_stage(name, passages.get(name), words.get(name)) for name in TEXT_STAGES] if words or passages else None,
            "right": None if last is None else verdict_of(len(last.alive), ask.question.answers),
            "hits": tables(lane, ask.question.gold, shown) if lane.retrieved else None,
            "excerpt": excerpt,
        }


def _stage(name: str, passages, words) -> STAGE:
    """A stage as it is drawn: its bar is that of the gold passages, and of the answer's words where no passage is known."""
    bar = passages or words
    held = None if words is None or passages is None else {"alive": len(words.alive), "of": words.of}
    if bar is None:
        return {"stage": name, "alive": None, "of": None, "lost": [], "held": None}
    return {"stage": name, "alive": len(bar.alive), "of": bar.of, "lost": list(bar.lost), "held": held}
