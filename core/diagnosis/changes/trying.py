"""Changes of one step of a line, and trying some of them in the time that there is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from core.comparison.run import LaneRun, Progress
from core.diagnosis.wording import counted
from core.errors import BadParameter, Cancelled, HopscopeError
from core.operators.base import Line, Operator
from core.types import Repair
from core.watch import NO_WATCH, Watch

MOST_TRIED, MOST_SECONDS = 6, 2.0  # of one lane


@dataclass(frozen=True)
class LineChange:
    """One step of a line replaced, in a few words."""

    position: int
    operator: Operator
    words: str


@dataclass(frozen=True)
class BroughtTargets:
    """The wanted items that a run brings: their number, their noun, and their place."""

    right: int
    of: int
    what: str = ""
    where: str = ""

    def __str__(self) -> str:
        of = counted(self.of, self.what) if self.what else f"{self.of:,}"
        return " ".join(filter(None, (f"{self.right:,} of {of}", self.where)))


def with_values(position: int, operator: Operator, words: str, **changed) -> Iterator[LineChange]:
    """The operator with other values, where it may have them."""
    try:
        yield LineChange(position, replace(operator, **changed), words)
    except BadParameter:
        return


def changed_line(line: Line, change: LineChange) -> Line | None:
    """The line with the change; None where it does not fit."""
    try:
        return line.replaced(change.position, change.operator)
    except HopscopeError:
        return None


def new_ones(line: Line, found: Iterable[LineChange]) -> Iterator[LineChange]:
    """The changes that lead to lines of their own, each once."""
    seen = {repr(line)}
    for change in found:
        text = repr(changed_line(line, change) or line)
        if text not in seen:
            seen.add(text)
            yield change


def best(
    found: Iterable[LineChange],
    least: int,
    attempt: Callable[[LineChange, Watch], Repair | None],
    watch: Watch = NO_WATCH,
    seconds: float = MOST_SECONDS,
) -> Repair | None:
    """Of changes that bring more than `least` the first that brings all, else the one that brings most; None where none does.

    At most six are tried in `seconds`; `attempt` gives what a change brings and calls what it is handed while it works. Raises what
    `watch` raises.
    """
    most: Repair | None = None
    end = time.monotonic() + seconds
    for number, change in enumerate(found):
        if number == MOST_TRIED or time.monotonic() >= end:
            break
        brought = attempt(change, until(watch, end))
        if brought is not None and brought.right > (most.right if most else least):
            most = brought
        if most is not None and most.right == most.of:
            break
    return most


def ran(run: LaneRun, watch: Watch = NO_WATCH, answer: bool = False) -> bool:
    """Whether a line could be run in time up to its answer, or with it. Raises Cancelled."""
    progress = Progress(
        Watch(watch.check, lambda text, share: watch.check()), reached=lambda state: watch.check()
    )
    try:
        run.retrieve(progress)
        if answer:
            run.answer(progress)
    except HopscopeError as error:
        if isinstance(error, Cancelled):
            raise
        return False
    return True


class TooLong(HopscopeError):
    """The time for trying is over."""


def until(watch: Watch, end: float) -> Watch:
    """`watch` that raises TooLong as well once it is that late (`time.monotonic()`)."""

    def checked() -> None:
        watch.check()
        if time.monotonic() >= end:
            raise TooLong()

    return Watch(checked)
