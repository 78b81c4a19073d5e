"""Recommendation of a method by an evaluation run.

The page Evaluate draws it above the figures.
"""

from __future__ import annotations

from functools import lru_cache, partial

import streamlit as st

from core.evaluation.reports.recommendation import Recommendation, recommendation
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.saved_runs import enlarge_plan
from core.evaluation.runs.store import Run
from pages.parts.evaluate.run_progress import open_run, summary
from pages.parts.shared.actions import button
from pages.parts.shared.session import engine, store
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr


def draw_recommendation(run: Run) -> None:
    """Draw the recommendation, if there is one, with its reasons.

    If more questions could decide between methods, a button evaluates these.
    """
    advice = recommend(run)
    if advice is None:
        return
    with st.container(border=True, key="recommendation", gap="small"):
        st.markdown(f"##### {plain(advice.headline)}")
        st.caption(plain(" ".join(advice.details)))
        if advice.more:
            button(
                tr("Ask {questions}", questions=many(advice.more, "more question")),
                partial(_ask_more_questions, run, advice.more),
                icon="add",
                key="ask_more",
                help=tr("A new evaluation of these questions and further ones."),
            )


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


def _ask_more_questions(run: Run, size: int) -> None:
    """Start a run with more questions, and show it."""
    job = evaluate(engine(), store(), enlarge_plan(store(), run, size, engine().graph))
    open_run(job.number)
