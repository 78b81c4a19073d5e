"""Starting an evaluation, following it, taking it up again, and the list of those there are."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable

import streamlit as st

from core.datasets import dataset_of
from core.errors import HopscopeError
from core.evaluation.reports.export import latex, rows_csv, summary_csv
from core.evaluation.reports.html import report_html
from core.evaluation.reports.naming import titles
from core.evaluation.reports.summary import Summary, summary_dict
from core.evaluation.runs.opening import planned
from core.evaluation.runs.plan import make_plan
from core.evaluation.runs.starting import evaluate
from core.evaluation.runs.store import Run
from core.runtime.jobs import Job
from pages.parts.graphs.ways import SETS
from pages.parts.methods.groups import is_heading, options
from pages.parts.shared.session import engine, graph_name, instances, store
from pages.parts.shared.text import many, plain

FIRST = ("lego-1", "lego-12", "lego-14")
SHOWN_RUNS = 30


def new_run() -> None:
    """The form of a new evaluation, on the chosen graph; where that has no questions, the way to give it some."""
    dataset = dataset_of(graph_name())
    if dataset is None or not dataset.sets:
        no_questions(dataset.title if dataset is not None else graph_name())
        return
    known = instances()
    on_triples = {key: one for key, one in known.items() if not one.documents}
    labels = {key: text for key, text in options(on_triples).items() if not is_heading(key)}
    sets, kept = dataset.sets, f"evaluate_sets_{dataset.name}"
    begun = [name for name in st.session_state.pop(SETS, ()) if name in sets]
    if begun:
        st.session_state[kept] = begun
    with st.container(border=True, key="evaluate-box"):
        chosen = st.multiselect(
            f"Questions about {plain(dataset.title)}",
            list(sets),
            None if begun else usual_sets(sets),
            format_func=lambda name: sets[name].title,
            placeholder="choose one or more sets",
            key=kept,
            help="Those of the graph that is chosen on the left. More are added on the Graphs page.",
            persist_state="session",
        )
        lines = st.multiselect(
            "Methods",
            list(labels),
            [key for key in FIRST if key in labels],
            format_func=lambda key: labels[key],
            help="The first is what the others are tested against.",
            key="evaluate_methods",
            persist_state="session",
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            size = st.number_input("Questions of each set", 1, 100_000, 50, width=190, key="evaluate_size", persist_state="session")
            seed = st.number_input(
                "Seed",
                0,
                2**31 - 1,
                0,
                width=120,
                help="The same seed draws the same questions, on any computer.",
                key="evaluate_seed",
                persist_state="session",
            )
        with st.container(horizontal=True):
            model = st.toggle(
                "Language model answers",
                key="evaluate_model",
                persist_state="session",
                help="Otherwise the graph reader's answers are scored. Takes seconds a question.",
            )
            judge = st.toggle(
                "Language model judges",
                key="evaluate_judge",
                persist_state="session",
                help="The model of the role judge says whether each answer is right (Judge@1).",
            )
            cold = st.toggle(
                "Time each alone",
                key="evaluate_cold",
                persist_state="session",
                help="Methods share nothing and remember nothing, so that seconds are their own. Slow.",
            )
        if st.button("Start", key="evaluate-go", type="primary", icon=":material/play_arrow:"):
            begin([known[key] for key in lines], chosen, int(size), int(seed), model=model, judge=judge, cold=cold)


def usual_sets(sets: Iterable[str]) -> list[str]:
    """The set to begin with: the first for development, else the first."""
    names = list(sets)
    return ([name for name in names if name.endswith("-dev")] or names)[:1]


def no_questions(title: str) -> None:
    """Says that a graph has no questions, and leads to where they are added."""
    with st.container(border=True):
        st.info(f"{plain(title)} has no questions yet, so there is nothing to score methods on.", icon=":material/quiz:")
        st.write("Add a file of questions (a CSV will do), or choose another graph on the left.")
        st.page_link(
            "pages/graphs.py",
            label="Add questions to this graph",
            icon=":material/library_add:",
            query_params={"graph": graph_name(), "add": "questions"},
        )


def begin(chosen, sets: list[str], size: int, seed: int, **wishes: bool) -> None:
    """Start the run and show it; what stands in the way is said."""
    try:
        with st.spinner("Opening the graph and drawing the questions"):
            plan = make_plan(chosen, ",".join(sets), size, engine().graph, seed=seed, **wishes)
            job = evaluate(engine(), store(), plan)
    except HopscopeError as error:
        st.error(plain(str(error)))
        return
    st.query_params["run"] = str(job.number)
    st.rerun()


def job_of(run: Run) -> Job | None:
    """The job that works on a run in this process, if any."""
    return engine().evaluations.get(f"evaluation-{run.id}")


def progress(run: Run) -> None:
    """How far a run is, while it works; a way to take it up where it does not and is not finished."""
    job = job_of(run)
    if job is not None and not job.ended:
        follow(job, run)
        return
    if job is not None and job.error:
        st.error(plain(job.error))
    missing = run.total - run.done
    if missing:
        failed = f" ({run.failed:,} of them failed)" if run.failed else ""
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            st.text(f"{missing:,} of {run.total:,} answers are missing{failed}.", width="stretch")
            st.button("Go on", key="resume", icon=":material/play_arrow:", on_click=resume, args=(run,))


@st.fragment(run_every=1.0)
def follow(job: Job, run: Run) -> None:
    """The bar of a working run; the page is drawn anew when it ends, and every few seconds for the figures so far."""
    if job.ended:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(min(1.0, job.fraction or 0.0), text=plain(job.text or "Waiting for its turn"), width="stretch")
        st.button("Cancel", key="cancel", icon=":material/stop_circle:", on_click=job.cancel)
    now = store().run(run.id)
    drawn, when = st.session_state.get("evaluate_drawn", (0, 0.0))
    if now.done + now.failed != drawn and time.monotonic() - when > 5:
        st.session_state.evaluate_drawn = (now.done + now.failed, time.monotonic())
        st.rerun()


def resume(run: Run) -> None:
    """Take a run up where it stopped; with other models than it was begun with it is a run of its own."""
    try:
        job = evaluate(engine(), store(), planned(store(), run))
    except HopscopeError as error:
        st.session_state.evaluate_problem = str(error)
    else:
        st.query_params["run"] = str(job.number)


def run_actions(run: Run) -> None:
    """Downloads, and deletion once nothing works on the run."""
    job = job_of(run)
    if run.done:
        with st.popover("Download", icon=":material/download:"):
            name = f"hopscope-evaluation-{run.id}"
            file = lambda label, make, ending, mime: st.download_button(
                label, lambda: make(summary(run.id)), f"{name}{ending}", mime, on_click="ignore", width="stretch"
            )
            file("Report (HTML)", report_html, ".html", "text/html")
            file("Summary (CSV)", summary_csv, "-summary.csv", "text/csv")
            file("Every question (CSV)", rows_csv, ".csv", "text/csv")
            file("Table (LaTeX)", latex, ".tex", "text/x-tex")
            file("Everything (JSON)", lambda s: json.dumps(summary_dict(s), ensure_ascii=False, indent=1), ".json", "application/json")
    if job is None or job.ended:
        with st.popover("Delete", icon=":material/delete:"):
            st.write("Delete this evaluation? It cannot be brought back.")
            st.button("Yes, delete it", type="primary", on_click=remove, args=(run.id,))


def summary(number: int) -> Summary:
    """A run summed up as of now."""
    return Summary(store().run(number), store().rows(number))


def runs() -> None:
    """The evaluations there are, the newest first."""
    known = store().runs()
    if not known:
        st.caption("No evaluation yet. What you start goes on when you close this page, and can be taken up after a restart.")
        return
    st.markdown("**Evaluations**")
    for run in known[:SHOWN_RUNS]:
        job = job_of(run)
        at_work = job is not None and not job.ended
        state = "at work" if at_work else "finished" if run.done == run.total else f"{run.done:,} of {run.total:,} done"
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            with st.container(gap=None, width="stretch"):
                st.text(", ".join(titles(run).values()))
                when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(run.created))
                st.caption(plain(f"{many(run.spec['sample'], 'question')} of {run.spec['set']} · {when} · {state}"))
            st.button("Open", key=f"open-{run.id}", help=f"Open evaluation {run.id}", on_click=open_run, args=(run.id,))
    if len(known) > SHOWN_RUNS:
        st.caption(f"{len(known) - SHOWN_RUNS:,} older ones are not shown.")


def open_run(number: int) -> None:
    """Show a run."""
    st.query_params["run"] = str(number)


def remove(number: int) -> None:
    """Delete a run and go back to the list."""
    try:
        store().delete(number)
    except HopscopeError as error:
        st.session_state.evaluate_problem = str(error)
    else:
        leave()


def leave() -> None:
    """Back to the form and the list."""
    st.query_params.pop("run", None)
    st.query_params.pop("question", None)
