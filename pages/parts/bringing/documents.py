"""Form that adds documents to a corpus, and the next steps after they are read."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import streamlit as st

from core.builds.shipped_data import builds_of
from core.corpus import Corpus, CorpusImport, import_documents, open_corpus, own_corpus
from core.corpus.indexes.opened_indexes import opened_tools
from core.corpus.indexes.tools import tool_build
from core.corpus.readers.options import Columns
from core.importing import Importer
from core.importing.importer import KindName
from core.runtime.jobs import Job
from core.sharing import shared
from core.sources import AnswerSource, CorpusSource
from pages.parts.bringing.document_columns import choose_columns
from pages.parts.bringing.inspection import ImportOutcome, start_import
from pages.parts.bringing.target_corpus import NEW_CORPUS, TargetCorpus, choose_target, own_corpora
from pages.parts.bringing.uploads import ImportInput
from pages.parts.question.set_actions import go_to_page
from pages.parts.shared.actions import run_action, shown_errors
from pages.parts.shared.session_state import session
from pages.parts.shared.source_picks import choose_source
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr
from pages.parts.texts.graph_builds import start_build


def documents_step(upload: ImportInput, importer: Importer, current: AnswerSource) -> None:
    """Draw the form that adds documents or a published set.

    When it is sent, the job that reads them starts. If `current`, the source on the page, is a
    corpus, the documents are added to this corpus unless the user chooses another one.
    """
    with_columns = importer.kind == KindName.DOCUMENTS and not upload.is_folder
    columns = choose_columns(list(upload.files)) if with_columns else None
    if shared():
        st.caption(tr("They are stored on the server. Everyone who uses it can read them."))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        corpora_by_name = own_corpora()
        target = choose_target(
            tr("Add them to"),
            list(corpora_by_name),
            Path(upload.name).stem,
            "texts_into",
            f"texts_title_{upload.id}",
            default=current.name if current.is_corpus else NEW_CORPUS,
            format_name=lambda name: corpora_by_name[name].title,
        )
        pressed = st.button(
            tr("Add documents"), type="primary", key="texts_read", icon=":material/play_arrow:"
        )
    if pressed:
        with shown_errors():
            _start_reading(upload, target, columns)


def _start_reading(upload: ImportInput, target: TargetCorpus, columns: Columns | None) -> None:
    name = target.name()

    def work(job: Job) -> ImportOutcome:
        with upload.written_files() as (_, paths):
            result = import_documents(
                name, paths, target.title, columns=columns, watch=job, encoding=upload.encoding
            )
        return documents_outcome(result)

    start_import(f"bring-{name}-{upload.id}", work)


def documents_outcome(result: CorpusImport) -> ImportOutcome:
    """Return the outcome of adding documents.

    The page then shows the corpus.
    """
    corpus = result.corpus
    parts = [tr("{documents} added", documents=many(result.n_added, "document"))]
    if result.n_changed:
        parts.append(tr("{changed:,} changed", changed=result.n_changed))
    if result.n_unchanged:
        parts.append(tr("{known:,} already there", known=result.n_unchanged))
    counts = result.summary or f"{', '.join(parts)}."
    return ImportOutcome(
        f"{corpus.title}: {counts}",
        result.notes,
        on_shown=partial(_show_corpus, corpus),
        draw_next_steps=partial(_next_step_buttons, result),
    )


def _show_corpus(corpus: Corpus) -> None:
    """Select the corpus on the page.

    If it comes from another tool's index, start to build that tool's graph, which computes its
    vectors.
    """
    choose_source(CorpusSource(corpus.name))
    for tool in opened_tools(corpus)[:1]:
        start_build(corpus, builds_of(corpus)[tool_build(tool)])


def _next_step_buttons(result: CorpusImport) -> None:
    """Draw the buttons of the next steps, such as removing documents that the files lack."""
    corpus = result.corpus
    missing_documents = _missing_documents(result)
    if missing_documents:
        words = tr(
            "{on_missing} They are still in {title}.",
            on_missing=result.missing_sentence(),
            title=corpus.title,
        )
        st.warning(plain(words), icon=":material/rule:")
        st.button(
            tr("Remove {documents}", documents=many(len(missing_documents), "document")),
            key="texts_missing",
            icon=":material/delete:",
            on_click=run_action,
            args=(lambda: open_corpus(corpus.name).remove(missing_documents),),
        )
    st.button(
        tr("Continue to its graph"),
        key="texts_go",
        type="primary",
        icon=":material/hub:",
        on_click=_go_to_graphs,
        args=(corpus.name,),
    )


def _missing_documents(result: CorpusImport) -> tuple[str, ...]:
    """Return the ids of documents that the files lack.

    Only documents that the corpus still has count.
    """
    corpus = own_corpus(result.corpus.name) if result.missing else None
    return tuple(id for id in result.missing if corpus is not None and id in corpus)


def _go_to_graphs(name: str) -> None:
    """Go to the graphs of a corpus, which the page Texts shows first."""
    choose_source(CorpusSource(name))
    del session.texts_open
    del session.bring_job
    go_to_page("texts", {"corpus": name})
