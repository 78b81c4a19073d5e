"""Meter of a piece of work: seconds by category, progress and notes, for the thread that does it.

Put `metered()` around a piece of work and `count_time(category)` around its parts, at any depth.
Nested time counts only for the innermost category. Without a meter, `count_time` costs next to
nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Literal

from core.runtime.turn import pass_turn

Category = Literal["preparation", "waiting", "ranking", "model"]
# Seconds of work after which the remaining time is estimated; earlier estimates vary too much.
MIN_ESTIMATE_SECONDS = 0.5


@dataclass(frozen=True)
class ProgressReport:
    """Progress of a piece of work.

    Parameters
    ----------
    text : the current activity.
    fraction : the fraction done (0 to 1), if known.
    best : the best result so far, if known.
    left : the estimated remaining seconds, if known.
    """

    text: str
    fraction: float | None = None
    best: str | None = None
    left: float | None = None


@dataclass
class _RunningBlock:
    """A measured block that has not ended."""

    category: Category
    start: float
    inner_seconds: float = 0.0  # of the ended blocks inside it


@dataclass
class Meter:
    """Seconds by category and other figures of one piece of work.

    Parameters
    ----------
    seconds : seconds by category.
    preparation_seconds : seconds of preparation by what was prepared.
    saved_seconds : seconds that cached results took when they were computed.
    report : receives the progress.
    seen_requests : keys of the requests that this work has sent to models. A repeated request would
        be cached in any case, so it does not count as saved time.
    preparation_depth : number of nested preparations that run now; in them no time counts as saved.
    running_blocks : measured blocks that have not ended, the outermost first.
    reasoning_texts : reasoning texts of language models, which are no part of their replies.
    n_unusable_replies : number of replies that are blank, cut off, refused or unreadable.
    notes : notes of models for the user.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    preparation_seconds: dict[str, float] = field(default_factory=dict)
    saved_seconds: float = 0.0
    report: Callable[[ProgressReport], None] = lambda progress: None
    seen_requests: set = field(default_factory=set)
    preparation_depth: int = 0
    running_blocks: list[_RunningBlock] = field(default_factory=list)
    reasoning_texts: list[str] = field(default_factory=list)
    n_unusable_replies: int = 0
    notes: list[str] = field(default_factory=list)


_local = threading.local()


@contextmanager
def metered(
    report: Callable[[ProgressReport], None] = lambda progress: None, seen: set | None = None
) -> Iterator[Meter]:
    """Measure the work of this thread within the block.

    `report` receives its progress. `seen` are the requests of earlier pieces of work, such as the
    operators before; new requests are added to it.
    """
    meter = Meter(report=report, seen_requests=set() if seen is None else seen)
    with use_meter(meter):
        yield meter


def current_meter() -> Meter | None:
    """Return the meter of this thread's work; None if nothing is measured."""
    return getattr(_local, "meter", None)


@contextmanager
def use_meter(meter: Meter | None) -> Iterator[None]:
    """Measure within the block with the meter of another thread. That thread waits for this one."""
    previous = current_meter()
    _local.meter = meter
    try:
        yield
    finally:
        _local.meter = previous


@contextmanager
def count_time(category: Category, label: str = "") -> Iterator[None]:
    """Count the time within the block under this category.

    The label names what is prepared. During a preparation other work may take its turn.
    """
    meter = current_meter()
    with (
        pass_turn() if category == "preparation" else nullcontext(),
        nullcontext() if meter is None else _count_block(meter, category, label),
    ):
        yield


@contextmanager
def _count_block(meter: Meter, category: Category, label: str) -> Iterator[None]:
    """Add the seconds within the block to the meter, without those of nested blocks."""
    start = time.perf_counter()
    meter.running_blocks.append(_RunningBlock(category, start))
    meter.preparation_depth += category == "preparation"
    try:
        yield
    finally:
        meter.preparation_depth -= category == "preparation"
        elapsed = time.perf_counter() - start
        own_seconds = max(0.0, elapsed - meter.running_blocks.pop().inner_seconds)
        meter.seconds[category] = meter.seconds.get(category, 0.0) + own_seconds
        if category == "preparation":
            meter.preparation_seconds[label] = (
                meter.preparation_seconds.get(label, 0.0) + own_seconds
            )
        if meter.running_blocks:
            meter.running_blocks[-1].inner_seconds += elapsed


