"""Sidebar of all pages: the chosen graph or corpus, and the state of the models."""

from __future__ import annotations

from html import escape

import streamlit as st

from core.corpus import open_corpus
from core.corpus.catalogue import damaged_corpora
from core.io.home import save_fault
from core.methods.catalogue import own_file_faults
from core.sources import GraphSource, available_sources, source_in
from pages.parts.shared.actions import result_of
from pages.parts.shared.people import draw_visitor
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import (
    ADDRESS_PAGE,
    DEFAULT_SOURCE,
    chosen_source,
    engine,
    is_missing,
)
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.source_words import words_of
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr


def sidebar() -> None:
    """Draw the choice of graph or corpus, and the state of the models.

    If the chosen graph or corpus does not exist, a warning is drawn on the page.
    """
    with st.sidebar:
        _draw_palette_hint()
        _draw_source_choice()
        st.page_link(
            "pages/graphs.py",
            label=tr("Add files"),
            icon=":material/add:",
            query_params={"add": "files"},
        )
        _draw_models()
        draw_visitor()
        if sentence := save_fault():
            st.warning(plain(sentence), icon=":material/lock:")
        for sentence in (*own_file_faults(), *engine().models.faults(), *damaged_corpora()):
            st.warning(plain(tr("Left out: {sentence}", sentence=sentence)), icon=":material/rule:")
        caption("What graph retrieval finds, and where it goes wrong.")
    if is_missing(chosen_source()):  # not in the sidebar, which is collapsed on a narrow screen
        st.warning(
            plain(words_of(chosen_source()).missing_text.format(current=chosen_source().name))
        )


def _draw_palette_hint() -> None:
    """Draw the button that opens the command palette, which the browser opens without a run."""
    keys = "⌘ K" if "Mac" in (st.context.headers.get("User-Agent") or "") else "Ctrl K"
    label = escape(tr("Search everything"))
    st.html(f'<button type="button" class="palette-hint">{label}<kbd>{keys}</kbd></button>')


def _draw_source_choice() -> None:
    """Draw the choice of graph or corpus, and its size."""
    _read_address()
    if session.source_wanted is not None:  # A widget's value must be set before it is drawn.
        session.source = Session.source_wanted.take()
    titles, current = available_sources(), chosen_source()
    listed_sources = list(titles)
    if current not in titles and current.is_available:  # such as the graph of a single question
        titles[current] = current.title
        dataset = GraphSource(current.name.partition(":")[0])
        listed_sources.insert(listed_sources.index(dataset) + 1, current)
    if current in titles:
        session.source = current
    elif current == source_in(st.query_params):
        del session.source  # It is no option; the address goes on naming it.
    st.selectbox(
        tr("Graph or documents"),
        listed_sources,
        # A chosen graph or corpus that does not exist is not replaced by another one, of which the
        # question would be asked.
        index=0 if current in titles else None,
        placeholder=tr("Choose a graph or documents"),
        key=Session.source.name,
        format_func=lambda source: words_of(source).listed_title.format(title=titles[source]),
        on_change=clear_after_choice,
    )
    if session.source is None:
        return
    if session.source.is_corpus:
        _draw_corpus_size(session.source.name)
        return
    job = engine().jobs.get(f"open-{session.source.name}")
    graph = job.result if job is not None else None
    if graph is not None:
        counts = tr(
            "{n_nodes:,} entities · {n_edges:,} triples · {n_relations} relations",
            n_nodes=graph.n_nodes,
            n_edges=graph.n_edges,
            n_relations=graph.n_relations,
        )
        st.caption(counts if graph.live is None else plain(graph.live.words))


def _read_address() -> None:
    """Choose the graph or corpus of an address that the user went to.

    Compare, whose address names a question too, reads its own.
    """
    source = source_in(st.query_params) if session.page != ADDRESS_PAGE else None
    is_new = source not in (None, session.source_in_address)
    session.source_in_address = source
    if is_new and source != chosen_source() and session.source_wanted is None:
        session.source_wanted = source
        session.clear_question()


def _draw_corpus_size(name: str) -> None:
    """Draw the size of the chosen corpus."""
    corpus = result_of(lambda: open_corpus(name))
    if corpus is not None:
        st.caption(
            f"{many(corpus.n_documents, 'document')} · {many(corpus.characters, 'character')}"
        )


def clear_after_choice() -> None:
    """Clear the question and its results after a graph or corpus was chosen by hand.

    The address gets the parameters of the new choice.
    """
    session.clear_question()
    parameters = session.source.parameters if session.source not in (None, DEFAULT_SOURCE) else {}
    st.query_params.from_dict(parameters if session.page == ADDRESS_PAGE else {})


def _draw_models() -> None:
    """Draw the models with a role, and if they are installed.

    Models that can be fetched are drawn too.
    """
    registry = engine().models
    st.markdown(tr("**Models**"))
    lines = []
    for info in registry.list_models():
        # The other models, such as trained ones, are listed on the page Models.
        if info.roles or (info.fetchable and not info.present):
            title = plain(registry.title(info.name))
            if info.present:
                lines.append(f":green[●] {title}")
            else:
                lines.append(f":gray[○] {title}{tr(' · not installed')}")
    st.caption("  \n".join(lines))
