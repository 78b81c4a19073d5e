"""Repairs that are worth offering: those that bring what no lane of the comparison has already."""

from __future__ import annotations

from core.comparison.lane import Comparison, Lane
from core.comparison.run import LaneRun
from core.diagnosis.measure import lane_by_model
from core.diagnosis.repair.repairs import brought
from core.diagnosis.verdict.lane_words import lane_names
from core.operators.base import Line
from core.operators.text import parse_line
from core.types import Repair, State


def best_repair(comparison: Comparison) -> tuple[int, str] | None:
    """Return the lane whose repair brings most, and a label that names the lane.

    Of several that bring as much, one that keeps its operators comes first. None where no repair is offered.
    """
    repaired = [
        (i, lane, lane.repair)
        for i, lane in enumerate(comparison.lanes)
        if lane.repair is not None and twin(comparison, lane, lane.repair) is None
    ]
    if not repaired:
        return None
    _, _, place, label = min(
        (-repair.right / repair.of, bool(_new_types(lane, repair)), i, repair.label)
        for i, lane, repair in repaired
    )
    return place, f"Repair {lane_names(comparison)[place]}: {label[:1].lower()}{label[1:]}"


def twin(comparison: Comparison, lane: Lane, repair: Repair) -> int | None:
    """Return the place of a lane beside which the repaired `lane` would show nothing new; None where there is none.

    It runs the repaired line, or it works as that does and brings as much: where a step was replaced it has the new
    operators, else it has the same ones.
    """
    line = parse_line(repair.spec)
    new = _new_types(lane, repair)
    for place, other in enumerate(comparison.lanes):
        if repr(other.instance.line) == repair.spec:
            return place
        types = _types(other.instance.line)
        alike = new <= set(types) if new else types == _types(line)
        if other is not lane and alike and _brings(comparison, other, repair):
            return place
    return None


def answers_alike(comparison: Comparison, lane: Lane, trial: LaneRun) -> bool:
    """Whether another lane answers as a trial run of a changed `lane` does: the same names, or the same hits, in one order."""
    found = _says(trial.state)
    others = [other for other in comparison.lanes if other is not lane and other.retrieved]
    return bool(found) and any(_says(other.state) == found for other in others)


def _says(state: State) -> tuple:
    if state.reader is not None:
        return state.reader
    return tuple((hits.kind, hits.items) for hits in state.hits)


def _types(line: Line) -> list[type]:
    return [type(operator) for operator in line]


def _new_types(lane: Lane, repair: Repair) -> set[type]:
    """The operators that a repair puts in the place of others, rather than other values."""
    return set(_types(parse_line(repair.spec))) - set(_types(lane.instance.line))


def _brings(comparison: Comparison, lane: Lane, repair: Repair) -> bool:
    """Whether a lane brings as much as a repair."""
    if not lane.retrieved or not lane.states:
        return False
    found = brought(lane, lane_by_model(comparison, lane), lane.saved_alive)
    return found is not None and found.right >= repair.right
