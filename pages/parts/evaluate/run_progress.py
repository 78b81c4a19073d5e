"""Progress, continuation and downloads of a run, and all runs.

An answer of a run is the result of one method on one question.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.evaluation.exchange.run_files import run_zip
from core.evaluation.reports.export import latex_table, rows_csv, summary_csv
from core.evaluation.reports.html import report_html
from core.evaluation.reports.method_names import method_titles
from core.evaluation.reports.summary import RunSummary, summary_dict
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.saved_runs import load_plan
from core.evaluation.runs.saved_sources import set_titles
from core.evaluation.runs.store import EVALUATION_OWNER_KIND, Run
from core.io.json_text import json_text
from core.models.price import Cap
from core.runtime.jobs import JOB_CANCELLED, Job
from pages.parts.shared.actions import button, confirm_button
from pages.parts.shared.job_progress import draw_job, progress_bar, rerun_when_started
from pages.parts.shared.people import owner_text, visitor_refusal
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import engine, store
from pages.parts.shared.session_state import session
from pages.parts.shared.spending import draw_spending_limit
from pages.parts.shared.text import date_text, many, plain
from pages.parts.shared.wording import tr

MAX_LISTED_RUNS = 30  # newest runs that are listed
MIN_REDRAW_SECONDS = 5  # least time between two drawings of the figures of a running evaluation


def job_of(run: Run) -> Job | None:
    """Return the job that works on a run in this process, if any."""
    return engine().evaluations.get(f"evaluation-{run.id}")


def draw_progress(run: Run) -> None:
    """Draw the progress of a running evaluation.

    If answers are missing although no job works on the run, draw a button that continues the run.
    """
    job = job_of(run)
    if job is not None and not job.has_ended:
        draw_progress_bar(job, run)
        return
    if job is not None and job.error:
        st.error(plain(job.error))
    n_missing = run.total - run.done
    if n_missing:
        failed = tr(" ({failed:,} of them failed)", failed=run.failed) if run.failed else ""
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            st.text(
                tr(
                    "{missing:,} of {total:,} answers are missing{failed}.",
                    missing=n_missing,
                    total=run.total,
                    failed=failed,
                ),
                width="stretch",
            )
            refusal = visitor_refusal(EVALUATION_OWNER_KIND, str(run.id))
            cap, is_valid = choose_limit(run, "evaluate_cap")
            why_not = refusal if is_valid else tr("Correct the limit first.")
            resume = partial(resume_run, run, cap)
            button(tr("Go on"), resume, key="resume", icon="play_arrow", why_not=why_not)


@st.fragment(run_every=1.0)
def draw_progress_bar(job: Job, run: Run) -> None:
    """Draw the progress bar of a running evaluation.

    The page is drawn again at the end, and every few seconds for new figures.
    """
    if job.has_ended:
        st.rerun()
    progress_bar(job, "cancel")
    run_now = store().run(run.id)
    n_drawn, drawn_at = session.evaluate_figures_drawn
    n_answers = run_now.done + run_now.failed
    if n_answers != n_drawn and time.monotonic() - drawn_at > MIN_REDRAW_SECONDS:
        session.evaluate_figures_drawn = (n_answers, time.monotonic())
        st.rerun()


def draw_result_job(
    run: Run, key: str, name: str, begin: Callable[..., Any], label: str, icon: str, wait_text: str
) -> Sequence[Any]:
    """Draw a job on the results of a run: the start button, or the progress.

    Parameters
    ----------
    key, name : key of the job, and the beginning of the keys of its controls.
    begin : starts the job, given the engine, the store and the run.
    label, icon : of the start button.
    wait_text : shown instead of the start button while the run itself is running.

    Returns
    -------
    The results of the job; empty before it has ended.
    """
    job, run_job = engine().evaluations.get(key), job_of(run)
    if job is not None:
        cancelled = tr("Cancelled; nothing was found yet.") if job.status == JOB_CANCELLED else ""
        draw_job(job, f"{name}-{run.id}", cancelled)
        if not job.has_ended:
            return ()
        if job.result:
            return job.result
    if run_job is not None and not run_job.has_ended:
        st.caption(wait_text)
        return ()
    action = partial(begin, engine(), store(), run)
    button(label, action, key=f"{name}-go", type="primary", icon=icon)
    rerun_when_started(key)
    return ()


def choose_limit(run: Run, key: str) -> tuple[Cap | None, bool]:
    """Draw the field of the spending limit for continuing or enlarging a run.

    The field has the earlier limit at first. Without a language model there is no field.

    Parameters
    ----------
    run : the run.
    key : begins the key of the field.

    Returns
    -------
    The limit, None for no limit, and whether the text in the field is valid.
    """
    work = getattr(job_of(run), "evaluation", None)  # settings of the earlier job in this process
    if not (run.spec["model"] or (work and work.cap)):
        return None, True
    return draw_spending_limit(f"{key}-{run.id}", work.cap if work else None)


def resume_run(run: Run, cap: Cap | None = None) -> None:
    """Continue a run where it stopped.

    The number of parallel requests is that of the earlier job. If the models have changed since, a
    new run is begun. The run that goes on is shown.
    """
    work = getattr(job_of(run), "evaluation", None)
    max_concurrent = work.max_concurrent if work else 0
    job = evaluate(
        engine(), store(), load_plan(store(), run), max_concurrent=max_concurrent, cap=cap
    )
    st.query_params["run"] = str(job.number)


def draw_run_actions(run: Run) -> None:
    """Draw the delete button if no job works on the run."""
    job = job_of(run)
    if job is None or job.has_ended:
        confirm_button(
            tr("Delete"),
            tr("Delete this evaluation? It cannot be brought back."),
            tr("Yes, delete it"),
            lambda: remove_run(run.id),
            key=None,
            type="secondary",
            why_not=visitor_refusal(EVALUATION_OWNER_KIND, str(run.id)),
        )


def draw_downloads(results: RunSummary) -> None:
    """Draw the buttons that download a run's results."""
    run = results.run
    with st.container(width=360):
        _download(run, tr("Report (HTML)"), report_html, ".html", "text/html")
        _download(run, tr("Summary (CSV)"), summary_csv, "-summary.csv", "text/csv")
        _download(run, tr("Every question (CSV)"), rows_csv, ".csv", "text/csv")
        _download(run, tr("Table (LaTeX)"), latex_table, ".tex", "text/x-tex")
        st.download_button(
            tr("For other tools (zip)"),
            lambda: run_zip(engine(), store(), run),
            f"{_file_stem(run)}-files.zip",
            "application/zip",
            on_click="ignore",
            width="stretch",
            help=tr("TREC runs and qrels, RAGAS rows and BenchmarkQED's answers of every method."),
        )
        _download(run, tr("Everything (JSON)"), _summary_json, ".json", "application/json")


