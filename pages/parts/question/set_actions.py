"""Buttons that ask a question of a set on Compare, or evaluate the whole set.

The callback of a button runs before the page is drawn. It stores the page to go to in
`session.redirect`, and `follow_set_button` goes there when the page is drawn.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import streamlit as st

from core.datasets import QuestionSet
from core.errors import HopscopeError
from core.sources import GraphSource
from core.types import Question
from pages.parts.question.permalink import DEFAULT_LANES, Permalink
from pages.parts.question.question_bar import take_question
from pages.parts.shared.actions import button
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr


def draw_set_buttons(
    question_set: QuestionSet,
    graph: str,
    key: str,
    type: Literal["primary", "secondary", "tertiary"] = "secondary",
) -> None:
    """Draw two buttons: ask a question of the set, and evaluate the set.

    `graph` is the name of the set's graph, and `key` makes the keys of the buttons unique. The page
    must call `follow_set_button` as well.
    """
    with st.container(horizontal=True, width="content"):
        button(
            tr("Ask one"),
            partial(_ask, question_set, graph),
            key=f"ask-{key}",
            icon="view_column",
            type=type,
        )
        button(
            tr("Evaluate them"),
            partial(_evaluate, question_set, graph),
            key=f"evaluate-{key}",
            icon="analytics",
            type=type,
        )


def follow_set_button() -> None:
    """Go to the page whose button was clicked, or show the error."""
    target = Session.redirect.take()
    if isinstance(target, str):
        st.error(plain(target))
    elif target is not None:
        st.switch_page(target[0], query_params=target[1])


def go_to_page(page: str, query: dict[str, Any]) -> None:
    """Go to a page by its name, as a callback.

    If the page is on the screen already, only its address is cleared.
    """
    if session.page in ("", page):
        st.query_params.clear()
    else:
        session.redirect = (f"pages/{page}.py", query)


def first_answerable(questions) -> Question:
    """Return the first question with known answers, else the first."""
    return next((question for question in questions if question.answers), questions[0])


def _ask(question_set: QuestionSet, graph: str) -> None:
    """Go to Compare with the first answerable question."""
    try:
        question = first_answerable(question_set.questions())
        source = GraphSource(graph).source_of_question(question_set.name, question)
    except HopscopeError as error:
        session.redirect = str(error)
        return
    take_question(question, source)
    lanes = tuple(session.lanes or DEFAULT_LANES)
    session.redirect = (
        "pages/compare.py",
        Permalink(question.text, question.entities, question.answers, lanes, source).parameters(),
    )


def _evaluate(question_set: QuestionSet, graph: str) -> None:
    """Go to Evaluate with the set selected in the form."""
    session.choose(GraphSource(graph))
    session.evaluate_sets = [question_set.name]
    session.redirect = ("pages/evaluate.py", {"graph": graph})
