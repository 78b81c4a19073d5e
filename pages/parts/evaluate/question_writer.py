"""Questions on documents that a language model writes: form, progress and result.

The model invents users of the documents, tasks of each user and questions to each task. A recipe
has these three numbers. The page Evaluate offers this for a corpus.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from core.corpus import open_corpus
from core.errors import split_command
from core.evaluation.questions.abstract_questions import (
    MAX_RECIPE_COUNT,
    QUESTION_WRITER_ROLE,
    AbstractQuestionWriter,
    Recipe,
    WrittenQuestions,
)
from core.evaluation.questions.question_sets import default_set_name, start_writing, writing_job_key
from core.io.durations import rough_range_text
from core.models.chat.saved_replies import SavedReplies
from core.runtime.jobs import JOB_CANCELLED, Job
from core.sources import AnswerSource
from pages.parts.shared.actions import button, shown_errors
from pages.parts.shared.job_progress import draw_job, rerun_when_started
from pages.parts.shared.sentences import caption, write
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

MAX_SHOWN_WRITTEN = 5  # written questions that are shown
WRITING_CANCELLED_NOTE = tr("Cancelled. Every reply is kept, and writing goes on from there.")


def draw_question_writer(source: AnswerSource) -> None:
    """Draw the form or the progress, and the last written questions."""
    job = engine().evaluations.get(writing_job_key(source.name))
    with st.expander(
        tr("Generate questions"),
        icon=":material/edit_note:",
        expanded=not source.sets or job is not None,
    ):
        write(
            "A language model writes questions that ask for an overview, not for one fact: "
            "who would work with these texts, for which tasks, and what would they ask? They "
            "have no correct answer, so answers are judged in pairs."
        )
        if job is None or job.has_ended:
            _draw_form(source)
            rerun_when_started(writing_job_key(source.name))
        if job is not None:
            draw_job(
                job,
                f"writing-{source.name}",
                WRITING_CANCELLED_NOTE if job.status == JOB_CANCELLED else "",
            )
            if job.has_ended and isinstance(job.result, WrittenQuestions):
                _draw_written(source, job.result)


def _draw_form(source: AnswerSource) -> None:
    defaults = Recipe()
    bounds = dict[str, Any](
        min_value=1, max_value=MAX_RECIPE_COUNT, width=150, persist_state="session"
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        users = st.number_input(tr("Users"), value=defaults.users, key="writing_users", **bounds)
        tasks = st.number_input(
            tr("Tasks of each"), value=defaults.tasks, key="writing_tasks", **bounds
        )
        questions = st.number_input(
            tr("Questions to each"), value=defaults.questions, key="writing_questions", **bounds
        )
    about = st.text_area(
        tr("What the texts are about"),
        key=f"writing_about_{source.name}",
        height=68,
        placeholder=tr("if empty, the model sums it up from passages of all texts"),
        persist_state="session",
    )
    recipe = Recipe(int(users), int(tasks), int(questions))
    model = engine().models.info(QUESTION_WRITER_ROLE)
    if not model.present:
        st.text(split_command(model.how_to_get)[0])
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = button(tr("Write them"), key="writing-go", type="primary", icon="edit_note")
        caption(
            "{questions} by {replies} of {writer}.",
            questions=many(recipe.total, "question"),
            replies=many(recipe.replies, "reply", "replies"),
            writer=_writer_text(recipe),
        )
    if default_set_name(source.name) in source.sets:
        caption("They replace those written before.")
    if pressed:
        with shown_errors():
            _start_writing(source, recipe, about)
            st.rerun()


def _writer_text(recipe: Recipe) -> str:
    """Return the model that writes, with the expected time if earlier replies show it."""
    models = engine().models
    title = models.title(QUESTION_WRITER_ROLE)
    # The first part are the seconds per reply; None if the model has no saved replies.
    mean_cost = SavedReplies().mean_cost(models.weights(QUESTION_WRITER_ROLE))
    return f"{title}, {rough_range_text(recipe.replies * mean_cost[0])}" if mean_cost else title


def _start_writing(source: AnswerSource, recipe: Recipe, about: str) -> Job:
    with st.spinner(tr("Opening the documents"), show_time=True):
        corpus = open_corpus(source.name)
    return start_writing(
        engine(),
        AbstractQuestionWriter(corpus, engine().models, recipe, about),
        default_set_name(source.name),
    )


def _draw_written(source: AnswerSource, result: WrittenQuestions) -> None:
    """Draw what is missing and why, the first questions, and the button that selects them."""
    for sentence in result.notes:
        st.warning(plain(sentence), icon=":material/rule:")
    caption("What the texts are about, as the model was given it: {about}", about=result.about)
    for question in result.questions[:MAX_SHOWN_WRITTEN]:
        st.text(question.text)
    if len(result.questions) > MAX_SHOWN_WRITTEN:
        caption("and {more:,} more", more=len(result.questions) - MAX_SHOWN_WRITTEN)
    button(
        tr("Evaluate on them"),
        partial(_select_set, default_set_name(source.name)),
        key="writing-choose",
        icon="checklist",
    )


def _select_set(name: str) -> None:
    """Select a set in the form, with answers by a language model.

    Only its answers can be judged in pairs.
    """
    session.evaluate_sets = [name]
    session.evaluate_model = True
