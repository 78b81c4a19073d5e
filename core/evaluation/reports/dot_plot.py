"""Dot plot of a run's methods: quality with its interval, and cost as a number.

The methods are in the order of `ordered_methods`. A bracket holds those that share rank 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.statistics import Estimate
from core.evaluation.reports.export import screen_figure
from core.evaluation.reports.method_names import method_names
from core.evaluation.reports.plots import (
    COLOURS,
    LINE_COLOUR,
    NOISE_COLOUR,
    error_bars,
    wrapped_name,
)
from core.evaluation.reports.ranks import Ranks
from core.evaluation.reports.recommendation import Recommendation
from core.evaluation.reports.summary import RunSummary

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

NAME_LETTERS = 20  # at most, per line of a method's name
NAME_LINE_PIXELS = 17
MIN_ROW_PIXELS = 38
FRAME_PIXELS = 84  # height of the axis and of the line above the rows
COST_PIXELS = 80  # width of the column of costs
BRACKET_PIXELS = 9


@dataclass(frozen=True)
class DotRow:
    """A method in the dot plot.

    Parameters
    ----------
    method : id of the method.
    name : its name in plain words.
    quality : mean and interval of the metric by which the methods are ranked.
    cost : mean cost per question with its unit, a dash if it is unknown.
    rank : its rank; None for a method that is not compared.
    is_taken : True for the recommended method.
    noise : lowest and highest mean of the method's runs; None without repeats.
    """

    method: str
    name: str
    quality: Estimate
    cost: str
    rank: int | None
    is_taken: bool
    noise: tuple[float, float] | None = None


def ordered_methods(summary: RunSummary, advice: Recommendation | None) -> list[str]:
    """Return the ids of a run's methods, best first.

    They are sorted by rank, then by mean quality, then by cost. Methods without a rank come last,
    in the order of the plan, as all do without a recommendation.
    """
    if advice is None:
        return list(summary.methods)
    ranked = Ranks(summary, advice.metric)

    def sort_key(method: str) -> tuple[float, float, float]:
        mean = ranked.means.get(method, 0.0)
        return advice.ranks.get(method, float("inf")), -mean, ranked.costs.get(method, float("inf"))

    return sorted(summary.methods, key=sort_key)


def dot_rows(summary: RunSummary, advice: Recommendation) -> list[DotRow]:
    """Return the rows of the dot plot, best first.

    Methods without a value of the metric are left out.
    """
    table = summary.table([advice.metric])
    cost_metric = Ranks(summary, advice.metric).cost_metric
    costs = summary.table([cost_metric])
    unit = {"seconds": " s", "tokens": ""}[cost_metric]
    names = method_names(summary.run)
    name_counts = Counter(name.plain for name in names.values())
    rows = []
    for method in ordered_methods(summary, advice):
        quality = table[method][advice.metric]
        if quality.mean is None:
            continue
        name, cost = names[method], costs[method][cost_metric].mean
        spread = summary.spread(method, advice.metric)
        rows.append(
            DotRow(
                method,
                str(name) if name_counts[name.plain] > 1 else name.plain,
                quality,
                cost="–" if cost is None else f"{screen_figure(cost_metric, cost)}{unit}",
                rank=advice.ranks.get(method),
                is_taken=method == advice.take,
                noise=None if spread is None else (spread.low, spread.high),
            )
        )
    return rows


def bracketed(rows: Sequence[DotRow]) -> list[DotRow]:
    """Return the rows in the bracket: those of rank 1, if there are several."""
    first = [row for row in rows if row.rank == 1]
    return first if len(first) > 1 else []


def cost_title(summary: RunSummary, advice: Recommendation) -> str:
    """Return the heading of the column of costs."""
    titles = {"seconds": "a question", "tokens": "tokens"}
    return titles[Ranks(summary, advice.metric).cost_metric]


def dot_plot(
    rows: Sequence[DotRow], name: str, cost_heading: str, text_colour: str = "#1f2933"
) -> Figure:
    """Plot the rows, best on top.

    Parameters
    ----------
    rows : the result of `dot_rows`.
    name : name of the metric of quality.
    cost_heading : heading of the column of costs.
    text_colour : colour of all words, as the background asks for.

    Returns
    -------
    A plot of plotly.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    positions = list(range(len(rows)))
    ticks = [_tick_text(row) for row in rows]
    most_lines = 1 + max((text.count("<br>") for text in ticks), default=0)
    row_pixels = max(MIN_ROW_PIXELS, NAME_LINE_PIXELS * most_lines + 8)
    means = [row.quality.numbers()[0] for row in rows]
    colours = [COLOURS[0] if row.is_taken else LINE_COLOUR for row in rows]
    figure.add_scatter(
        x=means,
        y=positions,
        error_x={**error_bars([row.quality for row in rows]), "color": LINE_COLOUR},
        mode="markers+text",
        marker={"size": 11, "color": colours},
        text=[screen_figure(name, mean) for mean in means],
        textposition="top center",
        textfont={"size": 12},
        cliponaxis=False,
        hoverinfo="skip",
    )
    _label_axes(figure, ticks, name)
    _add_costs(figure, rows, cost_heading)
    _add_bracket(figure, bracketed(rows))
    _add_noise(figure, rows)
    _colour_texts(figure, text_colour)
    return figure.update_layout(
        template="none",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        margin={"l": 8, "r": COST_PIXELS, "t": 24, "b": 44},
        height=FRAME_PIXELS + row_pixels * len(rows),
        showlegend=False,
        dragmode=False,
    )


