"""Trials of lines with one changed operator, within a time limit.

`path_changes` and `passage_changes` propose the changes; `repair_trials` runs the lines.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from core.comparison.lane_run import LaneListener, LaneRun
from core.diagnosis.wording import count_noun
from core.errors import BadParameter, HopscopeError, RunCancelled
from core.operators.base import Line, Operator
from core.types import Repair
from core.watch import NO_WATCH, Watch

MAX_TRIED_CHANGES = 6  # changes tried for one lane
MAX_CHANGES_SECONDS = 2.0  # seconds for all changes of one lane


@dataclass(frozen=True)
class LineChange:
    """A replacement of the operator at `position` in a line.

    Positions begin at 0. The replacement is described in a few words.
    """

    position: int
    operator: Operator
    description: str


@dataclass(frozen=True)
class BroughtTargets:
    """The number of targets that a run brings to a stage.

    An example of a stage is the prompt.

    Parameters
    ----------
    count : how many targets it brings.
    total : the number of targets.
    noun : the noun of a target; empty for the number alone.
    stage_words : words for the stage at which they are counted, such as "in the prompt".
    """

    count: int
    total: int
    noun: str = ""
    stage_words: str = ""

    def __str__(self) -> str:
        total = count_noun(self.total, self.noun) if self.noun else f"{self.total:,}"
        return " ".join(filter(None, (f"{self.count:,} of {total}", self.stage_words)))


def change_values(position: int, operator: Operator, words: str, **changed) -> Iterator[LineChange]:
    """Yield the change of an operator to other parameter values, if it accepts them."""
    try:
        yield LineChange(position, replace(operator, **changed), words)
    except BadParameter:
        return


def apply_change(line: Line, change: LineChange) -> Line | None:
    """Return the changed line; None if the change makes it invalid."""
    try:
        return line.with_operator_at(change.position, change.operator)
    except HopscopeError:
        return None


def distinct_changes(line: Line, candidates: Iterable[LineChange]) -> Iterator[LineChange]:
    """Yield the changes that lead to a new line.

    It differs from `line` and from the lines of all earlier changes.
    """
    seen = {repr(line)}
    for change in candidates:
        text = repr(apply_change(line, change) or line)
        if text not in seen:
            seen.add(text)
            yield change


def best_change(
    candidates: Iterable[LineChange],
    min_right: int,
    attempt: Callable[[LineChange, Watch], Repair | None],
    watch: Watch = NO_WATCH,
    seconds: float = MAX_CHANGES_SECONDS,
) -> Repair | None:
    """Try changes and return the best repair.

    The best repair is the first that brings all targets, else the one that brings most. The result
    is None if no change brings more than `min_right`. At most six changes are tried, within
    `seconds`. Raises what `watch` raises.

    Parameters
    ----------
    candidates : the changes, in the order in which they are tried.
    min_right : how many targets the unchanged line brings.
    attempt : tries a change and returns the repair, or None if it is of no use; it calls its watch
        while it works.
    """
    best_repair: Repair | None = None
    deadline = time.monotonic() + seconds
    for number, change in enumerate(candidates):
        if number == MAX_TRIED_CHANGES or time.monotonic() >= deadline:
            break
        repair = attempt(change, watch_until(watch, deadline))
        if repair is not None and repair.right > (best_repair.right if best_repair else min_right):
            best_repair = repair
        if best_repair is not None and best_repair.right == best_repair.of:
            break
    return best_repair


def run_trial(run: LaneRun, watch: Watch = NO_WATCH, answer: bool = False) -> bool:
    """Retrieve with a line; return False if it failed or took too long.

    `answer` is True if the operators that generate the answer run too. Raises RunCancelled.
    """
    progress = LaneListener(
        Watch(watch.check, lambda text, fraction: watch.check()),
        on_state=lambda state: watch.check(),
    )
    try:
        run.retrieve(progress)
        if answer:
            run.answer(progress)
    except HopscopeError as error:
        if isinstance(error, RunCancelled):
            raise
        return False
    return True


class TrialTimeout(HopscopeError):
    """An error that ends a trial when its time is over."""


def watch_until(watch: Watch, deadline: float) -> Watch:
    """Return a watch that also raises TrialTimeout after `deadline` (`time.monotonic()`)."""

    def check() -> None:
        watch.check()
        if time.monotonic() >= deadline:
            raise TrialTimeout()

    return Watch(check)
