"""Form that opens the index of another tool, as a corpus or a graph of one."""

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


def index_step(upload: ImportInput, importer: Importer, current: AnswerSource) -> None:
    """Draw what would be taken of an index, and the button that opens it."""

    def work(job: Job) -> IndexSummary:
        with upload.laid_down() as (_, paths):
            return preview_index(paths[0], job)

    index_content: IndexSummary | None = inspect_upload("index_looked", (upload.id,), work).result
    if index_content is None:
        return
    _describe(index_content)
    corpora_by_name = own_corpora()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        target = choose_target(
            tr("Open it as"),
            [
                name
                for name, corpus in corpora_by_name.items()
                if index_content.tool not in opened_tools(corpus)
            ],
            _free_title(TOOLS[index_content.tool].title),
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


def _describe(summary: IndexSummary) -> None:
    st.markdown(plain(summary.words()))
    vectors = (
        tr("Its vectors are used if your encoder makes the same, else they are computed again.")
        if summary.counts["vectors"]
        else tr("It has no readable vectors, so your encoder computes them.")
    )
    for text in (*summary.sentences(), vectors):
        st.caption(plain(text))


def _free_title(title: str) -> str:
    """Return the title, with a number if a corpus has it already."""
    used_names = corpora()
    titles = (title if number == 1 else f"{title} {number}" for number in count(1))
    return next(one for one in titles if clean_name(one) not in used_names)


def _open_index(upload: ImportInput, name: str, title: str) -> None:
    """Start to open the index under that name."""

    def work(job: Job) -> ImportOutcome:
        with upload.laid_down() as (_, paths):
            corpus, index_content = open_index(paths[0], name, title, job)
        words = tr(
            "{counted}, opened from an index of {taken}.",
            counted=index_content.counted,
            taken=index_content.title,
        )
        notes = tuple(index_content.sentences())
        brought = CorpusImport(corpus, corpus.n_documents, 0, 0, notes=notes, more=words)
        return documents_outcome(brought)

    start_import(f"bring-{name}-index", work)
