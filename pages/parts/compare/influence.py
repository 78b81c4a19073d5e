"""Measurement of the items that a lane's answers depend on.

Items are removed and the answer is computed again. A lane has up to two answers: that of the graph
reader, which needs no language model, and that of a language model. A flag `by_model` tells which.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from core.comparison.lane import MethodComparison
from core.diagnosis.influence import (
    influence_cost,
    influence_fault,
    measure_influence,
    with_influence,
)
from core.diagnosis.wording import capitalised
from core.engine import MethodLane
from core.environment import Environment
from core.runtime.jobs import JOB_DONE
from core.watch import Watch
from pages.parts.compare.lane_jobs import LaneJobs
from pages.parts.compare.screen_state import ScreenComparison
from pages.parts.shared.session import engine
from pages.parts.shared.wording import tr

MEASURE_ACTION, STOP_ACTION = "influence", "influence-stop"  # actions of a lane's buttons
MEASURING_JOBS = LaneJobs("influence")
MEASURE_LABELS = {  # by whether the answer of a language model is measured
    True: tr("Find what the model's answer depends on"),
    False: tr("Find what its answer depends on"),
}


def start_or_stop_measure(on_screen: ScreenComparison, index: int, action: str) -> None:
    """Start to measure a lane's answers in the background, or stop that.

    `index` is the number of the lane. Raises NotAllowed if another person started the measurement.
    """
    lane = on_screen.comparison.lanes[index]
    if action == STOP_ACTION:
        MEASURING_JOBS.stop(on_screen, lane)
    elif kinds := _kinds_to_measure(on_screen, lane):
        environment = engine().environment
        MEASURING_JOBS.start(
            on_screen,
            lane,
            lambda watch: _measure(on_screen.comparison, index, kinds, environment, watch),
        )


def _kinds_to_measure(on_screen: ScreenComparison, lane: MethodLane) -> list[bool]:
    """Return which of a lane's answers can still be measured.

    False stands for the graph reader's answer, and True for the language model's. The reader's is
    measured without a click once all lanes have ended, unless the machine is busy, so it is offered
    only after that.
    """
    if lane.status != JOB_DONE:
        return []
    comparison = on_screen.comparison
    has_ended = (
        on_screen.job is not None and on_screen.job.has_ended and not comparison.is_repairing
    )
    can_measure = {False: has_ended, True: comparison.ask.uses_model}
    measured_kinds = {influence.by_model for influence in lane.influences}
    return [
        by_model
        for by_model, possible in can_measure.items()
        if possible and by_model not in measured_kinds and not influence_fault(lane, by_model)
    ]


def _measure(
    comparison: MethodComparison,
    index: int,
    kinds: Sequence[bool],
    environment: Environment,
    watch: Watch,
) -> None:
    """Measure answers of a lane, and store the results in it."""
    for by_model in kinds:
        lane = comparison.lanes[index]
        influence = measure_influence(lane, environment, by_model, watch)
        comparison.change_lane(index, influences=with_influence(lane.influences, influence))


def add_measurements(board: dict[str, Any], on_screen: ScreenComparison) -> dict[str, Any]:
    """Return the board's data with the measurement of each lane.

    A measurement is offered or running. The data of a case is returned unchanged.
    """
    if on_screen.job is None:
        return board
    return {
        **board,
        "lanes": [
            {**lane, **offer} for lane, offer in zip(board["lanes"], _measure_offers(on_screen))
        ],
    }


def _measure_offers(on_screen: ScreenComparison) -> Iterator[dict[str, Any]]:
    """Yield for each lane its offered or running measurement.

    The data of a lane without any is empty.
    """
    for lane in on_screen.comparison.lanes:
        progress = MEASURING_JOBS.progress(on_screen, lane)
        kinds = _kinds_to_measure(on_screen, lane)
        if progress is not None:
            yield {"measure": progress}
        elif kinds:
            cost = tr("No language model is asked.")
            if True in kinds:
                cost = f"{capitalised(influence_cost(lane).description)}."
            label = MEASURE_LABELS[True in kinds]
            yield {"measure": MEASURING_JOBS.offer(on_screen, lane, label, cost)}
        else:
            yield {}
