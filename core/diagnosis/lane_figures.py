"""Figures of a lane on a question.

They include the effect of a changed line on its paths. They are shown in the editor of lines,
before and after a change.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from core.comparison.lane import MethodComparison, MethodLane
from core.comparison.lane_times import method_seconds
from core.diagnosis.funnel import count_right_answers, funnel, gold_nodes
from core.diagnosis.measure import lane_counts_by_model
from core.diagnosis.step_outcomes import targets_of
from core.operators.generate import estimate_prompt_tokens
from core.types import State

PROMPT_STAGES = ("prompt", "answer")  # stages of the funnel after retrieval
# The effect of a change on a path: kept before and now, only now, only before, or neither.
PathTurn = Literal["stayed", "came", "went", "passed"]


@dataclass(frozen=True)
class LaneFigures:
    """Figures of a lane.

    Parameters
    ----------
    alive : targets (known answers or gold passages) alive after retrieval; None if no target is
        known.
    n_targets : the number of targets.
    n_right : how many known answers it gives; None if none is known or it gave no answer.
    is_first_right : True if its first answer is a known one; None as above.
    seconds : seconds of the method, as if no result had come from a cache.
    tokens : tokens that language models read and wrote. If no model was asked, tokens of the
        prompt; None without a prompt.
    asked_model : True if a language model was asked.
    """

    alive: tuple[str, ...] | None
    n_targets: int
    n_right: int | None
    is_first_right: bool | None
    seconds: float
    tokens: int | None
    asked_model: bool


def lane_figures(comparison: MethodComparison, lane: MethodLane) -> LaneFigures:
    """Return the figures of a lane as far as it has run."""
    state = lane.state
    targets = targets_of(comparison)
    by_model = lane_counts_by_model(comparison, lane)
    stages = funnel(comparison.ask.source, lane.graph, state, targets, by_model, lane.saved_alive)
    alive = next(
        (stage.alive for stage in reversed(stages) if stage.name not in PROMPT_STAGES), None
    )
    answers = comparison.ask.question.answers
    right_count = count_right_answers(
        lane.graph, state, answers, reader=state.reader is not None and not by_model
    )
    usages = [step.usage for step in state.trace]
    used_tokens = sum(usage.tokens_in + usage.tokens_out for usage in usages)
    has_calls = any(usage.calls for usage in usages)
    tokens = used_tokens if has_calls else _prompt_tokens(state)
    return LaneFigures(
        alive,
        len(targets),
        right_count,
        _is_first_right(lane, right_count, by_model),
        method_seconds(state.trace),
        tokens,
        has_calls,
    )


def _is_first_right(lane: MethodLane, right_count: int | None, by_model: bool) -> bool | None:
    """Return whether the graph reader's first node is a known answer.

    For a language model, return whether its answer contains one.
    """
    state = lane.state
    if right_count is None:
        return None
    if by_model or state.reader is None:
        return right_count > 0
    names = chain.from_iterable(map(state.question.answer_names, state.question.answers))
    known_nodes = set(gold_nodes(lane.graph, *names))
    return not known_nodes.isdisjoint(state.reader[:1])


def _prompt_tokens(state: State) -> int | None:
    prompt = state.prompt
    if prompt is None:
        return None
    if prompt.tokens is None:
        return estimate_prompt_tokens([dict(message) for message in prompt.messages])
    return prompt.tokens


def path_turn(was_in: bool | None, is_in: bool) -> PathTurn:
    """Return the effect of a change of the line on one path or hit.

    `was_in` and `is_in` tell if it was kept before and now. `was_in` is None if nothing was run
    before.

    >>> from core.diagnosis.lane_figures import path_turn
    >>> [path_turn(*kept) for kept
    ...     in ((True, True), (False, True), (True, False), (False, False), (None, True))]
    ['stayed', 'came', 'went', 'passed', 'stayed']
    """
    if was_in is None or was_in == is_in:
        return "stayed" if is_in else "passed"
    return "came" if is_in else "went"


def strongest_turn(turns: Iterable[PathTurn]) -> PathTurn:
    """Return the effect of a change on an edge that several paths share.

    The edge stayed if any of the paths did, or if one path came and another went.

    >>> from core.diagnosis.lane_figures import strongest_turn
    >>> (strongest_turn(["passed", "came"]), strongest_turn(["went", "stayed", "came"]),
    ...  strongest_turn(["went", "came"]), strongest_turn([]))
    ('came', 'stayed', 'stayed', 'passed')
    """
    kinds = set(turns)
    if "stayed" in kinds or {"came", "went"} <= kinds:
        return "stayed"
    if "came" in kinds:
        return "came"
    return "went" if "went" in kinds else "passed"
