"""Repairs that are worth offering, as they bring what no other lane has."""

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

    Ties go to a repair that keeps the lane's operators. The result is None where no repair is
    offered.
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
    """Return a lane that already shows what the repaired `lane` would; None if there is none.

    Such a lane runs the repaired line, or works as it does and brings as much. If the repair
    replaced a step, that lane has the new operators. Else it has the same operators.
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
    """Return whether another lane answers as a trial run of a changed `lane` does.

    It gives the same names, or the same hits, in the same order.
    """
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
    """Return the operator types that a repair introduces; empty if it only changes values."""
    return set(_types(parse_line(repair.spec))) - set(_types(lane.instance.line))


def _brings(comparison: Comparison, lane: Lane, repair: Repair) -> bool:
    """Return whether a lane brings as much as a repair."""
    if not lane.retrieved or not lane.states:
        return False
    found = brought(lane, lane_by_model(comparison, lane), lane.saved_alive)
    return found is not None and found.right >= repair.right
