"""Form that opens another GraphRAG tool's index.

The index becomes a new corpus, or a graph of an existing one.
"""

from __future__ import annotations

from itertools import count

import streamlit as st

from core.corpus import CorpusImport, corpora
from core.corpus.indexes.opened_indexes import IndexSummary, open_index, opened_tools, preview_index
from core.corpus.indexes.tools import TOOLS
from core.datasets.own_sets import clean_name
from core.importing import Importer
from core.runtime.jobs import Job
from core.sources import AnswerSource
from pages.parts.bringing.documents import documents_outcome
from pages.parts.bringing.inspection import ImportOutcome, inspect_upload, start_import
from pages.parts.bringing.target_corpus import choose_target, own_corpora
from pages.parts.bringing.uploads import ImportInput
from pages.parts.shared.actions import shown_errors
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr


def draw_index_step(upload: ImportInput, importer: Importer, current: AnswerSource) -> None:
    """Draw the contents of an index and the form that opens it.

    `importer` and `current` are not used; they are parameters of all steps.
    """

    def work(job: Job) -> IndexSummary:
        with upload.written_files() as (_, paths):
            return preview_index(paths[0], job)

    summary: IndexSummary | None = inspect_upload("index_looked", (upload.id,), work).result
    if summary is None:
        return
    _draw_summary(summary)
    corpora_by_name = own_corpora()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        # A corpus has at most one graph of each tool.
        without_tool = [
            name
            for name, corpus in corpora_by_name.items()
            if summary.tool not in opened_tools(corpus)
        ]
        target = choose_target(
            tr("Open it as"),
            without_tool,
            _free_title(TOOLS[summary.tool].title),
            "index_into",
            f"index_title-{upload.id}",
            format_name=lambda name: tr("a graph of {title}", title=corpora_by_name[name].title),
        )
        pressed = st.button(
            tr("Open it"), type="primary", key="index_open", icon=":material/play_arrow:"
        )
    if pressed:
        with shown_errors():
            _open_index(upload, target.name(), target.title)


def _draw_summary(summary: IndexSummary) -> None:
    st.markdown(plain(summary.words()))
    if summary.counts["vectors"]:
        vectors_text = tr(
            "Its vectors are used if your encoder makes the same, else they are computed again."
        )
    else:
        vectors_text = tr("It has no readable vectors, so your encoder computes them.")
    for text in (*summary.sentences(), vectors_text):
        st.caption(plain(text))


def _free_title(title: str) -> str:
    """Return the title, numbered if its name is in use."""
    used_names = corpora()
    titles = (title if number == 1 else f"{title} {number}" for number in count(1))
    return next(title for title in titles if clean_name(title) not in used_names)


def _open_index(upload: ImportInput, name: str, title: str) -> None:
    """Start the job that opens the index.

    The index becomes a new corpus called `name`, or a graph of the corpus of that name.
    """

    def work(job: Job) -> ImportOutcome:
        with upload.written_files() as (_, paths):
            corpus, summary = open_index(paths[0], name, title, job)
        words = tr(
            "{counted}, opened from an index of {title}.",
            counted=summary.counts_text,
            title=summary.title,
        )
        notes = tuple(summary.sentences())
        result = CorpusImport(
            corpus, corpus.n_documents, n_changed=0, n_unchanged=0, notes=notes, summary=words
        )
        return documents_outcome(result)

    start_import(f"bring-{name}-index", work)
