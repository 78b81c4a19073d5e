"""Result of each block in a run of the line, in a few words.

A block is an operator of the edited line. Its result is drawn on it: sizes, cost, and how many
known answers or gold passages (targets) are alive after it, that is, still among its results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.diagnosis.step_outcomes import StepOutcome, targets_of
from core.diagnosis.targets import Target
from core.diagnosis.wording import capitalised
from core.drafts import Draft
from core.engine import MethodComparison, MethodLane
from core.errors import split_command
from core.graph.texts import hit_titles
from core.operators import OPERATORS
from core.runtime.jobs import JOB_CANCELLED, JOB_DONE, JOB_FAILED
from core.types import State
from pages.parts.shared.text import many
from pages.parts.shared.wording import noun, nouns, tr

OUTCOME_NOUNS = {
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
PASSAGE_NOUNS = nouns("evidence passage", "evidence passages")
ANSWER_NOUNS = nouns("correct answer", "correct answers")
MAX_SHOWN_ANSWERS = 4  # most names of an answer that a block shows
MIN_SAVED_SECONDS = 0.005  # seconds; shorter times would be shown as 0.00
MAX_ANSWER_CHARACTERS = 160  # most characters of a language model's answer
OutcomeData = dict[str, Any]


def block_outcomes(
    comparison: MethodComparison,
    lane: MethodLane,
    draft: Draft,
    steps: Sequence[StepOutcome],
    wait_text: str = "",
) -> tuple[dict[int, OutcomeData], list[OutcomeData]]:
    """Return the results of the blocks, and of other steps.

    Blocks have results up to the first one that was changed since the run. The only step without a
    block is the reader that is added to a line to answer without a language model. Its `at` is the
    number of blocks before it.

    Parameters
    ----------
    lane : the run of the line.
    draft : the line as it is now.
    steps : outcomes of the steps that the lane has run.
    wait_text : why the first block that was not run waits; empty if none does.
    """
    operators = lane.method.line.operators
    n_same = len(operators)  # operators before the first changed block
    for index, (brick, operator) in enumerate(zip(draft.bricks, operators)):
        if repr(brick.operator) != repr(operator):
            n_same = index
            break
    is_unchanged = n_same == len(operators)
    n_blocks = min(n_same, len(draft.bricks))
    has_reader = any(operator.stage == "read" for operator in operators)
    known_targets = targets_of(comparison)
    outcomes: dict[int, OutcomeData] = {}
    extra: list[OutcomeData] = []
    for state, step in zip(lane.states, steps):
        outcome = _step_outcome(step, known_targets, _answer(lane, state))
        if state.trace[-1].stage == "read" and not has_reader:
            extra.append({"title": _title(state), "at": len(outcomes), "outcome": outcome})
        elif len(outcomes) < n_blocks:
            outcomes[draft.bricks[len(outcomes)].key] = outcome
    if len(outcomes) < n_blocks and lane.status != JOB_DONE:
        if lane.status in (JOB_FAILED, JOB_CANCELLED):
            outcome = {"error": split_command(lane.error or "")[0] or tr("Cancelled.")}
        else:
            outcome = {"running": lane.text or tr("Running")}
        outcomes[draft.bricks[len(outcomes)].key] = outcome
    if wait_text and is_unchanged and lane.status == JOB_DONE:
        brick = draft.bricks[min(len(outcomes), len(draft.bricks) - 1)]
        outcomes[brick.key] = outcomes.get(brick.key, {}) | {"waits": wait_text}
    # The added reader belongs to the end of the line, so it is shown only if that was run.
    if not is_unchanged or (not wait_text and len(operators) != len(draft.bricks)):
        extra = []
    return outcomes, extra


def _title(state: State) -> str:
    return capitalised(tr(OPERATORS[state.trace[-1].operator].title))


def _step_outcome(step: StepOutcome, targets: Sequence[Target], answer: str) -> OutcomeData:
    """Return the data of one step's result.

    `alive` and `of` are the numbers of targets after the step and in all; `alive` is None if no
    target is known.
    """
    counts = [
        many(count, *OUTCOME_NOUNS[kind]) if kind in OUTCOME_NOUNS else f"{count:,} {kind}"
        for kind, count in step.sizes.items()
    ]
    tokens = step.usage.tokens_in + step.usage.tokens_out
    cost = f"{step.seconds:.2f} s"
    if step.saved_seconds >= MIN_SAVED_SECONDS:
        cost += tr(" + {saved:.2f} s reused", saved=step.saved_seconds)
    if step.usage.calls:
        cost += tr(" · {tokens:,} tokens", tokens=tokens)
    n_alive = None
    alive_words = ""
    if step.alive is not None and targets:
        n_alive = len(step.alive)
        target_nouns = PASSAGE_NOUNS if targets[0].kind == "passage" else ANSWER_NOUNS
        alive_words = tr(
            "{alive:,} of {known:,} {what} still there",
            alive=n_alive,
            known=len(targets),
            what=noun(len(targets), *target_nouns),
        )
    return {
        "counts": " · ".join(counts),
        "cost": cost,
        "answer": answer,
        "alive": n_alive,
        "of": len(targets),
        "alive_words": alive_words,
        "lost": step.best_rank_words
        or (tr("{lost} is lost", lost=step.lost[0]) if step.lost else ""),
        "lost_more": max(0, len(step.lost) - 1),
        "notes": list(step.notes),
    }


def _answer(lane: MethodLane, state: State) -> str:
    """Return the shortened answer of a step that answers.

    Empty for other steps.
    """
    stage = state.trace[-1].stage
    if stage == "read" and state.reader is not None:
        text = ", ".join(hit_titles(lane.graph, "node", state.reader[:MAX_SHOWN_ANSWERS]))
        n_unlisted = len(state.reader) - MAX_SHOWN_ANSWERS
        if n_unlisted > 0:
            text += tr(" and {more} more", more=n_unlisted)
        return text or tr("no answer")
    if stage == "read" and state.excerpt is not None:
        return state.excerpt.text[:MAX_ANSWER_CHARACTERS]
    return (state.answer or "")[:MAX_ANSWER_CHARACTERS] if stage == "generate" else ""
