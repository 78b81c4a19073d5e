"""Lines that a search has tried, and their Pareto front of quality and cost."""

from __future__ import annotations

from dataclasses import dataclass

from core.evaluation.metrics.statistics import pareto
from core.evaluation.search.trial import TrialFigures
from core.methods.catalogue import Method
from core.operators.base import Line


@dataclass(frozen=True)
class SearchPoint:
    """A line that was tried, with its figures.

    `number` is its position in the order of trials, from 1.
    """

    number: int
    line: Line
    figures: TrialFigures

    @property
    def is_complete(self) -> bool:
        """True if the trial is complete.

        It was then not stopped early, and the line answered at least one question.
        """
        return not self.figures.stopped and self.figures.answered > 0

    @property
    def method(self) -> Method:
        """The line as a method that is named after its number."""
        return Method(
            repr(self.line),
            f"Candidate {self.number} of a search",
            self.line,
            short=f"Found {self.number}",
        )


def pareto_points(points: tuple[SearchPoint, ...]) -> tuple[SearchPoint, ...]:
    """Return the Pareto front of cost and quality within the budget, best quality first.

    Of equal points only the one tried first is included.
    """
    points_by_name = {str(point.number): point for point in points if point.is_complete}
    figures_by_name = {
        name: (point.figures.cost, point.figures.quality) for name, point in points_by_name.items()
    }
    points_by_figures: dict[tuple[float, float], SearchPoint] = {}
    for name in pareto(figures_by_name):
        points_by_figures.setdefault(figures_by_name[name], points_by_name[name])
    front = points_by_figures.values()
    return tuple(
        sorted(front, key=lambda point: (-point.figures.quality, point.figures.cost, point.number))
    )