def _colour_texts(figure: Figure, colour: str) -> None:
    """Give all words of a plot one colour."""
    figure.update_xaxes(tickfont={"color": colour}, title_font_color=colour)
    figure.update_yaxes(tickfont={"color": colour, "size": 13})
    figure.update_annotations(font_color=colour)
    figure.update_traces(textfont_color=colour)


def plot_words(rows: Sequence[DotRow], name: str) -> str:
    """Return the plot as a text, for readers who do not see it."""
    title = metric(name).describe()["title"]
    form = {"form": lambda value: screen_figure(name, value)}
    parts = []
    for row in rows:
        noise = ""
        if row.noise is not None:
            noise = f", runs {' to '.join(screen_figure(name, end) for end in row.noise)}"
        parts.append(f"{row.name} {row.quality.format_with_interval(**form)}{noise}, {row.cost}")
    first = [row.name for row in bracketed(rows)]
    bracket = f" No significant difference between {', '.join(first)}." if first else ""
    return f"{title}, best first: {'; '.join(parts)}.{bracket}"


def plot_legend(summary: RunSummary, rows: Sequence[DotRow]) -> str:
    """Return sentences on the lines and the bracket of the plot, and on methods without a row."""
    sentences = ["Lines are 95 % intervals."]
    if bracketed(rows):
        sentences.append("The bracket: no significant difference.")
    if any(row.noise is not None for row in rows):
        sentences.append("Grey: from the lowest to the highest mean of a method's own runs.")
    drawn = {row.method for row in rows}
    missing = [str(name) for id, name in method_names(summary.run).items() if id not in drawn]
    if missing:
        sentences.append(f"No figure: {', '.join(missing)}.")
    return " ".join(sentences)


def _tick_text(row: DotRow) -> str:
    text = wrapped_name(row.name, NAME_LETTERS)
    if row.rank is None:
        return f"{text}<br><span style='font-size:10px'>not compared</span>"
    return f"<b>{text}</b>" if row.is_taken else text


def _label_axes(figure: Figure, ticks: Sequence[str], name: str) -> None:
    """Label the axis of the metric, and the rows by their names."""
    is_share = metric(name).unit == "share"
    figure.update_xaxes(
        range=[0, 1] if is_share else None,
        rangemode="tozero",
        tickformat=".2~f",
        gridcolor="rgba(128,140,152,0.25)",
        zeroline=False,
        title={"text": metric(name).describe()["title"], "font": {"size": 12}},
    )
    figure.update_yaxes(
        tickvals=list(range(len(ticks))),
        ticktext=ticks,
        range=[len(ticks) - 0.5, -0.6],
        showgrid=False,
        zeroline=False,
        automargin=True,
        ticklabelstandoff=14,
    )


def _add_costs(figure: Figure, rows: Sequence[DotRow], heading: str) -> None:
    at_right: Mapping[str, object] = {
        "x": 1,
        "xref": "paper",
        "xanchor": "left",
        "xshift": 16,
        "showarrow": False,
        "font": {"size": 13},
    }
    for position, row in enumerate(rows):
        figure.add_annotation(y=position, text=row.cost, **at_right)
    top = {**at_right, "font": {"size": 11}}
    figure.add_annotation(y=1, yref="paper", yanchor="bottom", text=heading, **top)


def _add_noise(figure: Figure, rows: Sequence[DotRow]) -> None:
    """Add a grey band behind each row with repeats, over the means of its runs."""
    for position, row in enumerate(rows):
        if row.noise is not None:
            figure.add_shape(
                type="rect",
                layer="below",
                x0=row.noise[0],
                x1=row.noise[1],
                y0=position - 0.28,
                y1=position + 0.28,
                fillcolor=NOISE_COLOUR,
                line={"color": NOISE_COLOUR, "width": 1},
            )


def _add_bracket(figure: Figure, rows: Sequence[DotRow]) -> None:
    """Add a bracket at the left of the first rows, open to the right."""
    if not rows:
        return
    top, bottom = -0.32, len(rows) - 0.68
    line = {"color": COLOURS[0], "width": 2}
    for x0, x1, y0, y1 in (
        (-BRACKET_PIXELS, -BRACKET_PIXELS, top, bottom),
        (-BRACKET_PIXELS, -2, top, top),
        (-BRACKET_PIXELS, -2, bottom, bottom),
    ):
        figure.add_shape(
            type="line",
            xref="paper",
            xsizemode="pixel",
            xanchor=0,
            x0=x0,
            x1=x1,
            y0=y0,
            y1=y1,
            line=line,
        )
