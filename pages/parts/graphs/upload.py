"""Adding a graph: files of triples in any format, with tables of nodes, looked at first, then built as a job."""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import streamlit as st

from core.datasets import add_graph as keep_graph
from core.datasets import free_name
from core.datasets.graph_files import ZIP, graph_files
from core.datasets.own import clean_name
from core.errors import HopscopeError, shorten
from core.graph.readers.formats import AUTO, FORMATS, format_named
from core.graph.readers.rdf import ATTRIBUTES, LEAVE_OUT, SUFFIXES, SYNTAXES, TRIPLES
from core.graph.readers.source import bare_suffix
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
PARTLY = f"The first {LOOKED_AT:,} triples were looked at; all others are read when the graph is built."
DESCRIBED = 200  # characters of a description in the preview
LITERAL_WORDS = {TRIPLES: "are entities", ATTRIBUTES: "describe their things", LEAVE_OUT: "are left out"}
WAYS = {"both": "Both ways", "out": "Along the triples", "in": "Against the triples"}


@dataclass(frozen=True)
class Reading:
    """How files are to be read: the format, the columns in words, empty where they are as usual, and what becomes of literals of RDF."""

    format: str
    columns: str
    literals: str


@dataclass(frozen=True)
class Looked:
    """The first triples of files, what is said of them by column, some nodes with what is said of them, and sentences on the reading."""

    triples: list[tuple[str, str, str]] = field(default_factory=list)
    said: dict[str, list[Any]] = field(default_factory=dict)
    nodes: list[tuple[str, str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def add_graph() -> None:
    """Draw the form, the first rows of the files, and the job that builds them."""
    st.write(
        "A file of triples: head, relation and tail. Several files make one graph, such as edges and a table of nodes, or triples and "
        f"labels; also as a zip. They may be compressed ({', '.join(PACKED)}), and hold at most {size_text(MOST_TEXT)} of text."
    )
    st.caption(f"Formats: {' · '.join(one.title for one in FORMATS.values())}.")
    files = st.file_uploader("Files of a graph", type=_types(), key="upload", label_visibility="collapsed", accept_multiple_files=True)
    if files:
        how = _reading(files)
        looked = _look(files, how)
        if looked.notes:
            st.info("\n".join(f"- {plain(note)}" for note in looked.notes))
        for warning in looked.warnings:
            st.warning(plain(warning), icon=":material/warning:")
        if looked.triples:
            _form(files, looked, how)
    job = engine().jobs.get(session.upload_job)
    if job is not None:
        _watch(job)


def _reading(files: list) -> Reading:
    """How the files are to be read, as the person says."""
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
        of_rdf = format in SYNTAXES or (format == AUTO and any(bare_suffix(Path(file.name)) in SUFFIXES for file in files))
        literals = TRIPLES
        if of_rdf:
            literals = st.selectbox(
                "Literals that are no labels",
                list(LITERAL_WORDS),
                format_func=LITERAL_WORDS.__getitem__,
                key="upload_literals",
                width=260,
                help="Dates, numbers and texts of RDF. As entities they can be answers and ends of paths.",
            )
    one = format_named(format)
    return Reading(format, columns.strip() if one.delimited or one.table else "", literals)


def _types() -> list[str]:
    """The ends of names that files of a graph may have."""
    known = (*(suffix for one in FORMATS.values() for suffix in one.suffixes), ".txt", ZIP, *PACKED)
    return [suffix.removeprefix(".") for suffix in known]


def _look(files: list, how: Reading) -> Looked:
    """The beginning of the files as they are read; an error names the line. Looked at once, until a file or its reading changes."""

    def work(job: Job) -> Looked:
        with tempfile.TemporaryDirectory() as folder:
            source = _source(files, Path(folder), how)
            triples = list(islice(source.read(reading(job)), LOOKED_AT))
            said = source.attributes
            nodes = [(name, one.get("type", ""), one.get("description", "")) for name, one in islice(said.nodes.items(), PREVIEWED)]
            warnings = source.tally.warnings
            notes = [sentence for sentence in source.tally.sentences() if sentence not in warnings]
            notes += [PARTLY] if len(triples) == LOOKED_AT else []
            return Looked(triples, said.first(min(PREVIEWED, len(triples))), nodes, notes, warnings)

    job = looked_at("upload_looked", (tuple(file.file_id for file in files), how), work)
    if job.error:
        st.error(plain(job.error))
        st.caption("Correct the file, or how it is read, and choose it again.")
    return job.result or Looked()


def _source(files: list, folder: Path, how: Reading) -> TripleFile:
    paths = [saved_upload(file, _numbered(folder, number)) for number, file in enumerate(files)]
    columns = columns_of(how.columns) if how.columns else None
    return graph_files(paths, folder, format=how.format, columns=columns, most=MOST_TEXT, keep=False, literals=how.literals)


def _numbered(folder: Path, number: int) -> Path:
    """A folder for one of several uploads, whose names may be the same."""
    place = folder / str(number)
    place.mkdir()
    return place


def saved_upload(file, folder: Path) -> Path:
    """The upload as a file of its own name, made harmless, in `folder`."""
    path = folder / (re.sub(r"[^\w.\- ]", "_", Path(file.name).name).lstrip(".")[-LONGEST_FILE_NAME:] or "upload.txt")
    with open(path, "wb") as out:
        file.seek(0)
        shutil.copyfileobj(file, out)
    return path


def _form(files: list, looked: Looked, how: Reading) -> None:
    head = looked.triples[:PREVIEWED]
    if any(name.casefold().strip() == "question" for name in looked.triples[0]):
        st.warning("This looks like a table of questions. Those are added under “Add questions”.", icon=":material/quiz:")
    st.caption(f"The first {many(len(head), 'triple')}:")
    said = {column.capitalize(): values for column, values in looked.said.items()}
    st.dataframe({"Head": [r[0] for r in head], "Relation": [r[1] for r in head], "Tail": [r[2] for r in head], **said}, hide_index=True)
    if looked.nodes:
        st.caption(f"The first {many(len(looked.nodes), 'entity', 'entities')} with a type or a description:")
        names, types, descriptions = zip(*looked.nodes)
        st.dataframe({"Name": names, "Type": types, "Description": [shorten(text, DESCRIBED) for text in descriptions]}, hide_index=True)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(
            "Name",
            value=clean_name(files[0].name.split(".")[0]),
            key=f"upload_name_{files[0].file_id}",
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
            _start(files, free_name(name), way, how)
        except HopscopeError as error:
            st.error(plain(str(error)))


def _start(files: list, name: str, way: str, how: Reading) -> None:
    folder = temporary_folder()
    source = _source(files, folder, how)

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
