"""Questions to a corpus (documents) on the page Compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from core.corpus import Corpus, open_corpus
from core.graph.edits import Edit
from core.runtime.jobs import Job
from core.sources import CorpusSource
from core.types import Question
from pages.parts.question.question_bar import known_question
from pages.parts.shared.actions import result_of
from pages.parts.shared.session import chosen_source, engine, show_job
from pages.parts.shared.session_state import Session, SessionKey, session
from pages.parts.shared.text import isolated, many, plain
from pages.parts.shared.wording import tr


def ask_documents(reader: bool, model: bool, edits: Sequence[Edit] = ()) -> Any:
    """Return the question in the bar, prepared for the chosen corpus.

    The edits change the corpus. `reader` and `model` tell if the graph reader and a language model
    answer. A question of a set has its gold passages. Raises what `Engine.prepare_question` raises.
    """
    text = " ".join(session.question.split())
    match = known_question(text) or Question(text)
    question = replace(match, answers=tuple(session.answers))
    corpus = prepared_corpus(chosen_source().name)
    source = replace(CorpusSource.of(corpus), edits=tuple(edits))
    return replace(
        engine().prepare_question(
            source, question, seed=session.seed, uses_reader=reader, uses_model=model
        ),
        waits_for_vectors=session.wait_for_vectors,
    )


def prepared_corpus(name: str) -> Corpus:
    """Return a corpus whose documents are split into passages.

    They are split if that was not done yet. If it takes long, the progress is shown.
    """
    corpus = open_corpus(name)
    key = f"chunks-{name}-{corpus.digest}"

    def split_documents(job: Job) -> Any:
        job.report(tr("Looking for the passages"))  # Otherwise “Waiting for its turn” would stay.
        return engine().environment.open_build(corpus, watch=job, make=True)

    job = engine().jobs.run(key, split_documents)
    if not job.wait(0.2):  # A short job would only flash.
        show_job(job, tr("Splitting the documents into passages"))
    return corpus


def draw_facts() -> None:
    """Draw the corpus, the known answers, and the gold passages."""
    corpus = result_of(lambda: open_corpus(chosen_source().name))
    if corpus is None:
        return
    set_question = known_question(session.question)
    parts = [
        f":material/description: {plain(corpus.title)} · {many(corpus.n_documents, 'document')}"
    ]
    parts += [f":green[★ {isolated(answer)}]" for answer in session.answers]
    if set_question is not None and set_question.gold:
        parts.append(many(len(set_question.gold), "evidence passage"))
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="documents"):
        st.caption(" &nbsp;·&nbsp; ".join(parts), width="content")
        with st.popover(tr("Correct answers"), type="tertiary"):
            st.text_area(
                tr("One per line"),
                "\n".join(session.answers),
                key=_answers_key().name,
                on_change=_store_answers,
                height=90,
            )


def _store_answers() -> None:
    """Store the typed lines as known answers, and ask again."""
    session.answers = [line.strip() for line in _answers_key().value.splitlines() if line.strip()]
    session.submit()


def _answers_key() -> SessionKey[str]:
    """Return the key of the text box of the question's known answers."""
    return Session.known_answers[hash(session.question)]
