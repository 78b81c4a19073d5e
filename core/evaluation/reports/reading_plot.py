"""Plot of where the answers of each method go: right, lost in retrieval, lost in reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from core.evaluation.metrics.statistics import Estimate
from core.evaluation.reports.export import format_share
from core.evaluation.reports.plots import apply_style, wrapped_name
from core.evaluation.reports.reading_shares import (
    END_LABELS,
    LOST_IN_READING,
    LOST_IN_RETRIEVAL,
    READ_RIGHT,
    ReadingShares,
)

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

END_COLOURS = {READ_RIGHT: "#5aa67d", LOST_IN_RETRIEVAL: "#c96a5f", LOST_IN_READING: "#e3a857"}
ROW_PIXELS = 46
FRAME_PIXELS = 130  # of title, axis and legend


def reading_plot(all_shares: Sequence[ReadingShares], names: Mapping[str, str]) -> Figure:
    """Plot a stacked bar for each method, and a line at the ceiling with the evidence alone.

    The `customdata` of a part of a bar are the method and the class of its questions.

    Parameters
    ----------
    all_shares : the shares of each method, the first one on top.
    names : name of each method.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    labels = [wrapped_name(escape(names[shares.method]), 26) for shares in all_shares]
    for end, colour in END_COLOURS.items():
        estimates = [_estimate(shares, end) for shares in all_shares]
        figure.add_bar(
            orientation="h",
            name=END_LABELS[end],
            y=labels,
            x=[estimate.mean for estimate in estimates],
            marker_color=colour,
            customdata=[[shares.method, end] for shares in all_shares],
            hovertext=[estimate.format_with_interval(format_share) for estimate in estimates],
            hovertemplate=f"%{{y}}: {END_LABELS[end]} %{{hovertext}}<extra></extra>",
        )
    ceilings = [(label, shares.ceiling.mean) for label, shares in zip(labels, all_shares)]
    measured = [(label, mean) for label, mean in ceilings if mean is not None]
    if measured:
        figure.add_scatter(
            name="right with the evidence alone",
            y=[label for label, _ in measured],
            x=[mean for _, mean in measured],
            mode="markers",
            marker={"symbol": "line-ns", "size": ROW_PIXELS - 12, "line": {"width": 3}},
            hovertemplate="%{y}: right with the evidence alone %{x:.2f}<extra></extra>",
        )
    figure = apply_style(figure, "Where the answers go")
    figure.update_xaxes(range=[0, 1], tickformat=".1f")
    figure.update_yaxes(autorange="reversed", automargin=True)
    return figure.update_layout(
        barmode="stack",
        clickmode="event+select",
        height=FRAME_PIXELS + ROW_PIXELS * len(all_shares),
        legend={"orientation": "h", "y": -0.35, "traceorder": "normal"},
    )


def _estimate(shares: ReadingShares, end: str) -> Estimate:
    estimates = {
        READ_RIGHT: shares.right,
        LOST_IN_RETRIEVAL: shares.lost_in_retrieval,
        LOST_IN_READING: shares.lost_in_reading,
    }
    return estimates[end]
