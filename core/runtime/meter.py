"""Time that a piece of work spends by category, measured by the thread that does it.

Put `metered()` around a piece of work and `spent(category)` around its parts, at any depth. Nested
time counts for the innermost category alone. Without a meter, `spent` costs next to nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Literal

from core.runtime.turn import passed_on

Category = Literal["preparation", "waiting", "ranking", "model"]
# Seconds of work before the remaining time is estimated.
KNOWN_AFTER = 0.5


@dataclass(frozen=True)
class HowFar:
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
class _Running:
    """A measured block that has not ended.

    It has a category, the time of its start, and the seconds of the ended blocks inside it.
    """

    category: Category
    start: float
    within: float = 0.0


@dataclass
class Meter:
    """Seconds by category and other figures of one piece of work.

    Parameters
    ----------
    seconds : seconds by category.
    prepared : seconds of preparation by what was prepared.
    saved : seconds that remembered results had cost when they were computed.
    report : receives the progress.
    seen : what this work has already asked models for. Asking for it again saves nothing.
    preparing : depth of nested preparations.
    running : measured blocks that have not ended, the outermost first.
    thoughts : reasoning texts of language models, which are no part of their replies.
    unusable : number of replies that are blank, cut off, refused or unreadable.
    notes : notes of models for the user.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    prepared: dict[str, float] = field(default_factory=dict)
    saved: float = 0.0
    report: Callable[[HowFar], None] = lambda far: None
    seen: set = field(default_factory=set)
    preparing: int = 0
    running: list[_Running] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    unusable: int = 0
    notes: list[str] = field(default_factory=list)


_here = threading.local()


@contextmanager
def metered(
    report: Callable[[HowFar], None] = lambda far: None, seen: set | None = None
) -> Iterator[Meter]:
    """Measure the work of this thread within the block.

    `report` receives its progress. `seen` is shared by successive pieces of work.
    """
    meter = Meter(report=report, seen=set() if seen is None else seen)
    with going_on(meter):
        yield meter


def current() -> Meter | None:
    """Return the meter of this thread's work."""
    return getattr(_here, "meter", None)


@contextmanager
def going_on(meter: Meter | None) -> Iterator[None]:
    """Measure with another thread's meter, for a part of its work that it waits for."""
    before, _here.meter = current(), meter
    try:
        yield
    finally:
        _here.meter = before


@contextmanager
def spent(category: Category, label: str = "") -> Iterator[None]:
    """Count the time within the block as of this category.

    A preparation is labelled with what is prepared, and lets other work take its turn meanwhile.
    """
    meter = current()
    with (
        passed_on() if category == "preparation" else nullcontext(),
        nullcontext() if meter is None else _counted(meter, category, label),
    ):
        yield


@contextmanager
def _counted(meter: Meter, category: Category, label: str) -> Iterator[None]:
    start = time.perf_counter()
    meter.running.append(_Running(category, start))
    meter.preparing += category == "preparation"
    try:
        yield
    finally:
        meter.preparing -= category == "preparation"
        whole = time.perf_counter() - start
        own = max(0.0, whole - meter.running.pop().within)
        meter.seconds[category] = meter.seconds.get(category, 0.0) + own
        if category == "preparation":
            meter.prepared[label] = meter.prepared.get(label, 0.0) + own
        if meter.running:
            meter.running[-1].within += whole


def waited() -> float:
    """Return the seconds that this thread's work has waited for its turn so far.

    Waits that have not ended are included. The result is 0 without a meter.
    """
    meter = current()
    if meter is None:
        return 0.0
    running = list(meter.running)  # another thread may end the last ones
    ends = [*(one.start for one in running[1:]), time.perf_counter()]
    under_way = sum(
        end - one.start - one.within for one, end in zip(running, ends) if one.category == "waiting"
    )
    return meter.seconds.get("waiting", 0.0) + under_way


def new_to_this(keys: Sequence[Hashable]) -> list[Hashable]:
    """Return those of `keys` that this work had not asked for before; none without a meter."""
    meter = current()
    if meter is None:
        return []
    new = [key for key in keys if key not in meter.seen]
    meter.seen.update(new)
    return new


def saved(seconds: float) -> None:
    """Record that a remembered result was used, with the seconds that it had cost."""
    meter = current()
    if meter is not None and not meter.preparing:
        meter.saved += seconds


def tell(note: str) -> None:
    """Add a note for the user to this work, once."""
    meter = current()
    if meter is not None and note not in meter.notes:
        meter.notes.append(note)


def replied(thought: str, usable: bool) -> None:
    """Record a reply of a language model: its reasoning text, and whether the reply is usable."""
    meter = current()
    if meter is not None:
        meter.thoughts += [thought] if thought else []
        meter.unusable += not usable


class Advance:
    """Progress of a piece of work of known size, with an estimate of the remaining time."""

    def __init__(self, what: str, of: int):
        self._what, self._of, self._start, self._meter = (
            what,
            max(1, of),
            time.monotonic(),
            current(),
        )

    def __call__(self, done: int, best: str | None = None) -> None:
        """Report the number of items done, and the best result so far."""
        if self._meter is None:
            return
        share, elapsed = min(1.0, done / self._of), time.monotonic() - self._start
        left = elapsed / share * (1 - share) if share and elapsed >= KNOWN_AFTER else None
        self._meter.report(HowFar(f"{self._what}, {100 * share:.0f} %", share, best, left))


class Parts:
    """Progress of work in `of` successive parts: the progress of one part becomes that of the
    whole.
    """

    def __init__(self, of: int):
        self._of, self._start = max(1, of), time.monotonic()

    @contextmanager
    def part(self, number: int) -> Iterator[None]:
        """Report the progress within the block as that of this part, counted from 1."""
        meter = current()
        if meter is None:
            yield
            return
        before = meter.report

        def report(far: HowFar) -> None:
            share, elapsed = (
                (number - 1 + (far.fraction or 0.0)) / self._of,
                time.monotonic() - self._start,
            )
            left = elapsed / share * (1 - share) if share and elapsed >= KNOWN_AFTER else None
            before(
                replace(
                    far, text=f"Part {number} of {self._of}: {far.text}", fraction=share, left=left
                )
            )

        meter.report = report
        try:
            yield
        finally:
            meter.report = before


def watch_compiling() -> None:
    """Count the time in which numba compiles or loads compiled code as preparation.

    Called where compiled functions are defined.
    """
    from numba.core import event

    class Compiling(event.Listener):
        def on_start(self, event) -> None:
            _here.__dict__.setdefault("compiling", []).append(
                spent("preparation", "Compiled loops")
            )
            _here.compiling[-1].__enter__()

        def on_end(self, event) -> None:
            begun = _here.__dict__.get("compiling")
            if begun:  # an event that began before this listener may end here
                begun.pop().__exit__(None, None, None)

    if not _listeners:
        _listeners.append(Compiling())
        event.register("numba:compiler_lock", _listeners[0])


_listeners: list = []
