"""Repairs: changes of one step that recover missed questions.

A tab of the page Evaluate shows them. A changed method can be evaluated with the others.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.evaluation.repairs.repair_trials import (
    Attempt,
    LineRepairs,
    repaired_method,
    repairs_job_key,
    start_repairs,
)
from core.evaluation.reports.flow import correctness_measure
from core.evaluation.reports.method_names import MethodName, method_names
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.evaluation_jobs import add_methods
from core.evaluation.runs.store import Run
from core.methods.catalogue import Method
from pages.parts.evaluate.run_progress import draw_result_job, open_run
from pages.parts.shared.actions import button
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import engine, store
from pages.parts.shared.session_state import session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

REPAIRS_HELP = tr(
    "Which questions does each method miss, and would another value or another step help? "
    "Changes of one step are tried on the missed questions, without a language model. A "
    "change that brings some back may lose others: evaluate it on all questions."
)


def draw_repairs(results: RunSummary) -> None:
    """Draw the tab: the start button, the progress, and the results for each method."""
    run = results.run
    st.write(REPAIRS_HELP)
    if not correctness_measure(results, results.methods):
        caption("No question here has a correct answer, so losses cannot be found.")
        return
    repair_results = draw_result_job(
        run,
        repairs_job_key(run),
        "repairs",
        start_repairs,
        tr("Try changes"),
        "build",
        tr("Available once the evaluation has ended."),
    )
    names = method_names(run)
    for line_repairs in repair_results:
        _draw_method(run, line_repairs, names)


def _draw_method(run: Run, repairs: LineRepairs, names: dict[str, MethodName]) -> None:
    """Draw one method's losses, and changes that recover some, best first."""
    with st.container(border=True, gap="small"):
        first, *other_sentences = repairs.sentences(str(names[repairs.method]))
        st.markdown(f"**{plain(first)}**")
        # `back` has the questions that a change recovers.
        helpful = [attempt for attempt in repairs.attempts if attempt.back]
        if other_sentences and not helpful:
            st.caption(plain(other_sentences[0]))
        for index, attempt in enumerate(helpful):
            _draw_attempt(run, repairs, attempt, names, f"{repairs.method}-{index}")
        unhelpful = [attempt for attempt in repairs.attempts if not attempt.back]
        if helpful and unhelpful:
            caption(
                "Also tried, without success: {changes}.",
                changes="; ".join(attempt.words for attempt in unhelpful),
            )


def _draw_attempt(
    run: Run, repairs: LineRepairs, attempt: Attempt, names: dict[str, MethodName], key: str
) -> None:
    """Draw a change with its effect, and a button that evaluates it.

    If the run has this method already, its name is drawn instead of the button.
    """
    method = repaired_method(run, repairs, attempt, names[repairs.method].plain)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(f"{repairs.attempt_text(attempt)}.", width="stretch")
        if method is None:
            equal_method = next(
                names[instance["id"]]
                for instance in run.spec["instances"]
                if instance["line"] == attempt.spec
            )
            st.caption(plain(tr("That is {there}.", there=equal_method)), width="content")
        else:
            button(
                tr("Evaluate with the others"),
                partial(_evaluate, run, method),
                key=f"repaired-{key}",
                icon="playlist_add",
                help=tr(
                    "Evaluates the same {questions} with this method too.",
                    questions=many(run.spec["sample"], "question"),
                ),
            )


def _evaluate(run: Run, method: Method) -> None:
    """Start a run with one more method, and show its figures."""
    job = add_methods(engine(), store(), run, [method])
    open_run(job.number)
    session.evaluate_part = tr("Why")
