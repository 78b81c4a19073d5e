"""Win rates as a plotly heat map per criterion: row over column, with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING

from core.evaluation.metrics.statistics import Estimate
from core.evaluation.pairwise.tally import PairwiseTally
from core.evaluation.reports.method_names import MethodName
from core.evaluation.reports.plots import apply_style

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

# Colours of losses, ties and wins.
WIN_COLOUR_SCALE = ((0.0, "#b0413e"), (0.5, "#e9edf1"), (1.0, "#2f6f9f"))
# Letters per line of a name, pixels per row, and pixels above the rows.
MATRIX_NAME_LETTERS, MATRIX_ROW_PIXELS, MATRIX_HEAD_PIXELS = (16, 86, 120)


def win_rate_plot(tally: PairwiseTally, criterion: str, names: Mapping[str, MethodName]) -> Figure:
    """Plot how often the answer of each row was preferred to that of each column.

    Parameters
    ----------
    tally : the tally of all judgements.
    criterion : one of `CRITERIA`.
    names : names of the methods.

    Returns
    -------
    A heat map of plotly, from 0 to 1.
    """
    import plotly.graph_objects as go

    wins, order = tally.wins(criterion), list(tally.methods)
    cells = [[wins.get((a, b)) for b in order] for a in order]
    rows = [_label(str(names[one])) for one in order]
    columns = [_label(names[one].number or names[one].plain) for one in order]
    figure = go.Figure(
        go.Heatmap(
            z=[[None if one is None else one.mean for one in row] for row in cells],
            x=columns,
            y=rows,
            text=[[_cell(one) for one in row] for row in cells],
            texttemplate="%{text}",
            customdata=[[_hover(one) for one in row] for row in cells],
            hovertemplate="%{y} over %{x}<br>%{customdata}<extra></extra>",
            zmin=0,
            zmax=1,
            colorscale=[list(one) for one in WIN_COLOUR_SCALE],
            showscale=False,
            xgap=3,
            ygap=3,
            textfont={"size": 13},
        )
    )
    figure.update_yaxes(autorange="reversed", showgrid=False, automargin=True, ticks="")
    figure.update_xaxes(showgrid=False, side="top", automargin=True, ticks="", tickangle=0)
    apply_style(figure, criterion.capitalize(), legend=False)
    figure.update_xaxes(showgrid=False, zeroline=False)
    figure.update_yaxes(showgrid=False, zeroline=False)
    figure.update_layout(title={"yref": "container", "y": 0.98, "yanchor": "top"})
    return figure.update_layout(
        height=MATRIX_HEAD_PIXELS + MATRIX_ROW_PIXELS * len(order),
        margin={"l": 20, "r": 10, "t": MATRIX_HEAD_PIXELS - 20, "b": 10},
    )


def _label(name: str) -> str:
    return "<br>".join(map(escape, wrap(name, MATRIX_NAME_LETTERS, break_on_hyphens=False)))


def _cell(one: Estimate | None) -> str:
    if one is None or one.mean is None:
        return ""
    _, low, high = one.numbers()
    return f"<b>{one.mean:.0%}</b><br><span style='font-size:10px'>{low:.0%} to {high:.0%}</span>"


def _hover(one: Estimate | None) -> str:
    if one is None or one.mean is None:
        return "not judged"
    return f"won {one.text('{:.1%}'.format)}, n = {one.n:,}"
