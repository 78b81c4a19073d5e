"""The outcome of each step of a lane: its sizes, its cost, and the targets alive after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from core.comparison.lane import MethodComparison, MethodLane
from core.diagnosis.funnel import funnel
from core.diagnosis.losses import LaneStages
from core.diagnosis.measure import lane_counts_by_model
from core.diagnosis.targets import Target
from core.diagnosis.verdict.explainers import explainer_of
from core.types import State, Step, Usage


@dataclass(frozen=True)
class StepOutcome:
    """The outcome of one step of a lane.

    Parameters
    ----------
    sizes : sizes of the step's results.
    seconds : the step's own time.
    usage : the cost of its model calls.
    alive : the targets alive after it; None if nothing is known of them.
    lost : the targets that it lost.
    where : the rank of the best of these, as in `Don Cheadle: rank 41 of 1,317`.
    saved : seconds that cached results had cost when they were made, not part of `seconds`.
    """

    sizes: Mapping[str, int]
    seconds: float
    usage: Usage
    notes: tuple[str, ...]
    alive: tuple[str, ...] | None
    lost: tuple[str, ...] = ()
    where: str = ""
    saved: float = 0.0


def targets_of(comparison: MethodComparison) -> tuple[Target, ...]:
    """Return the targets of a comparison's lanes.

    They are the gold passages of a question to a corpus, if it has some, else the known answers.
    """
    return explainer_of(comparison.ask.source).targets(comparison.ask.question)


def step_outcomes(comparison: MethodComparison, lane: MethodLane) -> tuple[StepOutcome, ...]:
    """Return the outcome of each operator that the lane has run so far, in order.

    A reader that was added to the line is included.
    """
    states = lane.states
    targets = targets_of(comparison)
    by_model = lane_counts_by_model(comparison, lane)
    where: dict[str, str] = {}
    if lane.retrieved:
        run = LaneStages(lane.graph, states, by_model)
        where = explainer_of(comparison.ask.source).places(run, targets)
    outcomes, alive_before, trace = list[StepOutcome](), tuple(target.name for target in targets), 0
    for state in states:
        steps, trace = state.trace[trace:], len(state.trace)
        alive = _alive_names(comparison, lane, state, targets, by_model)
        lost = () if alive is None else tuple(name for name in alive_before if name not in alive)
        outcomes.append(
            _outcome(
                steps,
                alive,
                lost,
                next((f"{name}: {where[name]}" for name in _nearest(lost, where)), ""),
            )
        )
        alive_before = (
            alive_before if alive is None else tuple(name for name in alive_before if name in alive)
        )
    return tuple(outcomes)


def _outcome(
    steps: Sequence[Step], alive: tuple[str, ...] | None, lost: tuple[str, ...], where: str
) -> StepOutcome:
    """Return the outcome of one operator; a branch may have several steps."""
    sizes: dict[str, int] = {}
    for step in steps:
        sizes |= step.sizes
    usage = reduce(add, (step.usage for step in steps), Usage())
    notes = tuple(note for step in steps for note in step.notes)
    seconds, saved_seconds = sum(step.seconds for step in steps), sum(step.saved for step in steps)
    return StepOutcome(sizes, seconds, usage, notes, alive, lost, where, saved_seconds)


def _alive_names(
    comparison: MethodComparison,
    lane: MethodLane,
    state: State,
    targets: tuple[Target, ...],
    by_model: bool,
) -> tuple[str, ...] | None:
    """Return the targets alive in the last stage that a state has reached."""
    stages = funnel(comparison.ask.source, lane.graph, state, targets, by_model, lane.saved_alive)
    return next((stage.alive for stage in reversed(stages) if not stage.bypassed), None)


def _nearest(lost: tuple[str, ...], where: Mapping[str, str]) -> list[str]:
    return [name for name in where if name in lost]
