"""Documents of a corpus and their passages, searched and listed in pages.

The screen calls the passages chunks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from core.builds import choose_build
from core.builds.chunkers import Chunker
from core.corpus import Corpus
from core.graph.columns import Table
from pages.parts.shared.actions import button
from pages.parts.shared.sentences import caption
from pages.parts.shared.session_state import Session, SessionKey, session
from pages.parts.shared.tables import clickable_table, page_of, pager
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr
from pages.parts.texts.corpus_choice import await_result, draw_corpus_facts
from pages.parts.texts.corpus_removal import draw_remove_corpus, draw_remove_document
from pages.parts.texts.passage import draw_passage
from pages.parts.texts.text_search import matching_rows

DOCUMENTS_PER_PAGE = 50
PASSAGES_PER_PAGE = 10
LISTED_KINDS = (tr("Documents"), tr("Chunks"))


def draw_documents(corpus: Corpus) -> None:
    """Draw the search and its results, or the document that was clicked."""
    draw_corpus_facts(corpus)
    draw_remove_corpus(corpus)
    opened = session.texts_document
    if opened and opened[0] == corpus.name and opened[1] in corpus:
        _draw_document(corpus, opened[1])
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        query = st.text_input(
            tr("Search the texts"),
            key="texts_search",
            persist_state="session",
            placeholder=tr("Words of the text or its title"),
            icon=":material/search:",
            label_visibility="collapsed",
            on_change=_clear_position,
            args=(corpus,),
            width=420,
        )
        listed_kind = st.segmented_control(
            tr("What is listed"),
            LISTED_KINDS,
            key=Session.texts_what.name,
            default=None if session.texts_what else LISTED_KINDS[0],
            required=True,
            persist_state="session",
            label_visibility="collapsed",
            on_change=_clear_position,
            args=(corpus,),
        )
    query = " ".join(query.split())
    if listed_kind == LISTED_KINDS[0]:
        _draw_document_table(corpus, query)
    else:
        _draw_passage_list(corpus, query)


def _clear_position(corpus: Corpus) -> None:
    """Go back to the first page of both lists."""
    for page in (Session.texts_document_page, Session.texts_chunk_page):
        page[corpus.name].value = 0


def _draw_document_table(corpus: Corpus, query: str) -> None:
    rows: Sequence[int] | np.ndarray = range(len(corpus))
    if query:
        rows = matching_rows(corpus.digest, query, ("title", "id", "text"), corpus.table)
    if not len(rows):
        caption("No document contains this phrase.")
        return
    page_range = page_of(Session.texts_document_page[corpus.name], len(rows), DOCUMENTS_PER_PAGE)
    shown_rows = [int(rows[i]) for i in page_range]
    ids = corpus.table.texts("id", shown_rows)
    titles = corpus.table.texts("title", shown_rows)
    columns: dict[str, list] = {
        tr("Title"): [title or id for title, id in zip(titles, ids)],
        tr("Id"): ids,
        tr("From"): corpus.table.texts("source", shown_rows),
        tr("Characters"): _lengths(corpus.table, shown_rows),
    }
    # Documents without titles have their ids as titles, so one column is enough.
    if columns[tr("Id")] == columns[tr("Title")]:
        del columns[tr("Id")]
    clickable_table(
        columns,
        len(ids),
        lambda row: _open(corpus, ids[row]),
        f"documents-{corpus.digest[:8]}-{hash(query)}-{page_range.start}",
        formats={tr("Characters"): st.column_config.NumberColumn(width=110, format="localized")},
    )
    pager(
        Session.texts_document_page[corpus.name],
        page_range,
        len(rows),
        DOCUMENTS_PER_PAGE,
        tr("Documents"),
        tr("Click one to read it."),
    )


def _lengths(table: Table, rows: list[int]) -> list[int]:
    """Return the numbers of characters of some documents."""
    import pyarrow.compute as pc

    return pc.utf8_length(table.arrow.column("text").take(rows)).to_pylist()


def _open(corpus: Corpus, id: str) -> None:
    session.texts_document = (corpus.name, id)
    Session.texts_chunk_page[corpus.name].value = 0


def _draw_passage_list(corpus: Corpus, query: str) -> None:
    table = _passage_table(corpus)
    if table is None:
        return
    rows: Sequence[int] | np.ndarray = range(len(table))
    if query:
        rows = matching_rows(f"chunks of {corpus.digest}", query, ("text", "title"), table)
    if len(rows):
        _draw_passages(Session.texts_chunk_page[corpus.name], table, rows, query)
    else:
        caption("No chunk contains this phrase.")


def _draw_document(corpus: Corpus, id: str) -> None:
    """Draw a document, passage by passage."""
    row = corpus.row(id)
    button(
        tr("All documents"),
        Session.texts_document.drop,
        key="texts_back",
        icon="arrow_back",
        type="tertiary",
    )
    title = corpus.table.text("title", row) or id
    source = corpus.table.text("source", row)
    st.subheader(plain(title), anchor=False)
    draw_remove_document(corpus, id)
    table = _passage_table(corpus, row)
    if table is None:
        return
    parts = [
        id if id != title else "",
        source if source not in (id, title) else "",
        many(len(table), "chunk"),
    ]
    st.caption(plain("  ·  ".join(filter(None, parts))))
    if source in corpus.origins:
        for sentence in corpus.origins[source].notes:
            st.caption(f":material/rule: {plain(sentence)}")
    if len(table):
        _draw_passages(Session.texts_chunk_page[corpus.name], table, range(len(table)), "")
    else:
        caption("This document has no text.")


def _passage_table(corpus: Corpus, row: int | None = None) -> Table | None:
    """Return the passages of a corpus or of one document.

    Without `row` they are those of the corpus. Documents are split as in builds. If that fails, the
    error is drawn and None is returned.
    """
    chunker = choose_build("chunks").line.operators[0]
    assert isinstance(chunker, Chunker)
    documents = corpus if row is None else [corpus.document_at(row)]
    key = f"cut-{corpus.digest}-{'' if row is None else row}"
    title = tr("Cutting the documents into chunks")
    return await_result(key, lambda job: chunker.table(documents, job), title, rerun=False)


def _draw_passages(page: SessionKey[int], table: Table, rows: Any, query: str) -> None:
    """Draw one page of the passages in `rows`.

    The words of the query are marked.
    """
    page_range = page_of(page, len(rows), PASSAGES_PER_PAGE)
    for i in page_range:
        draw_passage(table, int(rows[i]), query)
    pager(page, page_range, len(rows), PASSAGES_PER_PAGE, tr("Chunks"))
