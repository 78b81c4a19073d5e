"""Question bar: type a question, draw or search one."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.errors import HopscopeError
from core.graph.names.seeds import seeds_of
from core.languages.spelling import contains_words
from core.sources import AnswerSource
from core.types import Question
from pages.parts.shared.actions import button, result_of
from pages.parts.shared.session import chosen_source
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.source_words import words_of
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

MAX_SUGGESTIONS = 8  # questions or names that are suggested


def known_question(text: str) -> Question | None:
    """Return the question of a set with exactly this text.

    It has entities, answers and the like. A set that cannot be read is skipped; choosing that set
    shows the error.
    """
    text = " ".join(text.split())
    return chosen_source().find_question(text) if text else None


def take_question(question: Question, source: AnswerSource) -> None:
    """Ask a question of a set, and choose its source."""
    session.examples_open = False
    session.source = source
    session.question = question.text
    session.entities = list(question.entities)
    session.answers = list(question.answers)
    session.hops = question.hops
    session.submitted = True
    session.applied_bar_state = bar_state()


def bar_state() -> tuple[str, bool, bool]:
    """Return the state of the bar: question, model and reader."""
    return session.question, session.model, session.reader


def ask_if_changed() -> None:
    """Ask the question if the state of the bar has changed.

    A question of a set gets its entities and known answers; any other question starts without. A
    changed switch asks the same question again. A cleared bar is asked too, so that the page says
    why there is no answer.

    `applied_bar_state` is set last. Streamlit interrupts a run, callbacks included, as soon as the
    user does something else. The next run then finds the change again.
    """
    old_state, new_state = session.applied_bar_state, bar_state()
    if old_state == new_state:
        return
    if old_state is None or old_state[0] != session.question:
        set_question = known_question(session.question) or Question(session.question)
        session.entities = list(set_question.entities)
        session.answers = list(set_question.answers)
        session.hops = set_question.hops
    had_question = old_state is not None and bool(old_state[0].strip())
    session.submitted = had_question or bool(session.question.strip())
    # Otherwise the switches of the comparison on the screen would be used.
    session.only_lanes_changed = False
    session.applied_bar_state = new_state


def ask_example(text: str) -> None:
    """Put an example question into the bar.

    `ask_if_changed` asks it in the next run.
    """
    session.examples_open, session.question = False, text


def question_bar() -> bool:
    """Draw the question box, the button Ask and the example questions.

    Return whether Ask was clicked.
    """
    examples = chosen_source().example_questions
    placeholder = tr("Ask a question of {noun}", noun=chosen_source().noun)
    if examples:
        placeholder = tr("Ask a question: {first}", first=examples[0])
    st.text_input(
        tr("Question"),
        key=Session.question.name,
        placeholder=placeholder,
        label_visibility="collapsed",
        width="stretch",
        persist_state="session",
    )
    clicked = button(tr("Ask"), type="primary", key="ask")
    with st.popover(tr("Example questions"), key=Session.examples_open.name, on_change="rerun"):
        _draw_sets()
    return clicked


def _draw_sets() -> None:
    """Draw the example questions, and the search in a set."""
    source = chosen_source()
    titles = source.sets
    if not titles:
        st.caption(words_of(source).no_questions_text)
        return
    for i, text in enumerate(source.example_questions):
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
    # A set may be large, so it is read once the box is open.
    if session.examples_open and result_of(lambda: source.questions(set_name)) is None:
        return
    button(
        tr("Random question"),
        partial(_draw_random, source, set_name),
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
    questions = result_of(lambda: source.questions(set_name)) if words else None
    if questions is None:
        return
    matches = [question for question in questions if contains_words(question.text, words)]
    st.caption(
        many(len(matches), "question") if matches else tr("No question has all these words.")
    )
    for i, question in enumerate(matches[:MAX_SUGGESTIONS]):
        ask = partial(take_question, question, source.source_of_question(set_name, question))
        button(plain(question.text), ask, key=f"found-{i}", type="tertiary")


def _draw_random(source: AnswerSource, set_name: str) -> None:
    session.draws += 1
    question = source.draw_question(set_name, session.draws)
    take_question(question, source.source_of_question(set_name, question))


def draw_question_error(error: HopscopeError) -> None:
    """Draw an error of asking the question.

    Below an unknown entity, similar names are drawn as buttons that replace it.
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
    """Set the entities named in the question, if none are given."""
    if not session.entities and session.question.strip():
        session.entities = graph.names(seeds_of(graph, session.question))
