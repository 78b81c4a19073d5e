"""The search for a shorter prompt from which a reader answers right."""

from __future__ import annotations

from collections.abc import Iterator

from core.comparison.lane import MethodComparison, MethodLane
from core.comparison.lane_run import LaneRun, PrefixCache
from core.diagnosis.changes.trials import LineChange, apply_change, change_values, run_trial
from core.diagnosis.prompt_items import STATE_FIELDS, items_of
from core.diagnosis.reading import (
    EVIDENCE,
    EVIDENCE_FIRST,
    HALF,
    MAX_REPAIR_ANSWERS,
    RETRIEVED,
    WITHOUT,
    is_right,
    measure_reading,
)
from core.diagnosis.wording import count_noun
from core.environment import Environment
from core.operators.base import Line
from core.operators.branch import Branch
from core.parameters import parameter_values
from core.types import ReaderAnswers, Repair
from core.watch import NO_WATCH, Watch


def read_lane(
    comparison: MethodComparison, index: int, environment: Environment, watch: Watch = NO_WATCH
) -> MethodLane:
    """Ask the reader of a lane again, and put its answers and a repair on the lane.

    Raises as `measure_reading` does.
    """
    lane = comparison.lanes[index]
    reading = measure_reading(lane, environment, watch)
    repair = find_reading_repair(lane, reading, environment, watch)
    return comparison.change_lane(index, reading=reading, repair=repair or lane.repair)


def find_reading_repair(
    lane: MethodLane, reading: ReaderAnswers, environment: Environment, watch: Watch = NO_WATCH
) -> Repair | None:
    """Return a change that keeps fewer items, with which the lane answers right.

    The changed line is run, and its reader asked, at most twice. The result is None if the answer
    was not lost in reading, or if no shorter prompt helps.

    Parameters
    ----------
    lane : the lane whose reader was asked.
    reading : its answers to other contexts.
    """
    for size in _promising_sizes(reading):
        change = next(_keep_changes(lane, reading, size), None)
        changed = apply_change(lane.line, change) if change is not None else None
        if change is None or changed is None:
            continue
        watch.report(f"Trying: {change.description}")
        run = LaneRun(lane.ask, changed, environment, PrefixCache())
        if run_trial(run, watch, answer=reading.by_model) and is_right(
            lane, run.state, reading.by_model
        ):
            label = f"{change.description} → right"
            return Repair(repr(changed), label, 1, 1, by_answer=True)
    return None


def _promising_sizes(reading: ReaderAnswers) -> list[int]:
    """Return the numbers of first items that may be enough, the most promising first.

    They are the first half, if it was read right, and the items up to the last evidence.
    """
    right = {answer.context: answer for answer in reading.answers if answer.right}
    if RETRIEVED in right or not reading.needed or reading.missing:
        return []
    sizes = [right[HALF].items] if HALF in right else []
    if reading.evidence and right.keys() & {EVIDENCE, EVIDENCE_FIRST, WITHOUT}:
        sizes.append(reading.evidence[-1] + 1)
    return [size for size in dict.fromkeys(sizes) if size < reading.items][:MAX_REPAIR_ANSWERS]


def _keep_changes(lane: MethodLane, reading: ReaderAnswers, size: int) -> Iterator[LineChange]:
    """Yield changes after which `size` items are read: of the prompt, else of the last search.

    There is none if items of several kinds were read, or if the line has branches.
    """
    kinds = {kind for kind, _ in items_of(lane.state, reading.by_model)}
    line: Line = lane.line
    if len(kinds) != 1 or any(isinstance(operator, Branch) for operator in line):
        return
    (kind,) = kinds
    words = f"Keep {count_noun(size, reading.noun)}"
    for position in reversed(range(len(line))):
        operator = line.operators[position]
        values = parameter_values(operator)
        name = ""
        if operator.stage == "generate":
            name = "paths" if kind == "path" else "passages"
        elif STATE_FIELDS[kind] in operator.writes:
            name = "keep"
        if isinstance(values.get(name), int) and not 0 < values[name] <= size:
            yield from change_values(position, operator, words, **{name: size})
