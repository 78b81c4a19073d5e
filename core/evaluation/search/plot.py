"""Plot of a search's result with plotly: quality against cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.statistics import Estimate
from core.evaluation.reports.export import format_figure
from core.evaluation.reports.method_names import method_name
from core.evaluation.reports.plots import (
    COLOURS,
    LINE_COLOUR,
    apply_style,
    error_bars,
    point_label,
    roomier_side,
)
from core.evaluation.search.points import SearchPoint, pareto_points
from core.evaluation.search.verdict import SearchVerdict

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

TRIED_COLOUR = LINE_COLOUR
FRONT_COLOUR = COLOURS[0]
UNSEEN_COLOUR = COLOURS[2]
PUBLISHED_COLOUR = COLOURS[1]


def search_plot(
    points: Sequence[SearchPoint],
    verdict: SearchVerdict | None,
    quality: str,
    cost: str,
    budget: float,
) -> Figure:
    """Plot quality against cost of the lines that a search tried.

    Abandoned lines are small and hollow, and the Pareto front is a dotted line. The plot also has
    the budget and, from the verdict, the published lines and the chosen points on unseen questions.

    Parameters
    ----------
    points : the tried lines.
    verdict : figures on unseen questions, if there are any.
    quality, cost : names of the metrics of the two axes.
    budget : the largest mean cost, in the unit of that metric.

    Returns
    -------
    A plot of plotly.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    front_points = pareto_points(tuple(points))
    _add_front_line(figure, front_points)
    stopped = [point for point in points if not point.is_complete]
    others = [point for point in points if point.is_complete and point not in front_points]
    for group in (
        MarkerGroup("stopped early", stopped, TRIED_COLOUR, size=7, symbol="circle-open"),
        MarkerGroup("tried", others, TRIED_COLOUR, size=8),
        MarkerGroup("best at its cost", front_points, FRONT_COLOUR, size=12, numbered=True),
    ):
        if group.points:
            _add_markers(figure, group, quality, cost)
    if verdict is not None:
        _add_unseen(figure, verdict, quality, cost)
    _add_budget(figure, budget, cost)
    title = metric(quality).describe()["title"]
    figure.update_xaxes(
        title=f"{metric(cost).title} a question",
        type="log" if cost == "seconds" else "linear",
        minorloglabels="none",
    )
    figure.update_yaxes(title=title, range=[-0.05, 1.08])
    return apply_style(figure, f"{title} against {metric(cost).title.lower()}")


@dataclass(frozen=True)
class MarkerGroup:
    """Tried lines that share a marker; they are labelled with their numbers if `numbered`.

    `size` is the marker's diameter in pixels, and `symbol` a name of plotly.
    """

    name: str
    points: Sequence[SearchPoint]
    colour: str
    size: int
    symbol: str = "circle"
    numbered: bool = False


def _add_front_line(figure: Figure, front_points: Sequence[SearchPoint]) -> None:
    """Add a line along the front, if it has several points."""
    if len(front_points) < 2:
        return
    rising = sorted(front_points, key=lambda point: point.figures.cost)
    figure.add_scatter(
        x=[point.figures.cost for point in rising],
        y=[point.figures.quality for point in rising],
        mode="lines",
        line={"color": FRONT_COLOUR, "width": 1.5, "dash": "dot", "shape": "hv"},
        hoverinfo="skip",
        showlegend=False,
    )


def _add_markers(figure: Figure, group: MarkerGroup, quality: str, cost: str) -> None:
    numbers = [str(point.number) for point in group.points]
    figure.add_scatter(
        x=[point.figures.cost for point in group.points],
        y=[point.figures.quality for point in group.points],
        mode="markers+text" if group.numbered else "markers",
        text=numbers if group.numbered else None,
        textposition="top center",
        marker={"color": group.colour, "size": group.size, "symbol": group.symbol},
        name=group.name,
        hovertext=[_hover(point, quality, cost) for point in group.points],
        hoverinfo="text",
    )


def _add_budget(figure: Figure, budget: float, cost: str) -> None:
    """Add the budget as a labelled vertical line."""
    figure.add_vline(x=budget, line={"color": PUBLISHED_COLOUR, "width": 1, "dash": "dash"})
    # On a logarithmic axis, annotations are positioned by the exponent.
    position = math.log10(budget) if cost == "seconds" else budget
    figure.add_annotation(
        x=position,
        y=1,
        yref="paper",
        text="budget",
        showarrow=False,
        xanchor="left",
        yanchor="top",
        xshift=4,
    )


@dataclass(frozen=True)
class UnseenGroup:
    """Lines on unseen questions that share a marker.

    `lines` maps the name of each to its label in the plot and its estimates by metric.
    """

    name: str
    lines: Mapping[str, tuple[str, Mapping[str, Estimate]]]
    colour: str
    symbol: str


def _add_unseen(figure: Figure, verdict: SearchVerdict, quality: str, cost: str) -> None:
    """Add the published lines and the chosen points on unseen questions.

    They have 95 % intervals.
    """
    found_lines = {}
    for comparison in verdict.comparisons:
        number = str(comparison.point.number)
        found_lines[number] = (number, comparison.figures)
    published_lines = {}
    for key, row in verdict.figures.items():
        name = method_name(verdict.published[key])
        published_lines[str(name)] = (point_label(name), row)
    means = [row[cost].mean for _, row in (*found_lines.values(), *published_lines.values())]
    costs = [mean for mean in means if mean is not None]
    for group in (
        UnseenGroup("published, unseen questions", published_lines, PUBLISHED_COLOUR, "square"),
        UnseenGroup("found, unseen questions", found_lines, UNSEEN_COLOUR, "diamond"),
    ):
        _add_unseen_markers(figure, group, quality=quality, cost=cost, costs=costs)


def _add_unseen_markers(
    figure: Figure, group: UnseenGroup, *, quality: str, cost: str, costs: Sequence[float]
) -> None:
    """Add the lines of a group that have a quality.

    Each label is on the side with more room. `costs` are those of all lines on unseen questions.
    """
    estimates_by_name = {
        name: estimates
        for name, (_, estimates) in group.lines.items()
        if estimates[quality].mean is not None
    }
    figure.add_scatter(
        x=[one[cost].mean for one in estimates_by_name.values()],
        y=[one[quality].mean for one in estimates_by_name.values()],
        error_y=error_bars(one[quality] for one in estimates_by_name.values()),
        mode="markers+text",
        text=[group.lines[name][0] for name in estimates_by_name],
        textfont={"size": 12},
        textposition=[
            f"middle {roomier_side(one[cost].numbers()[0], costs, cost == 'seconds')}"
            for one in estimates_by_name.values()
        ],
        cliponaxis=False,
        marker={"color": group.colour, "size": 11, "symbol": group.symbol},
        name=group.name,
        hovertext=[
            f"<b>{escape(name)}</b><br>{format_figure(quality, one[quality].mean)} at "
            f"{format_figure(cost, one[cost].mean)}"
            for name, one in estimates_by_name.items()
        ],
        hoverinfo="text",
    )


def _hover(point: SearchPoint, quality: str, cost: str) -> str:
    trial_figures = point.figures
    words = escape(point.line.words()).replace(" → ", " →<br>")
    end = ""
    if trial_figures.stopped:
        end += f"<br>stopped after {trial_figures.asked} questions: {trial_figures.stopped}"
    if trial_figures.failed:
        end += f"<br>{escape(trial_figures.words())}"
    return (
        f"<b>{point.number}</b> {words}<br>{format_figure(quality, trial_figures.quality)} at "
        f"{format_figure(cost, trial_figures.cost)}{end}"
    )
