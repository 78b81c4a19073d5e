"""The search for a repair: one changed operator that brings a lane more targets.

The targets are known answers or gold passages. Each proposed change is tried by running the line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from core.comparison.lane import MethodLane
from core.comparison.lane_run import LaneRun, LayeredPrefixCache
from core.diagnosis.causes import Loss
from core.diagnosis.changes.trials import (
    MAX_CHANGES_SECONDS,
    BroughtTargets,
    LineChange,
    apply_change,
    best_change,
    run_trial,
)
from core.diagnosis.funnel import SavedAlive
from core.diagnosis.verdict.explainers import explainer_of
from core.types import Repair
from core.watch import NO_WATCH, Watch


def find_repair(
    run: LaneRun,
    losses: Sequence[Loss] = (),
    by_model: bool = False,
    saved_alive: SavedAlive = None,
    watch: Watch = NO_WATCH,
    seconds: float = MAX_CHANGES_SECONDS,
    is_known: Callable[[Repair, LaneRun], bool] = lambda repair, trial: False,
) -> Repair | None:
    """Return the first change that brings all targets, else the one that brings most.

    A change has to bring more than the run did. The result is None if nothing was lost or no
    change helps. No language model is asked. At most six changes are tried, within `seconds`.
    Raises what `watch` raises.

    Parameters
    ----------
    run : the run of the lane.
    losses : the targets that the lane lost, with their causes.
    by_model : True if the language model's answer counts for the lane.
    saved_alive : for a saved lane on a corpus, the targets alive in the corpus and in the graph.
    seconds : time limit of all trials.
    is_known : returns True for a repair, with its trial run, if another lane shows the same. Such
        repairs are skipped.
    """
    base = count_brought(run, by_model, saved_alive)
    if base is None or base.count == base.total:
        return None
    attempt = partial(_try_change, run, base=base, by_model=by_model, is_known=is_known)
    changes = explainer_of(run.ask.source).propose_changes(run, losses)
    return best_change(changes, base.count, attempt, watch, seconds)


def count_brought(
    run: LaneRun | MethodLane, by_model: bool, saved_alive: SavedAlive = None
) -> BroughtTargets | None:
    """Return how many targets a run brings; None if there is nothing to count."""
    return explainer_of(run.ask.source).count_brought(run, by_model, saved_alive)


def _try_change(
    run: LaneRun,
    change: LineChange,
    watch: Watch,
    base: BroughtTargets,
    by_model: bool,
    is_known: Callable[[Repair, LaneRun], bool],
) -> Repair | None:
    """Return the repair that a change makes, with its target count.

    The count is that of the targets that it brings. `base` counts those of the unchanged line. The
    result is None if the change cannot be run or takes too long, or if `is_known` is true of the
    repair.
    """
    changed = apply_change(run.line, change)
    if changed is None:
        return None
    # States of trials must not displace those of real runs.
    trial_cache = LayeredPrefixCache(run.prefixes)
    ask, answer = explainer_of(run.ask.source).trial_question(run.ask, by_model)
    trial = LaneRun(ask, changed, run.environment, trial_cache)
    if not run_trial(trial, watch, answer=answer):
        return None
    brought_targets = count_brought(trial, by_model)
    if brought_targets is None:
        return None
    stage_words = brought_targets.stage_words or base.stage_words
    tried_repair = Repair(
        repr(changed),
        f"{change.description} → {replace(brought_targets, stage_words=stage_words)}",
        brought_targets.count,
        brought_targets.total,
    )
    return None if is_known(tried_repair, trial) else tried_repair
