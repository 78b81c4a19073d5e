"""Finished runs brought from files: a file is dropped, read, and becomes a method; those that are
there, and their removal."""

from __future__ import annotations

import tempfile
from pathlib import Path

import streamlit as st

from core.instances.catalogue import RUN
from core.retrievers.runs.formats import title_of
from core.retrievers.runs.saved import OWNED_AS, FileRun, bring, remove, runs
from core.sharing import why_not
from core.sources import Source
from pages.parts.bringing.uploads import save_upload
from pages.parts.shared.actions import button, result_of
from pages.parts.shared.sentences import write
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

TYPES = ["trec", "run", "txt", "tsv", "csv", "json", "jsonl", "parquet", "gz", "zst"]
MOST_MEGABYTES = 512
TAKEN = tr(
    "TREC runs; rows with a question or its id and contexts, an answer, or both; RAGAS rows; results of HippoRAG and GraphRAG-Bench; "
    "answers of BenchmarkQED; predictions as HotpotQA and SQuAD score them; traces of OpenInference and Langfuse. As text, JSON, CSV or "
    "Parquet, compressed or not; the format is found by itself."
)


def bring_run(on: Source) -> None:
    """Draw the box in which a file is dropped, what the last one held, and the runs of what is
    chosen."""
    known = [
        one for one in runs().values() if (one.source_kind, one.source_name) == (on.kind, on.name)
    ]
    words = Session.evaluate_bringing.take()
    with st.expander(
        tr("Bring a finished run from a file"), icon=":material/upload_file:", expanded=bool(words)
    ):
        write(
            "What another program found or answered becomes a column here and a lane on Compare, with the same figures as any "
            "method. No server is needed."
        )
        st.caption(TAKEN)
        with st.container(horizontal=True):
            file = st.file_uploader(
                tr("Finished run"),
                type=TYPES,
                key="run_file",
                max_upload_size=MOST_MEGABYTES,
                width=420,
            )
            qrels = st.file_uploader(
                tr("Relevant documents (qrels), if any"),
                type=["txt", "tsv", "qrels", "gz"],
                key="run_qrels",
                max_upload_size=64,
                width=420,
            )
        if button(
            tr("Add to the methods"), key="run-bring", icon="playlist_add", disabled=file is None
        ):
            _brought(on, file, qrels)
        if words:
            st.success(plain(words), icon=":material/check:")
        for one in known:
            _row(one)


def questions_of_runs(on: Source) -> dict[str, str]:
    """The questions of the finished runs of a source as sets, by the name that a plan reads."""
    found = (
        one for one in runs().values() if (one.source_kind, one.source_name) == (on.kind, on.name)
    )
    return {f"{RUN}{one.name}": tr("Questions of {title}", title=one.title) for one in found}


def _brought(on: Source, file, qrels) -> None:
    """Read the files and choose the run as a method; what stands in the way is said."""

    def work() -> FileRun:
        with tempfile.TemporaryDirectory() as folder, st.spinner(tr("Reading the run")):
            judged = save_upload(qrels, _new(Path(folder) / "qrels")) if qrels is not None else ""
            return bring(save_upload(file, _new(Path(folder) / "run")), on, qrels=judged)

    run = result_of(work)
    if run is not None:
        session.evaluate_brought = [f"{RUN}{run.name}"]
        if run.judged:
            session.evaluate_sets = [f"{RUN}{run.name}"]
        session.evaluate_bringing = tr(
            "{title}, {title_of}: {words} It is among the methods above.",
            title=run.title,
            title_of=title_of(run.format),
            words=run.words(),
        )
        st.rerun()


def _new(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _row(one: FileRun) -> None:
    """A run that is there: what it holds, what was left out of its file, and the button that
    removes it."""
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        horizontal_alignment="distribute",
        key=f"run-{one.name}",
    ):
        with st.container(gap=None):
            st.text(one.title)
            st.caption(plain(" ".join([f"{title_of(one.format)}: {one.words()}", *one.notes])))
        why = why_not(OWNED_AS, one.name)
        button(
            tr("Remove"),
            lambda: remove(one.name),
            key=f"run-remove-{one.name}",
            icon="delete",
            type="tertiary",
            disabled=bool(why),
            help=why or tr("Evaluations that used it keep their figures."),
        )
