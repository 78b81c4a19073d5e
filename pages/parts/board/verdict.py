"""Verdicts and repairs of a comparison, as data of the board."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.diagnosis.funnel import FunnelStage
from core.diagnosis.repair.repair_offers import best_repair, find_equal_lane
from core.diagnosis.verdict.explanation import LaneExplanation
from core.engine import MethodComparison, MethodLane
from pages.parts.shared.wording import tr


def offered_repair(comparison: MethodComparison, lane: MethodLane) -> dict[str, Any] | None:
    """Return the change of method that improves a lane.

    It is None if there is none. `label` describes the change. `there` is a note on the lane that
    has this change already, else None.
    """
    if lane.repair is None:
        return None
    equal_lane = find_equal_lane(comparison, lane, lane.repair)
    note = None
    if equal_lane is not None:
        note = tr("Method {place} does this already.", place=equal_lane + 1)
    return {"label": lane.repair.label, "there": note}


def repair_data(comparison: MethodComparison) -> dict[str, Any] | None:
    """Return the best improvement of any lane, with its index."""
    best = best_repair(comparison)
    return None if best is None else {"lane": best[0], "label": best[1]}


def stage_data(stage: FunnelStage) -> dict[str, Any]:
    """Return the data of a stage of the funnel.

    `alive` is the number of answers left of the `of` known answers, and `lost` has the names of
    those that the stage lost. `aside` is true for a stage that the method bypasses.
    """
    return {
        "stage": stage.name,
        "alive": len(stage.alive),
        "of": stage.n_targets,
        "lost": list(stage.lost),
        "aside": stage.bypassed,
    }


def lane_tone(explanation: LaneExplanation) -> str:
    """Return the tone of a lane: good, warn or bad.

    It is good if all known answers are found, warn if some are, and bad if none is. Without known
    answers it is good.
    """
    if not explanation.n_answers or explanation.n_right == explanation.n_answers:
        return "good"
    return "warn" if explanation.n_right else "bad"


def verdict_data(count: int | None, answers: tuple[str, ...]) -> dict[str, int] | None:
    """Return how many of the known answers are given.

    It is None if `count` is None.
    """
    return None if count is None else {"right": count, "of": len(set(answers))}


def document_tone(explanation: LaneExplanation, funnel: Sequence[dict[str, Any]] | None) -> str:
    """Return the tone of a lane on documents: good, warn or bad.

    It is good if nothing was lost, bad if nothing was retrieved, else warn.
    """
    if explanation.stage is None:
        return "good"
    retrieved = [
        stage["alive"]
        for stage in funnel or ()
        if stage["alive"] is not None and stage["stage"] != "answer"
    ]
    if explanation.stage != "answer" and (not retrieved or not retrieved[-1]):
        return "bad"
    return "warn"


def answer_tag(right: int | None, total: int, has_answer: bool) -> dict[str, Any] | None:
    """Return the tag of an answer: how many of the known answers it has.

    If there is one known answer, the tag also has a word; for a wrong answer it depends on
    `has_answer`, whether a model answered. The tag is None if `right` is.
    """
    if right is None:
        return None
    if total != 1:
        return {"right": right, "of": total}
    word = tr("wrong") if has_answer else tr("not found")
    return {"right": right, "of": total, "word": tr("correct") if right else word}
