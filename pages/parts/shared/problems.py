"""Errors that are meant for a person."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import streamlit as st

from core.errors import HopscopeError
from pages.parts.shared.session_state import session
from pages.parts.shared.text import plain

T = TypeVar("T")


@contextmanager
def shown_errors() -> Iterator[None]:
    """Show an error at this place of the page, and go on behind the block."""
    try:
        yield
    except HopscopeError as error:
        st.error(plain(str(error)))


def result_of(action: Callable[[], T]) -> T | None:
    """Return what an action returns; an error is shown at this place of the page, and None returned."""
    with shown_errors():
        return action()
    return None


@contextmanager
def noted_errors() -> Iterator[None]:
    """Keep an error for the next drawing of the page, as in the callback of a button."""
    try:
        yield
    except HopscopeError as error:
        session.problem = str(error)
