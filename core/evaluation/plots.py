"""A run's figures as plotly pictures. Names are text: plotly's own mark-up in them is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from core.evaluation.export import shown
from core.evaluation.metrics import metric
from core.evaluation.statistics import Estimate
from core.evaluation.summary import Summary
from core.evaluation.survival import STAGES

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Table = Mapping[str, Mapping[str, Estimate]]
COLOURS = ("#2f6f9f", "#d9822b", "#2e8b57", "#b0413e", "#7a5195", "#8a6d3b", "#4fa3a5", "#c2649a", "#6b7785", "#a0a83a")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon", "pentagon", "triangle-down")
LINE = "#6b7785"


def front(summary: Summary, table: Table, cost: str, quality: str) -> Figure:
    """Quality against cost, one point an instance with its intervals, and the Pareto front as a line."""
    import plotly.graph_objects as go

    figure = go.Figure()
    best = [name for name in summary.front(table, cost, quality)]
    if len(best) > 1:
        x, y = ([table[name][axis].mean for name in best] for axis in (cost, quality))
        line = {"color": LINE, "width": 1.5, "dash": "dot", "shape": "hv"}
        figure.add_scatter(x=x, y=y, mode="lines", line=line, name="Pareto front", hoverinfo="skip")
    for i, (instance, name) in enumerate(_names(summary).items()):
        c, q = table[instance][cost], table[instance][quality]
        if c.mean is None or q.mean is None:
            continue
        figure.add_scatter(
            x=[c.mean],
            y=[q.mean],
            error_x=_bar(c, i),
            error_y=_bar(q, i),
            mode="markers+text",
            marker={**_marker(i), "size": 12 if instance in best else 9},
            text=[name],
            textposition="top center",
            name=name,
            hovertemplate=f"<b>{name}</b><br>{_told(quality, q)}<br>{_told(cost, c)}<extra></extra>",
        )
    known = [table[i][cost].mean for i in table if table[i][cost].mean is not None]
    spread = bool(known) and min(known) > 0 and max(known) > 20 * min(known)
    figure.update_xaxes(
        title=_title(cost), type="log" if spread else "linear", rangemode="normal" if spread else "tozero", minorloglabels="complete"
    )
    figure.update_yaxes(title=_title(quality))
    return styled(figure, f"{_title(quality)} against {_title(cost).lower()}", legend=False)


def funnel(summary: Summary) -> Figure:
    """The share of known answers alive at each stage, a line an instance."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for i, (instance, name) in enumerate(_names(summary).items()):
        alive = {stage: share for stage, share in summary.funnel(instance).items() if share is not None}
        if alive:
            figure.add_scatter(
                x=[stage.capitalize() for stage in alive],
                y=list(alive.values()),
                mode="lines+markers",
                marker={**_marker(i), "size": 9},
                line={"color": COLOURS[i % len(COLOURS)], "width": 2},
                name=name,
                hovertemplate=f"<b>{name}</b><br>%{{x}}: %{{y:.3f}}<extra></extra>",
            )
    figure.update_xaxes(categoryorder="array", categoryarray=[stage.capitalize() for stage in STAGES])
    figure.update_yaxes(title="Share of known answers alive", range=[-0.03, 1.05])
    return styled(figure, "Where the answers are lost")


def by_hops(summary: Summary, name: str) -> Figure:
    """One metric by the number of hops of the question, a bar an instance."""
    import plotly.graph_objects as go

    parts = {("not told" if hop is None else f"{hop} hop{'s' * (hop != 1)}"): part for hop, part in summary.by_hops().items()}
    tables = {label: part.table([name]) for label, part in parts.items()}
    figure = go.Figure()
    for i, (instance, title) in enumerate(_names(summary).items()):
        told = {label: table[instance][name] for label, table in tables.items() if table[instance][name].mean is not None}
        figure.add_bar(
            x=list(told),
            y=[one.mean for one in told.values()],
            error_y=_bars(list(told.values())),
            marker={"color": COLOURS[i % len(COLOURS)], "pattern": {"shape": ("", "/", ".")[i // len(COLOURS) % 3]}},
            name=title,
            customdata=[[_told(name, one)] for one in told.values()],
            hovertemplate=f"<b>{title}</b>, %{{x}}<br>%{{customdata[0]}}<extra></extra>",
        )
    figure.update_yaxes(title=_title(name))
    return styled(figure, f"{_title(name)} by hop count")


def sensitivity(points: Mapping[str, Sequence[tuple[Any, Estimate]]], parameter: str, name: str) -> Figure:
    """One metric by the values of one parameter, a line a group of `core.evaluation.sensitivity.curves`."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for i, (group, curve) in enumerate(points.items()):
        known = [(value, told) for value, told in curve if told.mean is not None]
        figure.add_scatter(
            x=[value if isinstance(value, int | float) and not isinstance(value, bool) else escape(str(value)) for value, _ in known],
            y=[told.mean for _, told in known],
            error_y=_bars([told for _, told in known]),
            mode="lines+markers",
            marker={**_marker(i), "size": 9},
            line={"color": COLOURS[i % len(COLOURS)], "width": 2},
            name=escape(group),
            customdata=[[_told(name, told)] for _, told in known],
            hovertemplate=f"<b>{escape(group)}</b><br>{escape(parameter)} %{{x}}<br>%{{customdata[0]}}<extra></extra>",
        )
    figure.update_xaxes(title=escape(parameter))
    figure.update_yaxes(title=_title(name))
    return styled(figure, f"{_title(name)} by {escape(parameter)}")


def _names(summary: Summary) -> dict[str, str]:
    return {instance["id"]: escape(instance["name"]) for instance in summary.run.spec["instances"]}


def _title(name: str) -> str:
    return metric(name).told()["title"]


def _told(name: str, one: Estimate) -> str:
    if one.mean is None:
        return f"{_title(name)}: –"
    return f"{_title(name)}: {shown(name, one.mean)} [{shown(name, one.low)}, {shown(name, one.high)}], n = {one.n:,}"


def _marker(i: int) -> dict[str, Any]:
    return {"color": COLOURS[i % len(COLOURS)], "symbol": SYMBOLS[(i + i // len(COLOURS)) % len(SYMBOLS)]}


def _bar(one: Estimate, i: int) -> dict[str, Any]:
    return {**_bars([one]), "color": COLOURS[i % len(COLOURS)], "thickness": 1, "width": 4}


def _bars(told: Sequence[Estimate]) -> dict[str, Any]:
    above, below = [one.high - one.mean for one in told], [one.mean - one.low for one in told]
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below, "thickness": 1.2, "width": 4}


def styled(figure: Figure, title: str, legend: bool = True) -> Figure:
    grid = {"gridcolor": "rgba(128,140,152,0.25)", "zerolinecolor": "rgba(128,140,152,0.4)", "linecolor": "rgba(128,140,152,0.6)"}
    figure.update_xaxes(**grid)
    figure.update_yaxes(**grid)
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
        height=420,
        barmode="group",
    )
