"""Choice of the repairs that are offered to the user.

A repair is a line with one changed operator that brings more targets. It is not offered if another
lane of the comparison shows the same already.
"""

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
    """Return the index and label of the lane with the best repair.

    It is the repair that brings most, and the label names the lane. Ties go to a repair that keeps
    the lane's operators. The result is None if no repair is offered.
    """
    candidates = []  # sort keys that end with the index and the label
    for i, lane in enumerate(comparison.lanes):
        repair = lane.repair
        if repair is not None and find_equal_lane(comparison, lane, repair) is None:
            replaces_operator = bool(_new_types(lane, repair))
            candidates.append((-repair.right / repair.of, replaces_operator, i, repair.label))
    if not candidates:
        return None
    *_, index, label = min(candidates)
    return index, f"Repair {lane_names(comparison)[index]}: {label[:1].lower()}{label[1:]}"


def find_equal_lane(comparison: MethodComparison, lane: MethodLane, repair: Repair) -> int | None:
    """Return the index of a lane that already shows a repair's effect.

    It shows what the repaired `lane` would. The result is None if there is no such lane. Such a
    lane runs the repaired line, or has the same operators and brings as many targets. If the repair
    replaced an operator, it is enough if the lane has the new one. A repair of the answer is only
    shown by a lane with its line.
    """
    line = parse_line(repair.spec)
    new_types = _new_types(lane, repair)
    for index, other in enumerate(comparison.lanes):
        if repr(other.method.line) == repair.spec:
            return index
        if other is lane or repair.by_answer:
            continue
        types = _operator_types(other.method.line)
        is_alike = new_types <= set(types) if new_types else types == _operator_types(line)
        if is_alike and _brings_as_much(comparison, other, repair):
            return index
    return None


def is_answer_known(comparison: MethodComparison, lane: MethodLane, trial: LaneRun) -> bool:
    """Return whether another lane has the same result as a trial.

    The trial is a run of a changed `lane`. The result is the graph reader's answer, or the hits
    without a reader, in the same order.
    """
    trial_result = _result(trial.state)
    other_lanes = [other for other in comparison.lanes if other is not lane and other.retrieved]
    return bool(trial_result) and any(_result(other.state) == trial_result for other in other_lanes)


def _result(state: State) -> tuple:
    """Return the nodes of the graph reader, or each kind's hits.

    There are hits if there is no reader.
    """
    if state.reader is not None:
        return state.reader
    return tuple((hits.kind, hits.items) for hits in state.hits)


def _operator_types(line: Line) -> list[type]:
    return [type(operator) for operator in line]


def _new_types(lane: MethodLane, repair: Repair) -> set[type]:
    """Return the operator types that a repair introduces; empty if it only changes values."""
    return set(_operator_types(parse_line(repair.spec))) - set(_operator_types(lane.method.line))


def _brings_as_much(comparison: MethodComparison, lane: MethodLane, repair: Repair) -> bool:
    """Return whether a lane brings at least as many targets as a repair."""
    if not lane.retrieved or not lane.states:
        return False
    brought_targets = count_brought(lane, lane_counts_by_model(comparison, lane), lane.saved_alive)
    return brought_targets is not None and brought_targets.count >= repair.right
