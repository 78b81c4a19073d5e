"""The time of a lane by kind.

The kinds are preparation, waiting, retrieval, ranking, the language model, and cached work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from core.comparison.comparing import ANSWERING
from core.comparison.lane import Lane
from core.operators import OPERATORS
from core.runtime.jobs import RUNNING
from core.types import Step

Kind = Literal["preparation", "waiting", "retrieval", "ranking", "model", "cache"]
SHORTEST = 0.001  # seconds; shorter spans are left out
NO_COST: tuple[Kind, ...] = ("preparation", "waiting")  # kinds that are no cost of the method


@dataclass(frozen=True)
class Span:
    """A period of time of one kind.

    A span of the kind "cache" is what cached work had cost when it was done.
    """

    kind: Kind
    label: str
    seconds: float


def spans(lane: Lane) -> tuple[Span, ...]:
    """Return the spans of a lane's time, in order.

    The spans that are neither preparation nor waiting add up to `cost`.
    """
    return tuple(span for span in _all(lane) if span.seconds >= SHORTEST)


def besides(lane: Lane) -> dict[str, float]:
    """Return the seconds of a lane that are no cost of the method, by label, in order."""
    seconds: dict[str, float] = {}
    for span in spans(lane):
        if span.kind in NO_COST:
            seconds[span.label] = seconds.get(span.label, 0.0) + span.seconds
    return seconds


def by_kind(lane: Lane, kinds: Sequence[Kind]) -> dict[str, float]:
    """Return the seconds of a lane for each of some kinds, without kinds that took none."""
    seconds: dict[str, float] = {}
    for span in spans(lane):
        if span.kind in kinds:
            seconds[span.kind] = seconds.get(span.kind, 0.0) + span.seconds
    return seconds


def cost(trace: Iterable[Step]) -> float:
    """Return the seconds that the method itself costs.

    Preparation and waiting are excluded. The original cost of cached work is included.
    """
    return sum(step.seconds + step.saved for step in trace)


def _all(lane: Lane) -> Iterator[Span]:
    yield Span("waiting", "Waiting for its turn", lane.waited.get(RUNNING, 0.0))
    yield from (Span("preparation", label, seconds) for label, seconds in lane.prepared.items())
    answered = False
    for place, step in enumerate(lane.state.trace):
        if step.stage == "generate" and not answered:
            answered = True
            yield Span("waiting", "Waiting for the language model", lane.waited.get(ANSWERING, 0.0))
        yield from _reused(step) if place in lane.reused else _done(step)


def _reused(step: Step) -> Iterator[Span]:
    """Yield the span of a step that another lane or question had computed."""
    yield Span("cache", f"{_title(step)}, done before", step.seconds + step.saved)


def _done(step: Step) -> Iterator[Span]:
    title = _title(step)
    for label, seconds in step.prepared:
        yield Span("preparation", label, seconds)
    yield Span("waiting", "Waiting for its turn", step.waiting)
    rest = step.seconds - step.ranking - step.model
    # Reading the candidates' texts is part of ranking them.
    if step.stage in ("refine", "filter"):
        yield Span("ranking", title, step.ranking + rest)
    else:
        yield Span("retrieval", title, rest)
        yield Span("ranking", title, step.ranking)
    yield Span("model", title, step.model)
    yield Span("cache", f"{title}, remembered", step.saved)


def _title(step: Step) -> str:
    return OPERATORS[step.operator].title.capitalize()
