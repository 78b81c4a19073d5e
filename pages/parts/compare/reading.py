"""The reader of a lane asked again with other contexts, as an offer beside its influence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.diagnosis.reading import (
    answers_by_model,
    context_label,
    lane_reading_text,
    reading_cost,
    reading_fault,
)
from core.diagnosis.repair.reading_repair import read_lane
from core.diagnosis.wording import capitalised
from core.engine import MethodLane
from core.runtime.jobs import JOB_DONE
from core.types import ReaderAnswers
from pages.parts.compare.lane_jobs import LaneJobs
from pages.parts.compare.screen_state import ScreenComparison
from pages.parts.shared.session import engine
from pages.parts.shared.wording import tr

READ_ACTION, STOP_READING_ACTION = "reading", "reading-stop"  # actions of a lane's buttons
READING_JOBS = LaneJobs("reading")


def start_or_stop_reading(on_screen: ScreenComparison, index: int, action: str) -> None:
    """Start to ask the reader of a lane again in the background, or stop that.

    `index` is the number of the lane. Raises NotAllowed if another person started it.
    """
    comparison = on_screen.comparison
    lane = comparison.lanes[index]
    if action == STOP_READING_ACTION:
        READING_JOBS.stop(on_screen, lane)
    elif _can_be_read(on_screen, lane):
        environment = engine().environment
        READING_JOBS.start(
            on_screen, lane, lambda watch: read_lane(comparison, index, environment, watch)
        )


def _can_be_read(on_screen: ScreenComparison, lane: MethodLane) -> bool:
    """Return whether the reader of a lane can be asked again, and was not yet.

    One that needs no language model can once the other lanes have ended.
    """
    job = on_screen.job
    if job is None or lane.status != JOB_DONE or lane.reading is not None or reading_fault(lane):
        return False
    return answers_by_model(lane) or (job.has_ended and not on_screen.comparison.is_repairing)


def add_readings(board: dict[str, Any], on_screen: ScreenComparison) -> dict[str, Any]:
    """Return the board's data with what each reader answered, or the offer to ask it."""
    lanes = [{**lane, **data} for lane, data in zip(board["lanes"], _lane_readings(on_screen))]
    return {**board, "lanes": lanes}


def _lane_readings(on_screen: ScreenComparison) -> Iterator[dict[str, Any]]:
    """Yield for each lane its answers as `reading`, and an offer or progress as `read_again`."""
    for lane in on_screen.comparison.lanes:
        data: dict[str, Any] = {}
        if lane.reading is not None:
            data["reading"] = reading_data(lane, lane.reading)
        progress = READING_JOBS.progress(on_screen, lane)
        if progress is not None:
            data["read_again"] = progress
        elif _can_be_read(on_screen, lane):
            cost = tr("No language model is asked.")
            if answers_by_model(lane):
                cost = f"{capitalised(reading_cost(lane).description)}."
            label = tr("Retrieval or reading?")
            data["read_again"] = READING_JOBS.offer(on_screen, lane, label, cost)
        yield data


def reading_data(lane: MethodLane, reading: ReaderAnswers) -> dict[str, Any]:
    """Return the answers of a lane's reader as data of the board: a sentence, and a row each."""
    return {
        "text": lane_reading_text(lane),
        "rows": [
            {
                "context": context_label(answer),
                "answer": answer.answer or answer.fault or tr("no answer"),
                "right": answer.right,
                "tokens": answer.tokens,
            }
            for answer in reading.answers
        ],
    }
