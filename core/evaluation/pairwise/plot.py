"""Heat map of win rates with plotly: how often each row won over each column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from core.evaluation.metrics.statistics import Estimate
from core.evaluation.pairwise.tally import PairwiseTally
from core.evaluation.reports.method_names import MethodName
from core.evaluation.reports.plots import apply_style, wrapped_name

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

# Colours of losses, ties and wins.
WIN_COLOUR_SCALE = ((0.0, "#b0413e"), (0.5, "#e9edf1"), (1.0, "#2f6f9f"))
MATRIX_NAME_LETTERS = 16  # letters per line of a name
MATRIX_ROW_PIXELS = 86
MATRIX_HEAD_PIXELS = 120  # above the rows


def win_rate_plot(tally: PairwiseTally, criterion: str, names: Mapping[str, MethodName]) -> Figure:
    """Plot how often each row's answer was preferred to each column's.

    Rows and columns are methods. The preference is by one criterion.

    Parameters
    ----------
    tally : the tally of all judgements.
    criterion : one of `CRITERIA`.
    names : names of the methods by id.

    Returns
    -------
    A heat map of plotly, from 0 to 1. Pairs that were not judged are blank.
    """
    import plotly.graph_objects as go

    wins = tally.win_rates(criterion)
    unknown = Estimate(None, None, None, 0)
    order = [names[method] for method in tally.methods]
    cells = [[wins.get((a, b), unknown) for b in tally.methods] for a in tally.methods]
    figure = go.Figure(
        go.Heatmap(
            z=[[rate.mean for rate in row] for row in cells],
            x=[wrapped_name(name.number or name.plain, MATRIX_NAME_LETTERS) for name in order],
            y=[wrapped_name(str(name), MATRIX_NAME_LETTERS) for name in order],
            text=[list(map(_cell_text, row)) for row in cells],
            texttemplate="%{text}",
            customdata=[list(map(_hover_text, row)) for row in cells],
            hovertemplate="%{y} over %{x}<br>%{customdata}<extra></extra>",
            zmin=0,
            zmax=1,
            colorscale=list(map(list, WIN_COLOUR_SCALE)),
            showscale=False,
            xgap=3,
            ygap=3,
            textfont={"size": 13},
        )
    )
    figure.update_yaxes(autorange="reversed", automargin=True, ticks="")
    figure.update_xaxes(side="top", automargin=True, ticks="", tickangle=0)
    apply_style(figure, criterion.capitalize(), legend=False)
    figure.update_xaxes(showgrid=False, zeroline=False)
    figure.update_yaxes(showgrid=False, zeroline=False)
    figure.update_layout(title={"yref": "container", "y": 0.98, "yanchor": "top"})
    return figure.update_layout(
        height=MATRIX_HEAD_PIXELS + MATRIX_ROW_PIXELS * len(order),
        margin={"l": 20, "r": 10, "t": MATRIX_HEAD_PIXELS - 20, "b": 10},
    )


def _cell_text(rate: Estimate) -> str:
    if rate.mean is None:
        return ""
    _, low, high = rate.numbers()
    return f"<b>{rate.mean:.0%}</b><br><span style='font-size:10px'>{low:.0%} to {high:.0%}</span>"


def _hover_text(rate: Estimate) -> str:
    if rate.mean is None:
        return "not judged"
    return f"won {rate.format_with_interval('{:.1%}'.format)}, n = {rate.n:,}"
