"""Result of a search as a plotly plot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from core.evaluation.metrics.catalogue import metric
from core.evaluation.reports.export import shown
from core.evaluation.reports.naming import of
from core.evaluation.reports.plots import COLOURS, LINE, beside, inwards, styled
from core.evaluation.search.points import Point, front
from core.evaluation.search.verdict import SearchVerdict

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

TRIED, FRONT, UNSEEN, PUBLISHED = LINE, COLOURS[0], COLOURS[2], COLOURS[1]


def found_figure(
    points: Sequence[Point], verdict: SearchVerdict | None, quality: str, cost: str, budget: float
) -> Figure:
    """Plot quality against cost of the lines that a search tried.

    Abandoned lines are small and hollow, and the front is a line. The plot also has the budget and,
    from the verdict, the published lines and the chosen points on unseen questions.
    """
    import plotly.graph_objects as go

    figure, best = go.Figure(), front(tuple(points))
    rising = sorted(best, key=lambda point: point.tried.cost)
    if len(rising) > 1:
        figure.add_scatter(
            x=[point.tried.cost for point in rising],
            y=[point.tried.quality for point in rising],
            mode="lines",
            line={"color": FRONT, "width": 1.5, "dash": "dot", "shape": "hv"},
            hoverinfo="skip",
            showlegend=False,
        )
    given_up = [point for point in points if not point.whole]
    others = [point for point in points if point.whole and point not in best]
    for name, some, colour, size, symbol in (
        ("given up", given_up, TRIED, 7, "circle-open"),
        ("tried", others, TRIED, 8, "circle"),
        ("on the front", best, FRONT, 12, "circle"),
    ):
        if some:
            figure.add_scatter(
                x=[point.tried.cost for point in some],
                y=[point.tried.quality for point in some],
                mode="markers+text" if some is best else "markers",
                text=[str(point.number) for point in some] if some is best else None,
                textposition="top center",
                marker={"color": colour, "size": size, "symbol": symbol},
                name=name,
                hovertext=[_hover(point, quality, cost) for point in some],
                hoverinfo="text",
            )
    if verdict is not None:
        _unseen(figure, verdict, quality, cost)
    figure.add_vline(x=budget, line={"color": PUBLISHED, "width": 1, "dash": "dash"})
    # On a logarithmic axis, annotations are positioned by the exponent.
    place = math.log10(budget) if cost == "seconds" else budget
    figure.add_annotation(
        x=place,
        y=1,
        yref="paper",
        text="budget",
        showarrow=False,
        xanchor="left",
        yanchor="top",
        xshift=4,
    )
    title = metric(quality).described()["title"]
    figure.update_xaxes(
        title=f"{metric(cost).title} a question",
        type="log" if cost == "seconds" else "linear",
        minorloglabels="none",
    )
    figure.update_yaxes(title=title, range=[-0.05, 1.08])
    return styled(figure, f"{title} against {metric(cost).title.lower()}")


def _unseen(figure: Figure, verdict: SearchVerdict, quality: str, cost: str) -> None:
    """Add the published lines and the chosen points on unseen questions, with 95 % intervals."""
    chosen = {
        f"{one.point.number}": (f"{one.point.number}", one.figures) for one in verdict.against
    }
    published = {
        str(of(verdict.published[key])): (beside(of(verdict.published[key])), row)
        for key, row in verdict.figures.items()
    }
    means = [row[cost].mean for _, row in (*chosen.values(), *published.values())]
    costs = [mean for mean in means if mean is not None]
    for group, colour, symbol, figures in (
        ("published, unseen questions", PUBLISHED, "square", published),
        ("found, unseen questions", UNSEEN, "diamond", chosen),
    ):
        known = {
            name: estimates
            for name, (_, estimates) in figures.items()
            if estimates[quality].mean is not None
        }
        numbers = [one[quality].numbers() for one in known.values()]
        figure.add_scatter(
            x=[one[cost].mean for one in known.values()],
            y=[mean for mean, _, _ in numbers],
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [high - mean for mean, _, high in numbers],
                "arrayminus": [mean - low for mean, low, _ in numbers],
                "thickness": 1.2,
                "width": 4,
            },
            mode="markers+text",
            text=[figures[name][0] for name in known],
            textfont={"size": 12},
            textposition=[
                f"middle {inwards(one[cost].numbers()[0], costs, cost == 'seconds')}"
                for one in known.values()
            ],
            cliponaxis=False,
            marker={"color": colour, "size": 11, "symbol": symbol},
            name=group,
            hovertext=[
                f"<b>{escape(name)}</b><br>{shown(quality, one[quality].mean)} at "
                f"{shown(cost, one[cost].mean)}"
                for name, one in known.items()
            ],
            hoverinfo="text",
        )


def _hover(point: Point, quality: str, cost: str) -> str:
    tried = point.tried
    words = escape(point.line.words()).replace(" → ", " →<br>")
    end = f"<br>given up after {tried.asked} questions: {tried.stopped}" if tried.stopped else ""
    end += f"<br>{escape(tried.words())}" if tried.failed else ""
    return (
        f"<b>{point.number}</b> {words}<br>{shown(quality, tried.quality)} at "
        f"{shown(cost, tried.cost)}{end}"
    )
