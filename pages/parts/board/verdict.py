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
    """Return the change that improves a lane, if there is one.

    `there` names the lane that has this change already.
    """
    if lane.repair is None:
        return None
    twin_index = find_equal_lane(comparison, lane, lane.repair)
    return {
        "label": lane.repair.label,
        "there": None
        if twin_index is None
        else tr("Method {place} does this already.", place=twin_index + 1),
    }


def repair_data(comparison: MethodComparison) -> dict[str, Any] | None:
    """Return the change that improves most, with the index of its lane."""
    best = best_repair(comparison)
    return None if best is None else {"lane": best[0], "label": best[1]}


def stage_data(stage: FunnelStage) -> dict[str, Any]:
    """Return the data of a stage of the funnel."""
    return {
        "stage": stage.name,
        "alive": len(stage.alive),
        "of": stage.of,
        "lost": list(stage.lost),
        "aside": stage.bypassed,
    }


def lane_tone(one: LaneExplanation) -> str:
    """Return the tone of a lane: good, warn or bad.

    It is good if all that counts is found, warn if some is, bad if none is. Without known answers
    it is good.
    """
    return "good" if not one.of or one.right == one.of else "warn" if one.right else "bad"


def verdict_data(count: int | None, answers: tuple[str, ...]) -> dict[str, int] | None:
    """Return how many of the known answers are given."""
    return None if count is None else {"right": count, "of": len(set(answers))}


def document_tone(one: LaneExplanation, funnel: Sequence[dict[str, Any]] | None) -> str:
    """Return the tone of a lane on documents: good, warn or bad.

    It is good if nothing was lost, bad if nothing was retrieved, else warn.
    """
    if one.stage is None:
        return "good"
    known_gold = [
        stage for stage in funnel or () if stage["alive"] is not None and stage["stage"] != "answer"
    ]
    return (
        "bad"
        if one.stage != "answer" and (not known_gold or not known_gold[-1]["alive"])
        else "warn"
    )


def answer_tag(right: int | None, total: int, said: bool) -> dict[str, Any] | None:
    """Return the tag of an answer: how many of the known answers it has.

    If there is one known answer, the tag is a word.
    """
    if right is None:
        return None
    words = (tr("correct"), tr("wrong")) if said else (tr("correct"), tr("not found"))
    return {"right": right, "of": total} | (
        {"word": words[0 if right else 1]} if total == 1 else {}
    )
