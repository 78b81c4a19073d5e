"""Form that adds a finished run, and the list of runs.

A finished run is a file with the results of another system, such as a TREC run.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from core.importing import Importer
from core.methods.catalogue import RUN_PREFIX
from core.retrievers.runs.formats import format_title
from core.retrievers.runs.saved_runs import (
    RUN_OWNED_KIND,
    FileRun,
    remove_saved_run,
    runs_by_name,
    save_run_file,
)
from core.runtime.jobs import Job
from core.sharing import change_refusal
from core.sources import AnswerSource, available_sources
from pages.parts.bringing.inspection import ImportOutcome, start_import
from pages.parts.bringing.target_source import choose_source
from pages.parts.bringing.uploads import ImportInput, save_upload
from pages.parts.question.set_actions import go_to_page
from pages.parts.shared.actions import run_action
from pages.parts.shared.session_state import session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr


def run_step(upload: ImportInput, importer: Importer, current: AnswerSource) -> None:
    """Draw the form for a finished run.

    The form asks for the run's graph or corpus, and for relevance judgements (qrels), if any.
    """
    run_source = choose_source(tr("Run on"), available_sources(), current, f"run_of_{upload.id}")
    qrels = st.file_uploader(
        tr("Relevant documents (qrels), if any"),
        type=["txt", "tsv", "qrels", "gz"],
        key=f"run_qrels_{upload.id}",
        max_upload_size=64,
        width=420,
    )
    if st.button(tr("Add to the methods"), key="run-bring", icon=":material/playlist_add:"):
        work = partial(_import_run, upload, run_source, qrels)
        start_import(f"run-{upload.id}", work)


def _import_run(upload: ImportInput, source: AnswerSource, qrels: Any, job: Job) -> ImportOutcome:
    job.report(tr("Reading the run"))
    with upload.written_files() as (folder, paths):
        qrels_path: str | Path = save_upload(qrels, folder / "qrels") if qrels is not None else ""
        run = save_run_file(paths[0], source, qrels=qrels_path)
    title = f"{run.title}, {format_title(run.format)}"
    words = tr("{title}: {words} It is now listed as a method.", title=title, words=run.describe())
    return ImportOutcome(
        words, on_shown=partial(_select_run, run), draw_next_steps=partial(_draw_button, source)
    )


def _select_run(run: FileRun) -> None:
    """Select a run for the next evaluation.

    If it has qrels, its questions are selected too.
    """
    session.evaluate_imported_methods = [f"{RUN_PREFIX}{run.name}"]
    if run.judged:
        session.evaluate_sets = [f"{RUN_PREFIX}{run.name}"]


def _draw_button(source: AnswerSource) -> None:
    """Draw the button to the page Evaluate, unless this is that page."""
    if session.page != "evaluate":
        st.button(
            tr("Evaluate it"),
            key="run-evaluate",
            icon=":material/analytics:",
            on_click=_go_to_evaluate,
            args=(source,),
        )


def _go_to_evaluate(source: AnswerSource) -> None:
    session.choose(source)
    go_to_page("evaluate", source.parameters)


def runs_of(source: AnswerSource) -> Iterator[FileRun]:
    """Yield the finished runs on a graph or corpus."""
    for run in runs_by_name().values():
        if (run.source_kind, run.source_name) == (source.kind, source.name):
            yield run


def questions_of_runs(source: AnswerSource) -> dict[str, str]:
    """Return the questions of the finished runs of a source as sets.

    The keys are the names that a plan of an evaluation reads, the values their titles.
    """
    return {
        f"{RUN_PREFIX}{run.name}": tr("Questions of {title}", title=run.title)
        for run in runs_of(source)
    }


def draw_saved_runs(source: AnswerSource) -> None:
    """Draw the finished runs of a source, each with a remove button."""
    for run in runs_of(source):
        with st.container(
            horizontal=True,
            vertical_alignment="center",
            horizontal_alignment="distribute",
            key=f"run-{run.name}",
        ):
            with st.container(gap=None):
                st.text(run.title)
                st.caption(
                    plain(" ".join([f"{format_title(run.format)}: {run.describe()}", *run.notes]))
                )
            refusal = change_refusal(RUN_OWNED_KIND, run.name)
            st.button(
                tr("Remove"),
                key=f"run-remove-{run.name}",
                icon=":material/delete:",
                type="tertiary",
                disabled=bool(refusal),
                help=refusal or tr("Evaluations that used it keep their figures."),
                on_click=run_action,
                args=(partial(remove_saved_run, run.name),),
            )
