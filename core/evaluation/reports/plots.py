"""Plotly plots of a run's figures, for screens and the HTML report.

Plotly reads mark-up in texts, so names of methods and parameters are escaped.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TypeVar

from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.statistics import Estimate, RunSpread
from core.evaluation.reports.export import screen_interval
from core.evaluation.reports.labels import label_positions
from core.evaluation.reports.method_names import MethodName, method_names
from core.evaluation.reports.summary import RunSummary
from core.sources import CorpusSource, GraphSource

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

EstimateTable = Mapping[str, Mapping[str, Estimate]]
Drawing = TypeVar("Drawing")
NAME_SEPARATOR = " =<br>"  # between the names of methods that are drawn as one
COLOURS = (
    "#2f6f9f",
    "#d9822b",
    "#2e8b57",
    "#b0413e",
    "#7a5195",
    "#8a6d3b",
    "#4fa3a5",
    "#c2649a",
    "#6b7785",
    "#a0a83a",
)
SYMBOLS = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "cross",
    "x",
    "star",
    "hexagon",
    "pentagon",
    "triangle-down",
)
DASHES = ("solid", "dash", "dot", "dashdot")  # dash styles of lines that partly overlap
LINE_COLOUR = "#6b7785"
NOISE_COLOUR = "rgba(128,140,152,0.35)"  # of the spread between runs of the same method


@dataclass(frozen=True)
class PlotLayout:
    """Sizes in plots of an evaluation."""

    note_letters: int = 62  # at most, in the line below a title
    point_name_letters: int = 20  # at most, per line of a name next to a point
    legend_row_pixels: int = 20
    legend_rows: int = 3  # that fit without enlarging the plot
    legend_below_title: float = -0.3  # position of a legend below an axis that has a title
    head_room_share: float = 0.25  # free space above the highest interval, as a share of it


PLOT_LAYOUT = PlotLayout()


def front_plot(summary: RunSummary, table: EstimateTable, cost: str, quality: str) -> Figure:
    """Plot quality against cost: one point per method with intervals, and the Pareto front.

    Parameters
    ----------
    summary : figures of a run.
    table : estimates by method and metric.
    cost, quality : names of the metrics of the two axes.

    Returns
    -------
    A plot of plotly.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    best = summary.front(table, cost, quality)
    if len(best) > 1:
        x = [table[method][cost].mean for method in best]
        y = [table[method][quality].mean for method in best]
        line = {"color": LINE_COLOUR, "width": 1.5, "dash": "dot", "shape": "hv"}
        figure.add_scatter(x=x, y=y, mode="lines", line=line, name="Pareto front", hoverinfo="skip")
    points = _complete_points(table, cost, quality)
    is_log = _is_spread([c.numbers()[0] for c, _ in points.values()])
    y_range = _axis_range(quality, [q for _, q in points.values()])
    positions = _label_positions(points, is_log, y_range)
    names = method_names(summary.run)
    for equal, (c, q) in group_equal(points).items():
        method = equal[0]
        _add_noise(figure, summary.spread(method, quality), c.mean)
        i = summary.methods.index(method)
        figure.add_scatter(
            x=[c.mean],
            y=[q.mean],
            error_x=_method_error_bars(c, i),
            error_y=_method_error_bars(q, i),
            mode="markers+text",
            marker={**_marker(i), "size": 12 if method in best else 9},
            text=[NAME_SEPARATOR.join(point_label(names[each]) for each in equal)],
            textfont={"size": 12},
            textposition=positions[method],
            cliponaxis=False,
            name=_legend_names(names, equal),
            hovertemplate=(
                f"{_hover_names(names, equal)}<br>{_figure_text(quality, q)}<br>"
                f"{_figure_text(cost, c)}<extra></extra>"
            ),
        )
    _label_front_axes(figure, cost, quality, is_log=is_log, y_range=y_range)
    apply_style(figure, f"{_title(quality)} against {_title(cost).lower()}", legend=False)
    return add_note(figure, summary)


