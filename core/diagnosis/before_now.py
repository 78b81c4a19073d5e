"""A line before a change and after it, on one question: what each came to in figures, and what a change did to a path or a passage."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from core.comparison.lane import Comparison, Lane
from core.comparison.timing import cost
from core.diagnosis.funnel import funnel, gold_nodes, right
from core.diagnosis.measure import lane_by_model
from core.diagnosis.step_outcomes import targets_of
from core.operators.generate import about_tokens
from core.types import State

READ = ("prompt", "answer")  # the stages of the funnel at which what was retrieved is read
Turn = Literal["stayed", "came", "went", "passed"]


@dataclass(frozen=True)
class Figures:
    """What a lane came to: which targets (known answers, or gold passages) are alive in what it retrieved, how many known answers it gives
    and whether its first answer is one of them (None where none is known or none was given), its seconds, and its tokens: those that
    language models read and wrote, or those of the prompt where none was asked (then `asked` is false; None where there is no prompt)."""

    alive: tuple[str, ...] | None
    of: int
    right: int | None
    first_right: bool | None
    seconds: float
    tokens: int | None
    asked: bool


def figures(comparison: Comparison, lane: Lane) -> Figures:
    """The figures of a lane as far as it has come."""
    state, targets, by_model = lane.state, targets_of(comparison), lane_by_model(comparison, lane)
    stages = funnel(comparison.ask.source, lane.graph, state, targets, by_model, lane.saved_alive)
    alive = next((stage.alive for stage in reversed(stages) if stage.name not in READ), None)
    answers = comparison.ask.question.answers
    given = right(lane.graph, state, answers, reader=state.reader is not None and not by_model)
    usage = [step.usage for step in state.trace]
    spent = sum(one.tokens_in + one.tokens_out for one in usage)
    asked = any(one.calls for one in usage)
    tokens = spent if asked else _prompt(state)
    return Figures(
        alive,
        len(targets),
        given,
        _first_right(lane, given, by_model),
        cost(state.trace),
        tokens,
        asked,
    )


def _first_right(lane: Lane, given: int | None, by_model: bool) -> bool | None:
    """Whether the graph reader's first node is a known answer; of a language model, whether its answer holds one."""
    state = lane.state
    if given is None or by_model or state.reader is None:
        return None if given is None else given > 0
    known = {
        node
        for answer in state.question.answers
        for node in gold_nodes(lane.graph, *state.question.names(answer))
    }
    return not known.isdisjoint(state.reader[:1])


def _prompt(state: State) -> int | None:
    prompt = state.prompt
    if prompt is None:
        return None
    if prompt.tokens is None:
        return about_tokens([dict(message) for message in prompt.messages])
    return prompt.tokens


def turn(before: bool | None, now: bool) -> Turn:
    """What a change did to one path or hit, by whether it was retained `before` (None where nothing was run before) and is `now`.

    >>> from core.diagnosis.before_now import turn
    >>> [turn(*one) for one in ((True, True), (False, True), (True, False), (False, False), (None, True))]
    ['stayed', 'came', 'went', 'passed', 'stayed']
    """
    if before is None or before == now:
        return "stayed" if now else "passed"
    return "came" if now else "went"


def strongest(turns: Iterable[Turn]) -> Turn:
    """Of what several paths did, what is drawn of an edge that they share: it stayed where any of them did.

    >>> from core.diagnosis.before_now import strongest
    >>> strongest(["passed", "came"]), strongest(["went", "stayed", "came"]), strongest(["went", "came"]), strongest([])
    ('came', 'stayed', 'stayed', 'passed')
    """
    found = set(turns)
    if "stayed" in found or {"came", "went"} <= found:  # by another path before than now
        return "stayed"
    return "came" if "came" in found else "went" if "went" in found else "passed"
