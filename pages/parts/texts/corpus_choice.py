"""The chosen corpus and its facts on the page Texts."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.builds.catalogue import GRAPH_KIND_WORDS, find_build
from core.builds.shipped_data import shipped_builds
from core.corpus import Corpus, open_corpus
from core.sources import CorpusSource
from pages.parts.shared.actions import button
from pages.parts.shared.address import write_address
from pages.parts.shared.language import language_choice
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import chosen_source, engine, show_job
from pages.parts.shared.session_state import session
from pages.parts.shared.source_picks import require_source
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

# Parts of the page.
GRAPH_PART = tr("Graph")
DOCUMENTS_PART = tr("Documents")
ADD_PART = tr("Add")


def choose_corpus() -> str:
    """Return the name of the chosen corpus.

    If the chosen source is a graph or does not exist, documents are offered and the run ends.
    """
    require_source(CorpusSource)
    name = chosen_source().name
    if session.texts_corpus != name:
        if session.texts_corpus:
            del session.texts_view
        session.texts_corpus = name
    write_address({"corpus": name}, "texts")
    session.arrived_by_navigation = False
    return name


def draw_ask_button(name: str, label: str, **look: Any) -> None:
    """Draw a button to Compare, where questions are asked of these documents."""
    if button(label, help=tr("Opens Compare with these texts"), **look):
        st.switch_page("pages/compare.py", query_params={"corpus": name})


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
