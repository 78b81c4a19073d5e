"""Lines that a search has tried, and those of them that no other beats."""

from __future__ import annotations

from dataclasses import dataclass

from core.evaluation.metrics.statistics import pareto
from core.evaluation.search.trial import TrialFigures
from core.instances.catalogue import Instance
from core.operators.base import Line


@dataclass(frozen=True)
class Point:
    """A line that was tried; `number` is its place among those."""

    number: int
    line: Line
    tried: TrialFigures

    @property
    def whole(self) -> bool:
        """Whether it met every question within the budget, and answered any."""
        return not self.tried.stopped and self.tried.answered > 0

    @property
    def instance(self) -> Instance:
        """The line as an instance, named after its place."""
        return Instance(
            repr(self.line),
            f"Line {self.number} of a search",
            self.line,
            short=f"Found {self.number}",
        )


def front(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """The points within the budget that no other beats in cost and quality, the best quality first; of equal ones the first tried."""
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
