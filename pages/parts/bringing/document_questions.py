"""Questions with known answers and gold documents, brought to texts of a person's own."""

from __future__ import annotations

import shutil

import streamlit as st

from core.corpus import Corpus, bring_questions, corpora
from core.corpus.corpus import OWNED_AS
from core.errors import HopscopeError
from core.io.temporary import temporary_folder
from pages.parts.bringing.question_file import Chosen, choose_questions
from pages.parts.bringing.uploads import save_upload
from pages.parts.shared.actions import button
from pages.parts.shared.people import barred
from pages.parts.shared.sentences import write
from pages.parts.shared.session_state import session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr


def bring_known(here: str) -> None:
    """Draw the form, where these texts are a person's own."""
    corpus = corpora().get(here)
    if not isinstance(corpus, Corpus) or not corpus.own or barred(OWNED_AS, here):
        return
    st.markdown(tr("**Questions with known answers**"))
    write("Compare offers them, and Evaluate counts by them.")
    if corpus.sets:
        st.caption(
            plain(
                tr("Here already: ")
                + ", ".join(
                    f"{title} ({len(corpus.questions(name)):,})"
                    for name, title in corpus.sets.items()
                )
            )
        )
    _, chosen = choose_questions(f"texts_questions-{session.texts_questions_round}", documents=True)
    if chosen and button(
        tr("Keep these questions"), key="texts_questions_keep", type="primary", icon="quiz"
    ):
        _keep(corpus.name, chosen)
    _said(corpus.name)


def _keep(name: str, chosen: Chosen) -> None:
    """Keep a file's questions, and say what came of it."""
    folder = temporary_folder()
    try:
        brought = bring_questions(
            name,
            save_upload(chosen.file, folder),
            format=chosen.format,
            columns=chosen.columns,
            encoding=chosen.encoding,
        )
    except HopscopeError as error:
        st.error(plain(str(error)))
        return
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    with_answers = tr(
        "{answered:,} with known answers, {gold:,} with gold documents",
        answered=brought.answered,
        gold=brought.gold,
    )
    session.texts_said = (
        name,
        tr(
            "{questions} kept, {with_answers}.",
            questions=many(brought.number, "question"),
            with_answers=with_answers,
        ),
        brought.notes,
    )
    session.texts_questions_round += 1
    st.rerun()


def _said(name: str) -> None:
    """What came of the last file, while the same texts are looked at."""
    of, sentence, notes = session.texts_said
    if of != name:
        return
    st.success(plain(sentence), icon=":material/check_circle:")
    for text in notes:
        st.warning(plain(text), icon=":material/rule:")