def _add_noise(figure: Figure, spread: RunSpread | None, x: Any) -> None:
    """Add a grey band over the means of a method's runs, behind its point."""
    if spread is not None:
        line = {"color": NOISE_COLOUR, "width": 16}
        ends = [spread.low, spread.high]
        style = {"mode": "lines", "line": line, "hoverinfo": "skip", "showlegend": False}
        figure.add_scatter(x=[x, x], y=ends, **style)


def _complete_points(
    table: EstimateTable, cost: str, quality: str
) -> dict[str, tuple[Estimate, Estimate]]:
    """Return cost and quality of the methods that have both."""
    return {
        method: (row[cost], row[quality])
        for method, row in table.items()
        if row[cost].mean is not None and row[quality].mean is not None
    }


def _is_spread(costs: Sequence[float]) -> bool:
    """Return whether costs differ so much (20 times) that their axis is logarithmic."""
    return bool(costs) and min(costs) > 0 and max(costs) > 20 * min(costs)


def _label_positions(
    points: Mapping[str, tuple[Estimate, Estimate]], is_log: bool, y_range: list[float] | None
) -> dict[str, str]:
    """Return the positions of the labels of points.

    They are for a cost axis that holds all intervals.
    """
    axis_ends = (max(c.numbers()[2] for c, _ in points.values()), y_range[1]) if y_range else None
    means = {i: (c.numbers()[0], q.numbers()[0]) for i, (c, q) in points.items()}
    return label_positions(means, is_log, axis_ends)


def _label_front_axes(
    figure: Figure, cost: str, quality: str, *, is_log: bool, y_range: list[float] | None
) -> None:
    figure.update_xaxes(
        title=_title(cost),
        type="log" if is_log else "linear",
        rangemode="normal" if is_log else "tozero",
        minorloglabels="complete",
    )
    figure.update_yaxes(title=_title(quality), range=y_range)


def funnels(summary: RunSummary) -> dict[str, Figure]:
    """Return the plots of the survival of answers (`funnel`) and of passages (`passages`).

    A plot is left out if no answers or passages are known.
    """
    figures = {"funnel": funnel(summary), "passages": passage_funnel(summary)}
    return {name: figure for name, figure in figures.items() if figure.data}


def funnel(summary: RunSummary) -> Figure:
    """Plot the share of known answers left at each stage, one line per method."""
    shares = {method: summary.funnel(method) for method in summary.methods}
    return _survival_plot(summary, shares, "correct answers", "Where the answers are lost")


def passage_funnel(summary: RunSummary) -> Figure:
    """Plot the share of gold passages left at each stage, one line per method."""
    shares = {method: summary.passage_funnel(method) for method in summary.methods}
    return _survival_plot(
        summary, shares, "passages with the evidence", "Where the passages are lost"
    )


def _survival_plot(
    summary: RunSummary, shares: Mapping[str, Mapping[str, float | None]], noun: str, title: str
) -> Figure:
    import plotly.graph_objects as go

    figure = go.Figure()
    names = method_names(summary.run)
    known_shares = {}
    known_stages: set[str] = set()
    for method, alive in shares.items():
        known = {stage: share for stage, share in alive.items() if share is not None}
        known_stages |= known.keys()
        if known:
            known_shares[method] = known
    for equal, alive in group_equal(known_shares).items():
        n = summary.counts(equal[0])["scored"]
        figure.add_scatter(
            x=[stage.capitalize() for stage in alive],
            y=list(alive.values()),
            name=_legend_names(names, equal),
            hovertemplate=(
                f"{_hover_names(names, equal)}<br>%{{x}}: %{{y:.3f}}, n = {n:,}<extra></extra>"
            ),
            **_line_style(summary.methods.index(equal[0])),
        )
    all_stages = (*CorpusSource.stages[:1], *GraphSource.stages[:-2], *CorpusSource.stages)
    stages = [stage.capitalize() for stage in dict.fromkeys(all_stages) if stage in known_stages]
    figure.update_xaxes(categoryorder="array", categoryarray=stages)
    figure.update_yaxes(title=f"Share of {noun} still there", range=[-0.03, 1.05])
    return add_note(apply_style(figure, title), summary)


