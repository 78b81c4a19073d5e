"""Time of a lane by kind.

Time bars and comparisons of methods use it. A kind is preparation, waiting, retrieval, ranking, the
language model, or cached work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from core.comparison.comparison_work import ANSWERING_STATUS
from core.comparison.lane import MethodLane
from core.operators import OPERATORS
from core.runtime.jobs import JOB_RUNNING
from core.types import Step

TimeKind = Literal["preparation", "waiting", "retrieval", "ranking", "model", "cache"]
MIN_SPAN_SECONDS = 0.001  # shorter spans are left out
# Kinds that are no cost of the method: one-time work for all questions, and waits for others.
UNCOUNTED_KINDS: tuple[TimeKind, ...] = ("preparation", "waiting")


@dataclass(frozen=True)
class TimeSpan:
    """A period of time of one kind.

    The seconds of the kind "cache" did not pass in this lane: they are those that the cached work
    took when it was done.
    """

    kind: TimeKind
    label: str
    seconds: float


def time_spans(lane: MethodLane) -> tuple[TimeSpan, ...]:
    """Return the spans of a lane's time, in order.

    The spans that are neither preparation nor waiting add up to `method_seconds`, up to the spans
    of less than a millisecond, which are left out.
    """
    return tuple(span for span in _lane_spans(lane) if span.seconds >= MIN_SPAN_SECONDS)


def uncounted_seconds(lane: MethodLane) -> dict[str, float]:
    """Return the preparation and waiting seconds of a lane by label."""
    seconds: dict[str, float] = {}
    for span in time_spans(lane):
        if span.kind in UNCOUNTED_KINDS:
            seconds[span.label] = seconds.get(span.label, 0.0) + span.seconds
    return seconds


def seconds_by_kind(lane: MethodLane, kinds: Sequence[TimeKind]) -> dict[str, float]:
    """Return the seconds of a lane for each kind that took some."""
    seconds: dict[str, float] = {}
    for span in time_spans(lane):
        if span.kind in kinds:
            seconds[span.kind] = seconds.get(span.kind, 0.0) + span.seconds
    return seconds


def method_seconds(trace: Iterable[Step]) -> float:
    """Return the seconds that the method itself costs.

    Preparation and waiting are excluded. The original cost of cached work is included.
    """
    return sum(step.seconds + step.saved for step in trace)


def _lane_spans(lane: MethodLane) -> Iterator[TimeSpan]:
    yield TimeSpan("waiting", "Waiting for its turn", lane.waited.get(JOB_RUNNING, 0.0))
    yield from (TimeSpan("preparation", label, seconds) for label, seconds in lane.prepared.items())
    answered = False
    for index, step in enumerate(lane.state.trace):
        if step.stage == "generate" and not answered:
            answered = True
            yield TimeSpan(
                "waiting", "Waiting for the language model", lane.waited.get(ANSWERING_STATUS, 0.0)
            )
        yield from _reused_span(step) if index in lane.reused else _work_spans(step)


def _reused_span(step: Step) -> Iterator[TimeSpan]:
    """Yield the span of a step that another lane or question had computed."""
    yield TimeSpan("cache", f"{_title(step)}, reused", step.seconds + step.saved)


def _work_spans(step: Step) -> Iterator[TimeSpan]:
    title = _title(step)
    for label, seconds in step.prepared:
        yield TimeSpan("preparation", label, seconds)
    yield TimeSpan("waiting", "Waiting for its turn", step.waiting)
    own_seconds = step.seconds - step.ranking - step.model
    # Reading the candidates' texts is part of ranking them.
    if step.stage in ("refine", "filter"):
        yield TimeSpan("ranking", title, step.ranking + own_seconds)
    else:
        yield TimeSpan("retrieval", title, own_seconds)
        yield TimeSpan("ranking", title, step.ranking)
    yield TimeSpan("model", title, step.model)
    yield TimeSpan("cache", f"{title}, reused", step.saved)


def _title(step: Step) -> str:
    return OPERATORS[step.operator].title.capitalize()
