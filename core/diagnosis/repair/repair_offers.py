"""Repairs that are worth offering, as they bring what no other lane has."""

from __future__ import annotations

from core.comparison.lane import MethodComparison, MethodLane
from core.comparison.lane_run import LaneRun
from core.diagnosis.measure import lane_counts_by_model
from core.diagnosis.repair.repair_trials import count_brought
from core.diagnosis.verdict.lane_words import lane_names
from core.operators.base import Line
from core.operators.text import parse_line
from core.types import Repair, State


def best_repair(comparison: MethodComparison) -> tuple[int, str] | None:
    """Return the lane whose repair brings most, and a label that names the lane.

    Ties go to a repair that keeps the lane's operators. The result is None if no repair is
    offered.
    """
    candidates = [
        (i, lane, lane.repair)
        for i, lane in enumerate(comparison.lanes)
        if lane.repair is not None and find_equal_lane(comparison, lane, lane.repair) is None
    ]
    if not candidates:
        return None
    _, _, index, label = min(
        (-repair.right / repair.of, bool(_new_types(lane, repair)), i, repair.label)
        for i, lane, repair in candidates
    )
    return index, f"Repair {lane_names(comparison)[index]}: {label[:1].lower()}{label[1:]}"


def find_equal_lane(comparison: MethodComparison, lane: MethodLane, repair: Repair) -> int | None:
    """Return a lane that already shows what the repaired `lane` would; None if there is none.

    Such a lane runs the repaired line, or works as it does and brings as much. If the repair
    replaced a step, that lane has the new operators. Else it has the same operators.
    """
    line = parse_line(repair.spec)
    new = _new_types(lane, repair)
    for index, other in enumerate(comparison.lanes):
        if repr(other.method.line) == repair.spec:
            return index
        types = _types(other.method.line)
        alike = new <= set(types) if new else types == _types(line)
        if other is not lane and alike and _brings(comparison, other, repair):
            return index
    return None


def is_answer_known(comparison: MethodComparison, lane: MethodLane, trial: LaneRun) -> bool:
    """Return whether another lane answers as a trial run of a changed `lane` does.

    It gives the same names, or the same hits, in the same order.
    """
    trial_answer = _lane_results(trial.state)
    other_lanes = [other for other in comparison.lanes if other is not lane and other.retrieved]
    return bool(trial_answer) and any(
        _lane_results(other.state) == trial_answer for other in other_lanes
    )


def _lane_results(state: State) -> tuple:
    if state.reader is not None:
        return state.reader
    return tuple((hits.kind, hits.items) for hits in state.hits)


def _types(line: Line) -> list[type]:
    return [type(operator) for operator in line]


def _new_types(lane: MethodLane, repair: Repair) -> set[type]:
    """Return the operator types that a repair introduces; empty if it only changes values."""
    return set(_types(parse_line(repair.spec))) - set(_types(lane.method.line))


def _brings(comparison: MethodComparison, lane: MethodLane, repair: Repair) -> bool:
    """Return whether a lane brings as much as a repair."""
    if not lane.retrieved or not lane.states:
        return False
    brought_targets = count_brought(lane, lane_counts_by_model(comparison, lane), lane.saved_alive)
    return brought_targets is not None and brought_targets.right >= repair.right
