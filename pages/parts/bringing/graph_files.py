"""Form that builds a graph from uploaded files of triples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from core.datasets.graph_files import open_graph_files
from core.graph.readers.delimited_rows import EDGE_LIST_FORMAT
from core.graph.readers.formats import AUTO_TRIPLE_FORMAT, FORMATS, format_named
from core.graph.readers.header import WITH_HEADER, WITHOUT_HEADER
from core.graph.readers.rdf import LITERAL_TRIPLES, NO_LABELS, PYOXIGRAPH_FORMATS, SYNTAX_BY_SUFFIX
from core.graph.readers.source import bare_suffix
from core.graph.readers.triple_file import TripleFile, parse_column_numbers
from core.importing import Importer
from core.runtime.jobs import Job
from core.sources import AnswerSource
from pages.parts.bringing.graph_form import (
    LITERAL_WORDS,
    TriplesPreview,
    graph_form,
    preview_source,
    start_triples_build,
)
from pages.parts.bringing.inspection import inspect_upload
from pages.parts.bringing.uploads import ImportInput
from pages.parts.shared.wording import tr

MAX_UNPACKED_GRAPH_BYTES = 2 << 30  # most bytes of an uploaded file after unpacking
FIRST_ROW_CHOICES = {
    "": tr("Decide by its content"),
    WITH_HEADER: tr("Column names"),
    WITHOUT_HEADER: tr("A triple"),
}


def graph_step(upload: ImportInput, importer: Importer, current: AnswerSource) -> None:
    """Draw the form for uploaded files of triples, and start the build of their graph."""
    # Several files may have different formats, so the format of each is detected.
    has_format = importer.name in FORMATS and len(upload.files) < 2
    reading_options = _choose_options(upload, importer.name if has_format else AUTO_TRIPLE_FORMAT)

    def work(job: Job) -> TriplesPreview:
        with _open_files(upload, reading_options) as source:
            return preview_source(source, job.part(text=tr("Reading the file")))

    job = inspect_upload("graph_preview", (upload.id, *reading_options.items()), work)
    preview = job.result or TriplesPreview()
    choice = graph_form(preview, upload.name.split(".")[0], upload.id)
    if choice is not None:
        start_triples_build(*choice, lambda job: _open_files(upload, reading_options))


@contextmanager
def _open_files(upload: ImportInput, reading_options: Mapping[str, str]) -> Iterator[TripleFile]:
    """Open the files as one source of triples, in a temporary folder."""
    column_text = reading_options["columns"]
    columns = parse_column_numbers(column_text) if column_text else None
    options = {**reading_options, "columns": columns, "encoding": upload.encoding}
    with upload.written_files() as (folder, paths):
        yield open_graph_files(paths, folder, most=MAX_UNPACKED_GRAPH_BYTES, keep=False, **options)


def _choose_options(upload: ImportInput, format_name: str) -> dict[str, str]:
    """Draw and return the options of reading a format.

    Empty values are the defaults.
    """
    graph_format = format_named(format_name)
    reading_options = {
        "format": format_name,
        "columns": "",
        "header": "",
        "literals": LITERAL_TRIPLES,
        "language": "",
    }
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if graph_format.delimited or graph_format.table:
            reading_options["columns"] = _choose_columns()
        if graph_format.delimited or format_name == EDGE_LIST_FORMAT:
            reading_options["header"] = _choose_first_row()
        if _may_be_rdf(upload, format_name):
            reading_options["language"] = _choose_language()
            reading_options["literals"] = choose_literals(
                "upload_literals", tr("Literals other than labels")
            )
    return reading_options


def _may_be_rdf(upload: ImportInput, format_name: str) -> bool:
    """Return whether the format or a file's suffix is RDF."""
    names = [file.name for file in upload.files] or [upload.path]
    return format_name in PYOXIGRAPH_FORMATS or any(
        bare_suffix(Path(name)) in SYNTAX_BY_SUFFIX for name in names
    )


def _choose_columns() -> str:
    return st.text_input(
        tr("Columns of head, relation, tail"),
        key="upload_columns",
        placeholder="1,2,3",
        max_chars=20,
        width=230,
        help=tr("If there are more than three, or in another order. Counted from 1."),
    ).strip()


def _choose_first_row() -> str:
    return st.selectbox(
        tr("First row"),
        list(FIRST_ROW_CHOICES),
        format_func=FIRST_ROW_CHOICES.__getitem__,
        key="upload_header",
        width=200,
        help=tr("What the first row holds."),
    )


def _choose_language() -> str:
    return st.text_input(
        tr("Language of labels"),
        key="upload_language",
        placeholder="en",
        max_chars=12,
        width=140,
        help=tr("A tag such as de or pt-BR; {none} for no labels.", none=NO_LABELS),
    ).strip()


def choose_literals(key: str, label: str = tr("SPARQL literals other than labels")) -> str:
    """Draw the choice of how literals are read.

    Return a key of `LITERAL_WORDS`.
    """
    return st.selectbox(
        label,
        list(LITERAL_WORDS),
        format_func=LITERAL_WORDS.__getitem__,
        key=key,
        width=260,
        help=tr("Dates, numbers, texts. Only entities can be answers."),
    )
