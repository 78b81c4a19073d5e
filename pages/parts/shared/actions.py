"""Buttons, confirmations, and the display of errors of actions.

Only a `HopscopeError`, whose text is meant for the user, is drawn. Other errors are raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal, TypeVar

import streamlit as st

from core.errors import HopscopeError, split_command
from pages.parts.shared.people import disabled_arguments
from pages.parts.shared.session_state import session
from pages.parts.shared.text import plain

ResultT = TypeVar("ResultT")


@contextmanager
def shown_errors() -> Iterator[None]:
    """Draw a HopscopeError of the block, and continue after it."""
    try:
        yield
    except HopscopeError as error:
        st.error(plain(str(error)))


def result_of(action: Callable[[], ResultT]) -> ResultT | None:
    """Return the result of an action.

    If it raises a HopscopeError, draw that and return None.
    """
    with shown_errors():
        return action()
    return None


def run_action(action: Callable[[], Any]) -> None:
    """Run an action as the callback of a widget.

    Callbacks run before the page is drawn. The error is stored, and drawn above the page.
    """
    try:
        action()
    except HopscopeError as error:
        session.action_error = str(error)


def draw_advice(message: str) -> None:
    """Draw a message and below it its shell command, if it has one, ready to copy."""
    st.text(split_command(message)[0])
    draw_command(message)


def draw_command(message: str) -> None:
    """Draw the shell command of a message, if it has one, ready to copy."""
    _, command = split_command(message)
    if command:
        st.code(command, language=None, wrap_lines=True)


def button(
    label: str,
    action: Callable[[], Any] | None = None,
    *,
    icon: str = "",
    why_not: str = "",
    help: str | None = None,
    **look: Any,
) -> bool:
    """Draw a button and return whether it was pressed.

    Parameters
    ----------
    action : called when the button is pressed, before the page is drawn again; see `run_action`.
    icon : the name of a Material symbol.
    why_not : the reason that the button is disabled; empty if it is not.
    look : further arguments of `st.button`.
    """
    return st.button(
        label,
        icon=f":material/{icon}:" if icon else None,
        on_click=partial(run_action, action) if action is not None else None,
        **(disabled_arguments(why_not, help) | look),
    )


def confirm_button(
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
    """Draw a button that asks for confirmation before it acts.

    Parameters
    ----------
    question : text of the confirmation.
    yes, key : label and key of the button that confirms.
    action : called when that button is pressed.
    why_not : the reason that the button is disabled; empty if it is not.
    box : key of the popover with the question.
    """
    with st.popover(label, icon=icon, type=type, key=box, **disabled_arguments(why_not)):
        st.write(plain(question))
        button(yes, action, key=key, type="primary")
