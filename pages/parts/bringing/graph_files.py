"""Form that builds a graph of files: options of the reader, first triples, and the build."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from core.datasets.graph_files import graph_files
from core.graph.readers.delimited import EDGES
from core.graph.readers.formats import AUTO, FORMATS, format_named
from core.graph.readers.header import NO, YES
from core.graph.readers.rdf import NO_LABELS, SUFFIXES, SYNTAXES, TRIPLES
from core.graph.readers.source import bare_suffix
from core.graph.readers.triple_file import TripleFile, columns_of
from core.importing import Importer
from core.runtime.jobs import Job
from core.sources import Source
from pages.parts.bringing.graph_form import LITERAL_WORDS, Looked, begin_graph, form, looked_of
from pages.parts.bringing.inspection import inspect_upload
from pages.parts.bringing.uploads import Dropped
from pages.parts.shared.wording import tr

MOST_TEXT = 2 << 30  # most bytes of an uploaded file after unpacking
FIRST_ROW = {
    "": tr("By what is in it"),
    YES: tr("Names the columns"),
    NO: tr("Is a triple"),
}


def graph_step(dropped: Dropped, importer: Importer, here: Source) -> None:
    """Draw the form of a graph of files, and start its build."""
    known = importer.name in FORMATS and len(dropped.files) < 2
    how = _choose_reading(dropped, importer.name if known else AUTO)

    def work(job: Job) -> Looked:
        with _opened(dropped, how) as source:
            return looked_of(source, job.part(text=tr("Reading the file")))

    looked = inspect_upload("upload_looked", (dropped.id, *how.items()), work).result or Looked()
    chosen = form(looked, dropped.name.split(".")[0], dropped.id)
    if chosen is not None:
        begin_graph(*chosen, lambda job: _opened(dropped, how))


@contextmanager
def _opened(dropped: Dropped, how: Mapping[str, str]) -> Iterator[TripleFile]:
    """Open the files as one graph, in a temporary folder."""
    columns = columns_of(how["columns"]) if how["columns"] else None
    options = {**how, "columns": columns, "encoding": dropped.encoding}
    with dropped.laid_down() as (folder, paths):
        yield graph_files(paths, folder, most=MOST_TEXT, keep=False, **options)


def _choose_reading(dropped: Dropped, format: str) -> dict[str, str]:
    """Draw and return the options of a format; empty values are the defaults."""
    one = format_named(format)
    how = {"format": format, "columns": "", "header": "", "literals": TRIPLES, "language": ""}
    names = [file.name for file in dropped.files] or [dropped.path]
    is_rdf = format in SYNTAXES or any(bare_suffix(Path(name)) in SUFFIXES for name in names)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if one.delimited or one.table:
            how["columns"] = st.text_input(
                tr("Columns of head, relation, tail"),
                key="upload_columns",
                placeholder="1,2,3",
                max_chars=20,
                width=230,
                help=tr("For more than three columns, or another order. Counted from 1."),
            ).strip()
        if one.delimited or format == EDGES:
            how["header"] = st.selectbox(
                tr("First row"),
                list(FIRST_ROW),
                format_func=FIRST_ROW.__getitem__,
                key="upload_header",
                width=200,
                help=tr("Whether the first row of lines of text names the columns."),
            )
        if is_rdf:
            how["language"] = st.text_input(
                tr("Language of labels"),
                key="upload_language",
                placeholder="en",
                max_chars=12,
                width=140,
                help=tr("A tag such as de or pt-BR; {none} for no labels.", none=NO_LABELS),
            ).strip()
            how["literals"] = literals("upload_literals", tr("Literals that are no labels"))
    return how


def literals(key: str, label: str = tr("Literals of SPARQL that are no labels")) -> str:
    """Draw and return the choice of how literals are read."""
    return st.selectbox(
        label,
        list(LITERAL_WORDS),
        format_func=LITERAL_WORDS.__getitem__,
        key=key,
        width=260,
        help=tr("Dates, numbers, texts. Only entities can be answers."),
    )
