"""Adding a graph: a file of triples in any format, looked at first, then built as a job."""

from __future__ import annotations

import re
import shutil
import tempfile
from itertools import islice
from pathlib import Path

import streamlit as st

from core.datasets import add_graph as keep_graph
from core.datasets import free_name
from core.datasets.own import clean_name
from core.errors import HopscopeError
from core.graph.readers.formats import AUTO, FORMATS, format_named
from core.graph.readers.triple_file import TripleFile, columns_of
from core.io.files import PACKED, size_text
from core.io.temporary import temporary_folder
from core.runtime.jobs import DONE, Job
from core.sources import GraphSource
from pages.parts.graphs.looking import looked_at, reading
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import session
from pages.parts.shared.text import many, plain

LOOKED_AT, PREVIEWED, LONGEST_FILE_NAME = 5_000, 8, 80
MOST_TEXT = 2 << 30  # bytes that an uploaded file may unpack to
WAYS = {"both": "Both ways", "out": "Along the triples", "in": "Against the triples"}


def add_graph() -> None:
    """Draw the form, the first rows of the file, and the job that builds it."""
    st.write(
        f"A file of triples: head, relation and tail. It may be compressed ({', '.join(PACKED)}), and hold at most "
        f"{size_text(MOST_TEXT)} of text. "
        f"Formats: {' · '.join(one.title for one in FORMATS.values())}."
    )
    file = st.file_uploader("File of triples", type=_types(), key="upload", label_visibility="collapsed")
    if file is not None:
        format, columns = _reading()
        rows, notes = _look(file, format, columns)
        for note in notes:
            st.info(plain(note), icon=":material/info:")
        if rows:
            _form(file, rows, format, columns)
    job = engine().jobs.get(session.upload_job)
    if job is not None:
        _watch(job)


def _reading() -> tuple[str, str]:
    """How the file is to be read: its format, and the columns in words, empty where they are as usual."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        format = st.selectbox(
            "Format",
            [AUTO, *FORMATS],
            format_func=lambda name: FORMATS[name].title if name in FORMATS else "By the file's name and first lines",
            key="upload_format",
            width=330,
        )
        columns = st.text_input(
            "Columns of head, relation, tail",
            key="upload_columns",
            placeholder="1,2,3",
            max_chars=20,
            width=230,
            disabled=not (format_named(format).delimited or format_named(format).table),
            help="For lines or tables that hold more than three columns, or in another order. Counted from 1.",
        )
    one = format_named(format)
    return format, columns.strip() if one.delimited or one.table else ""


def _types() -> list[str]:
    """The ends of names that a file of triples may have."""
    known = (*(suffix for one in FORMATS.values() for suffix in one.suffixes), ".txt", *PACKED)
    return [suffix.removeprefix(".") for suffix in known]


def _look(file, format: str, columns: str) -> tuple[list[tuple[str, str, str]], list[str]]:
    """The first triples of the file, and sentences on how it is read; an error names the line. Looked at once, until the file or its
    reading changes."""

    def work(job: Job) -> tuple[list[tuple[str, str, str]], list[str]]:
        with tempfile.TemporaryDirectory() as folder:
            source = _source(saved_upload(file, Path(folder)), format, columns)
            return list(islice(source.read(reading(job)), LOOKED_AT)), source.tally.sentences()

    job = looked_at("upload_looked", (file.file_id, format, columns), work)
    if job.error:
        st.error(plain(job.error))
        st.caption("Correct the file, or how it is read, and choose it again.")
    return job.result or ([], [])


def _source(path: Path, format: str, columns: str) -> TripleFile:
    return TripleFile(path, format, columns_of(columns) if columns else None, MOST_TEXT, keep=False)


def saved_upload(file, folder: Path) -> Path:
    """The upload as a file of its own name, made harmless, in `folder`."""
    path = folder / (re.sub(r"[^\w.\- ]", "_", Path(file.name).name).lstrip(".")[-LONGEST_FILE_NAME:] or "upload.txt")
    with open(path, "wb") as out:
        file.seek(0)
        shutil.copyfileobj(file, out)
    return path


def _form(file, rows: list[tuple[str, str, str]], format: str, columns: str) -> None:
    head = rows[:PREVIEWED]
    if any(name.casefold().strip() == "question" for name in rows[0]):
        st.warning("This looks like a table of questions. Those are added under “Add questions”.", icon=":material/quiz:")
    st.caption(f"The first {many(len(head), 'triple')}:")
    st.dataframe({"Head": [r[0] for r in head], "Relation": [r[1] for r in head], "Tail": [r[2] for r in head]}, hide_index=True)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(
            "Name",
            value=clean_name(file.name.split(".")[0]),
            key=f"upload_name_{file.file_id}",
            max_chars=80,
            width=260,
            help="Letters, digits and dashes; anything else becomes a dash.",
        )
        way = st.selectbox(
            "Searches run",
            list(WAYS),
            format_func=WAYS.__getitem__,
            key="upload_way",
            width=200,
            help="The way edges are followed where a step leaves it to the graph.",
        )
        pressed = st.button("Build the graph", type="primary", key="upload_build", icon=":material/account_tree:")
    if clean_name(name) and clean_name(name) != name:
        st.caption(f"It will be called {plain(clean_name(name))}.")
    if pressed:
        try:
            _start(file, free_name(name), way, format, columns)
        except HopscopeError as error:
            st.error(plain(str(error)))


def _start(file, name: str, way: str, format: str, columns: str) -> None:
    folder = temporary_folder()
    source = _source(saved_upload(file, folder), format, columns)

    def work(job: Job) -> tuple[str, list[str]]:
        try:
            keep_graph(source, name, way, job.tell, job.check)
            engine().forget(name)
            return name, source.tally.sentences()
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    session.upload_job = engine().jobs.start(f"add-{name}", lambda: Job(f"add-{name}", work), again=True).key


def _watch(job: Job) -> None:
    """The job's progress, and what to do when it has ended."""
    if not job.ended:
        _progress(job)
    elif job.status == DONE:
        name, notes = job.result
        st.success(f"The graph {plain(name)} is ready.", icon=":material/check_circle:")
        for note in notes:
            st.caption(plain(note))
        st.button("Open it", key="upload_open", on_click=_open, args=(name,))
    elif job.error:
        st.error(plain(job.error))
        st.caption("Nothing was kept of it. Correct the file and choose it again.")
    else:
        st.info("Cancelled; nothing was kept of it.", icon=":material/stop_circle:")


@st.fragment(run_every=0.4)
def _progress(job: Job) -> None:
    """The job as far as it is, drawn again until it ends."""
    if job.ended:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(min(1.0, job.fraction or 0.0), text=plain(job.text))
        st.button("Cancel", key="upload_cancel", icon=":material/stop_circle:", on_click=job.cancel)


def _open(name: str) -> None:
    session.choose(GraphSource(name))
    del session.upload_job
    st.query_params.clear()