def _file_stem(run: Run) -> str:
    return f"hopscope-evaluation-{run.id}"


def _summary_json(results: RunSummary) -> str:
    return json_text(summary_dict(results), indent=1)


def _download(
    run: Run, label: str, make: Callable[[RunSummary], str], suffix: str, mime: str
) -> None:
    """Draw a button that downloads a file of a run's summary.

    The file is made when the button is clicked.
    """
    st.download_button(
        label,
        lambda: make(summary(run.id)),
        f"{_file_stem(run)}{suffix}",
        mime,
        on_click="ignore",
        width="stretch",
    )


def summary(number: int) -> RunSummary:
    """Return the summary of the present rows of a run."""
    return RunSummary(store().run(number), store().rows(number))


def draw_runs() -> None:
    """Draw the newest evaluations, each with a button that opens it."""
    known_runs = store().runs()
    if not known_runs:
        caption(
            "No evaluation yet. An evaluation continues when you close this page, and can be "
            "resumed after a restart."
        )
        return
    st.markdown(tr("**Evaluations**"))
    for run in known_runs[:MAX_LISTED_RUNS]:
        job = job_of(run)
        if job is not None and not job.has_ended:
            state = tr("running")
        elif run.done == run.total:
            state = tr("finished")
        else:
            state = tr("{done:,} of {total:,} done", done=run.done, total=run.total)
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            with st.container(gap=None, width="stretch"):
                st.text(", ".join(method_titles(run).values()))
                parts = (
                    tr(
                        "{questions} of {set}",
                        questions=many(run.spec["sample"], "question"),
                        set=set_titles(run.spec),
                    ),
                    date_text(run.created),
                    state,
                    owner_text(EVALUATION_OWNER_KIND, str(run.id)),
                )
                st.caption(plain(" · ".join(filter(None, parts))))
            button(
                tr("Open"),
                partial(open_run, run.id),
                key=f"open-{run.id}",
                help=tr("Open evaluation {id}", id=run.id),
            )
    if len(known_runs) > MAX_LISTED_RUNS:
        caption("{more:,} older ones are not shown.", more=len(known_runs) - MAX_LISTED_RUNS)


def open_run(number: int) -> None:
    """Show the run with this number, by writing it into the address."""
    st.query_params["run"] = str(number)


def remove_run(number: int) -> None:
    """Delete a run and go back to the list."""
    store().delete(number)
    leave_run()


def leave_run() -> None:
    """Go back to the form and the list of runs."""
    st.query_params.pop("run", None)
    st.query_params.pop("question", None)
