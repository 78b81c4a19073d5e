"""Errors that are meant for a person, and questions before something is deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import streamlit as st

from core.errors import HopscopeError
from pages.parts.shared.people import held
from pages.parts.shared.session_state import session
from pages.parts.shared.text import plain


@contextmanager
def shown_errors() -> Iterator[None]:
    """Show an error at this place of the page, and go on behind the block."""
    try:
        yield
    except HopscopeError as error:
        st.error(plain(str(error)))


@contextmanager
def noted_errors() -> Iterator[None]:
    """Keep an error for the next drawing of the page, as in the callback of a button."""
    try:
        yield
    except HopscopeError as error:
        session.problem = str(error)


def attempt(action: Callable[[], Any]) -> None:
    """Run an action as the callback of a button; its error is drawn with the page."""
    with noted_errors():
        action()


def ask_first(
    label: str,
    question: str,
    yes: str,
    action: Callable[[], Any],
    key: str | None,
    *,
    icon: str = ":material/delete:",
    type: Literal["secondary", "tertiary"] = "tertiary",
    why_not: str = "",
    box: str | None = None,
) -> None:
    """Draw a button that asks before it acts.

    Parameters
    ----------
    yes, key : the label and the key of the button that acts.
    why_not : the reason why it cannot be used, if any.
    box : the key of the box with the question.
    """
    with st.popover(label, icon=icon, type=type, key=box, **held(why_not)):
        st.write(plain(question))
        st.button(yes, key=key, type="primary", on_click=attempt, args=(action,))
