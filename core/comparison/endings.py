"""Descriptions of lanes that failed or were cancelled: how they ended, and at which step."""

from __future__ import annotations

from core.comparison.lane import MethodLane
from core.operators.branch import Branch
from core.runtime.jobs import JOB_CANCELLED, JOB_FAILED

ENDING_WORDS = {JOB_FAILED: "Failed", JOB_CANCELLED: "Cancelled"}


def retrieval_ending(lane: MethodLane) -> str:
    """Return how a lane ended: failed, or cancelled before its retrieval was done.

    The text is empty for lanes that are running or done, or were cancelled later.
    """
    if lane.error is not None:
        return "failed"
    if lane.status == JOB_CANCELLED and not lane.retrieved:
        return "was cancelled"
    return ""


def is_unanswered(lane: MethodLane) -> bool:
    """Return whether a lane was cancelled between retrieval and answer."""
    if (
        lane.status != JOB_CANCELLED
        or not lane.retrieved
        or not (lane.ask.uses_reader or lane.ask.uses_model)
    ):
        return False
    state = lane.state
    return state.answer is None and state.reader is None and state.excerpt is None


def missing_answer_reason(lane: MethodLane) -> str:
    """Return why a lane has no answer; empty unless it failed or was cancelled."""
    return "was cancelled before answering" if is_unanswered(lane) else retrieval_ending(lane)


def ending_sentence(lane: MethodLane) -> str:
    """Return the step at which a lane failed or was cancelled.

    The text is empty for other lanes. An example is: Cancelled at step 2 of 4, rank, with 512 of
    1,190 paths read.
    """
    if lane.status not in ENDING_WORDS:
        return ""
    progress = f", with {lane.preview.text}" if lane.preview is not None else ""
    return f"{ENDING_WORDS[lane.status]} {_last_step(lane)}{progress}"


def _last_step(lane: MethodLane) -> str:
    """Return the step at which a lane ended, in words.

    With a branch the number of all steps is unknown, because it depends on the chosen arm.
    """
    steps = [step for step in lane.method.line if step.stage != "generate"]
    n_done = len(lane.states)
    if lane.retrieved:
        return "before its language model had answered"
    if any(isinstance(step, Branch) for step in steps):
        return f"after {n_done:,} step{'' if n_done == 1 else 's'}"
    if n_done < len(steps):
        return f"at step {n_done + 1:,} of {len(steps):,}, {steps[n_done].title}"
    return "at its last step"
