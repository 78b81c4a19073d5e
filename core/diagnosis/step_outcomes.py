"""What came of each step of a lane: what it left behind, its cost, and which known answers or gold passages are alive after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from core.comparison.lane import Comparison, Lane
from core.diagnosis.causes import PHRASES, Loss
from core.diagnosis.funnel import funnel
from core.diagnosis.losses import LaneStages, losses
from core.diagnosis.measure import lane_by_model
from core.diagnosis.missed_answers import lost_paths
from core.diagnosis.passages import fates
from core.diagnosis.targets import Target, answers_of, passages_of
from core.types import State, Step, Usage


@dataclass(frozen=True)
class StepOutcome:
    """One step of a line in a lane: sizes of what it left behind, its seconds, what its model calls cost, and its notes.

    `saved` are the seconds that what was remembered from before had cost, which are no part of `seconds`.

    `alive` are the targets that are alive after it, None where nothing is known of them; `lost` are those that it lost, and `where` says of
    the nearest of them at which place: `Don Cheadle: place 41 of 1,317`.
    """

    sizes: Mapping[str, int]
    seconds: float
    usage: Usage
    notes: tuple[str, ...]
    alive: tuple[str, ...] | None
    lost: tuple[str, ...] = ()
    where: str = ""
    saved: float = 0.0


def targets_of(comparison: Comparison) -> tuple[Target, ...]:
    """What a comparison's lanes are to bring: the gold passages of a question to documents where it has some, else its known answers."""
    question = comparison.ask.question
    return (passages_of(question) if comparison.ask.source.is_corpus else ()) or answers_of(
        question
    )


def step_outcomes(comparison: Comparison, lane: Lane) -> tuple[StepOutcome, ...]:
    """What came of each operator that the lane has run so far, in their order; a reader that the line itself has not is one of them."""
    states, targets, by_model = lane.states, targets_of(comparison), lane_by_model(comparison, lane)
    where = _places(comparison, lane, states, targets, by_model) if lane.retrieved else {}
    found, before, trace = list[StepOutcome](), tuple(target.name for target in targets), 0
    for state in states:
        steps, trace = state.trace[trace:], len(state.trace)
        alive = _alive(comparison, lane, state, targets, by_model)
        lost = () if alive is None else tuple(name for name in before if name not in alive)
        found.append(
            _outcome(
                steps,
                alive,
                lost,
                next((f"{name}: {where[name]}" for name in _nearest(lost, where)), ""),
            )
        )
        before = before if alive is None else tuple(name for name in before if name in alive)
    return tuple(found)


def _outcome(
    steps: Sequence[Step], alive: tuple[str, ...] | None, lost: tuple[str, ...], where: str
) -> StepOutcome:
    """The outcome of one operator, which of a branch may be several steps."""
    sizes: dict[str, int] = {}
    for step in steps:
        sizes |= step.sizes
    usage = reduce(add, (step.usage for step in steps), Usage())
    notes = tuple(note for step in steps for note in step.notes)
    seconds, saved = sum(step.seconds for step in steps), sum(step.saved for step in steps)
    return StepOutcome(sizes, seconds, usage, notes, alive, lost, where, saved)


def _alive(
    comparison: Comparison, lane: Lane, state: State, targets: tuple[Target, ...], by_model: bool
) -> tuple[str, ...] | None:
    """The targets alive in the last stage that a state has reached."""
    stages = funnel(comparison.ask.source, lane.graph, state, targets, by_model, lane.saved_alive)
    return next((stage.alive for stage in reversed(stages) if not stage.bypassed), None)


def _places(
    comparison: Comparison,
    lane: Lane,
    states: Sequence[State],
    targets: tuple[Target, ...],
    by_model: bool,
) -> dict[str, str]:
    """By name of a target that was lost a few words on where, those of the nearest place first."""
    if comparison.ask.source.is_corpus:
        gold = [target.name for target in targets if target.kind == "passage"]
        lost = [one for one in fates(lane.graph, states, gold) if one.kind != "found"]
        return {
            one.document: one.text
            for one in sorted(lost, key=lambda one: (one.place is None, one.place or 0))
        }
    answers = [target.name for target in targets]
    ways = lost_paths(lane.graph, [states], answers, [by_model])[0] if answers else []
    found = losses(LaneStages(lane.graph, states, by_model), answers, dict(ways)) if states else ()
    return {
        one.name: place_words(one)
        for one in sorted(found, key=lambda one: (one.place is None, one.place or 0))
    }


def place_words(loss: Loss) -> str:
    """Where a known answer was lost in a few words: its place where it has one, else the cause.

    >>> from core.diagnosis.causes import Cause, Loss
    >>> from core.diagnosis.step_outcomes import place_words
    >>> place_words(Loss("Don Cheadle", "paths", Cause.OUTRANKED, 41, 1317)), place_words(Loss("Don Cheadle", "paths", Cause.NO_WAY))
    ('place 41 of 1,317', 'no way there')
    """
    if loss.place is not None:
        behind = (
            f" of {loss.of:,}"
            if loss.of is not None
            else f", {loss.retained:,} kept"
            if loss.retained
            else ""
        )
        return f"place {loss.place:,}{behind}"
    head = PHRASES[loss.cause].head.format(hop=loss.hop)
    return head[:1].lower() + head[1:]


def _nearest(lost: tuple[str, ...], where: Mapping[str, str]) -> list[str]:
    return [name for name in where if name in lost]
