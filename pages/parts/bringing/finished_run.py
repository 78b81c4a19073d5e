"""Form that turns a finished run into a method, and the list of such runs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from core.importing import Importer
from core.instances.catalogue import RUN
from core.retrievers.runs.formats import title_of
from core.retrievers.runs.saved import OWNED_AS, FileRun, bring, remove, runs
from core.runtime.jobs import Job
from core.sharing import why_not
from core.sources import Source, sources
from pages.parts.bringing.inspection import ImportOutcome, begin
from pages.parts.bringing.target_source import choose_source
from pages.parts.bringing.uploads import Dropped, save_upload
from pages.parts.question.set_actions import lead_to
from pages.parts.shared.actions import attempt
from pages.parts.shared.session_state import session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr


def run_step(dropped: Dropped, importer: Importer, here: Source) -> None:
    """Draw the form for a finished run.

    It asks for the graph or corpus of the run, and for optional qrels.
    """
    on = choose_source(tr("Run over"), sources(), here, f"run_of_{dropped.id}")
    qrels = st.file_uploader(
        tr("Relevant documents (qrels), if any"),
        type=["txt", "tsv", "qrels", "gz"],
        key=f"run_qrels_{dropped.id}",
        max_upload_size=64,
        width=420,
    )
    if st.button(tr("Add to the methods"), key="run-bring", icon=":material/playlist_add:"):
        work = partial(_bring, dropped, on, qrels)
        begin(f"run-{dropped.id}", work)


def _bring(dropped: Dropped, on: Source, qrels: Any, job: Job) -> ImportOutcome:
    job.report(tr("Reading the run"))
    with dropped.laid_down() as (folder, paths):
        judged: str | Path = save_upload(qrels, folder / "qrels") if qrels is not None else ""
        run = bring(paths[0], on, qrels=judged)
    title = f"{run.title}, {title_of(run.format)}"
    words = tr("{title}: {words} It is among the methods.", title=title, words=run.words())
    return ImportOutcome(words, then=partial(_choose, run), ways=partial(_ways, on))


def _choose(run: FileRun) -> None:
    """Select a run as a method of the next evaluation.

    If it has qrels, its questions are selected too.
    """
    session.evaluate_brought = [f"{RUN}{run.name}"]
    if run.judged:
        session.evaluate_sets = [f"{RUN}{run.name}"]


def _ways(on: Source) -> None:
    if session.page != "evaluate":
        st.button(
            tr("Evaluate it"),
            key="run-evaluate",
            icon=":material/analytics:",
            on_click=_evaluate,
            args=(on,),
        )


def _evaluate(on: Source) -> None:
    session.choose(on)
    lead_to("evaluate", on.parameters)


def runs_of(on: Source) -> Iterator[FileRun]:
    """Yield the finished runs on a graph or corpus."""
    for run in runs().values():
        if (run.source_kind, run.source_name) == (on.kind, on.name):
            yield run


def questions_of_runs(on: Source) -> dict[str, str]:
    """Return the questions of the finished runs of a source as sets.

    The keys are the names that a plan of an evaluation reads, the values their titles.
    """
    return {f"{RUN}{one.name}": tr("Questions of {title}", title=one.title) for one in runs_of(on)}


def saved_runs(on: Source) -> None:
    """Draw the finished runs of a source, each with a remove button."""
    for run in runs_of(on):
        with st.container(
            horizontal=True,
            vertical_alignment="center",
            horizontal_alignment="distribute",
            key=f"run-{run.name}",
        ):
            with st.container(gap=None):
                st.text(run.title)
                st.caption(plain(" ".join([f"{title_of(run.format)}: {run.words()}", *run.notes])))
            why = why_not(OWNED_AS, run.name)
            st.button(
                tr("Remove"),
                key=f"run-remove-{run.name}",
                icon=":material/delete:",
                type="tertiary",
                disabled=bool(why),
                help=why or tr("Evaluations that used it keep their figures."),
                on_click=attempt,
                args=(partial(remove, run.name),),
            )