def hops_plot(summary: RunSummary, name: str) -> Figure:
    """Plot one metric by the hop count of the question.

    There is one bar per method.

    Parameters
    ----------
    summary : figures of a run.
    name : name of the metric.

    Returns
    -------
    A plot of plotly.
    """
    import plotly.graph_objects as go

    summaries = {
        ("hops not given" if hop is None else f"{hop} hop{'s' * (hop != 1)}"): part
        for hop, part in summary.by_hops().items()
    }
    tables = {label: part.table([name]) for label, part in summaries.items()}
    figure = go.Figure()
    for i, (method, title) in enumerate(method_names(summary.run).items()):
        estimates = {
            label: table[method][name]
            for label, table in tables.items()
            if table[method][name].mean is not None
        }
        figure.add_bar(
            x=list(estimates),
            y=[estimate.mean for estimate in estimates.values()],
            error_y=error_bars(estimates.values()),
            marker={
                "color": COLOURS[i % len(COLOURS)],
                "pattern": {"shape": ("", "/", ".")[i // len(COLOURS) % 3]},
            },
            name=_legend_name(title),
            customdata=[[_figure_text(name, each)] for each in estimates.values()],
            hovertemplate=(
                f"<b>{escape(str(title))}</b>, %{{x}}<br>%{{customdata[0]}}<extra></extra>"
            ),
            offsetgroup=method,
        )
        _add_bar_noise(figure, summaries, method, name)
    figure.update_yaxes(title=_title(name))
    return add_note(apply_style(figure, f"{_title(name)} by hop count"), summary)


def _add_bar_noise(
    figure: Figure, summaries: Mapping[str, RunSummary], method: str, name: str
) -> None:
    """Add a grey band over the means of a method's runs to its bars."""
    spreads = {label: part.spread(method, name) for label, part in summaries.items()}
    bands = {label: spread for label, spread in spreads.items() if spread is not None}
    if bands:
        figure.add_bar(
            x=list(bands),
            base=[spread.low for spread in bands.values()],
            y=[spread.high - spread.low for spread in bands.values()],
            marker={"color": NOISE_COLOUR},
            offsetgroup=method,
            hoverinfo="skip",
            showlegend=False,
        )


def sensitivity_plot(
    points: Mapping[str, Sequence[tuple[Any, Estimate]]],
    parameter: str,
    name: str,
    noise: Sequence[tuple[Any, RunSpread]] = (),
) -> Figure:
    """Plot one metric by the values of one parameter.

    Parameters
    ----------
    points : the result of `core.evaluation.reports.sensitivity.curves`: values of the parameter
        with their figures, by group of methods. Each group is a line.
    parameter : name of the parameter.
    name : name of the metric.
    noise : values of the parameter with the spreads of the runs there.

    Returns
    -------
    A plot of plotly.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    for value, spread in noise:
        _add_noise(figure, spread, _axis_value(value))
    order = list(points)
    for equal, curve in group_equal(points).items():
        group = escape(" = ".join(equal))
        number = order.index(equal[0])
        known_points = [(value, estimate) for value, estimate in curve if estimate.mean is not None]
        estimates = [estimate for _, estimate in known_points]
        hover_text = f"<b>{group}</b><br>{escape(parameter)} %{{x}}"
        figure.add_scatter(
            x=[_axis_value(value) for value, _ in known_points],
            error_y=error_bars(estimates),
            name=group,
            **_curve(number, name, estimates, hover_text),
        )
    figure.update_xaxes(title=escape(parameter))
    figure.update_yaxes(title=_title(name))
    apply_style(figure, f"{_title(name)} by {escape(parameter)}")
    return figure.update_layout(legend={"y": PLOT_LAYOUT.legend_below_title})


def _axis_value(value: Any) -> Any:
    """Return a number unchanged, and any other value as the name of a category."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else escape(str(value))


def budget_plot(
    summary: RunSummary, curves: Mapping[str, Sequence[tuple[int, Estimate]]], name: str
) -> Figure:
    """Plot a figure by the number of documents read, one line per method.

    Intervals are in the hover text.

    Parameters
    ----------
    summary : figures of a run.
    curves : the result of `core.evaluation.reports.budget_curves.budget_curves`.
    name : name of the metric.

    Returns
    -------
    A plot of plotly.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    names = method_names(summary.run)
    known_curves = {method: curves[method] for method in summary.methods if curves.get(method)}
    for equal, curve in group_equal(known_curves).items():
        budgets, estimates = zip(*curve)
        hover_text = f"{_hover_names(names, equal)}<br>%{{x}} documents read"
        for budget in budgets:
            _add_noise(figure, summary.spread(equal[0], f"{name}@{budget}"), budget)
        figure.add_scatter(
            x=budgets,
            name=_legend_names(names, equal),
            **_curve(summary.methods.index(equal[0]), name, estimates, hover_text),
        )
    figure.update_xaxes(title="Documents read at most (budget)", dtick=10)
    figure.update_yaxes(title=_title(name).removesuffix(" by budget"))
    apply_style(figure, _title(name))
    figure.update_layout(legend={"y": PLOT_LAYOUT.legend_below_title})
    return add_note(figure, summary)


def _curve(
    number: int, name: str, estimates: Sequence[Estimate], hover_text: str
) -> dict[str, Any]:
    """Return the drawing arguments of line number `number`, through estimates of a metric."""
    return {
        "y": [estimate.mean for estimate in estimates],
        **_line_style(number),
        "customdata": [[_figure_text(name, estimate)] for estimate in estimates],
        "hovertemplate": f"{hover_text}<br>%{{customdata[0]}}<extra></extra>",
    }


def group_equal(drawings: Mapping[str, Drawing]) -> dict[tuple[str, ...], Drawing]:
    """Group the methods that are drawn identically, because one would hide the other.

    The result has the drawing of each group, by the group's methods.

    >>> from core.evaluation.reports.plots import group_equal
    >>> group_equal({"a": [1.0, 0.5], "b": [1.0, 0.7], "c": [1.0, 0.5]})
    {('a', 'c'): [1.0, 0.5], ('b',): [1.0, 0.7]}
    """
    groups: list[tuple[list[str], Drawing]] = []
    for method, data in drawings.items():
        equal_methods = next((methods for methods, other in groups if other == data), None)
        if equal_methods is None:
            groups.append(([method], data))
        else:
            equal_methods.append(method)
    return {tuple(methods): data for methods, data in groups}


def _legend_names(names: Mapping[str, MethodName], equal: Sequence[str]) -> str:
    """Return the names of methods for the legend.

    They are names of methods that are drawn as one, such as `A = B`.
    """
    return NAME_SEPARATOR.join(_legend_name(names[method]) for method in equal)


def _hover_names(names: Mapping[str, MethodName], equal: Sequence[str]) -> str:
    return NAME_SEPARATOR.join(f"<b>{escape(str(names[method]))}</b>" for method in equal)


def _line_style(number: int) -> dict[str, Any]:
    """Return the drawing arguments of line number `number`.

    Lines differ in colour, dashes and markers, because they may partly overlap.
    """
    line = {
        "color": COLOURS[number % len(COLOURS)],
        "width": 2,
        "dash": DASHES[number % len(DASHES)],
    }
    return {"mode": "lines+markers", "marker": {**_marker(number), "size": 9}, "line": line}


def _legend_name(name: MethodName) -> str:
    """Return a method's name on one line.

    The paper's own name follows in small print.
    """
    return " ".join(filter(None, (escape(name.plain), _paper_name(name))))


def point_label(name: MethodName) -> str:
    """Return a method's name in short lines for a point.

    The paper's own name is below.
    """
    plain = wrapped_name(name.plain, PLOT_LAYOUT.point_name_letters)
    return "<br>".join(filter(None, (plain, _paper_name(name))))


def wrapped_name(name: str, letters: int) -> str:
    """Return a name in lines of at most `letters` letters.

    The lines are joined by HTML line breaks.
    """
    return "<br>".join(map(escape, wrap(name, letters, break_on_hyphens=False)))


def _paper_name(name: MethodName) -> str:
    """Return the paper's own name in small print.

    The text is empty if the method has no other name.
    """
    return f"<span style='font-size:10px'>{escape(name.number)}</span>" if name.number else ""


def roomier_side(cost: float, costs: Sequence[float], is_log: bool) -> str:
    """Return the side of a point with more room in the plot.

    Parameters
    ----------
    cost : the cost of the point.
    costs : costs of all points.
    is_log : True if the axis is logarithmic, False if it begins at 0.

    Returns
    -------
    `left` or `right`.
    """
    middle = math.sqrt(min(costs) * max(costs)) if is_log else max(costs) / 2
    return "left" if cost > middle else "right"


def _axis_range(name: str, estimates: Sequence[Estimate]) -> list[float] | None:
    """Return the range of the axis of a metric, from 0.

    A share has its whole range, up to 1. Others have space for names above the highest interval.
    The range begins a little below 0, so that points at 0 are not cut off. It is None, which lets
    plotly choose, if no interval is above 0.
    """
    high = max((estimate.numbers()[2] for estimate in estimates), default=0.0)
    if metric(name).unit == "share":
        return [-0.03, 1.12]  # a label has room above 1, and the last tick is 1
    return [-0.03 * high, (1 + PLOT_LAYOUT.head_room_share) * high] if high > 0 else None


def _title(name: str) -> str:
    return metric(name).describe()["title"]


def _figure_text(name: str, estimate: Estimate) -> str:
    """Return a metric's title, its estimate with the interval, and the number of questions."""
    count_text = "" if estimate.mean is None else f", n = {estimate.n:,}"
    return f"{_title(name)}: {screen_interval(name, estimate)}{count_text}"


def _marker(i: int) -> dict[str, Any]:
    """Return the marker of method number `i`.

    The symbol shifts when the colours repeat, so that up to 100 methods look different.
    """
    return {
        "color": COLOURS[i % len(COLOURS)],
        "symbol": SYMBOLS[(i + i // len(COLOURS)) % len(SYMBOLS)],
    }


def _method_error_bars(estimate: Estimate, i: int) -> dict[str, Any]:
    """Return the drawing arguments of a point's interval.

    The colour is that of method number `i`.
    """
    return {
        **error_bars([estimate]),
        "color": COLOURS[i % len(COLOURS)],
        "thickness": 1,
        "width": 4,
    }


def error_bars(estimates: Iterable[Estimate]) -> dict[str, Any]:
    """Return the drawing arguments of the intervals of estimates."""
    numbers = [estimate.numbers() for estimate in estimates]
    return {
        "type": "data",
        "symmetric": False,
        "array": [high - mean for mean, _, high in numbers],
        "arrayminus": [mean - low for mean, low, _ in numbers],
        "thickness": 1.2,
        "width": 4,
    }


def add_note(figure: Figure, summary: RunSummary) -> Figure:
    """Add a note below a plot's title if the run is unfinished.

    Parameters
    ----------
    figure : the plot, which is changed.
    summary : figures of a run.

    Returns
    -------
    The same plot.
    """
    if note := summary.progress_text():
        lines = wrap(note[:1].upper() + note[1:], PLOT_LAYOUT.note_letters)
        short = lines[0] + (" …" if len(lines) > 1 else "")
        figure.update_layout(
            title_subtitle={"text": escape(short), "font": {"size": 11}}, margin_t=64
        )
    return figure


def apply_style(figure: Figure, title: str, legend: bool = True) -> Figure:
    """Set the title, colours, fonts and size of a plot, and return it."""
    grid = {
        "gridcolor": "rgba(128,140,152,0.25)",
        "zerolinecolor": "rgba(128,140,152,0.4)",
        "linecolor": "rgba(128,140,152,0.6)",
    }
    figure.update_xaxes(**grid)
    figure.update_yaxes(**grid)
    extra_rows = max(0, len(figure.data) - PLOT_LAYOUT.legend_rows) if legend else 0
    return figure.update_layout(
        title={"text": title, "font": {"size": 15}},
        template="none",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": "Segoe UI, Inter, Roboto, Helvetica Neue, sans-serif", "size": 13},
        margin={"l": 64, "r": 18, "t": 48, "b": 52},
        showlegend=legend,
        legend={"orientation": "h", "y": -0.18},
        hoverlabel={"align": "left"},
        height=420 + PLOT_LAYOUT.legend_row_pixels * extra_rows,
        barmode="group",
    )
