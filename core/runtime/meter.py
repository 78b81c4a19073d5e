"""What a piece of work spends its time on, measured while it is done, by the thread that does it.

`metered()` stands around a piece of work; inside it `spent(category)` stands around what is of a category, however deep. Time within
time counts for the inner one alone. Where nothing is metered, `spent` costs next to nothing.
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
KNOWN_AFTER = 0.5  # seconds of work before which nobody knows how long the rest will take


@dataclass(frozen=True)
class HowFar:
    """How far a piece of work is: words, the share that is done, the best so far, and the seconds left, where known."""

    text: str
    fraction: float | None = None
    best: str | None = None
    left: float | None = None


@dataclass
class _Running:
    """What has not ended: of a category, since when, and the seconds of what lay within and has ended."""

    category: Category
    start: float
    within: float = 0.0


@dataclass
class Meter:
    """Seconds by category, those of preparations by what was prepared, and what remembered results had cost when they were made."""

    seconds: dict[str, float] = field(default_factory=dict)
    prepared: dict[str, float] = field(default_factory=dict)
    saved: float = 0.0
    report: Callable[[HowFar], None] = lambda far: None
    # what this work has asked models for: asked again, it saves nothing
    seen: set = field(default_factory=set)
    preparing: int = 0
    running: list[_Running] = field(default_factory=list)  # what has not ended, the outermost first
    # of language models, which are no part of their replies
    thoughts: list[str] = field(default_factory=list)
    unusable: int = 0  # replies that are blank, cut, refused or unreadable
    notes: list[str] = field(default_factory=list)  # of models, for a person


_here = threading.local()


@contextmanager
def metered(
    report: Callable[[HowFar], None] = lambda far: None, seen: set | None = None
) -> Iterator[Meter]:
    """A meter for the work of this thread; `report` hears how far it is, and `seen` goes on from one piece of work to the next."""
    meter = Meter(report=report, seen=set() if seen is None else seen)
    with going_on(meter):
        yield meter


def current() -> Meter | None:
    """The meter of this thread's work."""
    return getattr(_here, "meter", None)


@contextmanager
def going_on(meter: Meter | None) -> Iterator[None]:
    """This thread does a part of the work of another one, which waits for it."""
    before, _here.meter = current(), meter
    try:
        yield
    finally:
        _here.meter = before


@contextmanager
def spent(category: Category, label: str = "") -> Iterator[None]:
    """Count the time within as of this category; a preparation says what is prepared, and lets other work that takes turns go on."""
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
    """Seconds that this thread's work has waited for its turn so far, those under way included; 0 where nothing is metered."""
    meter = current()
    if meter is None:
        return 0.0
    running = list(meter.running)  # of which another thread may end the last ones
    ends = [*(one.start for one in running[1:]), time.perf_counter()]
    under_way = sum(
        end - one.start - one.within for one, end in zip(running, ends) if one.category == "waiting"
    )
    return meter.seconds.get("waiting", 0.0) + under_way


def new_to_this(keys: Sequence[Hashable]) -> list[Hashable]:
    """Those of `keys` that this work had not asked for before; nothing where nothing is metered."""
    meter = current()
    if meter is None:
        return []
    new = [key for key in keys if key not in meter.seen]
    meter.seen.update(new)
    return new


def saved(seconds: float) -> None:
    """A remembered result was used that had cost so much when it was made."""
    meter = current()
    if meter is not None and not meter.preparing:
        meter.saved += seconds


def tell(note: str) -> None:
    """Tell the person of something about this work, once."""
    meter = current()
    if meter is not None and note not in meter.notes:
        meter.notes.append(note)


def replied(thought: str, usable: bool) -> None:
    """A language model replied: with this thought, and so that its reply is of use or not."""
    meter = current()
    if meter is not None:
        meter.thoughts += [thought] if thought else []
        meter.unusable += not usable


class Advance:
    """The progress of a piece of work of known size, with the time that is left as soon as it can be guessed."""

    def __init__(self, what: str, of: int):
        self._what, self._of, self._start, self._meter = (
            what,
            max(1, of),
            time.monotonic(),
            current(),
        )

    def __call__(self, done: int, best: str | None = None) -> None:
        """`done` of the whole is done; `best` is the best of it."""
        if self._meter is None:
            return
        share, elapsed = min(1.0, done / self._of), time.monotonic() - self._start
        left = elapsed / share * (1 - share) if share and elapsed >= KNOWN_AFTER else None
        self._meter.report(HowFar(f"{self._what}, {100 * share:.0f} %", share, best, left))


class Parts:
    """The progress of work in `of` parts one after the other: that of one of them, within `part`, becomes that of all."""

    def __init__(self, of: int):
        self._of, self._start = max(1, of), time.monotonic()

    @contextmanager
    def part(self, number: int) -> Iterator[None]:
        """The part of that number, from 1 on."""
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
    """From now on the time in which numba compiles, or loads what it had compiled, counts as preparation. Called where compiled
    functions are defined."""
    from numba.core import event

    class Compiling(event.Listener):
        def on_start(self, event) -> None:
            _here.__dict__.setdefault("compiling", []).append(
                spent("preparation", "Compiled loops")
            )
            _here.compiling[-1].__enter__()

        def on_end(self, event) -> None:
            begun = _here.__dict__.get("compiling")
            if begun:  # this may be called for what began before it listened
                begun.pop().__exit__(None, None, None)

    if not _listeners:
        _listeners.append(Compiling())
        event.register("numba:compiler_lock", _listeners[0])


_listeners: list = []
