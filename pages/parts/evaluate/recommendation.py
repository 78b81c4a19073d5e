"""Recommendation of a method by an evaluation run.

The page Evaluate draws it above the figures.
"""

from __future__ import annotations

from functools import lru_cache, partial
from urllib.parse import urlencode

import streamlit as st

from core.errors import HopscopeError
from core.evaluation.reports.dot_plot import cost_title, dot_plot, dot_rows, plot_legend, plot_words
from core.evaluation.reports.recommendation import Recommendation, recommendation
from core.evaluation.reports.summary import RunSummary
from core.evaluation.routing.router import find_router
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.saved_runs import enlarge_plan
from core.evaluation.runs.store import RUN_DONE, Run
from core.models.price import Cap
from pages.parts.evaluate.run_progress import choose_limit, open_run, summary
from pages.parts.shared.actions import button
from pages.parts.shared.session import engine, store
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

TEXT_COLOURS = {"light": "#1f2933", "dark": "#e6ebf0"}  # of the dot plot


def draw_recommendation(results: RunSummary) -> None:
    """Draw the recommendation, if there is one, with its first reason and a plot of all methods.

    If more questions could decide between methods, a button evaluates these.
    """
    run = results.run
    advice = recommend(run)
    if advice is None:
        if not any(row.question.answers or row.question.gold for row in results.rows):
            st.info(
                tr(
                    "These questions have no correct answers and no evidence, so only costs are "
                    "shown. Figures of answers by a language model can be judged in pairs."
                )
            )
        return
    box = st.container(border=True, key="recommendation", gap="small")
    with box:
        st.markdown(f"**{plain(advice.headline)}**")
        if advice.details:
            st.caption(plain(advice.details[0]))
        if advice.more:
            _draw_more_questions(run, advice.more)
    rows = dot_rows(results, advice)
    theme = st.context.theme.type or "light"
    st.plotly_chart(
        dot_plot(rows, advice.metric, cost_title(results, advice), text_colour=TEXT_COLOURS[theme]),
        key="dot-plot",
        config={"displayModeBar": False},
        alt=plot_words(rows, advice.metric),
    )
    st.caption(plain(plot_legend(results, rows)))
    with box:
        _draw_router(run)  # last, as it takes a second at first


def draw_reasons(run: Run) -> None:
    """Draw the reasons of the recommendation that do not stand beside it."""
    advice = recommend(run)
    if advice is not None and advice.details[1:]:
        st.markdown(plain(" ".join(advice.details[1:])))


def recommend(run: Run) -> Recommendation | None:
    """Return the recommendation from the present rows of a run.

    None if they allow none.
    """
    return _cached_recommendation(run.id, run.created, run.done, run.failed)


@lru_cache(maxsize=32)
def _cached_recommendation(
    number: int, created: float, done: int, failed: int
) -> Recommendation | None:
    """Return the recommendation, computed again after new rows."""
    return recommendation(summary(number))


def _draw_more_questions(run: Run, size: int) -> None:
    """Draw the button that asks more questions, and the spending limit of a language model."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        cap, is_valid = choose_limit(run, "more_cap")
        button(
            tr("Ask {questions}", questions=many(size, "more question")),
            partial(_ask_more_questions, run, size, cap),
            icon="add",
            key="ask_more",
            why_not="" if is_valid else tr("Correct the limit first."),
            help=tr("A new evaluation of these questions and further ones."),
        )


def _ask_more_questions(run: Run, size: int, cap: Cap | None) -> None:
    """Start a run with more questions within a limit, and show it."""
    job = evaluate(engine(), store(), enlarge_plan(store(), run, size, engine().graph), cap=cap)
    open_run(job.number)


def _draw_router(run: Run) -> None:
    """Draw the offer of a router, if it pays on unseen questions, with a link that opens it."""
    if run.status != RUN_DONE:
        return
    router = _cached_router(run.id, run.created, run.done, run.failed)
    if router is None:
        return
    line, sentences = router
    st.caption(plain(" ".join(sentences)))
    st.link_button(
        tr("Open this line in Build"),
        f"./build?{urlencode({'line': line})}",
        icon=":material/alt_route:",
        type="tertiary",
    )


@lru_cache(maxsize=32)
def _cached_router(
    number: int, created: float, done: int, failed: int
) -> tuple[str, tuple[str, ...]] | None:
    """Return the line and the sentences of a router that pays, None without one. Its rule is saved.

    It is computed again after new rows.
    """
    try:
        router = find_router(store(), summary(number))
        if not router.pays:
            return None
        router.rule.save()
    except HopscopeError:  # nothing is to be chosen, or the states are of another version
        return None
    return router.line, (router.verdict, router.figures_sentence)
