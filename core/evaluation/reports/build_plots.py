"""Plots of the cost of building graphs: tokens and seconds by graph.

The bars have the parts that the In-depth Analysis draws (Figures 4 and 5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from core.builds.report import GRAPH_STEPS, INDEX_STEPS, StepCost
from core.evaluation.reports.html import PAGE_TEMPLATE, cards, plotly_script
from core.evaluation.reports.plots import COLOURS, apply_style, wrapped_name

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

BAR_NAME_LETTERS = 18  # letters per line of a name
COMPLETION_OPACITY = 0.45  # of the bars of completion tokens; those of prompt tokens have 1
BUILD_PARTS = ((GRAPH_STEPS, "graph"), (INDEX_STEPS, "index"))  # parts of a build, with titles
Costs = Mapping[str, Sequence[StepCost]]  # costs of the steps of a build, by the graph's name


def token_plot(costs: Costs) -> Figure:
    """Plot language-model tokens by graph: prompt and completion, for the graph and its index."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for (part, title), colour in zip(BUILD_PARTS, COLOURS):
        for kind, opacity in (("prompt", 1.0), ("completion", COMPLETION_OPACITY)):
            field = "tokens_in" if kind == "prompt" else "tokens_out"
            values = [
                sum(getattr(step.usage, field) for step in steps if step.part == part)
                for steps in costs.values()
            ]
            figure.add_bar(
                x=_bar_names(costs),
                y=values,
                name=f"{title}, {kind}",
                marker={"color": colour, "opacity": opacity},
                hovertemplate=f"<b>%{{x}}</b><br>{title}, {kind}: %{{y:,}} tokens<extra></extra>",
            )
    figure.update_yaxes(title="Tokens", rangemode="tozero")
    apply_style(figure, "Tokens of building, by graph").update_layout(barmode="stack")
    if not any(step.usage.calls for steps in costs.values() for step in steps):
        figure.update_layout(
            title_subtitle={"text": "No language model was asked: 0 tokens", "font": {"size": 11}},
            margin_t=64,
        )
        figure.update_yaxes(range=[0, 1])
    return figure


def seconds_plot(costs: Costs) -> Figure:
    """Plot building seconds by graph, for the graph and its index."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for (part, title), colour in zip(BUILD_PARTS, COLOURS):
        values = [
            sum(step.seconds for step in steps if step.part == part) for steps in costs.values()
        ]
        figure.add_bar(
            x=_bar_names(costs),
            y=values,
            name=title,
            marker={"color": colour},
            hovertemplate=f"<b>%{{x}}</b><br>{title}: %{{y:,.1f}} s<extra></extra>",
        )
    figure.update_yaxes(title="Seconds", rangemode="tozero")
    return apply_style(figure, "Seconds of building, by graph").update_layout(barmode="stack")


def cost_page(costs: Costs, title: str, sentences: Sequence[str]) -> str:
    """Return both plots and some sentences as one HTML file that needs no network.

    Parameters
    ----------
    costs : costs of the steps of each graph's build.
    title : title of the page.
    sentences : statements below the plots.

    Returns
    -------
    An HTML document.
    """
    words = "".join(f"<p class='facts'>{escape(sentence)}</p>" for sentence in sentences)
    plot_cards = cards([token_plot(costs), seconds_plot(costs)])
    return PAGE_TEMPLATE.format(
        title=escape(title), body=f"{plotly_script()}<div class='plots'>{plot_cards}</div>{words}"
    )


def _bar_names(costs: Costs) -> list[str]:
    return [wrapped_name(name, BAR_NAME_LETTERS) for name in costs]
