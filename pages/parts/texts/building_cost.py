"""Cost of building a graph, step by step, compared with the other graphs of the documents."""

from __future__ import annotations

import streamlit as st

from core.builds import Status, build_status
from core.builds.report import INDEX_STEPS, step_costs
from core.builds.run import own_builds
from core.builds.shipped_data import builds_of
from core.corpus import Corpus
from core.evaluation.metrics.build_cost import read_build_cost
from core.evaluation.reports.build_plots import Costs, seconds_plot, token_plot
from pages.parts.shared.sentences import caption
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr


def draw_building_cost(corpus: Corpus, status: Status) -> None:
    """Draw the costs of a build's steps and of all graphs."""
    steps = step_costs(status.report)
    if not steps:  # The graph was built by an earlier version.
        return
    box = st.expander(
        tr("What building cost"),
        key=f"building-cost-{status.folder.name}",
        icon=":material/payments:",
        on_change="rerun",
    )
    if not box.open:
        return
    with box:
        st.table(
            [
                {
                    tr("Step"): plain(step.step),
                    tr("For"): tr("the index") if step.part == INDEX_STEPS else tr("the graph"),
                    tr("Seconds"): f"{step.seconds:,.1f}",
                    tr("Calls"): f"{step.usage.calls:,}",
                    tr("Prompt tokens"): f"{step.usage.tokens_in:,}",
                    tr("Completion tokens"): f"{step.usage.tokens_out:,}",
                }
                for step in steps
            ],
            hide_index=True,
        )
        st.caption(_caveat(status))
        costs = _all_costs(corpus)
        if len(costs) > 1:
            for draw in (token_plot, seconds_plot):
                st.plotly_chart(draw(costs), key=f"cost-{draw.__name__}-{status.folder.name}")
            caption(
                "The last build of each graph of these texts. The index: communities, their "
                "reports, and vectors."
            )


def _all_costs(corpus: Corpus) -> Costs:
    """Return the step costs of every up-to-date graph by title."""
    costs = {}
    for build in (*builds_of(corpus).values(), *own_builds(corpus).values()):
        status = build_status(corpus, build)
        steps = step_costs(status.report)
        if status.is_current and steps:
            costs[status.build.title] = steps
    return costs


def _caveat(status: Status) -> str:
    """Return a sentence on the work that the numbers leave out."""
    if status.report.get("shipped"):
        return tr(
            "It came with these texts. The tokens of its language model are given above; they are "
            "not known by step."
        )
    if not status.build.line.uses_chat_model:
        return tr("No language model was asked. Work that was done before is not counted again.")
    if read_build_cost(status.report, asks_model=True).tokens is None:
        return tr("Some chunks had been read before. Their tokens are not counted here.")
    return tr("Replies that were saved before count with their original tokens and with no time.")
