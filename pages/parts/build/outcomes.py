"""Result of each block in a run of the line, in a few words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.diagnosis.step_outcomes import StepOutcome, targets_of
from core.diagnosis.targets import Target
from core.drafts import Draft
from core.engine import Comparison, Lane
from core.graph.texts import hit_titles
from core.operators import OPERATORS
from core.runtime.jobs import CANCELLED, DONE, FAILED
from core.types import State
from pages.parts.shared.text import many
from pages.parts.shared.wording import noun, nouns, tr

NAMES = {
    "nodes": nouns("node", "nodes"),
    "entities": nouns("entity", "entities"),
    "communities": nouns("community", "communities"),
    "edges": nouns("edge", "edges"),
    "paths": nouns("path", "paths"),
    "chunks": nouns("passage", "passages"),
    "relations": nouns("relation", "relations"),
    "reports": nouns("report", "reports"),
    "hops": nouns("hop", "hops"),
    "chains": nouns("chain", "chains"),
}
PASSAGE, ANSWER = nouns("gold passage", "gold passages"), nouns("known answer", "known answers")
ANSWERS = 4  # most names of an answer that a block shows
SHOWN_SAVED = 0.005  # seconds; shorter times would be shown as 0.00
LETTERS = 160  # most characters of a language model's answer
Shown = dict[str, Any]


def outcomes(
    comparison: Comparison, lane: Lane, draft: Draft, steps: Sequence[StepOutcome], waits: str = ""
) -> tuple[dict[int, Shown], list[Shown]]:
    """Return the results of the blocks by key, and of other steps.

    Only blocks that are unchanged since the run have results, up to the first changed one. A step
    without a block is a reader that answers without a language model. `waits` says why the first
    block without a run waits.
    """
    ran = lane.instance.line.operators
    same = next(
        (
            at
            for at, (brick, one) in enumerate(zip(draft.bricks, ran))
            if repr(brick.operator) != repr(one)
        ),
        len(ran),
    )
    reads = any(operator.stage == "read" for operator in ran)
    known = targets_of(comparison)
    found: dict[int, Shown] = {}
    extra: list[Shown] = []
    for state, step in zip(lane.states, steps):
        said = _said(step, known, _answer(lane, state))
        if state.trace[-1].stage == "read" and not reads:
            extra.append({"title": _title(state), "at": len(found), "outcome": said})
        elif len(found) < min(same, len(draft.bricks)):
            found[draft.bricks[len(found)].key] = said
    if len(found) < min(same, len(draft.bricks)) and lane.status != DONE:
        ended = lane.status in (FAILED, CANCELLED)
        found[draft.bricks[len(found)].key] = (
            {"error": lane.error or tr("Cancelled.")}
            if ended
            else {"running": lane.text or tr("At work")}
        )
    if waits and same == len(ran) and lane.status == DONE:
        brick = draft.bricks[min(len(found), len(draft.bricks) - 1)]
        found[brick.key] = found.get(brick.key, {}) | {"waits": waits}
    return found, extra if same == len(ran) and (waits or len(ran) == len(draft.bricks)) else []


def _title(state: State) -> str:
    title = tr(OPERATORS[state.trace[-1].operator].title)
    return title[:1].upper() + title[1:]


def _said(step: StepOutcome, known: Sequence[Target], answer: str) -> Shown:
    """Return the data of one step's result."""
    counts = [
        many(count, *NAMES[what]) if what in NAMES else f"{count:,} {what}"
        for what, count in step.sizes.items()
    ]
    tokens = step.usage.tokens_in + step.usage.tokens_out
    alive = None if step.alive is None or not known else len(step.alive)
    what = noun(len(known), *(PASSAGE if known and known[0].kind == "passage" else ANSWER))
    return {
        "counts": " · ".join(counts),
        "cost": f"{step.seconds:.2f} s"
        + (tr(" + {saved:.2f} s from cache", saved=step.saved) if step.saved >= SHOWN_SAVED else "")
        + (tr(" · {tokens:,} tokens", tokens=tokens) if step.usage.calls else ""),
        "answer": answer,
        "alive": alive,
        "of": len(known),
        "alive_words": ""
        if alive is None
        else tr("{alive:,} of {known:,} {what} alive", alive=alive, known=len(known), what=what),
        "lost": step.where or (tr("{lost} is lost", lost=step.lost[0]) if step.lost else ""),
        "lost_more": max(0, len(step.lost) - 1),
        "notes": list(step.notes),
    }


def _answer(lane: Lane, state: State) -> str:
    """Return the answer of a step that answers; empty for others."""
    stage = state.trace[-1].stage
    if stage == "read" and state.reader is not None:
        more = len(state.reader) - ANSWERS
        return (
            ", ".join(hit_titles(lane.graph, "node", state.reader[:ANSWERS]))
            + (tr(" and {more} more", more=more) if more > 0 else "")
        ) or tr("no answer")
    if stage == "read" and state.excerpt is not None:
        return state.excerpt.text[:LETTERS]
    return (state.answer or "")[:LETTERS] if stage == "generate" else ""
