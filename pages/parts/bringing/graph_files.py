"""Adding a graph: from a database, or files of triples in any format, with tables of nodes; looked
at first, then built as a job."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from core.datasets.graph_files import ZIP, graph_files
from core.graph.readers.delimited import EDGES
from core.graph.readers.formats import AUTO, FORMATS, format_named
from core.graph.readers.header import NO, YES
from core.graph.readers.rdf import NO_LABELS, SUFFIXES, SYNTAXES, TRIPLES
from core.graph.readers.source import bare_suffix
from core.graph.readers.triple_file import TripleFile, columns_of
from core.io.files import PACKED, size_text
from core.io.temporary import temporary_folder
from core.runtime.jobs import Job
from pages.parts.bringing.database_copy import from_database
from pages.parts.bringing.encoding import choose_encoding
from pages.parts.bringing.graph_form import (
    LITERAL_WORDS,
    Looked,
    begin,
    follow_job,
    form,
    looked_of,
)
from pages.parts.bringing.hub_set import HubSet, hub_set
from pages.parts.bringing.inspection import inspect_upload, reading_progress
from pages.parts.bringing.uploads import save_uploads
from pages.parts.shared.sentences import caption, write
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

MOST_TEXT = 2 << 30  # bytes that an uploaded file may unpack to
FIRST_ROW = {"": tr("By what is in it"), YES: tr("Names the columns"), NO: tr("Is a triple")}
ORIGINS = (tr(":material/upload_file: Files"), tr(":material/database: A database"))


@dataclass(frozen=True)
class Reading:
    """How files are to be read: the format, the columns in words, of RDF what becomes of literals
    and the language of labels, whether the first row names the columns, and the encoding; each
    empty for the usual one."""

    format: str
    columns: str
    literals: str
    language: str = ""
    header: str = ""
    encoding: str = ""


def add_graph() -> None:
    """Draw the form, the first rows of the files or the database, and the job that builds the
    graph."""
    origin = st.segmented_control(
        tr("Where the graph comes from"),
        ORIGINS,
        default=ORIGINS[0],
        key="add_from",
        label_visibility="collapsed",
    )
    if origin == ORIGINS[1]:
        from_database()
    else:
        _from_files()
    job = engine().jobs.get(session.upload_job)
    if job is not None:
        follow_job(job)


def _from_files() -> None:
    write(
        "A file of triples: head, relation and tail. Several files make one graph, such as edges and a table of nodes, or triples and "
        "labels; also as a zip. They may be compressed ({packed}), and hold at most {limit} of text.",
        packed=", ".join(PACKED),
        limit=size_text(MOST_TEXT),
    )
    caption("Formats: {formats}.", formats=" · ".join(one.title for one in FORMATS.values()))
    uploaded = st.file_uploader(
        tr("Files of a graph"),
        type=_types(),
        key="upload",
        label_visibility="collapsed",
        accept_multiple_files=True,
    )
    hub = hub_set("upload_hub", "hf:rmanluo/RoG-webqsp") if not uploaded else None
    files: list[Any] = [*uploaded] or ([hub] if hub else [])
    if files:
        how = _reading(files)
        looked = _look(files, how)
        if looked.triples and any(
            name.casefold().strip() == "question" for name in looked.triples[0]
        ):
            st.warning(
                tr("This looks like a table of questions. Those are added under “Add questions”."),
                icon=":material/quiz:",
            )
        chosen = form(looked, files[0].name.split(".")[0], files[0].file_id)
        if chosen is not None:
            folder = temporary_folder()
            source = _source(files, folder, how)
            begin(*chosen, folder, lambda job: source)


def _reading(files: list) -> Reading:
    """How the files are to be read, as the person says."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        format = st.selectbox(
            tr("Format"),
            [AUTO, *FORMATS],
            format_func=lambda name: (
                FORMATS[name].title if name in FORMATS else tr("By the file's name and first lines")
            ),
            key="upload_format",
            width=330,
        )
        columns = st.text_input(
            tr("Columns of head, relation, tail"),
            key="upload_columns",
            placeholder="1,2,3",
            max_chars=20,
            width=230,
            disabled=not (format_named(format).delimited or format_named(format).table),
            help=tr("For more than three columns, or another order. Counted from 1."),
        )
        header = st.selectbox(
            tr("First row"),
            list(FIRST_ROW),
            format_func=FIRST_ROW.__getitem__,
            key="upload_header",
            width=200,
            disabled=not format_named(format).delimited and format != EDGES,
            help=tr("Whether the first row of lines of text names the columns."),
        )
        of_rdf = format in SYNTAXES or (
            format == AUTO and any(bare_suffix(Path(file.name)) in SUFFIXES for file in files)
        )
        literals, language = TRIPLES, ""
        if of_rdf:
            language = st.text_input(
                tr("Language of labels"),
                key="upload_language",
                placeholder="en",
                max_chars=12,
                width=140,
                help=tr(
                    "The tag of the language of the labels that things are called by, such as de or pt-BR; {no_labels} for no labels.",
                    no_labels=NO_LABELS,
                ),
            )
            literals = st.selectbox(
                tr("Literals that are no labels"),
                list(LITERAL_WORDS),
                format_func=LITERAL_WORDS.__getitem__,
                key="upload_literals",
                width=260,
                help=tr("Dates, numbers, texts. Only entities can be answers."),
            )
    one = format_named(format)
    return Reading(
        format,
        columns.strip() if one.delimited or one.table else "",
        literals,
        language.strip(),
        header if one.delimited or format == EDGES else "",
        choose_encoding([file for file in files if not isinstance(file, HubSet)]),
    )


def _types() -> list[str]:
    """The ends of names that files of a graph may have."""
    known = (*(suffix for one in FORMATS.values() for suffix in one.suffixes), ".txt", ZIP, *PACKED)
    return [suffix.removeprefix(".") for suffix in known]


def _look(files: list, how: Reading) -> Looked:
    """The beginning of the files as they are read; an error names the line. Looked at once, until a
    file or its reading changes."""

    def work(job: Job) -> Looked:
        with tempfile.TemporaryDirectory() as folder:
            return looked_of(_source(files, Path(folder), how), reading_progress(job))

    job = inspect_upload("upload_looked", (tuple(file.file_id for file in files), how), work)
    if job.error:
        st.error(plain(job.error))
        caption("Correct the file, or how it is read, and choose it again.")
    return job.result or Looked()


def _source(files: list, folder: Path, how: Reading) -> TripleFile:
    paths = save_uploads(files, folder)
    columns = columns_of(how.columns) if how.columns else None
    of_text = {"header": how.header, "encoding": how.encoding, "columns": columns}
    of_rdf = {"literals": how.literals, "language": how.language}
    return graph_files(
        paths, folder, format=how.format, most=MOST_TEXT, keep=False, **of_text, **of_rdf
    )
