"""Lines that a search has tried, and their Pareto front."""

from __future__ import annotations

from dataclasses import dataclass

from core.evaluation.metrics.statistics import pareto
from core.evaluation.search.trial import TrialFigures
from core.instances.catalogue import Instance
from core.operators.base import Line


@dataclass(frozen=True)
class Point:
    """A line that was tried; `number` is its position in the order of trials."""

    number: int
    line: Line
    tried: TrialFigures

    @property
    def whole(self) -> bool:
        """True if the line was asked all questions within the budget and answered any."""
        return not self.tried.stopped and self.tried.answered > 0

    @property
    def instance(self) -> Instance:
        """The line as an instance, named after its number."""
        return Instance(
            repr(self.line),
            f"Line {self.number} of a search",
            self.line,
            short=f"Found {self.number}",
        )


def front(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """Return the Pareto front of cost and quality within the budget, best quality first.

    Of equal points only the one tried first is included.
    """
    whole = {str(point.number): point for point in points if point.whole}
    best = pareto({name: (point.tried.cost, point.tried.quality) for name, point in whole.items()})
    chosen: dict[tuple[float, float], Point] = {}
    for name in best:
        chosen.setdefault((whole[name].tried.cost, whole[name].tried.quality), whole[name])
    return tuple(
        sorted(
            chosen.values(),
            key=lambda point: (-point.tried.quality, point.tried.cost, point.number),
        )
    )
