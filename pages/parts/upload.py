"""Adding a graph: a file of triples, looked at first, then built as a job."""

from __future__ import annotations

import re
import shutil
import tempfile
from itertools import islice
from pathlib import Path

import streamlit as st

from core.datasets import datasets
from core.errors import BadInput, HopscopeError
from core.graph.build import build
from core.graph.readers import read_triples
from core.home import graphs_folder, home
from core.jobs import DONE, Job
from pages.parts.session import engine
from pages.parts.text import plain

LOOKED_AT, PREVIEWED, LONGEST_NAME = 5_000, 8, 40
WAYS = {"both": "Both ways", "out": "Along the triples", "in": "Against the triples"}


def add_graph() -> None:
    """Draw the form, the first rows of the file, and the job that builds it."""
    st.write("A text file with one triple a line: head, relation and tail, separated by tabs, commas or “|”. It may be compressed (.gz).")
    file = st.file_uploader("File of triples", type=["tsv", "tab", "csv", "txt", "nt", "gz"], key="upload", label_visibility="collapsed")
    if file is not None:
        rows = _look(file)
        if rows:
            _form(file, rows)
    job = engine().jobs.get(st.session_state.get("upload_job", ""))
    if job is not None:
        _watch(job)


def clean(name: str) -> str:
    """A graph's name as a folder can bear it: lower-case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")[:LONGEST_NAME].strip("-")


def check_name(name: str) -> str:
    """The cleaned name. Raises BadInput where nothing is left of it or it is taken."""
    cleaned = clean(name)
    if not cleaned:
        raise BadInput("Give the graph a name of letters, digits or dashes.")
    if cleaned in datasets() or (graphs_folder() / cleaned).exists():
        raise BadInput(f"There is already a graph “{cleaned}”; choose another name.")
    return cleaned


def _look(file) -> list[tuple[str, str, str]]:
    """The first triples of the file; an error names the line."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return list(islice(read_triples(_kept(file, Path(folder))), LOOKED_AT))
        except HopscopeError as error:
            st.error(plain(str(error)))
            st.caption("Correct the file and choose it again.")
            return []


def _kept(file, folder: Path) -> Path:
    """The upload as a file of its own name in `folder`."""
    path = folder / (re.sub(r"[^\w.\- ]", "_", Path(file.name).name) or "triples.txt")
    with open(path, "wb") as out:
        file.seek(0)
        shutil.copyfileobj(file, out)
    return path


def _form(file, rows: list[tuple[str, str, str]]) -> None:
    head = rows[:PREVIEWED]
    st.caption(f"The first {len(head)} triples:")
    st.dataframe({"Head": [r[0] for r in head], "Relation": [r[1] for r in head], "Tail": [r[2] for r in head]}, hide_index=True)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(
            "Name",
            value=clean(file.name.split(".")[0]),
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
            help="The way edges are followed where an operator leaves it to the graph.",
        )
        pressed = st.button("Build the graph", type="primary", key="upload_build", icon=":material/account_tree:")
    if clean(name) and clean(name) != name:
        st.caption(f"It will be called {plain(clean(name))}.")
    if pressed:
        try:
            _start(file, check_name(name), way)
        except HopscopeError as error:
            st.error(plain(str(error)))


def _start(file, name: str, way: str) -> None:
    folder = Path(tempfile.mkdtemp(dir=home(), prefix=".upload-"))
    path = _kept(file, folder)

    def work(job: Job) -> str:
        try:
            build(path, graphs_folder() / name, name, way, job.tell, job.check)
            engine().forget(name)
            return name
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    st.session_state.upload_job = engine().jobs.start(f"add-{name}", lambda: Job(f"add-{name}", work), again=True).key


def _watch(job: Job) -> None:
    """The job's progress, and what to do when it has ended."""
    if not job.ended:
        _progress(job)
    elif job.status == DONE:
        st.success(f"The graph {plain(job.result)} is ready.", icon=":material/check_circle:")
        st.button("Open it", key="upload_open", on_click=_open, args=(job.result,))
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
    st.session_state.graph = name
    st.session_state.pop("upload_job", None)
    st.query_params.clear()
