"""What came of each step of a lane: what it left behind, its cost, and which known answers or gold passages are alive after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from core.comparison.lane import Comparison, Lane
from core.diagnosis.funnel import funnel
from core.diagnosis.losses import LaneStages
from core.diagnosis.measure import lane_by_model
from core.diagnosis.targets import Target
from core.diagnosis.verdict.explainers import explainer_of
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
    return explainer_of(comparison.ask.source).targets(comparison.ask.question)


def step_outcomes(comparison: Comparison, lane: Lane) -> tuple[StepOutcome, ...]:
    """What came of each operator that the lane has run so far, in their order; a reader that the line itself has not is one of them."""
    states, targets, by_model = lane.states, targets_of(comparison), lane_by_model(comparison, lane)
    where: dict[str, str] = {}
    if lane.retrieved:
        run = LaneStages(lane.graph, states, by_model)
        where = explainer_of(comparison.ask.source).places(run, targets)
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


def _nearest(lost: tuple[str, ...], where: Mapping[str, str]) -> list[str]:
    return [name for name in where if name in lost]
