"""Choice and facts of a corpus on the page Texts."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from core.builds.catalogue import GRAPH_KIND_WORDS, find_build
from core.builds.shipped_data import shipped_builds
from core.corpus import Corpus, corpora, open_corpus
from core.sources import CorpusSource
from pages.parts.shared.actions import button
from pages.parts.shared.address import write_address
from pages.parts.shared.language import language_choice
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import chosen_source, engine, show_job, was_address_entered
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

DEFAULT_CORPUS = "christmas-carol"  # the corpus that is selected at first
# Parts of the page.
GRAPH_PART = tr("Graph")
DOCUMENTS_PART = tr("Documents")
ADD_PART = tr("Add")


def choose_corpus() -> str:
    """Draw the choice of a corpus and return its name.

    The first of these that exists is selected: the corpus that an import just made; the corpus that
    was just chosen in the sidebar; the one in the address, if a person entered it; the one that was
    selected before; the default corpus; any corpus.
    """
    corpora_by_name = corpora()
    address_corpus = st.query_params.get("corpus", "")
    source = chosen_source()
    if session.texts_requested in corpora_by_name:
        session.texts_corpus = Session.texts_requested.take()
    elif (
        source.is_corpus and source != session.texts_last_source and source.name in corpora_by_name
    ):
        session.texts_corpus = source.name
    elif address_corpus in corpora_by_name and (not session.texts_corpus or was_address_entered()):
        session.texts_corpus = address_corpus
    if session.texts_corpus not in corpora_by_name:
        has_default = DEFAULT_CORPUS in corpora_by_name
        session.texts_corpus = DEFAULT_CORPUS if has_default else next(iter(corpora_by_name))
    name = st.selectbox(
        tr("Texts"),
        list(corpora_by_name),
        key=Session.texts_corpus.name,
        persist_state="session",
        format_func=lambda name: corpora_by_name[name].title if name in corpora_by_name else name,
        width=260,
        label_visibility="collapsed",
        on_change=Session.texts_view.drop,
    )
    if address_corpus and address_corpus not in corpora_by_name:
        session.texts_unknown_corpus = address_corpus
    if address_corpus and address_corpus != name:
        st.query_params["corpus"] = name
    write_address({"corpus": name}, "texts")
    session.arrived_by_navigation = False
    session.texts_last_source = source
    return name


def warn_missing_corpus() -> None:
    """Draw a warning if the address named a corpus that does not exist."""
    if name := Session.texts_unknown_corpus.take():
        st.warning(
            plain(tr("There are no texts called “{asked}” here.", asked=name)),
            icon=":material/search_off:",
        )


def draw_ask_button(name: str, label: str, **look: Any) -> None:
    """Draw a button to Compare, where questions are asked of these documents."""
    help_text = tr("Opens Compare with these texts")
    if button(label, partial(select_corpus, name), help=help_text, **look):
        st.switch_page("pages/compare.py", query_params={"corpus": name})


def select_corpus(name: str) -> None:
    """Choose this corpus in the sidebar.

    A question about another source is cleared.
    """
    if chosen_source() != CorpusSource(name):
        session.source_wanted = CorpusSource(name)
        session.clear_question()


def await_corpus(name: str) -> Corpus | None:
    """Open a corpus in a job and return it.

    Show an error and return None if it cannot be opened.
    """
    title = tr("Opening the documents")
    return await_result(f"corpus-{name}", lambda job: open_corpus(name, job), title)


def await_result(key: str, work: Any, words: str, rerun: bool = True) -> Any | None:
    """Run a job, wait for it, and return its result.

    If the job fails or is cancelled, a message is drawn and None is returned. While it takes long,
    the progress and a cancel button are shown.

    Parameters
    ----------
    key : identifies the job. A running job with this key is awaited and not started again.
    work : computes the result, given the job.
    words : what the job does, for the progress bar.
    rerun : whether an ended job is run again; otherwise its result is returned.
    """
    job = engine().jobs.run(key, work, again=rerun)
    if not job.wait(0.5):
        show_job(job, words)
    if job.error or job.result is None:
        st.error(plain(job.error or tr("{work} was cancelled.", work=words)))
        return None
    return job.result


def draw_corpus_facts(corpus: Corpus) -> None:
    """Draw the size, the origin and the language of a corpus."""
    parts = [
        many(corpus.n_documents, "document"),
        many(corpus.characters, "character"),
        corpus.source,
        corpus.licence,
    ]
    st.caption(plain("  ·  ".join(filter(None, parts))))
    # For each origin of shipped graphs, their kinds, each once and in order.
    kinds_by_title: dict[str, dict[str, None]] = {}
    for shipped in shipped_builds(corpus):
        kind = GRAPH_KIND_WORDS[find_build(shipped.build).graph]
        kinds_by_title.setdefault(shipped.words(), {})[kind] = None
    for title, kinds in kinds_by_title.items():
        caption("Comes with it: {kinds}. {title}.", kinds=", ".join(kinds), title=title)
    draw_language(corpus)


def draw_language(corpus: Corpus) -> None:
    """Draw the language of the documents, and the choice of another one."""
    language_choice(
        corpus.language,
        corpus.with_language,
        f"{corpus.name}-{corpus.digest[:8]}",
        tr(
            "It decides how sentences are cut, names are found and words are compared. Graphs "
            "that were built with another one are outdated."
        ),
    )
