"""Trials of changes of one step that bring a lane more known answers or gold passages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from core.comparison.lane import Lane
from core.comparison.run import LaneRun, Layered
from core.diagnosis.causes import Loss
from core.diagnosis.changes.trying import (
    MOST_SECONDS,
    BroughtTargets,
    LineChange,
    best,
    changed_line,
    ran,
)
from core.diagnosis.funnel import SavedAlive
from core.diagnosis.verdict.explainers import explainer_of
from core.types import Repair
from core.watch import NO_WATCH, Watch


def repair(
    run: LaneRun,
    losses: Sequence[Loss] = (),
    by_model: bool = False,
    saved: SavedAlive = None,
    watch: Watch = NO_WATCH,
    seconds: float = MOST_SECONDS,
    known: Callable[[Repair, LaneRun], bool] = lambda repair, trial: False,
) -> Repair | None:
    """Return the first change that brings all targets, else the one that brings most.

    A change has to bring more than the run did. The result is None where nothing was lost or no
    change helps. No language model is asked. At most six changes are tried, within `seconds`.
    Raises what `watch` raises.

    Parameters
    ----------
    run : the run of the lane.
    losses : the losses of the lane.
    by_model : True if the lane is counted by its language model.
    saved : for a saved lane on a corpus, the targets alive in the corpus and in the graph.
    known : returns whether another lane brings the same as a repair and its trial run. Such repairs
        are skipped.
    """
    before = brought(run, by_model, saved)
    if before is None or before.right == before.of:
        return None
    attempt = lambda change, checked: _tried(run, change, before, checked, by_model, known)
    return best(
        explainer_of(run.ask.source).changes(run, losses), before.right, attempt, watch, seconds
    )


def brought(run: LaneRun | Lane, by_model: bool, saved: SavedAlive = None) -> BroughtTargets | None:
    """Return how many targets a run brings; None where nothing is wanted or sought."""
    return explainer_of(run.ask.source).brought(run, by_model, saved)


def _tried(
    run: LaneRun,
    change: LineChange,
    before: BroughtTargets,
    watch: Watch,
    by_model: bool,
    known: Callable[[Repair, LaneRun], bool],
) -> Repair | None:
    """Return the effect of a change.

    The result is None where the change cannot be run, takes too long, or is `known`.
    """
    changed = changed_line(run.line, change)
    if changed is None:
        return None
    own = Layered(run.prefixes)  # states of trials must not displace those of real runs
    ask, answer = explainer_of(run.ask.source).trial(run.ask, by_model)
    trial = LaneRun(ask, changed, run.environment, own)
    if not ran(trial, watch, answer=answer):
        return None
    found = brought(trial, by_model)
    if found is None:
        return None
    made = Repair(
        repr(changed),
        f"{change.words} → {replace(found, where=found.where or before.where)}",
        found.right,
        found.of,
    )
    return None if known(made, trial) else made
