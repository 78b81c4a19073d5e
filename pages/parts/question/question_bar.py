"""Question bar: type a question, draw one from a set, or search the sets."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.errors import HopscopeError
from core.graph.names.seeds import seeds_of
from core.languages.spelling import contains_words
from core.sources import AnswerSource
from core.types import Question
from pages.parts.shared.actions import button, result_of
from pages.parts.shared.session import page_source
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.source_words import words_of
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

MAX_SUGGESTIONS = 8  # questions or names that are suggested


def known_question(text: str) -> Question | None:
    """Return the question of the chosen graph's or corpus's sets with exactly that text.

    A set that cannot be read is skipped; choosing it shows the error.
    """
    text = " ".join(text.split())
    return page_source().named(text) if text else None


def take_question(question: Question, source: AnswerSource) -> None:
    """Put a question of a set into the bar, with its entities and answers.

    Its graph or corpus is chosen too.
    """
    session.examples_open, session.source = False, source
    session.question = question.text
    session.entities = list(question.entities)
    session.answers = list(question.answers)
    session.hops, session.submitted, session.settled = question.hops, True, bar_state()


def bar_state() -> tuple[str, bool, bool]:
    """Return the state of the bar: question, model and reader."""
    return session.question, session.model, session.reader


def ask_if_changed() -> None:
    """Ask if the state of the bar has changed.

    A question of a set brings its entities and answers with it; any other question starts without.
    A changed switch asks the same question again. A cleared bar is asked too, so that the page says
    why there is no answer.

    `settled` is set last. Streamlit interrupts a run, callbacks included, as soon as the user does
    something else. What was not finished is then done in the next run.
    """
    old_state, new_state = session.settled, bar_state()
    if old_state == new_state:
        return
    if old_state is None or old_state[0] != session.question:
        set_question = known_question(session.question)
        session.entities, session.answers = (
            (list(set_question.entities), list(set_question.answers))
            if set_question is not None
            else ([], [])
        )
        session.hops = set_question.hops if set_question is not None else None
    was_cleared = (
        old_state is not None and bool(old_state[0].strip()) and not session.question.strip()
    )
    session.submitted = was_cleared or bool(session.question.strip())
    session.edited = False  # Otherwise the switches of the comparison on the screen would be used.
    session.settled = new_state


def ask_example(text: str) -> None:
    """Ask one of the example questions."""
    session.examples_open, session.question = False, text


def question_bar() -> bool:
    """Draw the question bar, and return whether Ask was clicked.

    It has the question box, the button Ask and the example questions.
    """
    example_questions = page_source().examples
    st.text_input(
        tr("Question"),
        key=Session.question.name,
        placeholder=tr("Ask a question: {first}", first=example_questions[0])
        if example_questions
        else tr("Ask a question of {noun}", noun=page_source().noun),
        label_visibility="collapsed",
        width="stretch",
        persist_state="session",
    )
    clicked = button(tr("Ask"), type="primary", key="ask")
    with st.popover(tr("Example questions"), key=Session.examples_open.name, on_change="rerun"):
        _sets()
    return clicked


def _sets() -> None:
    asked_source = page_source()
    titles = asked_source.sets
    if not titles:
        st.caption(words_of(asked_source).without_questions)
        return
    for i, text in enumerate(asked_source.examples):
        button(
            plain(text),
            partial(ask_example, text),
            key=f"example-{i}",
            type="tertiary",
            icon="arrow_forward",
        )
    set_name = st.selectbox(
        tr("Question set"),
        list(titles),
        key="set",
        persist_state="session",
        format_func=titles.__getitem__,
    )
    questions = result_of(lambda: asked_source.questions(set_name))
    if questions is None:
        return
    button(
        tr("Random question"),
        partial(_draw_random, asked_source, set_name),
        icon="casino",
        key="draw",
    )
    words = st.text_input(
        tr("Search these questions"),
        key="set_search",
        persist_state="session",
        placeholder=tr("words of the question, a name …"),
        live=True,
    ).strip()
    matches = [q for q in questions if contains_words(q.text, words)] if words else []
    if words:
        st.caption(
            many(len(matches), "question") if matches else tr("No question has all these words.")
        )
    for i, question in enumerate(matches[:MAX_SUGGESTIONS]):
        args = (question, asked_source.asked_on(set_name, question))
        button(
            plain(question.text), partial(take_question, *args), key=f"found-{i}", type="tertiary"
        )


def _draw_random(source: AnswerSource, set_name: str) -> None:
    session.draws += 1
    question = source.draw(set_name, session.draws)
    take_question(question, source.asked_on(set_name, question))


def draw_question_error(error: HopscopeError) -> None:
    """Draw an error about the question.

    For an unknown entity, the nearest names are drawn as buttons.
    """
    st.error(plain(str(error)))
    alternatives = getattr(error, "alternatives", ())
    if alternatives:
        with st.container(horizontal=True):
            for name in alternatives[:MAX_SUGGESTIONS]:
                button(
                    plain(name),
                    partial(_replace_entity, name, getattr(error, "name", "")),
                    key=f"suggest-{name}",
                )


def _replace_entity(name: str, old_name: str) -> None:
    session.entities = [name, *(e for e in session.entities if e not in (old_name, name))]
    session.submitted = True


def link_entities(graph) -> None:
    """Set the entities found in the question, if none are given."""
    if not session.entities and session.question.strip():
        session.entities = graph.names(seeds_of(graph, session.question))
