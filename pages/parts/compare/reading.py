"""The reader of a lane asked again with other contexts, as an offer beside its influence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.diagnosis.reading import (
    answers_by_model,
    context_label,
    reading_cost,
    reading_fault,
    reading_text,
)
from core.diagnosis.repair.reading_repair import read_lane
from core.diagnosis.wording import capitalised
from core.engine import MethodLane
from core.environment import Environment
from core.errors import split_command
from core.runtime.jobs import JOB_DONE, Job
from core.types import ReaderAnswers
from core.watch import Watch
from pages.parts.compare.screen_state import ScreenComparison
from pages.parts.shared.session import engine
from pages.parts.shared.wording import tr

READ_ACTION, STOP_READING_ACTION = "reading", "reading-stop"  # actions of a lane's buttons


def start_or_stop_reading(on_screen: ScreenComparison, index: int, action: str) -> None:
    """Start to ask the reader of a lane again in the background, or stop that.

    `index` is the number of the lane. Raises NotAllowed if another person started it.
    """
    lane = on_screen.comparison.lanes[index]
    running_job = _reading_job(on_screen, lane)
    if action == STOP_READING_ACTION:
        if running_job is not None:
            running_job.cancel()
    elif _can_be_read(on_screen, lane):
        environment = engine().environment
        engine().background_jobs.run(
            _job_key(on_screen, lane),
            lambda job: _read(job, on_screen, index, environment),
            again=True,
        )


def _can_be_read(on_screen: ScreenComparison, lane: MethodLane) -> bool:
    """Return whether the reader of a lane can be asked again, and was not yet.

    One that needs no language model can once the other lanes have ended.
    """
    job = on_screen.job
    if job is None or lane.status != JOB_DONE or lane.reading is not None or reading_fault(lane):
        return False
    return answers_by_model(lane) or (job.has_ended and not on_screen.comparison.is_repairing)


def _read(job: Job, on_screen: ScreenComparison, index: int, environment: Environment) -> None:
    """Ask the reader of a lane again, and store the answers in it."""
    screen_job = on_screen.job

    def report(text: str, share: float | None = None) -> None:
        job.report(text, share)
        if screen_job is not None:
            screen_job.touch()  # so that the board is drawn again

    try:
        read_lane(on_screen.comparison, index, environment, Watch(job.check, report))
    finally:
        if screen_job is not None:
            screen_job.touch()


def reading_jobs(on_screen: ScreenComparison) -> list[Job | None]:
    """Return the job that asks each lane's reader again, or None; empty for a case."""
    if on_screen.job is None:
        return []
    return [_reading_job(on_screen, lane) for lane in on_screen.comparison.lanes]


def add_readings(board: dict[str, Any], on_screen: ScreenComparison) -> dict[str, Any]:
    """Return the board's data with what each reader answered, or the offer to ask it."""
    lanes = [{**lane, **data} for lane, data in zip(board["lanes"], _lane_readings(on_screen))]
    return {**board, "lanes": lanes}


def _lane_readings(on_screen: ScreenComparison) -> Iterator[dict[str, Any]]:
    """Yield for each lane its answers as `reading`, and an offer or progress as `read_again`."""
    for lane in on_screen.comparison.lanes:
        job = None if on_screen.job is None else _reading_job(on_screen, lane)
        data: dict[str, Any] = {}
        if lane.reading is not None:
            data["reading"] = reading_data(lane.reading)
        if job is not None and not job.has_ended:
            data["read_again"] = {"running": True, "text": job.text, "share": job.fraction}
        elif _can_be_read(on_screen, lane):
            cost = tr("No language model is asked.")
            if answers_by_model(lane):
                cost = f"{capitalised(reading_cost(lane).description)}."
            data["read_again"] = {
                "running": False,
                "label": tr("Retrieval or reading?"),
                "cost": cost,
                "error": split_command(job.error)[0] if job is not None and job.error else None,
            }
        yield data


def reading_data(reading: ReaderAnswers) -> dict[str, Any]:
    """Return the answers of a reader as data of the board: a sentence, and a row each."""
    return {
        "text": reading_text(reading),
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


def _job_key(on_screen: ScreenComparison, lane: MethodLane) -> str:
    return f"reading-{on_screen.key}-{lane.method.line!r}"


def _reading_job(on_screen: ScreenComparison, lane: MethodLane) -> Job | None:
    return engine().background_jobs.get(_job_key(on_screen, lane))
