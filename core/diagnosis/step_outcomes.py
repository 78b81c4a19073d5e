"""The outcome of each operator of a lane: sizes, cost, and the targets alive after it.

A target is a known answer or a gold passage. The editor of lines shows the outcomes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
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
    """The outcome of one operator of a lane.

    Parameters
    ----------
    sizes : sizes of its results by name, such as `paths`.
    seconds : the operator's own time.
    usage : the cost of its model calls.
    notes : sentences of the operator on its run.
    alive : the names of the targets alive after it; None if no target is known.
    lost : the names of the targets that it lost.
    best_rank_words : the best ranked lost target and its rank, as in
        `Don Cheadle: rank 41 of 1,317`; empty if none was lost.
    saved_seconds : seconds that cached results had cost when they were made, not part of `seconds`.
    """

    sizes: Mapping[str, int]
    seconds: float
    usage: Usage
    notes: tuple[str, ...]
    alive: tuple[str, ...] | None
    lost: tuple[str, ...] = ()
    best_rank_words: str = ""
    saved_seconds: float = 0.0


def targets_of(comparison: MethodComparison) -> tuple[Target, ...]:
    """Return the targets of a comparison's lanes.

    They are the gold passages of a question to a corpus, if it has some, else the known answers.
    """
    return explainer_of(comparison.ask.source).targets(comparison.ask.question)


def step_outcomes(comparison: MethodComparison, lane: MethodLane) -> tuple[StepOutcome, ...]:
    """Return the outcome of each operator that has run, in order.

    A graph reader that was added to the line is included.
    """
    states = lane.states
    targets = targets_of(comparison)
    by_model = lane_counts_by_model(comparison, lane)
    loss_words: dict[str, str] = {}  # by name of a target, the best ranked first
    if lane.retrieved:
        run = LaneStages(lane.graph, states, by_model)
        loss_words = explainer_of(comparison.ask.source).loss_places(run, targets)
    outcomes: list[StepOutcome] = []
    alive_before = tuple(target.name for target in targets)
    n_old_steps = 0  # steps in the trace before the operator; a branch adds several
    for state in states:
        steps = state.trace[n_old_steps:]
        n_old_steps = len(state.trace)
        alive = _alive_names(comparison, lane, state, targets, by_model)
        lost: tuple[str, ...] = ()
        if alive is not None:
            lost = tuple(name for name in alive_before if name not in alive)
            alive_before = tuple(name for name in alive_before if name in alive)
        lost_words = (f"{name}: {text}" for name, text in loss_words.items() if name in lost)
        outcomes.append(_outcome(steps, alive, lost, next(lost_words, "")))
    return tuple(outcomes)


def _outcome(
    steps: Sequence[Step], alive: tuple[str, ...] | None, lost: tuple[str, ...], best_rank: str
) -> StepOutcome:
    """Return the outcome of one operator from its steps; a branch may have several."""
    sizes: dict[str, int] = {}
    for step in steps:
        sizes |= step.sizes
    usage = reduce(add, (step.usage for step in steps), Usage())
    notes = tuple(chain.from_iterable(step.notes for step in steps))
    seconds, saved_seconds = sum(step.seconds for step in steps), sum(step.saved for step in steps)
    return StepOutcome(sizes, seconds, usage, notes, alive, lost, best_rank, saved_seconds)


def _alive_names(
    comparison: MethodComparison,
    lane: MethodLane,
    state: State,
    targets: tuple[Target, ...],
    by_model: bool,
) -> tuple[str, ...] | None:
    """Return the targets alive in a state's last stage.

    It is the last stage that the state has reached. The result is None without stages.
    """
    stages = funnel(comparison.ask.source, lane.graph, state, targets, by_model, lane.saved_alive)
    return next((stage.alive for stage in reversed(stages) if not stage.bypassed), None)