def waited_seconds() -> float:
    """Return the seconds that this thread's work has waited for its turn so far.

    Waits that have not ended are included. The result is 0 without a meter.
    """
    meter = current_meter()
    if meter is None:
        return 0.0
    blocks = list(meter.running_blocks)  # another thread may end the last ones
    # The time of a block counts until the block inside it starts.
    ends = [*(block.start for block in blocks[1:]), time.perf_counter()]
    running_seconds = sum(
        end - block.start - block.inner_seconds
        for block, end in zip(blocks, ends)
        if block.category == "waiting"
    )
    return meter.seconds.get("waiting", 0.0) + running_seconds


def first_requests(keys: Sequence[Hashable]) -> list[Hashable]:
    """Return the keys of new requests, and note them as sent.

    This work has not sent a new request before.
    """
    meter = current_meter()
    if meter is None:
        return []
    new = [key for key in keys if key not in meter.seen_requests]
    meter.seen_requests.update(new)
    return new


def record_saved_time(seconds: float) -> None:
    """Record that a cached result was used, with the seconds that it once took."""
    meter = current_meter()
    if meter is not None and not meter.preparation_depth:
        meter.saved_seconds += seconds


def add_note(note: str) -> None:
    """Add a note for the user to this work, once."""
    meter = current_meter()
    if meter is not None and note not in meter.notes:
        meter.notes.append(note)


def record_reply(thought: str, usable: bool) -> None:
    """Record a language model's reasoning, and if its reply is usable.

    The reasoning text is empty if there is none.
    """
    meter = current_meter()
    if meter is not None:
        meter.reasoning_texts += [thought] if thought else []
        meter.n_unusable_replies += not usable


def _remaining_seconds(start: float, fraction: float) -> float | None:
    """Return the estimated remaining seconds of work.

    The work began at `start`. The result is None if it is too early.
    """
    elapsed = time.monotonic() - start
    if not fraction or elapsed < MIN_ESTIMATE_SECONDS:
        return None
    return elapsed / fraction * (1 - fraction)


class ProgressEstimate:
    """Reporter of the progress of work of known size, with the remaining time.

    It reports to the meter of the thread that creates it.
    """

    def __init__(self, what: str, total: int):
        self._what = what
        self._total = max(1, total)
        self._start = time.monotonic()
        self._meter = current_meter()

    def __call__(self, done: int, best: str | None = None) -> None:
        """Report the number of items done, and the best result so far."""
        if self._meter is None:
            return
        fraction = min(1.0, done / self._total)
        remaining = _remaining_seconds(self._start, fraction)
        self._meter.report(
            ProgressReport(f"{self._what}, {100 * fraction:.0f} %", fraction, best, remaining)
        )


class PartsProgress:
    """Reporter of the progress of work in `total` successive parts.

    The progress of a part is reported as progress of the whole work.
    """

    def __init__(self, total: int):
        self._total = max(1, total)
        self._start = time.monotonic()

    @contextmanager
    def part(self, number: int) -> Iterator[None]:
        """Report the progress within the block as that of this part, counted from 1."""
        meter = current_meter()
        if meter is None:
            yield
            return
        previous_report = meter.report

        def report(progress: ProgressReport) -> None:
            text = f"Part {number} of {self._total}: {progress.text}"
            fraction = (number - 1 + (progress.fraction or 0.0)) / self._total
            remaining = _remaining_seconds(self._start, fraction)
            previous_report(replace(progress, text=text, fraction=fraction, left=remaining))

        meter.report = report
        try:
            yield
        finally:
            meter.report = previous_report


def watch_compiling() -> None:
    """Count the time in which numba compiles or loads compiled code as preparation.

    Modules call this before they define compiled functions.
    """
    from numba.core import event

    class Compiling(event.Listener):
        def on_start(self, event) -> None:
            _local.__dict__.setdefault("compiling", []).append(
                count_time("preparation", "Start-up")
            )
            _local.compiling[-1].__enter__()

        def on_end(self, event) -> None:
            open_blocks = _local.__dict__.get("compiling")
            if open_blocks:  # an event that began before this listener may end here
                open_blocks.pop().__exit__(None, None, None)

    if not _listeners:
        _listeners.append(Compiling())
        event.register("numba:compiler_lock", _listeners[0])


_listeners: list = []  # the listener of `watch_compiling`, once it is registered with numba
