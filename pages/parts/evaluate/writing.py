"""Questions on documents that a language model writes: recipe, job and result."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from core.corpus import open_corpus
from core.evaluation.questions.keeping import job_key, start, usual_name
from core.evaluation.questions.writing import MAX_COUNT, ROLE, Recipe, Writing, Written
from core.io.durations import roughly
from core.models.chat.saved_replies import SavedReplies
from core.runtime.jobs import CANCELLED, Job
from core.sources import Source
from pages.parts.shared.actions import button, shown_errors
from pages.parts.shared.sentences import caption, write
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr
from pages.parts.shared.working import begun_elsewhere, working

SHOWN = 5  # written questions that are shown
CANCELLED_NOTE = tr("Cancelled. Every reply is kept, and writing goes on from there.")


def write_questions(on: Source) -> None:
    """Draw the recipe or the progress, and the questions that were written last."""
    job = engine().evaluations.get(job_key(on.name))
    with st.expander(
        tr("Let a language model write questions"),
        icon=":material/edit_note:",
        expanded=not on.sets or job is not None,
    ):
        write(
            "Questions that ask for an overview rather than for one fact: who would work with "
            "these texts, what would each of them do, and what would they ask for that? No answer "
            "to them is known, so the answers of methods are judged in pairs."
        )
        if job is None or job.ended:
            _form(on)
            begun_elsewhere(job_key(on.name))
        if job is not None:
            working(job, f"writing-{on.name}", CANCELLED_NOTE if job.status == CANCELLED else "")
            if job.ended and isinstance(job.result, Written):
                _written(on, job.result)


def _form(on: Source) -> None:
    usual = Recipe()
    limits = dict[str, Any](min_value=1, max_value=MAX_COUNT, width=150, persist_state="session")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        users = st.number_input(tr("Users"), value=usual.users, key="writing_users", **limits)
        tasks = st.number_input(
            tr("Tasks of each"), value=usual.tasks, key="writing_tasks", **limits
        )
        questions = st.number_input(
            tr("Questions to each"), value=usual.questions, key="writing_questions", **limits
        )
    about = st.text_area(
        tr("What the texts are about"),
        key=f"writing_about_{on.name}",
        height=68,
        placeholder=tr("left empty, the model sums it up from passages of all over them"),
        persist_state="session",
    )
    recipe, model = Recipe(int(users), int(tasks), int(questions)), engine().models.info(ROLE)
    if not model.present:
        st.text(model.how_to_get)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = button(tr("Write them"), key="writing-go", type="primary", icon="edit_note")
        caption(
            "{questions} by {replies} of {writer}.",
            questions=many(recipe.total, "question"),
            replies=many(recipe.replies, "reply", "replies"),
            writer=_writer(recipe),
        )
    if usual_name(on.name) in on.sets:
        caption("They take the place of those that were written before.")
    if pressed:
        with shown_errors():
            _begun(on, recipe, about)
            st.rerun()


def _writer(recipe: Recipe) -> str:
    """Return the model that writes, with the expected time.

    The time is known only from earlier replies.
    """
    models = engine().models
    known = SavedReplies().measured(models.weights(ROLE))
    return models.title(ROLE) + (f", {roughly(recipe.replies * known[0])}" if known else "")


def _begun(on: Source, recipe: Recipe, about: str) -> Job:
    with st.spinner(tr("Opening the documents")):
        corpus = open_corpus(on.name)
    return start(engine(), Writing(corpus, engine().models, recipe, about), usual_name(on.name))


def _written(on: Source, written: Written) -> None:
    """Draw what is missing and why, and the first questions. They can then be selected above."""
    for sentence in written.notes:
        st.warning(plain(sentence), icon=":material/rule:")
    caption("What the texts are about, as the model was given it: {about}", about=written.about)
    for question in written.questions[:SHOWN]:
        st.text(question.text)
    if len(written.questions) > SHOWN:
        caption("and {more:,} more", more=len(written.questions) - SHOWN)
    button(
        tr("Evaluate on them"),
        partial(_choose, usual_name(on.name)),
        key="writing-choose",
        icon="checklist",
    )


def _choose(name: str) -> None:
    """Select the set. A language model must answer, as only its answers can be judged."""
    session.evaluate_sets = [name]
    session.evaluate_model = True
